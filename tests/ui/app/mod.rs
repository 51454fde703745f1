//! Signing in, the frame, and all pages.

use crate::{run, sales_key, service};
use harness::Service;
use serde_json::json;

#[tokio::test]
async fn user_signs_in_with_a_key_and_out_again() {
    run(&service().await, "app/sign_in", json!({})).await;
}

#[tokio::test]
async fn sign_in_page_shows_the_hint_of_the_service_as_text() {
    let hint = "The key is in <b>.run/admin.key</b>, \"nowhere\" else & only there.";
    let service = Service::start_with(&[("KEYED_SIGN_IN_HINT", hint)]).await;
    run(&service, "app/sign_in_hint", json!({"hint": hint})).await;
}

#[tokio::test]
async fn revoked_key_opens_a_sign_in_dialog() {
    let service = service().await;
    let other =
        service.session().await.text("select keyed.issue_api_key('keyed_admin', null, 'second')", &[]).await;
    run(&service, "app/revoked_key", json!({"other": other})).await;
}

#[tokio::test]
async fn page_with_a_revoked_key_is_hidden() {
    let service = service().await;
    let other =
        service.session().await.text("select keyed.issue_api_key('keyed_admin', null, 'second')", &[]).await;
    run(&service, "app/returning", json!({"other": other})).await;
}

#[tokio::test]
async fn signing_in_with_another_key_keeps_no_data() {
    let service = service().await;
    let other =
        service.session().await.text("select keyed.issue_api_key('keyed_admin', null, 'second')", &[]).await;
    let sales = sales_key(&service).await;
    run(&service, "app/other_role", json!({"other": other, "sales": sales})).await;
}

#[tokio::test]
async fn address_of_an_unknown_project_shows_no_project() {
    run(&service().await, "app/unknown_project", json!({})).await;
}

#[tokio::test]
async fn application_opens_the_last_project() {
    run(&service().await, "app/last_project", json!({})).await;
}

#[tokio::test]
async fn narrow_screen_names_the_project_and_no_keys() {
    run(&service().await, "app/narrow", json!({})).await;
}
