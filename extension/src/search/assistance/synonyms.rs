//! Adds the synonyms of a template to the terms of a query.
//!
//! Each term of a synonym of several terms gets the alternatives: `new york` becomes `(new or nyc) and (york or nyc)`,
//! which equals `(new and york) or nyc`.

use super::word::trimmed;
use crate::search::text::document::STEM;
use crate::search::text::fold::fold;
use crate::search::text::query::{Alternative, MAX_TERMS, MatchKind, Term, TextQuery, next_term, separates};
use crate::search::text::stem::Stemmer;
use crate::template::Template;
use crate::template::synonyms::{Forms, Synonyms};
use std::collections::{BTreeSet, HashSet};

/// The maximum number of alternatives of a term: those of a set and of a root. Sets with several inflections of one word may
/// have more.
const MAX_OTHERS: usize = 40;

/// The query with synonyms as alternatives. Phrases have no synonyms, and synonyms are not expanded further.
pub fn expanded(template: &Template, query: TextQuery) -> TextQuery {
    if template.synonyms.is_empty() || query.is_empty() {
        return query;
    }
    let stemmer = Stemmer::new(template);
    with_others(&template.synonyms, query, |word| {
        pgrx::check_for_interrupts!();
        stemmer.own_variants(word)
    })
}

/// The same for alternatives that corrections have added to a query, each separately.
pub fn expanded_with(template: &Template, mut query: TextQuery, beside: &[&str]) -> TextQuery {
    if template.synonyms.is_empty() || beside.is_empty() {
        return query;
    }
    let stemmer = Stemmer::new(template);
    let forms = |word: &str| forms(word, |word| stemmer.own_variants(word));
    for term in &mut query.terms {
        let words: Vec<String> = term.alternatives.iter().map(|it| it.typed.clone()).collect();
        let mut occurrence = Occurrence::of(std::mem::take(term));
        for word in words.iter().filter(|word| beside.contains(&word.as_str())) {
            pgrx::check_for_interrupts!();
            for found in template.synonyms.found(&[forms(word)], |text| words_of(text, forms)) {
                occurrence.add(&found.others);
            }
        }
        *term = occurrence.term;
    }
    query
}

/// The words of a string that are terms of a query.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(separates).filter(|word| !Term::is_blank(&fold(word)))
}

fn with_others(
    synonyms: &Synonyms,
    mut query: TextQuery,
    stem: impl Fn(&str) -> Vec<BTreeSet<String>>,
) -> TextQuery {
    let forms = |word: &str| forms(word, &stem);
    let mut occurrences = occurrences(&query.text);
    let all_forms: Vec<Forms> = occurrences.iter().map(|it| forms(&it.term.typed)).collect();
    for start in 0..occurrences.len() {
        let end = start + count_consecutive(&occurrences[start..]);
        if end > start {
            for found in synonyms.found(&all_forms[start..end], |text| words_of(text, forms)) {
                occurrences[start..start + found.words].iter_mut().for_each(|it| it.add(&found.others));
            }
        }
    }
    query.terms = terms(occurrences);
    query
}

/// The terms of a query. A repeated word is two terms if their alternatives differ. Above a limit of terms, it is
/// one.
fn terms(occurrences: Vec<Occurrence>) -> Vec<Term> {
    let mut terms: Vec<Occurrence> = Vec::new();
    let mut others = Vec::new();
    for it in occurrences {
        if terms.iter().any(|known| known.is_same(&it)) {
            continue;
        }
        if terms.iter().any(|known| known.term.is_same(&it.term)) {
            others.push(it);
        } else {
            terms.push(it);
        }
    }
    for it in others {
        if terms.len() < MAX_TERMS {
            if !terms.iter().any(|known| known.is_same(&it)) {
                terms.push(it);
            }
        } else if let Some(known) = terms.iter_mut().find(|known| known.term.is_same(&it.term)) {
            let more: Vec<&str> = it.term.alternatives.iter().map(|it| it.typed.as_str()).collect();
            known.add(&more);
        }
    }
    terms.into_iter().map(|it| it.term).collect()
}

