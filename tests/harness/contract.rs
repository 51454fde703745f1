//! Validates every response against the service's own /openapi.json.

use jsonschema::Validator;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::OnceCell;

/// The document, fetched from the first proxy that a test of this program runs against.
static CONTRACT: OnceCell<Contract> = OnceCell::const_new();

struct Contract {
    document: Value,
    /// Schemas that are referenced with `$ref`.
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// Panics if the document does not describe the response for the operation.
pub(crate) async fn check(method: &str, url: &reqwest::Url, status: u16, headers: &HeaderMap, text: &str) {
    let path = url.path();
    // RFC 9110, 9.3.2: the response to GET without its content.
    if method == "HEAD" {
        assert!(text.is_empty(), "HEAD {path} answers with a body");
        return;
    }
    let contract = CONTRACT.get_or_init(|| Contract::of(url)).await;
    let Some(operation) = contract.operation(method, path) else {
        let is_known = ["404", "405"].contains(&status.to_string().as_str());
        assert!(is_known, "{method} {path} is not described and returns {status}: {text}");
        return;
    };
    let responses = &operation["responses"];
    let described = responses.get(status.to_string()).or_else(|| responses.get("default"));
    let described =
        described.unwrap_or_else(|| panic!("{method} {path} returns {status}, which is not described"));
    let described = contract.resolved(described);
    assert!(
        status >= 400 || responses.get(status.to_string()).is_some(),
        "{method} {path} returns {status}, which is described only as an error"
    );
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    if kind.is_empty() {
        assert!(
            text.is_empty() && described.get("content").is_none(),
            "{method} {path}: {status} without a type"
        );
        return;
    }
    let schema = &described["content"][kind]["schema"];
    assert!(schema.is_object(), "{method} {path} returns {status} as {kind}, which is not described");
    // An OpenAPI document cannot express that a parameter changes types.
    let has_other_types = status < 400 && url.query_pairs().any(|(name, _)| name == "numbers");
    if let Some(reference) = schema["$ref"].as_str().filter(|_| !has_other_types) {
        let body: Value = serde_json::from_str(text)
            .unwrap_or_else(|problem| panic!("{method} {path} returns {text}, which is not JSON: {problem}"));
        // A replayed response whose record the caller can no longer read.
        let has_name_alone =
            body.as_object().is_some_and(|members| members.keys().eq(["id"]) || members.keys().eq(["slug"]));
        if has_name_alone && headers.get("idempotency-replayed").is_some() {
            return;
        }
        let validator = contract.validator(reference);
        let problems: Vec<String> = validator
            .iter_errors(&body)
            .map(|problem| format!("{} {problem}", problem.instance_path()))
            .collect();
        assert!(
            problems.is_empty(),
            "{method} {path} returns {text}, which is not a {reference}: {problems:?}"
        );
    }
}

impl Contract {
    async fn of(url: &reqwest::Url) -> Contract {
        let address = url.join("/openapi.json").expect("an address");
        let response = reqwest::get(address).await.expect("the proxy responds");
        let text = response.text().await.expect("the document is complete");
        let mut document: Value = serde_json::from_str(&text).expect("JSON");
        close(&mut document["components"]["schemas"]);
        Contract { document, validators: Mutex::default() }
    }

    /// The operation whose path has the fewest parameters.
    fn operation(&self, method: &str, path: &str) -> Option<&Value> {
        let path = path.strip_prefix("/api").filter(|path| path.starts_with("/v1/")).unwrap_or(path);
        let paths = self.document["paths"].as_object()?;
        let fits = |template: &str| {
            let is_parameter = |part: &str| part.starts_with('{');
            template.split('/').count() == path.split('/').count()
                && template
                    .split('/')
                    .zip(path.split('/'))
                    .all(|(part, given)| is_parameter(part) || part == given)
        };
        let (_, methods) = paths
            .iter()
            .filter(|(template, _)| fits(template))
            .min_by_key(|(template, _)| template.matches('{').count())?;
        methods.get(method.to_lowercase())
    }

    fn resolved<'v>(&'v self, value: &'v Value) -> &'v Value {
        let target =
            value["$ref"].as_str().and_then(|reference| self.document.pointer(reference.strip_prefix('#')?));
        target.unwrap_or(value)
    }

    fn validator(&self, reference: &str) -> Arc<Validator> {
        let mut validators = self.validators.lock().expect("the lock is not poisoned");
        let make = || {
            let root = json!({"$ref": reference, "components": self.document["components"]});
            let validator = jsonschema::draft202012::options().should_validate_formats(true).build(&root);
            Arc::new(validator.expect("a schema"))
        };
        Arc::clone(validators.entry(reference.to_owned()).or_insert_with(make))
    }
}

/// Clients must accept unknown members, but this version returns only members that its document describes.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("properties").is_some_and(Value::is_object) {
                members.entry("additionalProperties").or_insert(Value::Bool(false));
            }
            members.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
