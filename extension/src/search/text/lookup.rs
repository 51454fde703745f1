//! What the index of documents is asked for: pure.

use super::document::STEM;
use super::keys;
use super::needle::{Needle, WholeWords};
use super::trigram::has_key;

/// What the index can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Records that are called so.
    Whole,
    /// Records with all terms as whole words of name or key.
    Names,
    /// Records with all terms as whole words.
    WholeWords,
    /// All matches.
    All,
    /// The same by a statement, which looks for the names of other records.
    Statement,
}

impl Lookup {
    /// The lowest rank of which it finds all matches.
    pub fn lowest_rank(self) -> usize {
        match self {
            Lookup::Whole => 3,
            Lookup::Names => 2,
            Lookup::WholeWords => 1,
            Lookup::All | Lookup::Statement => 0,
        }
    }
}

impl Needle {
    /// The texts of each way to be a whole word that the index can look up; none where it cannot tell whole words from
    /// parts.
    pub fn whole_words_looked_up(&self) -> Option<Vec<Vec<String>>> {
        let indexable = |whole: &WholeWords| -> Option<Vec<String>> {
            let has_lexemes = whole.texts.iter().all(|text| text.starts_with(STEM));
            let texts = whole.texts.iter().chain(&whole.phrase);
            let texts: Vec<String> = texts.filter(|text| has_key(text)).cloned().collect();
            (has_lexemes && !texts.is_empty()).then_some(texts)
        };
        self.whole_words().iter().map(indexable).collect()
    }

    /// What to ask for whole words of the key and of the attribute with this code, of which a document must meet all; none
    /// where the index cannot tell.
    pub fn in_name(&self, code: &str) -> Option<Vec<String>> {
        // The words of a phrase may stand in a name in any order: the whole document tells more.
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
            // One word of each way has to be there.
            ways => {
                let longest = |words: &Vec<String>| words.iter().max_by_key(|it| it.len()).cloned();
                let words: Vec<String> = ways.iter().filter_map(longest).collect();
                vec![keys::query_of_name(code, &words)]
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::needle::tests::needle;

    #[test]
    fn whole_words_are_looked_up_by_their_lexemes() {
        let word = needle("Running", &[&["run"], &["runn"]]);
        assert_eq!(
            word.whole_words_looked_up(),
            Some(vec![vec!["\u{1d}RUN\u{1d}".to_owned()], vec!["\u{1d}RUNN\u{1d}".to_owned()]])
        );
        assert_eq!(word.in_name("\u{2}"), Some(vec!["\u{2}\u{1e}RUN\u{1e}RUNN".to_owned()]));
        let compound = needle("e-mail", &[&["e-mail", "mail"]]);
        let asked = ["\u{2}\u{1e}E-MAIL", "\u{2}\u{1e}MAIL"].map(str::to_owned).to_vec();
        assert_eq!(compound.in_name("\u{2}"), Some(asked));
    }

    #[test]
    fn phrases_are_looked_up_by_the_lexemes_that_they_have_as_whole_words() {
        let phrase = needle("\"old maps\"", &[&["map", "old"]]);
        let texts = ["\u{1d}MAP\u{1d}", "\u{1d}OLD\u{1d}", "old maps"].map(str::to_owned).to_vec();
        assert_eq!(phrase.whole_words_looked_up(), Some(vec![texts]));
        assert_eq!(phrase.in_name("\u{2}"), None);
    }

    #[test]
    fn what_has_no_lexeme_of_letters_is_not_looked_for_in_names() {
        assert_eq!(needle("\"to be\"", &[&[]]).in_name("\u{2}"), None);
        assert_eq!(needle("\"to be\"", &[&[]]).whole_words_looked_up(), None);
        assert_eq!(needle("the", &[&[]]).whole_words_looked_up(), None);
        assert_eq!(needle("it", &[&["it"]]).in_name("\u{2}"), None);
        assert_eq!(needle("2024", &[&["2024"]]).in_name("\u{2}"), None);
        assert!(needle("2024", &[&["2024"]]).whole_words_looked_up().is_some());
    }
}
