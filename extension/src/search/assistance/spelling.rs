//! The most frequent spellings of words.

use super::folded::{Folded, separates};
use super::highlight::begins_word;
use super::vocabulary::Source;
use super::word::is_of_word;
use crate::attribute_type::AttributeType;
use crate::postgres::datum;
use crate::postgres::parameter::params;
use crate::postgres::spi::Snapshot;
use crate::search::text::fold::fold;
use crate::search::text::write;
use crate::template::Attribute;
use memchr::memmem::Finder;
use pgrx::pg_sys::Datum;
use std::collections::HashMap;
use std::ops::Range;
use uuid::Uuid;

/// The number of records in which a word is looked up first; and the number if these have several
/// spellings.
const FEW: usize = 8;
const SPREAD_SAMPLE: usize = 50;
/// The maximum number of records for all words together, and of the bytes of their values.
const MAX_RECORDS: usize = 200;
const MAX_BYTES: usize = 1 << 20;

/// The number of words of a string after which interrupts are checked.
const PAUSED: usize = 1 << 12;

/// A folded word with its records, in the order of their ids.
type Word<'w> = (&'w str, &'w [Uuid]);

/// The spellings of a record.
#[derive(Default)]
struct Written {
    /// The spellings in its values and labels, by the positions of the words.
    in_texts: HashMap<usize, String>,
    /// The spellings in its key.
    in_key: HashMap<usize, String>,
}

/// The spellings of a word with the number of their records. The spelling of the newest record
/// comes first.
type Spellings = Vec<(String, usize)>;

/// The most frequent spelling of each of these words in a sample of its records: in values and labels, or in keys if no
/// value contains it. Of two equally frequent spellings, the one of the newest record.
pub fn most_frequent(source: &Source, words: &[Word]) -> Vec<String> {
    let (mut spellings, bytes) = spellings(source, words, FEW);
    let unsure = |place: &usize| spellings[*place].len() > 1 && words[*place].1.len() > FEW;
    let unsure: Vec<usize> = (0..words.len()).filter(unsure).collect();
    if !unsure.is_empty() {
        let records = MAX_RECORDS.min(MAX_BYTES / bytes.max(1)) / unsure.len();
        let again: Vec<Word> = unsure.iter().map(|place| words[*place]).collect();
        let (again, _) = self::spellings(source, &again, records.clamp(FEW, SPREAD_SAMPLE));
        let read = unsure.into_iter().zip(again).filter(|(_, found)| !found.is_empty());
        read.for_each(|(place, found)| spellings[place] = found);
    }
    let best = |(spellings, (word, _)): (Spellings, &Word)| {
        let found = spellings.into_iter().rev().max_by_key(|(_, count)| *count);
        found.map_or_else(|| (*word).to_owned(), |(spelling, _)| spelling)
    };
    spellings.into_iter().zip(words).map(best).collect()
}

/// The spellings of each word in this number of its records, and the average length of the strings of a record.
fn spellings(source: &Source, words: &[Word], records: usize) -> (Vec<Spellings>, usize) {
    let mut requested: HashMap<Uuid, Vec<usize>> = HashMap::new();
    for (place, (_, ids)) in words.iter().enumerate() {
        spread(ids, records).for_each(|id| requested.entry(id).or_default().push(place));
    }
    let (all, bytes) = written(source, words, &requested);
    let of_word = |(place, (_, ids)): (usize, &Word)| {
        let written: Vec<&Written> = spread(ids, records).filter_map(|id| all.get(&id)).collect();
        let spellings = counted(written.iter().filter_map(|record| record.in_texts.get(&place).cloned()));
        if !spellings.is_empty() {
            return spellings;
        }
        counted(written.iter().filter_map(|record| record.in_key.get(&place).cloned()))
    };
    (words.iter().enumerate().map(of_word).collect(), bytes)
}

/// The spellings in these records, newest first, within the budget; and the average size of their values.
fn written(
    source: &Source,
    words: &[Word],
    requested: &HashMap<Uuid, Vec<usize>>,
) -> (HashMap<Uuid, Written>, usize) {
    let name = source.template.display_slug().filter(|_| source.names_only);
    let covered = source.template.attributes.iter().filter(|attribute| write::is_covered(attribute));
    let covered: Vec<&Attribute> = covered
        .filter(|attribute| !source.names_only || name.is_some_and(|name| *attribute.slug == *name))
        .collect();
    let columns: String = covered.iter().map(|attribute| format!(", t.\"{}\"", attribute.slug)).collect();
    let table = source.template.table_sql();
    let sql = format!(
        "select t.id, t.external_key{columns} from {table} t where t.id = any ($1) order by t.id desc"
    );
    let ids: Vec<Uuid> = requested.keys().copied().collect();
    let rows = source.spi.run_once(&sql, Snapshot::Active, &params![ids]);
    let list = source.budget.spelled.list();
    let (mut all, mut bytes) = (HashMap::new(), 0);
    for row in 0..rows.len() {
        let Some(id) = rows.get::<Option<Uuid>>(row, 0) else { continue };
        let Some(places) = requested.get(&id) else { continue };
        let mut written = Written::default();
        for (position, attribute) in covered.iter().enumerate() {
            let Some(value) = rows.datum(row, position + 2) else { continue };
            each_text(value, attribute, &mut |text| {
                if !list.is_spent() {
                    list.take(text.len());
                    bytes += text.len();
                    find(text, words, places, &mut written.in_texts);
                }
            });
        }
        if let Some(key) = rows.get::<Option<String>>(row, 1).filter(|_| name.is_none()) {
            find(&key, words, places, &mut written.in_key);
        }
        all.insert(id, written);
    }
    let average = bytes / all.len().max(1);
    (all, average)
}

