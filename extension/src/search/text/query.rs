//! The query language of global_search → terms. Pure.
//!
//! `all words must match`, `"a phrase"` matches literally, `-without`, `-"without a phrase"`. An unpaired
//! quotation mark, or one inside a word, is an ordinary character.

use super::fold::fold;
use crate::error::{Code, Error};
use unicode_normalization::UnicodeNormalization;

/// The pointer to the query in a request.
pub const POINTER: &str = "/global_search";
/// The maximum number of characters of a query.
pub const MAX_CHARACTERS: usize = 255;
/// The maximum number of terms of a query.
pub const MAX_TERMS: usize = 20;

/// The quotation marks that keyboards and word processors write instead of a straight one.
const CURLED_QUOTES: [char; 6] = ['“', '”', '„', '‟', '«', '»'];

/// How a term matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchKind {
    /// As a word in any inflection, or as a substring.
    #[default]
    Word,
    /// Literally.
    Phrase,
}

/// A term that records must have, or must not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Term {
    /// The text, folded; never empty.
    pub text: String,
    /// The text as typed, in composed form, which determines the stem.
    pub typed: String,
    /// How it matches.
    pub kind: MatchKind,
    /// Whether records that match are excluded.
    pub is_excluded: bool,
    /// Alternatives: a record must have the term or one of these.
    pub alternatives: Vec<Alternative>,
}

/// An alternative of a term.
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
    /// The terms, without duplicates.
    pub terms: Vec<Term>,
}

impl Term {
    /// The alternatives as terms.
    pub fn others(&self) -> impl Iterator<Item = Term> {
        self.alternatives.iter().map(|it| Term {
            text: fold(&it.typed),
            typed: it.typed.nfc().collect(),
            kind: it.kind,
            is_excluded: self.is_excluded,
            alternatives: Vec::new(),
        })
    }

    /// The term as parsed, without alternatives.
    pub fn shown(&self) -> String {
        let quote = if self.kind == MatchKind::Phrase { "\"" } else { "" };
        format!("{}{quote}{}{quote}", if self.is_excluded { "-" } else { "" }, self.text)
    }

    /// Whether both are the same, apart from alternatives.
    pub fn is_same(&self, other: &Term) -> bool {
        (&self.text, self.kind, self.is_excluded) == (&other.text, other.kind, other.is_excluded)
    }

    /// Whether a folded text is not a term, such as a dash between two words.
    pub fn is_blank(folded: &str) -> bool {
        ["", "-"].contains(&folded)
    }
}

impl TextQuery {
    /// Parses a query. A query without terms matches everything.
    pub fn parse(text: &str) -> Result<TextQuery, Error> {
        if text.chars().nth(MAX_CHARACTERS).is_some() {
            let message = format!("a search has at most {MAX_CHARACTERS} characters");
            return Err(Error::at(Code::InvalidValue, POINTER, message));
        }
        let straight = TextQuery::straight(text);
        let mut terms: Vec<Term> = Vec::new();
        let mut rest = straight.as_str();
        while let Some((term, after)) = next_term(rest) {
            rest = after;
            if !Term::is_blank(&term.text) && !terms.iter().any(|it| it.is_same(&term)) {
                terms.push(term);
            }
            if terms.len() > MAX_TERMS {
                let message = format!("a search has at most {MAX_TERMS} words and phrases");
                return Err(Error::at(Code::InvalidValue, POINTER, message)
                    .hint("Use fewer terms, or put words that belong together in quotation marks."));
            }
        }
        Ok(TextQuery { text: text.trim().to_owned(), terms })
    }

