//! One record: values, versions, the key, deletion.

use crate::{colleague_key, run, service};
use serde_json::json;

#[tokio::test]
async fn change_of_another_user_is_shown_and_not_overwritten() {
    run(&service().await, "record/conflict", json!({})).await;
}

#[tokio::test]
async fn used_key_is_rejected_with_a_link_to_its_record() {
    run(&service().await, "record/key_conflict", json!({})).await;
}

#[tokio::test]
async fn deleted_record_can_be_restored_without_its_key() {
    run(&service().await, "record/deletion", json!({})).await;
}

#[tokio::test]
async fn field_is_saved_on_every_exit() {
    run(&service().await, "record/leaving", json!({})).await;
}

#[tokio::test]
async fn lost_response_causes_no_duplicate() {
    run(&service().await, "record/adding", json!({})).await;
}

#[tokio::test]
async fn point_of_a_metric_is_corrected_and_deleted() {
    run(&service().await, "record/correcting", json!({})).await;
}

#[tokio::test]
async fn record_panel_keeps_its_width() {
    run(&service().await, "record/beside", json!({})).await;
}

#[tokio::test]
async fn drawer_steps_to_the_next_and_previous_record() {
    run(&service().await, "record/stepping", json!({})).await;
}

#[tokio::test]
async fn long_text_is_folded() {
    run(&service().await, "record/long_text", json!({})).await;
}

#[tokio::test]
async fn editor_of_a_list_suggests_values_of_other_records() {
    run(&service().await, "record/existing", json!({})).await;
}

#[tokio::test]
async fn required_fields_of_a_new_record_are_marked() {
    run(&service().await, "record/required", json!({})).await;
}

#[tokio::test]
async fn open_record_shows_changes_of_others_and_keeps_the_edit() {
    let service = service().await;
    let other = colleague_key(&service).await;
    run(&service, "record/live", json!({"other": other})).await;
}
