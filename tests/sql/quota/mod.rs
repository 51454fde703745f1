//! Quotas: what counts, and what an exhausted quota rejects.

mod days;
mod definition;
mod maximum;

use harness::{Database, Session, SqlError};
use serde_json::json;

const UPSERT: &str = "select keyed.upsert_by_key('crm.customers', $1, '{\"visits\": {\"$inc\": 1}}')";

async fn with_quota(name: &str, maximum: &str) -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.rows("select keyed.set_quota('crm', $1, $2::bigint)", &[name, maximum]).await;
    (database, session)
}

#[track_caller]
fn assert_reached(error: &SqlError, name: &str, maximum: i64, used: i64) {
    assert_eq!(error.codes(), ("53400", "quota_exceeded"), "{error:?}");
    assert_eq!(error.detail["quota"], json!({"name": name, "maximum": maximum, "used": used}));
    for part in [name, &maximum.to_string(), &used.to_string()] {
        assert!(error.message.contains(part), "{}", error.message);
    }
}

async fn used(session: &Session, name: &str) -> String {
    session
        .text("select coalesce(used::text, '-') from keyed.quota_usage('crm') where name = $1", &[name])
        .await
}
