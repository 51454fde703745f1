//! The synonyms of a template, and the index that finds the synonyms of words. Pure.

use crate::value::synonym_set::SynonymSet;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// The forms of a word: the word itself and its stems. Words with a common form are equal.
pub type Forms = Vec<String>;

/// The sets of a template.
#[derive(Default)]
pub struct Synonyms {
    sets: Vec<SynonymSet>,
    /// Built at the first lookup.
    index: OnceCell<Index>,
}

/// The terms that have synonyms, by the forms of their first words.
struct Index {
    entries: Vec<Entry>,
    /// The sorted forms of the first words, each with the number of its entry.
    first: Vec<(Box<str>, u32)>,
}

/// A term that has synonyms: a word or a phrase.
struct Entry {
    set: usize,
    position: usize,
    /// The forms of the words after the first.
    rest: Vec<Forms>,
}

/// The synonyms of a term in a search.
pub struct Found<'s> {
    /// The number of words of the term.
    pub words: usize,
    /// Its synonyms.
    pub others: Vec<&'s str>,
}

impl Synonyms {
    /// The synonyms of checked sets.
    pub fn new(sets: Vec<SynonymSet>) -> Synonyms {
        Synonyms { sets, index: OnceCell::new() }
    }

    /// The synonyms of stored sets.
    pub fn read(json: &str) -> Synonyms {
        Synonyms::new(serde_json::from_str(json).unwrap_or_default())
    }

    /// The sets.
    pub fn sets(&self) -> &[SynonymSet] {
        &self.sets
    }

    /// Whether there are no sets.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The synonyms of the terms at the start of `words`. `words_of` splits a text into words, and must be deterministic.
    pub fn found(&self, words: &[Forms], words_of: impl Fn(&str) -> Vec<Forms>) -> Vec<Found<'_>> {
        let index = self.index.get_or_init(|| Index::new(&self.sets, words_of));
        let entries = index.beginning(words).into_iter();
        let found = entries.map(|it| Found {
            words: 1 + it.rest.len(),
            others: self.sets[it.set].others(it.position).collect(),
        });
        found.collect()
    }

    /// The approximate size in memory, including the index.
    pub(super) fn bytes(&self) -> usize {
        // Each text is in the set and, in two or three forms, in the index.
        let text = |text: &String| 4 * text.len() + 256;
        let set = |set: &SynonymSet| {
            size_of::<SynonymSet>() + set.root.iter().chain(&set.synonyms).map(text).sum::<usize>()
        };
        self.sets.iter().map(set).sum()
    }
}

impl Index {
    fn new(sets: &[SynonymSet], words_of: impl Fn(&str) -> Vec<Forms>) -> Index {
        let (mut entries, mut first) = (Vec::new(), Vec::new());
        for (set, it) in sets.iter().enumerate() {
            for (position, text) in it.sources().iter().enumerate() {
                let mut words = words_of(text).into_iter();
                let number = entries.len() as u32;
                let forms = words.next().into_iter().flatten();
                first.extend(forms.map(|form| (form.into_boxed_str(), number)));
                entries.push(Entry { set, position, rest: words.collect() });
            }
        }
        first.sort_unstable();
        Index { entries, first }
    }

    /// The entries that are a prefix of these words.
    fn beginning(&self, words: &[Forms]) -> Vec<&Entry> {
        let Some((first, rest)) = words.split_first() else { return Vec::new() };
        let mut numbers = BTreeSet::new();
        for form in first {
            let start = self.first.partition_point(|(other, _)| **other < **form);
            let with_form = self.first[start..].iter().take_while(|(other, _)| **other == **form);
            numbers.extend(with_form.map(|(_, number)| *number));
        }
        let follows = |entry: &&Entry| {
            entry.rest.len() <= rest.len()
                && entry.rest.iter().zip(rest).all(|(one, other)| are_same(one, other))
        };
        numbers.into_iter().map(|number: u32| &self.entries[number as usize]).filter(follows).collect()
    }
}

fn are_same(one: &Forms, other: &Forms) -> bool {
    one.iter().any(|form| other.contains(form))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forms of each word: itself, and the word without a final s, in capitals.
    fn words(text: &str) -> Vec<Forms> {
        let forms = |word: &str| vec![word.to_owned(), word.trim_end_matches('s').to_uppercase()];
        text.split(' ').map(forms).collect()
    }

    #[test]
    fn words_with_a_common_form_have_the_same_synonyms() {
        let sets = r#"[{"synonyms":["car","automobile","motor car"]},{"root":"phone","synonyms":["iphone"]},
                       {"synonyms":["new york city","new york","nyc"]},{"synonyms":["cars","fleet"]}]"#;
        let synonyms = Synonyms::read(sets);
        for (text, expected) in [
            ("car", vec![(1, "automobile motor car"), (1, "fleet")]),
            ("cars race", vec![(1, "automobile motor car"), (1, "fleet")]),
            ("motor cars", vec![(2, "car automobile")]),
            ("motor", vec![]),
            ("phones", vec![(1, "iphone")]),
            ("iphone", vec![]),
            ("new york city", vec![(3, "new york nyc"), (2, "new york city nyc")]),
            ("new", vec![]),
            ("york city", vec![]),
            ("CAR", vec![(1, "automobile motor car"), (1, "fleet")]),
        ] {
            let found = synonyms.found(&words(text), words);
            let found: Vec<(usize, String)> =
                found.into_iter().map(|it| (it.words, it.others.join(" "))).collect();
            let expected: Vec<(usize, String)> =
                expected.into_iter().map(|(words, others)| (words, others.to_owned())).collect();
            assert_eq!(found, expected, "{text}");
        }
        assert!(Synonyms::default().found(&words("car"), words).is_empty());
        assert!(synonyms.found(&[], words).is_empty());
    }
}
