//! Words of documents.

use super::*;
use crate::search::text::document::{Field, write_field};
use crate::search::text::fold::fold;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn document(values: Vec<&str>) -> String {
    let mut out = String::new();
    write_field(&mut out, &Field { attribute: Some(65), values, is_title: true }, &mut |text| {
        fold(text).split(' ').map(|word| word.trim_end_matches('s').to_owned()).collect()
    });
    out
}

fn beginning_with(values: Vec<&str>, beginning: &str) -> Vec<String> {
    let document = document(values);
    let mut words = BTreeSet::new();
    super::beginning_with(&document, beginning, |word| {
        words.insert(word.to_owned());
    });
    words.into_iter().collect()
}

#[test]
fn words_are_found_by_their_beginning() {
    for (text, beginning, expected) in [
        ("Old maps, (Map) road-map", "ma", &["map", "maps"] as &[&str]),
        ("well-known; well.", "we", &["well", "well-known"]),
        ("well-known", "kn", &["known"]),
        ("O'Brien a@example.com, r&d 3.5", "o", &["o'brien"]),
        ("O'Brien a@example.com, r&d 3.5", "a", &["a@example.com"]),
        ("erp:4711 erp:4712", "erp", &["erp"]),
        ("erp:4711 erp:4712", "erp:47", &["erp:4711", "erp:4712"]),
        ("東京都 大阪", "東", &["東京都"]),
        ("maps", "maps", &["maps"]),
        ("xmaps", "ma", &[]),
        ("C++ (C#), A+, C+/-", "c+", &["c++", "c+/-"]),
        ("C++, C", "c", &["c"]),
        ("gardens, garden, garden.example", "garden.", &["garden.example"]),
        ("gardens, garden", "garden,", &[]),
    ] {
        assert_eq!(beginning_with(vec![text], beginning), expected, "{beginning} in {text}");
    }
    let long = "a".repeat(MAX_LENGTH);
    assert_eq!(beginning_with(vec![&long], "a").len(), 1);
    assert!(beginning_with(vec![&format!("{long}a")], "a").is_empty());
}

#[test]
fn last_word_begins_after_a_separator() {
    for (text, expected) in [
        ("gar", "gar"),
        ("(gar", "gar"),
        ("house,gar", "gar"),
        ("house/gar", "gar"),
        ("garden,", "garden"),
        ("(well-kn", "well-kn"),
        ("x/-gar.", "gar"),
        ("c+", "c"),
        ("-", ""),
    ] {
        assert_eq!(&text[last_of(text)], expected, "{text}");
    }
}

#[test]
fn stems_are_not_words() {
    let document = document(vec!["glass houses, rooms-1", "Old"]);
    let mut words = Vec::new();
    of_letters(&document, |word| words.push(word));
    assert_eq!(words, ["glass", "houses", "rooms"]);
}

#[test]
fn one_letter_may_differ() {
    for (one, other) in [
        ("vermer", "vermeer"),
        ("vermeeer", "vermeer"),
        ("wermeer", "vermeer"),
        ("evrmeer", "vermeer"),
        ("vermere", "vermeer"),
        ("vermee", "vermeer"),
        ("ermeer", "vermeer"),
    ] {
        assert!(is_near(one, other) && is_near(other, one), "{one}");
    }
    for (one, other) in [("vermeer", "vermeer"), ("vrmer", "vermeer"), ("evremer", "vermeer"), ("", "ab")] {
        assert!(!is_near(one, other), "{one}");
    }
}

/// The Damerau-Levenshtein distance, without edits of swapped letters.
fn distance(one: &[char], other: &[char]) -> usize {
    match (one, other) {
        ([], rest) | (rest, []) => rest.len(),
        ([a, one_rest @ ..], [b, other_rest @ ..]) => {
            let mut least = distance(one_rest, other_rest) + usize::from(a != b);
            least = least.min(distance(one_rest, other) + 1).min(distance(one, other_rest) + 1);
            match (one, other) {
                ([a, b, one @ ..], [c, d, other @ ..]) if a == d && b == c => {
                    least.min(distance(one, other) + 1)
                }
                _ => least,
            }
        }
    }
}

proptest! {
    #[test]
    fn near_word_has_edit_distance_one(one in "[abä]{0,6}", other in "[abä]{0,6}") {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        prop_assert_eq!(is_near(&one, &other), distance(&letters(&one), &letters(&other)) == 1);
    }

    #[test]
    fn near_word_contains_a_search_text(
        one in prop_oneof!["[a-c]{5,11}", "[жa-b]{5,9}"],
        place in 0usize..12,
        letter in "[a-cж]",
        change in 0usize..4,
    ) {
        let mut letters: Vec<char> = one.chars().collect();
        let place = place % letters.len();
        let letter = letter.chars().next().expect("a letter");
        match change {
            0 => letters.insert(place, letter),
            1 => letters[place] = letter,
            2 => drop(letters.remove(place)),
            _ => letters.swap(place, (place + 1) % one.chars().count()),
        }
        let other: String = letters.into_iter().collect();
        prop_assume!(is_near(&one, &other) && other.is_ascii() >= one.is_ascii());
        let document = document(vec![&format!("x ({other})")]);
        let texts = looked_up(&one);
        prop_assert!(texts.iter().flatten().any(|text| document.contains(text)), "{texts:?} in {document:?}");
    }
}
