//! Files: the steps of an import.

use crate::{run, service};
use serde_json::json;

#[tokio::test]
async fn an_import_writes_in_its_last_step_and_names_the_rows_it_refuses() {
    run(&service().await, "files/import", json!({})).await;
}

#[tokio::test]
async fn file_of_a_german_excel_is_imported_by_three_presses() {
    run(&service().await, "files/formats", json!({})).await;
}

#[tokio::test]
async fn export_for_excel_has_the_marks_that_are_chosen() {
    run(&service().await, "files/excel", json!({})).await;
}

#[tokio::test]
async fn reference_is_matched_by_a_name_of_its_target() {
    run(&service().await, "files/match", json!({})).await;
}
