//! Words that stand for each other in a search: pure.

use crate::json_write;
use serde::{Deserialize, Serialize};

/// Words, or several words in a row, of which a search for one finds the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SynonymSet {
    /// The only one that finds the others; none where each does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The others, or all.
    pub synonyms: Vec<String>,
}

impl SynonymSet {
    /// Those that find others.
    pub fn sought(&self) -> &[String] {
        self.root.as_ref().map_or(&self.synonyms, std::slice::from_ref)
    }

    /// What the one at this place of [`SynonymSet::sought`] finds.
    pub fn others(&self, place: usize) -> impl Iterator<Item = &str> {
        let itself = self.root.is_none().then_some(place);
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
    fn each_stands_for_each_and_a_root_for_itself_alone() {
        let sets =
            r#"[{"synonyms":["car","automobile","motor car"]},{"root":"phone","synonyms":["iphone"]}]"#;
        let read: Vec<SynonymSet> = serde_json::from_str(sets).expect("sets");
        let others = |set: usize, place| read[set].others(place).collect::<Vec<_>>();
        assert_eq!(read[0].sought(), ["car", "automobile", "motor car"]);
        assert_eq!(others(0, 1), ["car", "motor car"]);
        assert_eq!((read[1].sought(), others(1, 0)), (&["phone".to_owned()][..], vec!["iphone"]));
        assert_eq!(to_json(&read), sets);
    }
}
