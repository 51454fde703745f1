//! A model of searches with synonyms: which records they find, and in which order.

use std::collections::BTreeSet;

/// The names of companies, which match too.
pub(super) const COMPANIES: [&str; 3] = ["dogwood fir", "maples and firwood", "other"];

#[derive(Clone)]
pub(super) struct Record {
    pub(super) key: String,
    pub(super) name: String,
    pub(super) tag: String,
    pub(super) company: Option<usize>,
    pub(super) is_gold: bool,
    pub(super) is_live: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) text: String,
    pub(super) is_phrase: bool,
    pub(super) is_excluded: bool,
}

/// The root record, if there is one, and the others.
pub(super) type Set = (Option<String>, Vec<String>);

pub(super) fn stem(word: &str) -> &str {
    word.trim_end_matches('s')
}

/// Each term with its alternatives.
pub(super) fn expanded(terms: &[Term], sets: &[Set]) -> Vec<Vec<Term>> {
    let mut expanded: Vec<Vec<Term>> = terms.iter().map(|term| vec![term.clone()]).collect();
    for (root, others) in sets {
        for sought in root.as_ref().map_or(others.as_slice(), std::slice::from_ref) {
            let words: Vec<&str> = sought.split(' ').collect();
            for start in 0..terms.len() {
                let Some(row) = terms.get(start..start + words.len()) else { continue };
                let fits = |(term, word): (&Term, &&str)| {
                    !term.is_phrase
                        && (!term.is_excluded || words.len() == 1)
                        && stem(&term.text) == stem(word)
                };
                if row.iter().zip(&words).all(fits) {
                    for all in &mut expanded[start..start + words.len()] {
                        let is_excluded = all[0].is_excluded;
                        let others = others.iter().filter(|other| *other != sought);
                        all.extend(others.map(|text| Term {
                            text: text.clone(),
                            is_phrase: text.contains(' '),
                            is_excluded,
                        }));
                    }
                }
            }
        }
    }
    expanded
}

/// The rank of a record; none if it does not match. For each term, one of its alternatives must match.
pub(super) fn rank(record: &Record, terms: &[Vec<Term>]) -> Option<usize> {
    let name = [record.key.as_str(), record.name.as_str()];
    let all = [record.key.as_str(), record.name.as_str(), record.tag.as_str()];
    let has_word = |strings: &[&str], term: &Term| {
        let mut words = strings.iter().flat_map(|text| text.split(' '));
        match term {
            Term { is_phrase: true, text, .. } => strings.iter().any(|it| it.contains(text)),
            Term { text, .. } if text.len() < 3 => words.any(|word| word.starts_with(text)),
            Term { text, .. } => words.any(|word| stem(word) == stem(text)),
        }
    };
    let is_in = |strings: &[&str], term: &Term| {
        has_word(strings, term) || term.text.len() > 2 && strings.iter().any(|text| text.contains(&term.text))
    };
    let company = record.company.map(|company| COMPANIES[company]);
    let is_met = |terms: &Vec<Term>| {
        terms.iter().any(|term| is_in(&all, term) || is_in(company.as_slice(), term)) != terms[0].is_excluded
    };
    let has_whole = |strings: &[&str], term: &Term| {
        let bounded = format!(" {} ", term.text);
        // One or two letters match as a prefix, even between quotation marks.
        has_word(strings, term)
            && (!term.is_phrase
                || term.text.len() < 3
                || strings.iter().any(|text| format!(" {text} ").contains(&bounded)))
    };
    let is_whole = |strings: &[&str]| {
        let mut required = terms.iter().filter(|terms| !terms[0].is_excluded);
        required.all(|terms| terms.iter().any(|term| has_whole(strings, term)))
    };
    let title = || {
        let required = called(terms);
        let is_called = |is: &dyn Fn(&str, &str) -> bool| {
            required.iter().any(|required| name.iter().any(|name| is(name, required)))
        };
        match () {
            () if is_called(&|name, required| name == required) => 4,
            () if is_called(&|name, required| stems(name) == stems(required)) => 3,
            () => 2,
        }
    };
    let whole = if is_whole(&name) { title() } else { usize::from(is_whole(&all)) };
    (record.is_live && terms.iter().all(is_met)).then_some(whole)
}

pub(super) fn stems(text: &str) -> BTreeSet<&str> {
    text.split(' ').map(stem).collect()
}

/// All variants of the terms, or only the typed terms if there are too many.
pub(super) fn called(terms: &[Vec<Term>]) -> Vec<String> {
    let ways = |all: &Vec<Term>| {
        let mut known: Vec<String> = Vec::new();
        for term in all {
            if !known.contains(&term.text) {
                known.push(term.text.clone());
            }
        }
        known
    };
    let required: Vec<Vec<String>> = terms.iter().filter(|all| !all[0].is_excluded).map(ways).collect();
    let count: usize = required.iter().map(Vec::len).product();
    let mut called: Vec<Vec<&str>> = vec![Vec::new()];
    for ways in &required {
        let ways = if count > 16 { &ways[..1] } else { ways };
        let mut longer = Vec::new();
        for (way, before) in ways.iter().flat_map(|way| called.iter().map(move |before| (way, before))) {
            longer.push([before.as_slice(), &[way.as_str()]].concat());
        }
        called = longer;
    }
    let text = |mut words: Vec<&str>| {
        words.dedup();
        words.join(" ")
    };
    called.into_iter().map(text).collect()
}
