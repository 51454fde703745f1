use super::*;
use crate::filter::tests::properties::outside_of_quotes;
use crate::search::text::query::TextQuery;
use proptest::prelude::*;

pub(in crate::search::text) fn needle(text: &str, stems: &[&[&str]]) -> Needle {
    let query = TextQuery::parse(text).expect("a query");
    let stems: Vec<BTreeSet<String>> =
        stems.iter().map(|lexemes| lexemes.iter().map(|it| (*it).to_owned()).collect()).collect();
    Needle::new(&query.terms[0], &stems)
}

#[test]
fn word_matches_as_substring_or_by_stem() {
    let word = needle("Running", &[&["run"], &["run"], &[]]);
    assert_eq!(
        word.indexed("d.document"),
        "(d.document like '%running%' or d.document like E'%\\x1dRUN\\x1d%')"
    );
    assert_eq!(word.whole_word("d.title"), "(coalesce(d.title like E'%\\x1dRUN\\x1d%', false))");
    let many = needle("e-mail", &[&["e-mail", "mail"], &["mail"]]);
    assert_eq!(
        many.checked("d"),
        r"(coalesce(d like '%e-mail%', false) or coalesce(d like E'%\x1dE-MAIL\x1d%', false) and coalesce(d like E'%\x1dMAIL\x1d%', false) or coalesce(d like E'%\x1dMAIL\x1d%', false))"
    );
}

#[test]
fn word_equal_to_its_stem_is_looked_up_once() {
    assert_eq!(
        needle("Paint", &[&["paint"]]).indexed("d"),
        r"(d ilike '%paint%' and (coalesce(d like '%paint%', false) or coalesce(d like E'%\x1dPAINT\x1d%', false)))"
    );
    for (word, stems, expected) in [
        ("paint", &[&["paint"] as &[&str]] as &[&[&str]], 1),
        ("paints", &[&["paint"]], 2),
        ("über", &[&["über"]], 2),
        ("word", &[&["word"], &["other"]], 2),
    ] {
        assert_eq!(needle(word, stems).looked_up().len(), expected, "{word}");
    }
}

#[test]
fn covered_alternative_is_not_looked_up() {
    let phrase = needle("\"motor car\"", &[]);
    let all = needle("car", &[&["car"]]).or(needle("automobile", &[&["automobil"]])).or(phrase);
    assert_eq!(
        all.looked_up(),
        [["car"], ["automobile"], ["\u{1d}AUTOMOBIL\u{1d}"]].map(|texts| texts.map(str::to_owned).to_vec())
    );
    assert!(all.indexed("d").starts_with(
        "((d ilike '%car%' or d ilike '%automobile%' or d ilike E'%\\x1dAUTOMOBIL\\x1d%') and (coalesce("
    ));
    // Every document that contains "x-car" contains "car", and the stem of cars is the stem of car.
    let both = needle("x-car", &[]).or(needle("cars", &[&["car"]])).or(needle("car", &[&["car"]]));
    assert_eq!(both.looked_up(), [["car".to_owned()]]);
}

#[test]
fn phrase_matches_literally() {
    let phrase = needle("\"in running\"", &[&["run"]]);
    assert_eq!(phrase.indexed("d"), "(d like '%in running%')");
    let whole = phrase.whole_word("d");
    assert!(
        whole.starts_with(
            r"(coalesce(d like E'%\x1dRUN\x1d%', false) and coalesce(d like '%in running%' and d ~ E'(?<!["
        ) && whole.ends_with("])', false))"),
        "{whole}"
    );
    assert_eq!(needle("\"to be\"", &[&[]]).whole_word("d"), "(coalesce(d like '%to be%', false))");
    let either = needle("car", &[&["car"]]).or(needle("\"motor car\"", &[&["car"]]));
    assert_eq!(either.whole_words().len(), 2);
}

