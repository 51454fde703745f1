//! Chunks of files, in the form that the proxy sends.

mod limited;
mod matching;
mod mirror;
mod own_rows;
mod update;

use harness::Session;
use serde_json::{Value, json};

/// Imports rows of CSV under this header, as the last chunk of a file.
pub(crate) async fn import(
    session: &Session,
    template: &str,
    options: &Value,
    header: &[&str],
    rows: &str,
) -> Value {
    let mut all = json!({"format": "csv", "header": header, "delimiter": ",", "is_last": true});
    if let (Some(all), Some(options)) = (all.as_object_mut(), options.as_object()) {
        all.extend(options.clone());
    }
    let sql = "select keyed_http.import_rows($1, $2, $3)";
    session.json(sql, &[&number(session, template).await, &all.to_string(), rows]).await
}

/// The id of a template of the project `crm`.
pub(crate) async fn number(session: &Session, template: &str) -> String {
    session.text("select id::text from keyed_state.template where slug = $1", &[template]).await
}

/// Row, column and code of each error.
pub(crate) fn problems(report: &Value) -> Vec<Value> {
    let errors = report["errors"].as_array().expect("errors").iter();
    errors.map(|error| json!([error["row"], error["column"], error["code"]])).collect()
}

/// The counts `created`, `updated` and `unchanged`.
pub(crate) fn counts(report: &Value) -> [u64; 3] {
    ["created", "updated", "unchanged"].map(|name| report[name].as_u64().expect("a count"))
}
