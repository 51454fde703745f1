//! Synonym sets of full-text search. Pure.

use crate::json_write;
use serde::{Deserialize, Serialize};

/// A set of synonyms: words or phrases. A search for one also finds the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SynonymSet {
    /// The only term that finds the others (one-way); `None` if each term does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The other terms, or all terms without a root.
    pub synonyms: Vec<String>,
}

impl SynonymSet {
    /// The terms that find others.
    pub fn sources(&self) -> &[String] {
        self.root.as_ref().map_or(&self.synonyms, std::slice::from_ref)
    }

    /// The terms that the term at this position of [`SynonymSet::sources`] finds.
    pub fn others(&self, position: usize) -> impl Iterator<Item = &str> {
        let itself = self.root.is_none().then_some(position);
        let others = self.synonyms.iter().enumerate().filter(move |(other, _)| Some(*other) != itself);
        others.map(|(_, text)| text.as_str())
    }
}

/// Sets as JSON: `[{root?, synonyms}]`.
pub fn to_json(sets: &[SynonymSet]) -> String {
    json_write::to_json(&sets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_is_mutual_without_a_root_and_one_way_with_it() {
        let sets =
            r#"[{"synonyms":["car","automobile","motor car"]},{"root":"phone","synonyms":["iphone"]}]"#;
        let read: Vec<SynonymSet> = serde_json::from_str(sets).expect("sets");
        let others = |set: usize, position| read[set].others(position).collect::<Vec<_>>();
        assert_eq!(read[0].sources(), ["car", "automobile", "motor car"]);
        assert_eq!(others(0, 1), ["car", "motor car"]);
        assert_eq!((read[1].sources(), others(1, 0)), (&["phone".to_owned()][..], vec!["iphone"]));
        assert_eq!(to_json(&read), sets);
    }
}
