//! Inbound endpoints and their deliveries.

mod deliveries;
mod log_capacity;
mod mapping;

use harness::{Database, Session};
use serde_json::json;

const CREATE: &str = "select keyed.create_inbound_endpoint('crm.customers', $1)";
const TRY: &str = "select keyed.dry_run_inbound(1, $1)";

async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let definition = json!({"slug": "shop", "external_key": "$.id", "signed": false});
    session.rows(CREATE, &[&definition.to_string()]).await;
    session.run("select keyed.upsert_by_key('crm.companies', 'C-1', '{\"name\": \"Acme\"}')").await;
    (database, session)
}
