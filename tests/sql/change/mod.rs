//! The change feed.

mod cursors;
mod entries;
mod key_history;
mod order;
mod scopes;

use harness::Session;
use serde_json::Value;

/// The page of the project `crm` after a cursor.
pub(crate) async fn page(session: &Session, after: &str, limit: usize) -> Value {
    let sql = "select keyed.changes('crm', after => $1, page_size => $2::integer)";
    session.json(sql, &[after, &limit.to_string()]).await
}

/// The cursor after a page.
pub(crate) fn next(page: &Value) -> String {
    page["next_cursor"].as_str().expect("a cursor").to_owned()
}

/// The cursor after all current changes.
pub(crate) async fn now(session: &Session) -> String {
    next(&session.json("select keyed.changes('crm')", &[]).await)
}

/// All changes after a cursor, read in pages of this size, and the cursor after them.
pub(crate) async fn all(session: &Session, after: &str, limit: usize) -> (Vec<Value>, String) {
    let (mut changes, mut cursor) = (Vec::new(), after.to_owned());
    loop {
        let page = page(session, &cursor, limit).await;
        changes.extend(page["changes"].as_array().expect("changes").iter().cloned());
        cursor = next(&page);
        if page["has_more"] == false {
            return (changes, cursor);
        }
    }
}

/// The changes as `operation key`.
pub(crate) fn operations_and_keys(changes: &[Value]) -> Vec<String> {
    let short = |change: &Value| {
        format!(
            "{} {}",
            change["operation"].as_str().expect("an operation"),
            change["external_key"].as_str().unwrap_or("-")
        )
    };
    changes.iter().map(short).collect()
}