/// The folded word, with and without surrounding punctuation, and its lexemes.
fn forms(word: &str, stem: impl Fn(&str) -> Vec<BTreeSet<String>>) -> Forms {
    let (plain, bare) = (fold(word), fold(&word[trimmed(word)]));
    let bare = (!bare.is_empty() && bare != plain).then_some(bare);
    let stems = stem(word).into_iter().filter(|lexemes| !lexemes.is_empty());
    let stems = stems.map(|lexemes| lexemes.iter().map(|it| format!("{STEM}{it}")).collect());
    std::iter::once(plain).chain(bare).chain(stems).collect()
}

fn words_of(text: &str, forms: impl Fn(&str) -> Forms) -> Vec<Forms> {
    words(text).map(forms).collect()
}

/// A term at one position of a query.
struct Occurrence {
    term: Term,
    /// Its strings, folded.
    known: HashSet<String>,
}

impl Occurrence {
    fn of(term: Term) -> Occurrence {
        let known = term.alternatives.iter().map(|it| fold(&it.typed)).chain([term.text.clone()]).collect();
        Occurrence { term, known }
    }

    fn is_same(&self, other: &Occurrence) -> bool {
        self.term.is_same(&other.term) && self.known == other.known
    }

    fn add(&mut self, others: &[&str]) {
        for other in others {
            if self.term.alternatives.len() == MAX_OTHERS {
                return;
            }
            let folded = fold(other);
            let kind = if folded.contains(' ') { MatchKind::Phrase } else { MatchKind::Word };
            if self.known.insert(folded) {
                self.term.alternatives.push(Alternative { typed: (*other).to_owned(), kind });
            }
        }
    }
}

/// The terms of a query, in their order.
fn occurrences(text: &str) -> Vec<Occurrence> {
    let straight = TextQuery::straight(text);
    let mut all = Vec::new();
    let mut rest = straight.as_str();
    while let Some((term, after)) = next_term(rest) {
        rest = after;
        if !Term::is_blank(&term.text) {
            all.push(Occurrence::of(term));
        }
    }
    all
}

