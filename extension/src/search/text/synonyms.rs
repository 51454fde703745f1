//! Adds to the words of a query what its template has stand for them.
//!
//! Several words in a row that stand together for others each get these: "new york" as `(new or nyc) and (york or nyc)` is the
//! same as `(new and york) or nyc`.

use super::document::STEM;
use super::fold::fold;
use super::query::{Alternative, MatchKind, Term, TextQuery, next_term, separates};
use super::stem::Stemmer;
use crate::template::Template;
use crate::template::synonyms::{Forms, Synonyms};
use std::collections::BTreeSet;

/// A query as its template understands it. Phrases are left as they are, and what is added is not looked up again.
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

/// The same for words that were put beside those of a query, each by itself.
pub fn expanded_beside(template: &Template, mut query: TextQuery, beside: &[&str]) -> TextQuery {
    if template.synonyms.is_empty() || beside.is_empty() {
        return query;
    }
    let stemmer = Stemmer::new(template);
    let forms = |word: &str| forms(word, |word| stemmer.own_variants(word));
    for term in &mut query.terms {
        let words: Vec<String> = term.alternatives.iter().map(|it| it.typed.clone()).collect();
        for word in words.iter().filter(|word| beside.contains(&word.as_str())) {
            pgrx::check_for_interrupts!();
            for found in template.synonyms.found(&[forms(word)], |text| words_of(text, forms)) {
                add(term, &found.others);
            }
        }
    }
    query
}

/// The words of a text that a query looks for.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(separates).filter(|word| !Term::says_nothing(&fold(word)))
}

fn with_others(
    synonyms: &Synonyms,
    mut query: TextQuery,
    stem: impl Fn(&str) -> Vec<BTreeSet<String>>,
) -> TextQuery {
    let forms = |word: &str| forms(word, &stem);
    for row in rows(&query.text) {
        let row_forms: Vec<Forms> = row.iter().map(|term| forms(&term.typed)).collect();
        for start in 0..row.len() {
            for found in synonyms.found(&row_forms[start..], |text| words_of(text, forms)) {
                for term in &row[start..start + found.words] {
                    let place = query.terms.iter_mut().find(|it| it.is_same(term));
                    place.into_iter().for_each(|it| add(it, &found.others));
                }
            }
        }
    }
    query
}

/// The word, folded, and its lexemes.
fn forms(word: &str, stem: impl Fn(&str) -> Vec<BTreeSet<String>>) -> Forms {
    let stems = stem(word).into_iter().filter(|lexemes| !lexemes.is_empty());
    let stems = stems.map(|lexemes| lexemes.iter().map(|it| format!("{STEM}{it}")).collect());
    std::iter::once(fold(word)).chain(stems).collect()
}

fn words_of(text: &str, forms: impl Fn(&str) -> Forms) -> Vec<Forms> {
    words(text).map(forms).collect()
}

/// The words that stand side by side in a query. One that is excluded stands alone.
fn rows(text: &str) -> Vec<Vec<Term>> {
    let straight = TextQuery::straight(text);
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    let mut rest = straight.as_str();
    while let Some((term, after)) = next_term(rest) {
        rest = after;
        if Term::says_nothing(&term.text) {
            continue;
        }
        if term.kind == MatchKind::Word && !term.is_excluded {
            row.push(term);
            continue;
        }
        rows.push(std::mem::take(&mut row));
        if term.kind == MatchKind::Word {
            rows.push(vec![term]);
        }
    }
    rows.push(row);
    rows
}

fn add(term: &mut Term, others: &[&str]) {
    for other in others {
        let folded = fold(other);
        let kind = if folded.contains(' ') { MatchKind::Phrase } else { MatchKind::Word };
        let is_known = folded == term.text || term.alternatives.iter().any(|it| fold(&it.typed) == folded);
        if !is_known {
            term.alternatives.push(Alternative { typed: (*other).to_owned(), kind });
        }
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

    /// Each term with what is looked for beside it.
    fn shown(text: &str) -> String {
        let term = |term: &Term| {
            let others: Vec<String> = term.others().map(|it| it.shown()).collect();
            format!("{}({})", term.shown(), others.join(" | "))
        };
        expanded(SETS, text).terms.iter().map(term).collect::<Vec<_>>().join(" ").replace("()", "")
    }

    #[test]
    fn words_get_what_stands_for_them() {
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
                r#"new(nyc | "big apple" | modern | nj) york(nyc | "big apple") jersey(nj)"#,
            ),
            ("nyc", r#"nyc("new york" | "big apple")"#),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn what_two_queries_ask_for_is_kept_apart() {
        let both = expanded(SETS, "new york").and(expanded(SETS, "new york york"));
        assert_eq!(both.terms.len(), 2);
        let both = expanded(SETS, "new york").and(expanded(SETS, "york"));
        assert_eq!(both.terms.len(), 3, "york alone is not what nyc stands for");
    }

    proptest! {
        #[test]
        fn a_query_keeps_its_terms_and_a_phrase_gets_nothing(
            sets in prop::collection::vec(prop::collection::vec("[a-c]{1,2}( [a-c]{1,2}){0,2}", 2..4), 0..5),
            text in "([-\"]{0,1}[a-c]{1,3}[\"]{0,1} ){0,6}",
        ) {
            let sets: Vec<SynonymSet> =
                sets.into_iter().map(|synonyms| SynonymSet { root: None, synonyms }).collect();
            let query = TextQuery::parse(&text).expect("a query");
            let expanded = with_others(&Synonyms::new(sets.clone()), query.clone(), stem);
            prop_assert_eq!(expanded.terms.len(), query.terms.len());
            for (term, before) in expanded.terms.iter().zip(&query.terms) {
                prop_assert!(term.is_same(before));
                prop_assert!(term.kind == MatchKind::Word || term.alternatives.is_empty());
                for other in &term.alternatives {
                    // It stands in a set with words that are a part of the query.
                    let is_in = |set: &&SynonymSet| set.synonyms.contains(&other.typed);
                    let has_term = |text: &String| words(text).any(|word| stem(word) == stem(&term.typed));
                    prop_assert!(sets.iter().filter(is_in).any(|set| set.synonyms.iter().any(has_term)));
                }
            }
        }
    }
}
