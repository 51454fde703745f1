use super::*;
use crate::search::text::document::{Field, write_field};
use crate::search::text::fold::fold;
use crate::search::text::query;
use crate::search::text::query::TextQuery;
use std::collections::BTreeSet;

/// The stem of a word is the word without a final s.
fn stems(text: &str) -> BTreeSet<String> {
    fold(text).split(' ').map(|word| word.trim_end_matches('s').to_owned()).collect()
}

/// The rank of a record with this key, name and notes.
fn rank(query: &str, texts: [&str; 3]) -> Option<i16> {
    rank_without(query, texts, &[])
}

/// The same, where these attributes are dropped: 1 is the name, 8 are the notes.
fn rank_without(query: &str, [key, name, notes]: [&str; 3], dropped: &[i32]) -> Option<i16> {
    let mut document = String::new();
    for (attribute, value) in [(None, key), (Some(1), name), (Some(8), notes)] {
        let field = Field { attribute, values: vec![value], is_title: attribute != Some(8) };
        write_field(&mut document, &field, &mut |text| stems(text));
    }
    let query = TextQuery::parse(query).expect("a query");
    let needles: Vec<(Needle, bool)> =
        query.terms.iter().map(|it| (Needle::new(it, &[stems(&it.typed)]), it.is_excluded)).collect();
    let terms = needles.iter().map(|(needle, is_excluded)| (needle, *is_excluded));
    let complete_names: Vec<Whole> =
        query::titles(&query).iter().filter_map(|name| Whole::new(name, &stems(name))).collect();
    let comparison = Comparison::new(terms, [Some(1), None].into_iter()).without(dropped);
    let comparison = comparison.before_others(&complete_names);
    comparison.rank(document.as_bytes(), |_| false, &mut [])
}

#[test]
fn rank_depends_on_the_position_of_words() {
    let record = ["K-1", "Old maps", "of towns and roads"];
    for (query, expected) in [
        ("map", Some(2)),
        ("maps old", Some(3)),
        ("old map", Some(3)),
        ("old k-1", Some(2)),
        ("old town", Some(1)),
        ("road", Some(1)),
        ("oad", Some(0)),
        ("old oad", Some(0)),
        ("\"old maps\"", Some(4)),
        ("k-1", Some(4)),
        ("old maps -roads", None),
        ("old maps -streets", Some(4)),
        ("\"old map\"", Some(0)),
        ("\"ld maps\"", Some(0)),
        ("\"towns and\"", Some(1)),
        ("\"towns an\"", Some(0)),
        ("\"maps old\"", None),
        ("old new", None),
        ("old -new", Some(2)),
        ("old -roads", None),
        ("-new", Some(2)),
        ("of", Some(1)),
        ("ap", None),
        ("OLD  Maps", Some(4)),
        ("old - maps", Some(4)),
        ("maps maps old", Some(3)),
    ] {
        assert_eq!(rank(query, record), expected, "{query}");
    }
}

#[test]
fn uppercase_stem_does_not_match_text() {
    assert_eq!(rank("road", ["", "", "roadways"]), Some(0));
    assert_eq!(rank("ROAD", ["", "", "r o a d"]), None);
    assert_eq!(rank("buss", ["", "bus", ""]), Some(3));
}

#[test]
fn attribute_code_is_not_matched_as_a_prefix() {
    // The number 8 is written as 10 in the octal digits of documents, which begin with a 1.
    assert_eq!(rank("town", ["", "", "town"]), Some(1));
}

#[test]
fn field_of_a_dropped_attribute_is_ignored() {
    let record = ["K-1", "Old maps", "of towns"];
    for (query, dropped, expected) in [
        ("town", &[8][..], None),
        ("owns", &[8], None),
        ("old -town", &[8], Some(2)),
        ("old k-1", &[8], Some(2)),
        ("town", &[1], Some(1)),
        ("map", &[1], None),
        ("k-1", &[1, 8], Some(4)),
        ("town -map", &[1], Some(1)),
        ("map", &[9], Some(2)),
    ] {
        assert_eq!(rank_without(query, record, dropped), expected, "{query} without {dropped:?}");
    }
}
