//! One record: values, versions, the key, deletion.

use crate::{run, service};
use serde_json::json;

#[tokio::test]
async fn change_of_another_user_is_shown_and_not_overwritten() {
    run(&service().await, "record/conflict", json!({})).await;
}

#[tokio::test]
async fn a_key_of_another_record_is_refused_with_a_way_to_that_record() {
    run(&service().await, "record/key_conflict", json!({})).await;
}

#[tokio::test]
async fn a_deleted_record_comes_back_without_its_key_if_another_has_it() {
    run(&service().await, "record/deletion", json!({})).await;
}

#[tokio::test]
async fn what_is_typed_into_a_field_is_saved_however_it_is_left() {
    run(&service().await, "record/leaving", json!({})).await;
}

#[tokio::test]
async fn what_is_added_or_created_is_so_once_also_if_its_answer_is_lost() {
    run(&service().await, "record/adding", json!({})).await;
}

#[tokio::test]
async fn point_of_a_metric_is_corrected_and_deleted() {
    run(&service().await, "record/correcting", json!({})).await;
}

#[tokio::test]
async fn record_is_beside_its_list_in_a_width_that_is_remembered() {
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
