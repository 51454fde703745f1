//! A parsed search: syntax only.

use super::correction::Corrections;
use crate::filter::schema::AttributeKey;
use crate::value::vector::Vector;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// How many records a page has when the request does not say.
pub const DEFAULT_LIMIT: usize = 100;
/// The most records of a page.
pub const MOST_LIMIT: usize = 1000;
/// The most records that a search by a vector finds: so many are taken from each list, of words and of vectors.
pub const MOST_BY_VECTOR: usize = 200;
/// The most fields whose values are counted in one search.
pub const MOST_FACETS: usize = 20;

/// Whether all the records that were found are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// `total` is null.
    #[default]
    None,
    /// `total` is what the planner expects.
    Estimated,
    /// `total` is counted.
    Exact,
}

/// How what the words matched is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// Whether with its places.
    pub offsets: bool,
}

/// A search as it was sent (docs/reference/search.md).
#[derive(Debug, Default)]
pub struct SearchQuery<'a> {
    /// Words to find anywhere in a record.
    pub global_search: Option<Cow<'a, str>>,
    /// Whether words with a wrong letter are found where nothing else is.
    pub fuzzy: bool,
    /// The words that are looked for in place of those.
    pub corrections: Corrections,
    /// Conditions that must all hold.
    pub filters: Option<&'a RawValue>,
    /// Groups of conditions, of which one must hold.
    pub filter_groups: Option<&'a RawValue>,
    /// How conditions and sorts name attributes.
    pub attribute_key: AttributeKey,
    /// What the records are sorted by.
    pub sort: Option<&'a RawValue>,
    /// The most records of the page.
    pub limit: Option<usize>,
    /// Where the page before ended.
    pub cursor: Option<Cow<'a, str>>,
    /// The parts of each record that are wanted; all when absent.
    pub fields: Option<Vec<String>>,
    /// Whether `attribute_values` come too.
    pub verbose: bool,
    /// Whether each record has its version.
    pub versions: bool,
    /// Whether what the words matched is shown, and how.
    pub highlight: Option<Highlight>,
    /// Whether all records found are counted.
    pub count: Count,
    /// In which time zone a day is a day.
    pub time_zone: Option<Cow<'a, str>>,
    /// Fields whose values are counted.
    pub facets: Vec<Cow<'a, str>>,
    /// Whether deleted records are found too, or alone where a filter asks for `deleted_at`.
    pub include_deleted: bool,
    /// The slug of the saved view whose records are searched.
    pub view: Option<Cow<'a, str>>,
    /// What that view asks for, once it was read.
    pub within: Option<Box<SearchQuery<'a>>>,
    /// The members that the body has.
    pub(super) given: Vec<Cow<'a, str>>,
    /// What the vectors of records are compared with, in the modes that do.
    pub vector: Option<Vector>,
}

impl<'a> SearchQuery<'a> {
    /// Whether the body has a member.
    pub(super) fn says(&self, member: &str) -> bool {
        self.given.iter().any(|name| name == member)
    }

    /// The body that says about a member: this one, else that of its view.
    pub fn source(&self, member: &str) -> &SearchQuery<'a> {
        match &self.within {
            Some(view) if !self.says(member) => view,
            _ => self,
        }
    }
}
