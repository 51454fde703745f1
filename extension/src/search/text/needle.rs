//! SQL conditions on documents for a term. Pure.

use super::document::{self, STEM};
use super::keys;
use super::query::{MatchKind, Term};
use super::trigram::has_key;
use super::word_boundary::{self, is_dependent};
use crate::value::pattern::escaped;
use crate::value::quote;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A match of whole words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholeWords {
    /// The substrings of a document: the lexemes, so that inflection is ignored; the text itself if it has no
    /// lexemes.
    pub texts: Vec<String>,
    /// The phrase, which must not be within longer words.
    pub phrase: Option<String>,
}

/// A term, with the conditions on documents of one language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needle {
    /// A document matches if it contains all strings of one of these lists.
    alternatives: Vec<Vec<String>>,
    /// It matches whole words in one of these alternatives.
    whole_words: Vec<WholeWords>,
    /// The dropped attributes, whose fields do not count.
    dropped: Vec<i32>,
}

impl Needle {
    /// The needle of a term. `stems` are the lexemes of the typed text, for each way in which documents are
    /// stemmed.
    pub fn new(term: &Term, stems: &[BTreeSet<String>]) -> Needle {
        if let Some(beginning) = beginning(term) {
            let mut texts = vec![format!(" {beginning}")];
            if beginning != term.text {
                texts.push(term.text.clone());
            }
            let beginning = vec![texts];
            let whole_words = beginning.iter().map(|texts| WholeWords { texts: texts.clone(), phrase: None });
            return Needle {
                whole_words: whole_words.collect(),
                alternatives: beginning,
                dropped: Vec::new(),
            };
        }
        let plain = vec![term.text.clone()];
        let phrase = (term.kind == MatchKind::Phrase).then(|| term.text.clone());
        let mut whole_words: Vec<WholeWords> = Vec::new();
        for lexemes in stems.iter().filter(|lexemes| !lexemes.is_empty()) {
            let mark = |lexeme: &String| format!("{STEM}{}{STEM}", document::marked(lexeme));
            let whole = WholeWords { texts: lexemes.iter().map(mark).collect(), phrase: phrase.clone() };
            if !whole_words.contains(&whole) {
                whole_words.push(whole);
            }
        }
        let mut alternatives = vec![plain.clone()];
        if phrase.is_none() {
            alternatives.extend(whole_words.iter().map(|whole| whole.texts.clone()));
        }
        // Without a lexeme, no index distinguishes whole words from parts of longer ones, so neither does the
        // condition.
        if whole_words.is_empty() {
            whole_words.push(WholeWords { texts: plain, phrase: None });
        }
        Needle { alternatives, whole_words, dropped: Vec::new() }
    }

    /// Matches a document if this needle or the other one does.
    pub fn or(mut self, other: Needle) -> Needle {
        add_new(&mut self.alternatives, other.alternatives);
        add_new(&mut self.whole_words, other.whole_words);
        self
    }

    /// The same, excluding fields of dropped attributes that documents may still contain.
    pub fn without(self, dropped: &[i32]) -> Needle {
        Needle { dropped: dropped.to_vec(), ..self }
    }

