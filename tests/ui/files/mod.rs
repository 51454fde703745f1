//! Files: the steps of an import.

use crate::{run, service};
use serde_json::json;

#[tokio::test]
async fn import_writes_in_its_last_step() {
    run(&service().await, "files/import", json!({})).await;
}

#[tokio::test]
async fn german_excel_file_is_imported_in_three_clicks() {
    run(&service().await, "files/formats", json!({})).await;
}

#[tokio::test]
async fn excel_export_uses_the_chosen_separators() {
    run(&service().await, "files/excel", json!({})).await;
}

#[tokio::test]
async fn reference_is_matched_by_an_attribute() {
    run(&service().await, "files/match", json!({})).await;
}
