//! How words are written in most of the records that hold them.

use super::folded::Folded;
use super::highlight::begins_word;
use super::vocabulary::Source;
use super::word::is_of_word;
use super::write;
use crate::attribute_type::AttributeType;
use crate::postgres::datum;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Rows, Snapshot};
use crate::template::Attribute;
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// In so many records a word is looked up; where they write it in several ways, in [`SPREAD`].
const FEW: usize = 8;
const SPREAD: usize = 50;
/// In so many records all words together, and so many bytes of their texts.
const MOST_RECORDS: usize = 200;
const MOST_BYTES: usize = 1 << 20;

/// A folded word with its records, in the order of their ids.
type Word<'w> = (&'w str, &'w [Uuid]);

/// What a record has.
struct Texts {
    /// Texts and labels.
    texts: Vec<String>,
    key: Option<String>,
}

impl Texts {
    fn bytes(&self) -> usize {
        self.texts.iter().map(String::len).sum()
    }
}

/// The spellings of a word, each with the number of its records; that of the newest record first.
type Spellings = Vec<(String, usize)>;

impl Source<'_> {
    /// How each of these words is written in most of its records, by a spread of them: in texts and labels, and in keys
    /// where no text has it. Of two spellings that are as frequent, that of the newest record.
    pub fn spelling(&self, words: &[Word]) -> Vec<String> {
        let (mut spellings, bytes) = self.spellings(words, FEW);
        let unsure = |place: &usize| spellings[*place].len() > 1 && words[*place].1.len() > FEW;
        let unsure: Vec<usize> = (0..words.len()).filter(unsure).collect();
        if !unsure.is_empty() {
            let most = MOST_RECORDS.min(MOST_BYTES / bytes.max(1)) / unsure.len();
            let again: Vec<Word> = unsure.iter().map(|place| words[*place]).collect();
            let (again, _) = self.spellings(&again, most.clamp(FEW, SPREAD));
            unsure.into_iter().zip(again).for_each(|(place, found)| spellings[place] = found);
        }
        let most_frequent = |(spellings, (word, _)): (Spellings, &Word)| {
            let best = spellings.into_iter().rev().max_by_key(|(_, count)| *count);
            best.map_or_else(|| (*word).to_owned(), |(spelling, _)| spelling)
        };
        spellings.into_iter().zip(words).map(most_frequent).collect()
    }

    /// The spellings of each word in so many of its records, and how long the texts of a record are.
    fn spellings(&self, words: &[Word], most: usize) -> (Vec<Spellings>, usize) {
        let ids: HashSet<Uuid> = words.iter().flat_map(|(_, ids)| spread(ids, most)).collect();
        let texts = self.texts_of(ids.into_iter().collect());
        let bytes = texts.values().map(Texts::bytes).sum::<usize>() / texts.len().max(1);
        let of_word = |(word, ids): &Word| {
            let records: Vec<&Texts> = spread(ids, most).filter_map(|id| texts.get(&id)).collect();
            let of_texts = |record: &&Texts| record.texts.iter().find_map(|text| first(text, word));
            let spellings = counted(records.iter().filter_map(of_texts));
            if !spellings.is_empty() {
                return spellings;
            }
            counted(records.iter().filter_map(|record| first(record.key.as_deref()?, word)))
        };
        (words.iter().map(of_word).collect(), bytes)
    }

    /// The texts in which words of these records count.
    fn texts_of(&self, ids: Vec<Uuid>) -> HashMap<Uuid, Texts> {
        let name = self.template.display_slug().filter(|_| self.names_only);
        let covered = self.template.attributes.iter().filter(|attribute| write::is_covered(attribute));
        let covered: Vec<&Attribute> = covered
            .filter(|attribute| !self.names_only || name.is_some_and(|name| *attribute.slug == *name))
            .collect();
        let columns: String = covered.iter().map(|attribute| format!(", t.\"{}\"", attribute.slug)).collect();
        let table = self.template.table_sql();
        let sql = format!("select t.id, t.external_key{columns} from {table} t where t.id = any ($1)");
        let rows = self.spi.run_once(&sql, Snapshot::Active, &params![ids]);
        let record = |row: usize| {
            let key = rows.get::<Option<String>>(row, 1).filter(|_| name.is_none());
            let texts =
                covered.iter().enumerate().flat_map(|(position, it)| texts(&rows, row, position + 2, it));
            Some((rows.get::<Option<Uuid>>(row, 0)?, Texts { texts: texts.collect(), key }))
        };
        (0..rows.len()).filter_map(record).collect()
    }
}

/// The texts or labels in a column.
fn texts(rows: &Rows, row: usize, column: usize, attribute: &Attribute) -> Vec<String> {
    let Some(value) = rows.datum(row, column) else { return Vec::new() };
    if attribute.kind == AttributeType::String {
        return vec![datum::read_text(value)];
    }
    let elements = datum::read_text_array(value).unwrap_or_default();
    elements.iter().map(|element| attribute.label_of(element).to_owned()).collect()
}

/// So many of these records, at the same distance from each other; the last, which is the newest, first.
fn spread(ids: &[Uuid], most: usize) -> impl Iterator<Item = Uuid> {
    let count = ids.len().min(most);
    (1..=count).rev().map(move |place| ids[place * ids.len() / count - 1])
}

fn counted(found: impl Iterator<Item = String>) -> Spellings {
    let mut spellings = Spellings::new();
    for spelling in found {
        match spellings.iter_mut().find(|(known, _)| *known == spelling) {
            Some((_, count)) => *count += 1,
            None => spellings.push((spelling, 1)),
        }
    }
    spellings
}

/// The first place of a folded word in a text, as it is written there.
fn first(text: &str, word: &str) -> Option<String> {
    let folded = Folded::new(text);
    let ends = |at: usize| !folded.text[at..].starts_with(is_of_word);
    let mut places = folded.text.match_indices(word).map(|(at, _)| at);
    let at = places.find(|at| begins_word(&folded.text, *at) && ends(at + word.len()))?;
    Some(text[folded.original(at..at + word.len())].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_the_newest_record_and_others_at_equal_distances() {
        let ids: Vec<Uuid> = (1..=100).map(Uuid::from_u128).collect();
        let places = |ids: &[Uuid], most| spread(ids, most).map(|id| id.as_u128()).collect::<Vec<_>>();
        assert_eq!(places(&ids, 4), [100, 75, 50, 25]);
        assert_eq!(places(&ids[..3], 8), [3, 2, 1]);
        assert_eq!(places(&ids, 1000), (1..=100).rev().collect::<Vec<_>>());
        assert!(places(&[], 8).is_empty());
    }

    #[test]
    fn a_word_is_spelled_as_it_is_written() {
        for (text, word, expected) in [
            ("in ZÜRICH", "zurich", Some("ZÜRICH")),
            ("Zürichs, (Zürich)", "zurich", Some("Zürich")),
            ("well-Known", "known", Some("Known")),
            ("unknown", "known", None),
        ] {
            assert_eq!(first(text, word).as_deref(), expected, "{word} in {text}");
        }
    }
}
