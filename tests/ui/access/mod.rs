//! The application for a restricted caller, and its accessibility.

use crate::{run, sales_key, service};
use serde_json::json;

#[tokio::test]
async fn scoped_role_gets_fewer_records_and_actions() {
    let service = service().await;
    let key = sales_key(&service).await;
    run(&service, "access/scoped", json!({"key": key})).await;
}

#[tokio::test]
async fn pages_have_no_serious_accessibility_violation() {
    run(&service().await, "access/accessibility", json!({})).await;
}

#[tokio::test]
async fn new_project_has_the_slug_of_its_name_and_a_chosen_time_zone() {
    run(&service().await, "access/new_project", json!({})).await;
}

#[tokio::test]
async fn roles_without_grants_are_listed_on_request() {
    let service = service().await;
    sales_key(&service).await;
    let idle = service.database.create_role("idle").await;
    run(&service, "access/roles", json!({"idle": idle})).await;
}
