//! Templates: what a change does, told before it is done.

use crate::{run, service};
use serde_json::json;

#[tokio::test]
async fn a_change_of_a_template_says_before_it_is_saved_what_it_does() {
    run(&service().await, "template/dry_run", json!({})).await;
}

#[tokio::test]
async fn format_of_an_attribute_shows_in_the_list_and_years_have_no_separator() {
    run(&service().await, "template/format", json!({})).await;
}

#[tokio::test]
async fn synonyms_are_lines_of_text_and_none_is_lost() {
    run(&service().await, "template/synonyms", json!({})).await;
}
