//! Conditions on documents for a term, in SQL: pure.

use super::document::{self, STEM};
use super::query::{MatchKind, Term};
use super::trigram::has_key;
use crate::value::pattern::escaped;
use crate::value::quote;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A term made ready for documents of one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needle {
    /// A document matches when it holds all texts of one of these lists.
    alternatives: Vec<Vec<String>>,
    /// The alternatives that match whole words, whatever their ending.
    whole_words: Vec<Vec<String>>,
    /// The attributes whose fields do not count.
    gone: Vec<i32>,
}

impl Needle {
    /// The needle of a term; `stems` are the lexemes of what was typed, in each of the ways in which documents are
    /// stemmed.
    pub fn new(term: &Term, stems: &[BTreeSet<String>]) -> Needle {
        if is_beginning(term) {
            // Of a word that begins inside a value its letters and digits are repeated, and no sign behind them.
            let words: String = term.text.chars().take_while(|it| it.is_alphanumeric()).collect();
            let mut texts = vec![format!(" {words}")];
            if words != term.text {
                texts.push(term.text.clone());
            }
            let beginning = vec![texts];
            return Needle { whole_words: beginning.clone(), alternatives: beginning, gone: Vec::new() };
        }
        let plain = vec![term.text.clone()];
        let mut whole_words: Vec<Vec<String>> = Vec::new();
        if term.kind == MatchKind::Word {
            for lexemes in stems.iter().filter(|lexemes| !lexemes.is_empty()) {
                let texts: Vec<String> = lexemes
                    .iter()
                    .map(|lexeme| format!("{STEM}{}{STEM}", document::marked(lexeme)))
                    .collect();
                if !whole_words.contains(&texts) {
                    whole_words.push(texts);
                }
            }
        }
        let mut alternatives = vec![plain.clone()];
        alternatives.extend(whole_words.iter().cloned());
        if whole_words.is_empty() {
            whole_words.push(plain);
        }
        Needle { alternatives, whole_words, gone: Vec::new() }
    }

    /// The same, where a document that matches the other will do.
    pub fn or(mut self, other: Needle) -> Needle {
        for (all, others) in
            [(&mut self.alternatives, other.alternatives), (&mut self.whole_words, other.whole_words)]
        {
            let new: Vec<_> = others.into_iter().filter(|texts| !all.contains(texts)).collect();
            all.extend(new);
        }
        self
    }

    /// The same, excluding fields of dropped attributes that documents may still contain.
    pub fn without(self, gone: &[i32]) -> Needle {
        Needle { gone: gone.to_vec(), ..self }
    }

    /// What counts of a document.
    fn valid<'d>(&self, document: &'d str) -> Cow<'d, str> {
        if self.gone.is_empty() {
            return document.into();
        }
        let starts: Vec<String> = self.gone.iter().map(|id| document::field_start(Some(*id))).collect();
        let fields = literal(&format!("({})[^{}]*", starts.join("|"), document::FIELD));
        format!("regexp_replace({document}, {fields}, '', 'g')").into()
    }

    /// Whether the trigram index finds it: every alternative must have a text with a key of its own.
    pub fn is_indexable(&self) -> bool {
        self.alternatives.iter().all(|texts| texts.iter().any(|text| has_key(text)))
    }

    /// A document matches when it holds all texts of one of these lists.
    pub fn alternatives(&self) -> &[Vec<String>] {
        &self.alternatives
    }

    /// It matches whole words when it holds all texts of one of these.
    pub fn whole_words(&self) -> &[Vec<String>] {
        &self.whole_words
    }

    /// The texts of each alternative that the index can look up, case aside; where one text is in all of them, that one.
    pub fn looked_up(&self) -> Vec<Vec<String>> {
        match self.common() {
            Some(text) => vec![vec![text.to_owned()]],
            None => {
                let indexable =
                    |texts: &Vec<String>| texts.iter().filter(|text| has_key(text)).cloned().collect();
                self.alternatives.iter().map(indexable).collect()
            }
        }
    }

    /// The condition in the form that the index serves. The index knows no case, so where a stem is the word as it was
    /// typed, in capitals, one look into it finds both.
    pub fn indexed(&self, document: &str) -> String {
        let found = match self.common() {
            Some(text) => {
                let pattern = literal(&format!("%{}%", escaped(text)));
                format!("({document} ilike {pattern} and {})", self.checked(document))
            }
            None => join(&self.alternatives, |text| like(document, text)),
        };
        if self.gone.is_empty() { found } else { format!("({found} and {})", self.checked(document)) }
    }

    /// The text that all alternatives contain, if there are several and case is ignored. Documents have the collation
    /// "C", in which only ASCII letters have case.
    fn common(&self) -> Option<&str> {
        let [plain, others @ ..] = self.alternatives.as_slice() else { return None };
        let [text] = plain.as_slice() else { return None };
        let holds =
            |texts: &Vec<String>| texts.iter().any(|other| other.to_lowercase().contains(text.as_str()));
        (text.is_ascii() && has_key(text) && !others.is_empty() && others.iter().all(holds)).then_some(text)
    }

    /// The condition in a form that no index serves, for documents that were found by something else.
    pub fn checked(&self, document: &str) -> String {
        let document = self.valid(document);
        join(&self.alternatives, |text| holds(&document, text))
    }

    /// Whether the text holds it as a whole word, whatever its ending; for a phrase, whether it holds it.
    pub fn whole_word(&self, document: &str) -> String {
        let document = self.valid(document);
        join(&self.whole_words, |text| holds(&document, text))
    }
}