    /// A string with straight quotation marks.
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

/// Whether a character separates terms.
pub fn separates(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}

/// The next term of a string with straight quotation marks, and the rest of the text.
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

/// The maximum number of titles of a query.
const MAX_TITLES: usize = 16;

/// The names that a query may refer to, folded: with the alternatives of each term, unless there are too many
/// combinations.
pub fn titles(query: &TextQuery) -> Vec<String> {
    let requested: Vec<_> = query.terms.iter().filter(|term| !term.is_excluded).collect();
    let count =
        requested.iter().fold(1usize, |count, term| count.saturating_mul(1 + term.alternatives.len()));
    let maximum = if count <= MAX_TITLES { MAX_TITLES } else { 1 };
    let mut rows: Vec<Vec<String>> = vec![Vec::new()];
    for term in &requested {
        let mut longer = Vec::new();
        for text in std::iter::once(term.text.clone()).chain(term.others().map(|it| it.text)).take(maximum) {
            for mut row in rows.iter().cloned() {
                // An alternative of several terms occurs once for each of them.
                if row.last() != Some(&text) {
                    row.push(text.clone());
                }
                longer.push(row);
            }
        }
        rows = longer;
    }
    let mut names: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
    if requested.len() == query.terms.len() {
        // The text, with repeated terms, dashes and quotation marks.
        names.push(fold(&query.text));
    }
    let mut known: Vec<String> = Vec::new();
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
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
    fn two_queries_have_the_terms_of_both() {
        let query = |text| TextQuery::parse(text).expect("a query");
        let both = query("red -blue").and(query("green red"));
        assert_eq!(both.terms, query("red -blue green").terms);
        assert!(crate::value::key::normalize(&both.text).is_err(), "the text is not a key");
        assert_eq!(query("").and(query("K-1")), query("K-1"));
        assert_eq!(query("K-1").and(query(" - ")), query("K-1"));
    }

    #[test]
    fn term_has_the_typed_text() {
        let query = TextQuery::parse(" E\u{301}te\u{301}s ").expect("a query");
        assert_eq!((query.terms[0].typed.as_str(), query.text.as_str()), ("Étés", "E\u{301}te\u{301}s"));
    }

    #[test]
    fn long_query_is_rejected() {
        assert!(TextQuery::parse(&"é".repeat(MAX_CHARACTERS)).is_ok());
        let words = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        assert!(TextQuery::parse(&words(MAX_TERMS)).is_ok());
        for text in ["é".repeat(MAX_CHARACTERS + 1), words(MAX_TERMS + 1)] {
            let error = TextQuery::parse(&text).expect_err("too long");
            assert_eq!((error.code, error.violations[0].pointer.as_str()), (Code::InvalidValue, POINTER));
        }
    }

    #[test]
    fn titles_are_the_typed_text_and_its_alternatives() {
        for (text, expected) in [
            ("", &[] as &[&str]),
            ("Old  Maps", &["old maps"]),
            ("\"old maps\" x", &["old maps x", "\"old maps\" x"]),
            ("old - old maps", &["old maps", "old - old maps"]),
            ("old -maps", &["old"]),
            ("-maps", &[]),
        ] {
            assert_eq!(titles(&TextQuery::parse(text).expect("a query")), expected, "{text}");
        }
        let mut query = TextQuery::parse("new york bar").expect("a query");
        let nyc = Alternative { typed: "NYC".to_owned(), kind: MatchKind::Word };
        query.terms[0].alternatives.push(nyc.clone());
        query.terms[1].alternatives.push(nyc.clone());
        assert_eq!(titles(&query), ["new york bar", "nyc york bar", "new nyc bar", "nyc bar"]);
        query.terms.iter_mut().for_each(|term| term.alternatives = vec![nyc.clone(); 3]);
        assert_eq!(titles(&query), ["new york bar"]);
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_parsed_or_rejected(text in any::<String>()) {
            if let Ok(query) = TextQuery::parse(&text) {
                prop_assert!(query.terms.len() <= MAX_TERMS);
                for term in &query.terms {
                    prop_assert!(!term.text.is_empty());
                    prop_assert_eq!(fold(&term.text), term.text.clone());
                }
            }
        }

        #[test]
        fn plain_words_are_terms(words in prop::collection::hash_set("[a-z]{1,8}", 1..10)) {
            let words: Vec<String> = words.into_iter().collect();
            prop_assert_eq!(shown(&words.join(" ")), words);
        }
    }
}
