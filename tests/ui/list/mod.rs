//! Lists of records: search, filters, sort, selection, the address.

use crate::{run, service};
use serde_json::json;

#[tokio::test]
async fn a_list_is_searched_filtered_and_sorted_and_its_address_says_how() {
    run(&service().await, "list/search", json!({})).await;
}

#[tokio::test]
async fn texts_of_users_are_shown_as_texts() {
    run(&service().await, "list/hostile", json!({})).await;
}

#[tokio::test]
async fn selected_records_are_changed_deleted_and_brought_back() {
    run(&service().await, "list/selection", json!({})).await;
}

#[tokio::test]
async fn deleted_records_are_listed_and_restored_one_or_many() {
    run(&service().await, "list/deleted", json!({})).await;
}

#[tokio::test]
async fn the_main_way_needs_no_mouse() {
    run(&service().await, "list/keyboard", json!({})).await;
}

#[tokio::test]
async fn the_form_of_a_filter_stays_when_its_code_arrives_late() {
    run(&service().await, "list/late_code", json!({})).await;
}

#[tokio::test]
async fn a_list_asks_for_its_records_once_before_its_code_is_there() {
    run(&service().await, "list/opening", json!({})).await;
}

#[tokio::test]
async fn who_types_on_gives_up_the_search_before_and_waits_for_no_number() {
    run(&service().await, "list/typing", json!({})).await;
}

#[tokio::test]
async fn a_search_that_finds_nothing_shows_what_was_probably_meant() {
    run(&service().await, "list/meant", json!({})).await;
}

#[tokio::test]
async fn the_search_bar_completes_the_last_word() {
    run(&service().await, "list/suggestions", json!({})).await;
}

#[tokio::test]
async fn a_day_in_a_filter_is_one_of_the_reader_and_of_a_view_one_of_the_view() {
    run(&service().await, "list/days", json!({})).await;
}

#[tokio::test]
async fn escape_keeps_the_search_and_undo_brings_a_cleared_one_back() {
    run(&service().await, "list/search_kept", json!({})).await;
}

#[tokio::test]
async fn address_says_all_that_a_list_shows() {
    run(&service().await, "list/address", json!({})).await;
}

#[tokio::test]
async fn a_list_begins_at_a_value_of_its_sort() {
    run(&service().await, "list/start", json!({})).await;
}

#[tokio::test]
async fn a_list_says_where_its_records_will_be_and_that_a_search_runs() {
    run(&service().await, "list/loading", json!({})).await;
}

#[tokio::test]
async fn a_list_without_records_says_so_in_its_middle() {
    run(&service().await, "list/empty", json!({})).await;
}

#[tokio::test]
async fn long_list_gives_up_far_records_and_brings_them_back_in_place() {
    run(&service().await, "list/long", json!({})).await;
}
