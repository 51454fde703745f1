//! Lists of records: search, filters, sort, selection, the address.

use crate::{colleague_key, run, service};
use serde_json::json;

#[tokio::test]
async fn address_contains_search_filters_and_sort() {
    run(&service().await, "list/search", json!({})).await;
}

#[tokio::test]
async fn user_text_is_escaped() {
    run(&service().await, "list/hostile", json!({})).await;
}

#[tokio::test]
async fn selected_records_are_changed_deleted_and_restored() {
    run(&service().await, "list/selection", json!({})).await;
}

#[tokio::test]
async fn deleted_records_are_listed_and_restored() {
    run(&service().await, "list/deleted", json!({})).await;
}

#[tokio::test]
async fn main_workflow_needs_no_mouse() {
    run(&service().await, "list/keyboard", json!({})).await;
}

#[tokio::test]
async fn filter_form_stays_when_its_code_loads_late() {
    run(&service().await, "list/late_code", json!({})).await;
}

#[tokio::test]
async fn list_preloads_its_records_once() {
    run(&service().await, "list/opening", json!({})).await;
}

#[tokio::test]
async fn typing_aborts_the_earlier_search() {
    run(&service().await, "list/typing", json!({})).await;
}

#[tokio::test]
async fn search_without_results_shows_similar_words() {
    run(&service().await, "list/meant", json!({})).await;
}

#[tokio::test]
async fn search_bar_completes_the_last_word() {
    run(&service().await, "list/suggestions", json!({})).await;
}

#[tokio::test]
async fn days_use_the_time_zone_of_reader_or_view() {
    run(&service().await, "list/days", json!({})).await;
}

#[tokio::test]
async fn escape_keeps_the_search_and_undo_restores_it() {
    run(&service().await, "list/search_kept", json!({})).await;
}

#[tokio::test]
async fn address_contains_the_whole_state() {
    run(&service().await, "list/address", json!({})).await;
}

#[tokio::test]
async fn list_starts_at_a_value_of_its_sort() {
    run(&service().await, "list/start", json!({})).await;
}

#[tokio::test]
async fn list_shows_placeholders_and_a_running_search() {
    run(&service().await, "list/loading", json!({})).await;
}

#[tokio::test]
async fn empty_list_shows_its_state() {
    run(&service().await, "list/empty", json!({})).await;
}

#[tokio::test]
async fn long_list_unloads_and_reloads_distant_records() {
    run(&service().await, "list/long", json!({})).await;
}

#[tokio::test]
async fn list_shows_changes_of_others_and_keeps_its_scroll_position() {
    let service = service().await;
    let other = colleague_key(&service).await;
    run(&service, "list/live", json!({"other": other})).await;
}

#[tokio::test]
async fn new_records_of_others_are_counted_and_shown_on_request() {
    let service = service().await;
    let other = colleague_key(&service).await;
    run(&service, "list/live_new", json!({"other": other})).await;
}

#[tokio::test]
async fn hidden_tab_catches_up_when_it_is_shown() {
    let service = service().await;
    let other = colleague_key(&service).await;
    run(&service, "list/live_return", json!({"other": other})).await;
}
