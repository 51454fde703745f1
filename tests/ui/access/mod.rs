//! What a restricted caller is shown, and whether everybody can use every page.

use crate::{run, service};
use serde_json::json;

#[tokio::test]
async fn a_scoped_role_sees_less_and_is_offered_less() {
    let service = service().await;
    let role = service.database.create_role("sales").await;
    let session = service.session().await;
    session
        .run(&format!(
            "select keyed.grant_access('{role}', 'crm.customers', '{{read}}', \
             '{{\"filters\": [{{\"field\": \"name\", \"operator\": \"eq\", \"value\": \"Anna\"}}]}}')"
        ))
        .await;
    let key = session.text("select keyed.issue_api_key($1::text::name, '{crm}', 'sales')", &[&role]).await;
    run(&service, "access/scoped", json!({"key": key})).await;
}

#[tokio::test]
async fn no_page_has_a_serious_fault_of_accessibility() {
    run(&service().await, "access/accessibility", json!({})).await;
}