    /// The fields of a document that count.
    fn valid<'d>(&self, document: &'d str) -> Cow<'d, str> {
        if self.dropped.is_empty() {
            return document.into();
        }
        let starts: Vec<String> = self.dropped.iter().map(|id| document::field_start(Some(*id))).collect();
        let fields = literal(&format!("({})[^{}]*", starts.join("|"), document::FIELD));
        format!("regexp_replace({document}, {fields}, '', 'g')").into()
    }

    /// Whether the trigram index can find it: every alternative must contain a string with an index
    /// key.
    pub fn is_indexable(&self) -> bool {
        self.alternatives.iter().all(|texts| texts.iter().any(|text| has_key(text)))
    }

    /// A document matches if it contains all strings of one of these lists.
    pub fn alternatives(&self) -> &[Vec<String>] {
        &self.alternatives
    }

    /// It matches whole words in one of these alternatives.
    pub fn whole_words(&self) -> &[WholeWords] {
        &self.whole_words
    }

    /// The strings of each alternative that the index can look up, ignoring case, without redundant alternatives.
    pub fn looked_up(&self) -> Vec<Vec<String>> {
        let indexable = |texts: &Vec<String>| texts.iter().filter(|text| has_key(text)).cloned().collect();
        self.finding_all().into_iter().map(indexable).collect()
    }

    /// The condition in its indexable form. The index ignores case, so if a stem is the typed word in uppercase, one
    /// lookup finds both.
    pub fn indexed(&self, document: &str) -> String {
        let finding_all = self.finding_all();
        if finding_all.len() == self.alternatives.len() {
            let found = join(&self.alternatives, |text| like(document, text));
            return if self.dropped.is_empty() {
                found
            } else {
                format!("({found} and {})", self.checked(document))
            };
        }
        let ilike = |text: &str| format!("{document} ilike {}", literal(&format!("%{}%", escaped(text))));
        let found = match finding_all.as_slice() {
            [texts] => all(texts, ilike),
            several => join(several.iter().copied(), ilike),
        };
        format!("({found} and {})", self.checked(document))
    }

    /// The alternatives without those that contain a string of another one, ignoring case: a lookup of the others finds
    /// all documents. Documents have the collation "C", in which only ASCII letters have case.
    fn finding_all(&self) -> Vec<&Vec<String>> {
        let lower: Vec<Vec<String>> = self
            .alternatives
            .iter()
            .map(|texts| texts.iter().map(|text| text.to_lowercase()).collect())
            .collect();
        let is_found_by = |one: usize, other: usize| {
            let [text] = lower[other].as_slice() else { return false };
            text.is_ascii() && has_key(text) && lower[one].iter().any(|it| it.contains(text.as_str()))
        };
        // Of two equivalent ones, the first remains.
        let is_needed = |one: &usize| {
            let finds =
                |other: usize| is_found_by(*one, other) && (other < *one || !is_found_by(other, *one));
            !(0..lower.len()).any(|other| other != *one && finds(other))
        };
        (0..lower.len()).filter(is_needed).map(|place| &self.alternatives[place]).collect()
    }

    /// The condition in a form that no index can use, for documents that were found by another
    /// condition.
    pub fn checked(&self, document: &str) -> String {
        let document = self.valid(document);
        join(&self.alternatives, |text| holds(&document, text))
    }

    /// The condition that the text contains it as a whole word in any inflection, or as a phrase that is not
    /// within longer words.
    pub fn whole_word(&self, document: &str) -> String {
        let document = self.valid(document);
        let held = self.whole_words.iter().map(|whole| {
            let texts = all(&whole.texts, |text| holds(&document, text));
            match &whole.phrase {
                Some(phrase) => format!(
                    "{texts} and coalesce({} and {document} ~ {}, false)",
                    like(&document, phrase),
                    literal(&word_boundary::pattern(phrase))
                ),
                None => texts,
            }
        });
        format!("({})", held.collect::<Vec<_>>().join(" or "))
    }

    /// The strings of each whole-word alternative that the index can look up; `None` if the index cannot distinguish
    /// whole words from parts.
    pub fn whole_word_index_terms(&self) -> Option<Vec<Vec<String>>> {
        let indexable = |whole: &WholeWords| -> Option<Vec<String>> {
            let has_lexemes = whole.texts.iter().all(|text| text.starts_with(STEM));
            let texts = whole.texts.iter().chain(&whole.phrase);
            let texts: Vec<String> = texts.filter(|text| has_key(text)).cloned().collect();
            (has_lexemes && !texts.is_empty()).then_some(texts)
        };
        self.whole_words().iter().map(indexable).collect()
    }

    /// The index queries for whole words of the key and of the attribute with this code, all of which a document must
    /// match; `None` if the index cannot distinguish them.
    pub fn in_name(&self, code: &str) -> Option<Vec<String>> {
        // The words of a phrase may be in a name in any order, so the whole document is more
        // selective.
        let words = |whole: &WholeWords| -> Option<Vec<String>> {
            let texts = whole.phrase.is_none().then_some(&whole.texts)?;
            let lexemes = texts.iter().filter_map(|text| text.strip_prefix(STEM)?.strip_suffix(STEM));
            let words: Vec<String> = lexemes.filter(|it| keys::is_word(it)).map(str::to_owned).collect();
            (!words.is_empty()).then_some(words)
        };
        let ways = self.whole_words().iter().map(words).collect::<Option<Vec<_>>>()?;
        Some(match ways.as_slice() {
            [words] => {
                words.iter().map(|word| keys::query_of_name(code, std::slice::from_ref(word))).collect()
            }
            // One word of each alternative must match.
            ways => {
                let longest = |words: &Vec<String>| words.iter().max_by_key(|it| it.len()).cloned();
                let words: Vec<String> = ways.iter().filter_map(longest).collect();
                vec![keys::query_of_name(code, &words)]
            }
        })
    }
}

fn add_new<T: PartialEq>(all: &mut Vec<T>, others: Vec<T>) {
    for other in others {
        if !all.contains(&other) {
            all.push(other);
        }
    }
}

/// The word prefix that a term of one or two letters matches. Such a term has no trigram, and most documents contain it
/// somewhere. After a word that begins inside a value, only its letters and digits are repeated, without following symbols.
/// A combining sign begins no word, although Unicode classifies some of them as letters.
pub fn beginning(term: &Term) -> Option<&str> {
    let text = term.text.as_str();
    let first = text.chars().next().filter(|_| text.chars().nth(2).is_none())?;
    let end = match is_dependent(first) {
        true => text.len(),
        false => text.find(|it: char| !it.is_alphanumeric()).unwrap_or(text.len()),
    };
    (end > 0).then(|| &text[..end])
}

/// `like` takes half the time of `strpos` on documents of some lines. No index can use an expression with `coalesce`,
/// and the planner uses a default estimate for it.
fn holds(document: &str, text: &str) -> String {
    format!("coalesce({}, false)", like(document, text))
}

fn like(document: &str, text: &str) -> String {
    format!("{document} like {}", literal(&format!("%{}%", escaped(text))))
}

fn join<'t>(
    alternatives: impl IntoIterator<Item = &'t Vec<String>>,
    render: impl Fn(&str) -> String,
) -> String {
    let alternatives = alternatives.into_iter().map(|texts| all(texts, &render));
    format!("({})", alternatives.collect::<Vec<_>>().join(" or "))
}

fn all(texts: &[String], render: impl Fn(&str) -> String) -> String {
    texts.iter().map(|text| render(text)).collect::<Vec<_>>().join(" and ")
}

/// Text with document markers as a readable literal.
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

/// The field of an attribute in a document; of the external key without one.
pub fn field(document: &str, attribute: Option<i32>) -> String {
    let start = literal(&document::field_start(attribute));
    format!("split_part(split_part({document}, {start}, 2), {}, 1)", literal(&document::FIELD.to_string()))
}

#[cfg(test)]
mod tests;
