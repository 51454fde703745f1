//! The document as an HTML page, without scripts and without external content.

use std::fmt::Write as _;

use serde_json::Value;

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}\
code,pre{font:14px/1.4 ui-monospace,monospace}pre{overflow:auto;padding:.75rem;border:1px solid #8884;border-radius:6px}\
summary{cursor:pointer;padding:.35rem 0}summary code{font-weight:600}details{border-bottom:1px solid #8884}\
details>div{padding:0 0 1rem 1.25rem}table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.2rem 1rem .2rem 0}\
.method{display:inline-block;min-width:4.5rem;text-transform:uppercase}.more{opacity:.75}";

/// The order in which the methods of a path are shown.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

pub(super) fn render(document: &Value) -> String {
    let mut out = String::with_capacity(1 << 17);
    let info = &document["info"];
    let _ = write!(
        out,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{title} {version}</title><style>{STYLE}</style></head><body>\
         <h1>{title} {version}</h1><p>{}</p><p>{}</p>\
         <p>The same for programs: <a href=\"/openapi.json\">/openapi.json</a> (OpenAPI 3.1). Requests carry \
         <code>Authorization: Bearer &lt;key&gt;</code>.</p>",
        escape(&info["summary"]),
        escape(&info["description"]),
        title = escape(&info["title"]),
        version = escape(&info["version"]),
    );
    for tag in document["tags"].as_array().into_iter().flatten() {
        let _ = write!(
            out,
            "<h2>{}</h2><p class=\"more\">{}</p>",
            escape(&tag["name"]),
            escape(&tag["description"])
        );
        for (path, methods) in document["paths"].as_object().into_iter().flatten() {
            for method in METHODS {
                let operation = &methods[method];
                if operation["tags"][0] == tag["name"] {
                    write_operation(&mut out, document, method, path, operation);
                }
            }
        }
    }
    out.push_str("<h2>Bodies</h2>");
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        let _ = write!(
            out,
            "<details id=\"{name}\"><summary><code>{name}</code></summary><div>{}<pre>{}</pre></div></details>",
            paragraph(&schema["description"]),
            pretty(schema)
        );
    }
    out.push_str("</body></html>");
    out
}

fn write_operation(out: &mut String, document: &Value, method: &str, path: &str, operation: &Value) {
    let _ = write!(
        out,
        "<details id=\"{}\"><summary><code><span class=\"method\">{method}</span> {}</code> {}</summary><div>{}",
        escape(&operation["operationId"]),
        escape_text(path),
        escape(&operation["summary"]),
        paragraph(&operation["description"]),
    );
    let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !parameters.is_empty() {
        out.push_str("<table><tr><th>parameter</th><th>in</th><th></th></tr>");
        for parameter in parameters {
            let parameter = resolved(document, parameter);
            let needed = if parameter["required"] == true { ", needed" } else { "" };
            let _ = write!(
                out,
                "<tr><td><code>{}</code></td><td>{}{needed}</td><td>{}</td></tr>",
                escape(&parameter["name"]),
                escape(&parameter["in"]),
                escape(&parameter["description"])
            );
        }
        out.push_str("</table>");
    }
    if let Some((_, content)) = first_content(&operation["requestBody"]) {
        let schema = resolved(document, &content["schema"]);
        let _ = write!(out, "<p>Body{}</p>", link(&content["schema"]));
        if !schema["examples"][0].is_null() {
            let _ = write!(out, "<pre>{}</pre>", pretty(&schema["examples"][0]));
        }
    }
    out.push_str("<table><tr><th>response</th><th></th></tr>");
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        let response = resolved(document, response);
        let body = first_content(response).map(|(_, content)| link(&content["schema"])).unwrap_or_default();
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}{body}</td></tr>",
            escape_text(status),
            escape(&response["description"])
        );
    }
    out.push_str("</table></div></details>");
}

/// Resolves a reference.
fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let pointer = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    pointer.and_then(|pointer| document.pointer(pointer)).unwrap_or(value)
}

fn first_content(body: &Value) -> Option<(&String, &Value)> {
    body["content"].as_object().and_then(|content| content.iter().next())
}

fn link(schema: &Value) -> String {
    match schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        Some(name) => format!(" <a href=\"#{name}\"><code>{name}</code></a>"),
        None => String::new(),
    }
}

fn paragraph(text: &Value) -> String {
    if text.is_null() { String::new() } else { format!("<p>{}</p>", escape(text)) }
}

/// Formats an example. Long vectors are shortened.
fn pretty(value: &Value) -> String {
    escape_text(&serde_json::to_string_pretty(&shortened(value)).unwrap_or_default())
}

fn shortened(value: &Value) -> Value {
    match value {
        Value::Array(items) if items.len() > 20 => {
            let mut items: Vec<Value> = items.iter().take(3).cloned().collect();
            items.push(Value::from("…"));
            Value::Array(items)
        }
        Value::Array(items) => items.iter().map(shortened).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), shortened(value))).collect()
        }
        other => other.clone(),
    }
}

fn escape(value: &Value) -> String {
    escape_text(value.as_str().unwrap_or_default())
}

fn escape_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
