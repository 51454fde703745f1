//! The query language of global_search → terms: pure.
//!
//! `all words must match`, `"a phrase"` matches literally, `-without`, `-"without a phrase"`. A quotation mark
//! without its pair, or inside a word, is an ordinary character.

use super::fold::fold;
use crate::error::{Code, Error};
use unicode_normalization::UnicodeNormalization;

/// The place of the query in a request.
pub const POINTER: &str = "/global_search";
/// The most characters of a query.
pub const MOST_CHARACTERS: usize = 255;
/// The most terms of a query.
pub const MOST_TERMS: usize = 20;

/// The quotation marks that telephones and word processors make of a straight one.
const CURLED_QUOTES: [char; 6] = ['“', '”', '„', '‟', '«', '»'];

/// How a term matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchKind {
    /// As a word, whatever its ending, or as a part of one.
    #[default]
    Word,
    /// Literally.
    Phrase,
}

/// One thing that records must have, or must not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Term {
    /// What is looked for, folded; never empty.
    pub text: String,
    /// The same as it was typed, in composed form: endings are known by it.
    pub typed: String,
    /// How it matches.
    pub kind: MatchKind,
    /// Whether records that match it are left out.
    pub is_excluded: bool,
    /// What will do as well.
    pub alternatives: Vec<Alternative>,
}

/// What will do as well as a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// As a user types it.
    pub typed: String,
    /// How it matches.
    pub kind: MatchKind,
}

/// A query: every term must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextQuery {
    /// The text without surrounding spaces, which may be an external key.
    pub text: String,
    /// The terms, none twice.
    pub terms: Vec<Term>,
}

impl Term {
    /// What will do as well, as terms.
    pub fn others(&self) -> impl Iterator<Item = Term> {
        self.alternatives.iter().map(|it| Term {
            text: fold(&it.typed),
            typed: it.typed.nfc().collect(),
            kind: it.kind,
            is_excluded: self.is_excluded,
            alternatives: Vec::new(),
        })
    }

    /// The term as it was read, without what will do as well.
    pub fn shown(&self) -> String {
        let quote = if self.kind == MatchKind::Phrase { "\"" } else { "" };
        format!("{}{quote}{}{quote}", if self.is_excluded { "-" } else { "" }, self.text)
    }

    /// Whether both ask for the same, apart from what will do as well.
    pub fn is_same(&self, other: &Term) -> bool {
        (&self.text, self.kind, self.is_excluded) == (&other.text, other.kind, other.is_excluded)
    }

    /// Whether a folded text is no term: a dash between two words says nothing.
    pub fn says_nothing(folded: &str) -> bool {
        ["", "-"].contains(&folded)
    }
}

impl TextQuery {
    /// Parses a query. One without terms matches everything.
    pub fn parse(text: &str) -> Result<TextQuery, Error> {
        if text.chars().nth(MOST_CHARACTERS).is_some() {
            let message = format!("a search has at most {MOST_CHARACTERS} characters");
            return Err(Error::at(Code::InvalidValue, POINTER, message));
        }
        let straight = TextQuery::straight(text);
        let mut terms: Vec<Term> = Vec::new();
        let mut rest = straight.as_str();
        while let Some((term, after)) = next_term(rest) {
            rest = after;
            if !Term::says_nothing(&term.text) && !terms.iter().any(|it| it.is_same(&term)) {
                terms.push(term);
            }
            if terms.len() > MOST_TERMS {
                let message = format!("a search has at most {MOST_TERMS} words and phrases");
                return Err(Error::at(Code::InvalidValue, POINTER, message)
                    .hint("Use fewer terms, or put words that belong together in quotation marks."));
            }
        }
        Ok(TextQuery { text: text.trim().to_owned(), terms })
    }

    /// A text with straight quotation marks.
    pub fn straight(text: &str) -> String {
        text.replace(CURLED_QUOTES, "\"")
    }