/// Terms of one or two letters match at the beginning of words: they have no trigram, and most documents contain them
/// somewhere.
pub(super) fn is_beginning(term: &Term) -> bool {
    let mut characters = term.text.chars();
    characters.next().is_some_and(char::is_alphanumeric) && characters.nth(1).is_none()
}

/// `like` takes half the time of `strpos` on documents of some lines. What `coalesce` is about no index serves, and the
/// planner makes no guess of its own.
fn holds(document: &str, text: &str) -> String {
    format!("coalesce({}, false)", like(document, text))
}

fn like(document: &str, text: &str) -> String {
    format!("{document} like {}", literal(&format!("%{}%", escaped(text))))
}

fn join(alternatives: &[Vec<String>], render: impl Fn(&str) -> String) -> String {
    let all = |texts: &Vec<String>| texts.iter().map(|text| render(text)).collect::<Vec<_>>().join(" and ");
    format!("({})", alternatives.iter().map(all).collect::<Vec<_>>().join(" or "))
}

/// A text with the marks of documents in it, in a form that people can read and copy.
pub fn literal(text: &str) -> String {
    let quoted = quote::literal(text);
    if !text.contains(char::is_control) {
        return quoted;
    }
    let mut out = String::with_capacity(quoted.len() + 16);
    if !quoted.starts_with('E') {
        out.push('E');
    }
    for character in quoted.chars() {
        match character {
            mark if mark.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(mark))),
            other => out.push(other),
        }
    }
    out
}

/// The part of a document that one attribute fills; of the external key when there is none.
pub fn field(document: &str, attribute: Option<i32>) -> String {
    let start = literal(&document::field_start(attribute));
    format!("split_part(split_part({document}, {start}, 2), {}, 1)", literal(&document::FIELD.to_string()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::query::TextQuery;
    use super::*;
    use crate::filter::tests::properties::outside_of_quotes;
    use proptest::prelude::*;

    pub(in crate::search::text) fn needle(text: &str, stems: &[&[&str]]) -> Needle {
        let query = TextQuery::parse(text).expect("a query");
        let stems: Vec<BTreeSet<String>> =
            stems.iter().map(|lexemes| lexemes.iter().map(|it| (*it).to_owned()).collect()).collect();
        Needle::new(&query.terms[0], &stems)
    }

    #[test]
    fn a_word_matches_as_a_part_or_by_its_stems() {
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
    fn a_word_that_is_its_own_stem_is_looked_up_once() {
        assert_eq!(
            needle("Paint", &[&["paint"]]).indexed("d"),
            r"(d ilike '%paint%' and (coalesce(d like '%paint%', false) or coalesce(d like E'%\x1dPAINT\x1d%', false)))"
        );
        assert_eq!(needle("paints", &[&["paint"]]).common(), None);
        assert_eq!(needle("über", &[&["über"]]).common(), None);
        assert_eq!(needle("word", &[&["word"], &["other"]]).common(), None);
    }

    #[test]
    fn a_phrase_matches_literally() {
        let phrase = needle("\"in running\"", &[&["run"]]);
        assert_eq!(phrase.indexed("d"), "(d like '%in running%')");
        assert_eq!(phrase.whole_word("d"), "(coalesce(d like '%in running%', false))");
    }

    #[test]
    fn one_or_two_letters_match_where_a_word_begins() {
        assert_eq!(needle("It", &[&["it"]]).indexed("d"), "(d like '% it%')");
        assert_eq!(needle("京都", &[]).checked("d"), "(coalesce(d like '% 京都%', false))");
        assert_eq!(needle("§5", &[]).indexed("d"), "(d like '%§5%')");
    }

    #[test]
    fn a_pattern_takes_every_character_as_it_is() {
        assert_eq!(needle(r"50%_\'x", &[]).indexed("d"), r"(d like E'%50\\%\\_\\\\''x%')");
    }

    #[test]
    fn what_has_no_trigram_needs_a_scan() {
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
        fn nothing_that_is_looked_for_gets_out_of_its_literal(
            text in prop_oneof![any::<String>(), "-?[a'\\\\%_\"E ;\u{1d}-]{1,9}"],
            lexemes in prop::collection::btree_set("[a'\\\\%_;\u{1d}]{1,5}", 0..3),
        ) {
            let Ok(query) = TextQuery::parse(&text) else { return Ok(()) };
            for term in &query.terms {
                let needle = Needle::new(term, std::slice::from_ref(&lexemes));
                for sql in [needle.indexed("d"), needle.checked("d"), needle.whole_word("d")] {
                    let left = outside_of_quotes(&sql);
                    for word in left.split([' ', '(', ')', ',']).filter(|word| !word.is_empty()) {
                        let known = ["d", "like", "ilike", "coalesce", "false", "and", "or"];
                        prop_assert!(known.contains(&word), "{word} in {sql}");
                    }
                }
            }
        }
    }
}
