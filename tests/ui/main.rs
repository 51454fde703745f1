//! Tests of the web application in a real browser.
//!
//! A test starts a service, fills it, and runs the script of the same topic, which performs the actions of a user and
//! checks what the page shows. The scripts use `browser.mjs`, and call the service directly where another user acts at
//! the same time.

mod access;
mod app;
mod files;
mod list;
mod record;
mod template;
mod webhooks;

use harness::Service;
use serde_json::{Value, json};

/// The project `crm` with a few records, including malicious ones.
pub(crate) async fn service() -> Service {
    let service = Service::start().await;
    let company = json!({"external_key": "co:1", "attributes": {"name": "Ada & Co"}});
    service.post("/entities/template/companies", company).await.expect(201);
    for (number, name) in
        ["Anna", "Beat", "Chloé", "<img src=x onerror=document.title='broken'>", "יעל"].iter().enumerate()
    {
        let attributes = json!({"name": name, "visits": number, "tags": ["first", "vip"], "born": "1990-05-01",
            "company": {"external_key": "co:1"}, "active": number % 2 == 0});
        service.upsert(&format!("erp:{number}"), attributes).await.expect(201);
    }
    service
}

/// A key of a role that reads only the customers of one name.
pub(crate) async fn sales_key(service: &Service) -> String {
    let role = service.database.create_role("sales").await;
    let session = service.session().await;
    session
        .run(&format!(
            "select keyed.grant_access('{role}', 'crm.customers', '{{read}}', \
             '{{\"filters\": [{{\"field\": \"name\", \"operator\": \"eq\", \"value\": \"Anna\"}}]}}')"
        ))
        .await;
    session.text("select keyed.issue_api_key($1::text::name, '{crm}', 'sales')", &[&role]).await
}

/// A key of another administrator, Beat.
pub(crate) async fn colleague_key(service: &Service) -> String {
    service.session().await.text("select keyed.issue_api_key('keyed_admin', null, 'Beat')", &[]).await
}

/// Runs the script `tests/ui/<name>.mjs` against the service. `more` is added to its input.
pub(crate) async fn run(service: &Service, name: &str, more: Value) {
    let input = json!({
        "address": service.proxy.url(""), "key": service.proxy.key(), "project": "crm", "more": more,
        "screenshot": harness::target_folder().join(format!("test-logs/ui-{}.png", name.replace('/', "-"))),
    });
    harness::run_script(name, &input).await;
}
