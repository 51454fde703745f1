//! Templates, and the effects of a change that are shown in advance.

use crate::{run, service};
use serde_json::json;

#[tokio::test]
async fn template_change_shows_its_effects_before_saving() {
    run(&service().await, "template/dry_run", json!({})).await;
}

#[tokio::test]
async fn format_of_an_attribute_shows_in_the_list_and_years_have_no_separator() {
    run(&service().await, "template/format", json!({})).await;
}

#[tokio::test]
async fn synonyms_are_edited_as_lines() {
    run(&service().await, "template/synonyms", json!({})).await;
}
