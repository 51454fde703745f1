//! How a word is written in a text: pure.

use super::folded::Folded;
use super::highlight::begins_word;
use super::word::is_of_word;

/// The first place of a folded word in a text, as it is written there.
pub fn first(text: &str, word: &str) -> Option<String> {
    let folded = Folded::new(text);
    let ends = |at: usize| !folded.text[at..].starts_with(is_of_word);
    let mut places = folded.text.match_indices(word).map(|(at, _)| at);
    let at = places.find(|at| begins_word(&folded.text, *at) && ends(at + word.len()))?;
    Some(text[folded.original(at..at + word.len())].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_spelled_as_it_is_written() {
        for (text, word, expected) in [
            ("in ZÜRICH", "zurich", Some("ZÜRICH")),
            ("Zürichs, (Zürich)", "zurich", Some("Zürich")),
            ("well-Known", "known", Some("Known")),
            ("unknown", "known", None),
        ] {
            assert_eq!(first(text, word).as_deref(), expected, "{word} in {text}");
        }
    }
}
