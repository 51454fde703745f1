//! Text: a part of a word and two words in the search bar, and a substring condition.

use super::{Run, against_sql};

/// The maximum ratio of a search to handwritten SQL.
const AIM: f64 = 1.15;

pub(super) async fn run(run: &mut Run<'_>) {
    for (name, scripts) in [
        (
            "search for a substring of a word",
            [include_str!("../scripts/part_proxy.sql"), include_str!("../scripts/part_plain.sql")],
        ),
        (
            "search for two words",
            [include_str!("../scripts/words_proxy.sql"), include_str!("../scripts/words_plain.sql")],
        ),
        (
            "list by a substring of the title",
            [include_str!("../scripts/like_proxy.sql"), include_str!("../scripts/like_plain.sql")],
        ),
    ] {
        against_sql(run, name, scripts, AIM, None).await;
    }
}