#[test]
fn short_term_matches_the_start_of_a_word() {
    assert_eq!(needle("It", &[&["it"]]).indexed("d"), "(d like '% it%')");
    assert_eq!(needle("京都", &[]).checked("d"), "(coalesce(d like '% 京都%', false))");
    assert_eq!(needle("§5", &[]).indexed("d"), "(d like '%§5%')");
    // A tone sign and a vowel sign of Thai, which follow a letter.
    assert_eq!(needle("้า", &[]).checked("d"), "(coalesce(d like '% ้า%', false))");
}

#[test]
fn pattern_escapes_every_character() {
    assert_eq!(needle(r"50%_\'x", &[]).indexed("d"), r"(d like E'%50\\%\\_\\\\''x%')");
}

#[test]
fn term_without_a_trigram_needs_a_scan() {
    for text in [
        "a", "ab", "abc", "東京", "a-b", "ab-", "-- ab", "r&d", "§5", "⌀8", "→b", "≥5", "😀a", "「東",
        "$1.5", "a.", "\"§ x\"",
    ] {
        let text = text.trim_start_matches("-- ");
        assert!(needle(text, &[]).is_indexable(), "{text}");
    }
    for text in ["§", "%", "...", "\"--\"", "_x"] {
        let indexable = needle(text, &[]).is_indexable();
        assert_eq!(indexable, text == "_x", "{text}");
    }
}

proptest! {
    #[test]
    fn needle_is_quoted_in_its_literal(
        text in prop_oneof![any::<String>(), "-?[a'\\\\%_\"E ;\u{1d}-]{1,9}"],
        lexemes in prop::collection::btree_set("[a'\\\\%_;\u{1d}]{1,5}", 0..3),
    ) {
        let Ok(query) = TextQuery::parse(&text) else { return Ok(()) };
        for term in &query.terms {
            let needle = Needle::new(term, std::slice::from_ref(&lexemes));
            for sql in [needle.indexed("d"), needle.checked("d"), needle.whole_word("d")] {
                let left = outside_of_quotes(&sql);
                for word in left.split([' ', '(', ')', ',']).filter(|word| !word.is_empty()) {
                    let known = ["d", "like", "ilike", "~", "coalesce", "false", "and", "or"];
                    prop_assert!(known.contains(&word), "{word} in {sql}");
                }
            }
        }
    }
}

#[test]
fn whole_words_are_looked_up_by_their_lexemes() {
    let word = needle("Running", &[&["run"], &["runn"]]);
    assert_eq!(
        word.whole_word_index_terms(),
        Some(vec![vec!["\u{1d}RUN\u{1d}".to_owned()], vec!["\u{1d}RUNN\u{1d}".to_owned()]])
    );
    assert_eq!(word.in_name("\u{2}"), Some(vec!["\u{2}\u{1e}RUN\u{1e}RUNN".to_owned()]));
    let compound = needle("e-mail", &[&["e-mail", "mail"]]);
    let asked = ["\u{2}\u{1e}E-MAIL", "\u{2}\u{1e}MAIL"].map(str::to_owned).to_vec();
    assert_eq!(compound.in_name("\u{2}"), Some(asked));
}

#[test]
fn phrases_are_looked_up_by_their_whole_words() {
    let phrase = needle("\"old maps\"", &[&["map", "old"]]);
    let texts = ["\u{1d}MAP\u{1d}", "\u{1d}OLD\u{1d}", "old maps"].map(str::to_owned).to_vec();
    assert_eq!(phrase.whole_word_index_terms(), Some(vec![texts]));
    assert_eq!(phrase.in_name("\u{2}"), None);
}

#[test]
fn term_without_a_letter_lexeme_is_not_looked_up_in_names() {
    assert_eq!(needle("\"to be\"", &[&[]]).in_name("\u{2}"), None);
    assert_eq!(needle("\"to be\"", &[&[]]).whole_word_index_terms(), None);
    assert_eq!(needle("the", &[&[]]).whole_word_index_terms(), None);
    assert_eq!(needle("it", &[&["it"]]).in_name("\u{2}"), None);
    assert_eq!(needle("2024", &[&["2024"]]).in_name("\u{2}"), None);
    assert!(needle("2024", &[&["2024"]]).whole_word_index_terms().is_some());
}
