//! Signing in, the frame, every page.

use crate::{run, service};
use serde_json::json;

#[tokio::test]
async fn somebody_signs_in_with_a_key_and_out_again() {
    run(&service().await, "app/sign_in", json!({})).await;
}

#[tokio::test]
async fn a_revoked_key_asks_for_another_over_the_page() {
    let service = service().await;
    let other =
        service.session().await.text("select keyed.issue_api_key('keyed_admin', null, 'second')", &[]).await;
    run(&service, "app/revoked_key", json!({"other": other})).await;
}