    /// Combines the terms of both. The combined text is not compared with keys.
    pub fn and(mut self, other: TextQuery) -> TextQuery {
        if self.is_empty() {
            return other;
        }
        if !other.is_empty() {
            self.text = format!("{}\n{}", self.text, other.text);
            let is_new = |term: &Term| {
                !self.terms.iter().any(|it| it.is_same(term) && it.alternatives == term.alternatives)
            };
            let new: Vec<Term> = other.terms.into_iter().filter(is_new).collect();
            self.terms.extend(new);
        }
        self
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// Where one term ends and the next may begin.
pub fn separates(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}

/// Takes the next term off a text with straight quotation marks; what is left follows it directly.
pub fn next_term(text: &str) -> Option<(Term, &str)> {
    let text = text.trim_start_matches(separates);
    if text.is_empty() {
        return None;
    }
    let (is_excluded, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text),
    };
    let phrase = body.strip_prefix('"').and_then(|inside| inside.split_once('"'));
    let (typed, rest, kind) = match phrase {
        Some((phrase, rest)) => (phrase, rest, MatchKind::Phrase),
        None => {
            let end = body.find(separates).unwrap_or(body.len());
            (&body[..end], &body[end..], MatchKind::Word)
        }
    };
    let (text, typed) = (fold(typed), typed.nfc().collect());
    Some((Term { text, typed, kind, is_excluded, alternatives: Vec::new() }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Terms as text: `-` for excluded, quotation marks for phrases.
    fn shown(text: &str) -> Vec<String> {
        let query = TextQuery::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        query.terms.iter().map(Term::shown).collect()
    }

    #[test]
    fn words_phrases_and_exclusions_are_distinguished() {
        for (text, terms) in [
            ("", &[] as &[&str]),
            (" \t\n ", &[]),
            ("Zürich", &["zurich"]),
            ("  one \u{3000} two\tthree ", &["one", "two", "three"]),
            ("\"New  York\" taxi", &["\"new york\"", "taxi"]),
            ("-red -\"dark blue\" green", &["-red", "-\"dark blue\"", "green"]),
            ("erp:4711/x", &["erp:4711/x"]),
            ("5\" \"open", &["5\"", "\"open"]),
            ("a\"b c\"d", &["a\"b", "c\"d"]),
            ("\"one\"two", &["\"one\"", "two"]),
            ("\"\" -\"\" - \"  \" \u{301}", &[]),
            ("Smith - Jones – Miller", &["smith", "jones", "miller"]),
            ("“New York” «été» „open", &["\"new york\"", "\"ete\"", "\"open"]),
            ("--x well-known", &["--x", "well-known"]),
            ("same SAME -same \"same\"", &["same", "-same", "\"same\""]),
            ("%_\\ '; drop", &["%_\\", "';", "drop"]),
        ] {
            assert_eq!(shown(text), terms, "{text:?}");
        }
    }

    #[test]
    fn two_queries_ask_for_the_terms_of_both() {
        let query = |text| TextQuery::parse(text).expect("a query");
        let both = query("red -blue").and(query("green red"));
        assert_eq!(both.terms, query("red -blue green").terms);
        assert!(crate::value::key::normalize(&both.text).is_err(), "the text is no key");
        assert_eq!(query("").and(query("K-1")), query("K-1"));
        assert_eq!(query("K-1").and(query(" - ")), query("K-1"));
    }

    #[test]
    fn a_term_keeps_what_was_typed() {
        let query = TextQuery::parse(" E\u{301}te\u{301}s ").expect("a query");
        assert_eq!((query.terms[0].typed.as_str(), query.text.as_str()), ("Étés", "E\u{301}te\u{301}s"));
    }

    #[test]
    fn a_too_long_value_is_refused() {
        assert!(TextQuery::parse(&"é".repeat(MOST_CHARACTERS)).is_ok());
        let words = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        assert!(TextQuery::parse(&words(MOST_TERMS)).is_ok());
        for text in ["é".repeat(MOST_CHARACTERS + 1), words(MOST_TERMS + 1)] {
            let error = TextQuery::parse(&text).expect_err("too long");
            assert_eq!((error.code, error.faults[0].pointer.as_str()), (Code::InvalidValue, POINTER));
        }
    }

    proptest! {
        #[test]
        fn every_text_is_read_or_refused(text in any::<String>()) {
            if let Ok(query) = TextQuery::parse(&text) {
                prop_assert!(query.terms.len() <= MOST_TERMS);
                for term in &query.terms {
                    prop_assert!(!term.text.is_empty());
                    prop_assert_eq!(fold(&term.text), term.text.clone());
                }
            }
        }

        #[test]
        fn plain_words_come_back_as_they_are(words in prop::collection::hash_set("[a-z]{1,8}", 1..10)) {
            let words: Vec<String> = words.into_iter().collect();
            prop_assert_eq!(shown(&words.join(" ")), words);
        }
    }
}