/// Passes the strings or labels of a value to `take`.
fn each_text(value: Datum, attribute: &Attribute, take: &mut dyn FnMut(&str)) {
    if attribute.kind == AttributeType::String {
        return datum::with_text(value, take);
    }
    let elements = datum::read_text_array(value).unwrap_or_default();
    elements.iter().for_each(|element| take(attribute.label_of(element)));
}

/// Adds new spellings of the words at these positions that occur in a string.
fn find(text: &str, words: &[Word], places: &[usize], known: &mut HashMap<usize, String>) {
    let missing: Vec<usize> = places.iter().copied().filter(|place| !known.contains_key(place)).collect();
    let sought: Vec<&str> = missing.iter().map(|place| words[*place].0).collect();
    let found = first(text, &sought, || {
        pgrx::check_for_interrupts!();
    });
    known.extend(missing.into_iter().zip(found).filter_map(|(place, it)| Some((place, it?))));
}

/// A sample of these records at equal distances. The last one, which is the newest, comes first.
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

/// The first spelling of each of these folded words without spaces in a string. `pause` is called repeatedly during long
/// input.
fn first(text: &str, words: &[&str], mut pause: impl FnMut()) -> Vec<Option<String>> {
    let finders: Vec<Finder> = words.iter().map(Finder::new).collect();
    let mut found = vec![None; words.len()];
    let mut missing: Vec<usize> = (0..words.len()).collect();
    for (number, part) in text.split(separates).enumerate() {
        if missing.is_empty() {
            break;
        }
        if number % PAUSED == 0 {
            pause();
        }
        // Positions are needed only if a word is found.
        let plain = fold(part);
        if !missing.iter().any(|place| finders[*place].find(plain.as_bytes()).is_some()) {
            continue;
        }
        let folded = Folded::new(part, &mut pause);
        missing.retain(|place| {
            found[*place] = place_of(&folded, words[*place]).map(|it| part[it].to_owned());
            found[*place].is_none()
        });
    }
    found
}

/// The range of the first occurrence of a folded word in the original of a string.
fn place_of(folded: &Folded, word: &str) -> Option<Range<usize>> {
    let ends = |at: usize| !folded.text[at..].starts_with(is_of_word);
    let mut places = folded.text.match_indices(word).map(|(at, _)| at);
    let at = places.find(|at| begins_word(&folded.text, *at) && ends(at + word.len()))?;
    Some(folded.original(at..at + word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_has_the_newest_record_and_others_at_equal_distances() {
        let ids: Vec<Uuid> = (1..=100).map(Uuid::from_u128).collect();
        let places = |ids: &[Uuid], most| spread(ids, most).map(|id| id.as_u128()).collect::<Vec<_>>();
        assert_eq!(places(&ids, 4), [100, 75, 50, 25]);
        assert_eq!(places(&ids[..3], 8), [3, 2, 1]);
        assert_eq!(places(&ids, 1000), (1..=100).rev().collect::<Vec<_>>());
        assert!(places(&[], 8).is_empty());
    }

    #[test]
    fn spelling_is_that_of_the_text() {
        for (text, word, expected) in [
            ("in ZÜRICH", "zurich", Some("ZÜRICH")),
            ("Zürichs, (Zürich)", "zurich", Some("Zürich")),
            ("well-Known", "known", Some("Known")),
            ("unknown", "known", None),
        ] {
            assert_eq!(first(text, &[word], || {}), [expected.map(str::to_owned)], "{word} in {text}");
        }
    }

    #[test]
    fn text_is_read_up_to_its_last_word() {
        let text = format!("Zwei EINS {}", "é ".repeat(100_000));
        let mut pauses = 0;
        let found = first(&text, &["eins", "zwei"], || pauses += 1);
        assert_eq!(found, [Some("EINS".to_owned()), Some("Zwei".to_owned())]);
        assert_eq!(pauses, 1);
        assert_eq!(first(&text, &["drei"], || pauses += 1), [None]);
        assert!(pauses > 20, "{pauses}");
    }
}