/// The number of leading terms that are consecutive words. An excluded word counts as one, and a phrase
/// as none.
fn count_consecutive(occurrences: &[Occurrence]) -> usize {
    let is_plain = |it: &&Occurrence| it.term.kind == MatchKind::Word && !it.term.is_excluded;
    match occurrences.first() {
        Some(first) if first.term.kind == MatchKind::Word && first.term.is_excluded => 1,
        _ => occurrences.iter().take_while(is_plain).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::synonym_set::SynonymSet;
    use proptest::prelude::*;

    const SETS: &str = r#"[{"synonyms":["car","automobile","motor car"]},{"root":"phone","synonyms":["smartphone","car"]},
        {"synonyms":["New York","NYC","big apple"]},{"synonyms":["New Jersey","NJ"]},{"synonyms":["tv","television"]},
        {"root":"new","synonyms":["modern"]}]"#;

    /// The stem of a word is the word without a final s.
    fn stem(word: &str) -> Vec<BTreeSet<String>> {
        vec![BTreeSet::from([fold(word).trim_end_matches('s').to_owned()])]
    }

    fn expanded(sets: &str, text: &str) -> TextQuery {
        with_others(&Synonyms::read(sets), TextQuery::parse(text).expect("a query"), stem)
    }

    /// Each term with its alternatives.
    fn shown(text: &str) -> String {
        let term = |term: &Term| {
            let others: Vec<String> = term.others().map(|it| it.shown()).collect();
            format!("{}({})", term.shown(), others.join(" | "))
        };
        expanded(SETS, text).terms.iter().map(term).collect::<Vec<_>>().join(" ").replace("()", "")
    }

    #[test]
    fn words_get_their_synonyms() {
        for (text, expected) in [
            ("red car", r#"red car(automobile | "motor car")"#),
            ("CÁRS", r#"cars(automobile | "motor car")"#),
            ("phones", "phones(smartphone | car)"),
            ("smartphone", "smartphone"),
            ("tv", "tv(television)"),
            ("te", "te"),
            ("\"car\"", "\"car\""),
            ("-car", r#"-car(-automobile | -"motor car")"#),
            ("-\"car\"", "-\"car\""),
            ("motor cars", r#"motor(car | automobile) cars(car | automobile | "motor car")"#),
            ("-motor car", r#"-motor car(automobile | "motor car")"#),
            ("motor \"x\" car", r#"motor "x" car(automobile | "motor car")"#),
            ("york new", "york new(modern)"),
            ("new york hotel", r#"new(nyc | "big apple" | modern) york(nyc | "big apple") hotel"#),
            ("New - York", r#"new(nyc | "big apple" | modern) york(nyc | "big apple")"#),
            (
                "new york new jersey",
                r#"new(nyc | "big apple" | modern) york(nyc | "big apple") jersey(nj) new(nj | modern)"#,
            ),
            ("york new york", r#"york new(nyc | "big apple" | modern) york(nyc | "big apple")"#),
            ("tv,", "tv,(television)"),
            ("nyc", r#"nyc("new york" | "big apple")"#),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn word_gets_a_limited_number_of_synonyms() {
        let set = |number: usize| {
            let synonyms = (0..10).map(|other| format!("w{number}x{other}")).collect();
            SynonymSet { root: Some(format!("paint{}", "s".repeat(number))), synonyms }
        };
        let synonyms = Synonyms::new((0..400).map(set).collect());
        let query = TextQuery::parse(&"paint ".repeat(42)).expect("a query");
        let expanded = with_others(&synonyms, query, stem);
        let others: Vec<usize> = expanded.terms.iter().map(|term| term.alternatives.len()).collect();
        assert_eq!(others, [MAX_OTHERS]);
    }

    #[test]
    fn alternatives_of_two_queries_are_separate() {
        let both = expanded(SETS, "new york").and(expanded(SETS, "new york hotel"));
        assert_eq!(both.terms.len(), 3);
        let both = expanded(SETS, "new york").and(expanded(SETS, "new york york"));
        assert_eq!(both.terms.len(), 3, "the second york is alone");
        let both = expanded(SETS, "new york").and(expanded(SETS, "york"));
        assert_eq!(both.terms.len(), 3, "york alone is not what nyc stands for");
    }

    proptest! {
        #[test]
        fn query_has_its_terms_and_a_phrase_gets_no_synonyms(
            sets in prop::collection::vec(prop::collection::vec("[a-c]{1,2}( [a-c]{1,2}){0,2}", 2..4), 0..5),
            text in "([-\"]{0,1}[a-c]{1,3}[\"]{0,1} ){0,6}",
        ) {
            let sets: Vec<SynonymSet> =
                sets.into_iter().map(|synonyms| SynonymSet { root: None, synonyms }).collect();
            let query = TextQuery::parse(&text).expect("a query");
            let expanded = with_others(&Synonyms::new(sets.clone()), query.clone(), stem);
            prop_assert!((query.terms.len()..=MAX_TERMS).contains(&expanded.terms.len()));
            if occurrences(&text).len() == query.terms.len() {
                prop_assert_eq!(expanded.terms.len(), query.terms.len());
            }
            for (term, before) in expanded.terms.iter().zip(&query.terms) {
                prop_assert!(term.is_same(before));
            }
            for term in &expanded.terms {
                prop_assert!(query.terms.iter().any(|before| before.is_same(term)));
                prop_assert!(term.kind == MatchKind::Word || term.alternatives.is_empty());
                for other in &term.alternatives {
                    // It is in a set with words that are a part of the query.
                    let is_in = |set: &&SynonymSet| set.synonyms.contains(&other.typed);
                    let has_term = |text: &String| words(text).any(|word| {
                        stem(word) == stem(&term.typed) || fold(word) == fold(&term.typed[trimmed(&term.typed)])
                    });
                    prop_assert!(sets.iter().filter(is_in).any(|set| set.synonyms.iter().any(has_term)));
                }
            }
        }
    }
}
