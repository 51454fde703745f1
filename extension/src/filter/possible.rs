//! Filter → what is possible and what is certain, where some records may have been in another state.
//!
//! A record for which `unsettled` holds passes any test possibly and none certainly. Of all others, tests are exact.

use super::Filter;
use super::behind::key_holder;
use super::field::Step;
use super::predicate::Predicate;
use super::render::Options;
use super::render::Writer;
use super::sql::inner_alias;
use super::tree::Tree;
use crate::value::quote::identifier;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// Whether the record may pass.
    Possible,
    /// Whether it passes whatever the states were.
    Certain,
}

impl Sense {
    fn opposite(self) -> Sense {
        match self {
            Sense::Possible => Sense::Certain,
            Sense::Certain => Sense::Possible,
        }
    }

    /// A test in this sense, of a record that may be unsettled.
    fn of(self, test: &str, unsettled: Option<String>) -> String {
        match (self, unsettled) {
            (_, None) => format!("({test})"),
            (Sense::Possible, Some(unsettled)) => format!("(({test}) or {unsettled})"),
            (Sense::Certain, Some(unsettled)) => format!("(({test}) and not {unsettled})"),
        }
    }
}

/// Whether the record of a template, by its number, under an alias may have been in another state, as a condition in SQL that
/// is never null; `None` where it may not.
pub type Unsettled<'u> = &'u dyn Fn(i32, &str) -> Option<String>;

/// The condition over the table under `alias`, in parentheses. It is never null.
pub fn render_sense(filter: &Filter, alias: &str, sense: Sense, unsettled: Unsettled) -> String {
    let writer = Writer::new(filter, alias, Options { one_by_one: true, ..Options::default() });
    Possible { writer, unsettled }.tree(&filter.tree, (filter.template, alias), sense)
}

struct Possible<'a> {
    writer: Writer<'a>,
    unsettled: Unsettled<'a>,
}

impl Possible<'_> {
    fn tree(&self, tree: &Tree<Predicate>, at: (i32, &str), sense: Sense) -> String {
        let all = |parts: &[Tree<Predicate>], word: &str, none: &str| match parts {
            [] => none.to_owned(),
            parts => {
                let parts: Vec<String> = parts.iter().map(|part| self.tree(part, at, sense)).collect();
                format!("({})", parts.join(word))
            }
        };
        match tree {
            Tree::All(parts) => all(parts, " and ", "true"),
            Tree::Any(parts) => all(parts, " or ", "false"),
            Tree::Not(part) => format!("(not {})", self.tree(part, at, sense.opposite())),
            Tree::Leaf(predicate) => self.behind(&predicate.path, predicate, at, sense),
        }
    }

    fn behind(&self, path: &[Step], predicate: &Predicate, at: (i32, &str), sense: Sense) -> String {
        let (template, alias) = at;
        let unsettled = (self.unsettled)(template, alias);
        let Some((step, further)) = path.split_first() else {
            let test = format!("({}) is true", self.writer.column_text(predicate, alias));
            let Some(target) = key_holder(&predicate.test) else { return sense.of(&test, unsettled) };
            // Keys of targets are read by a set: whether the one that is referred to is unsettled is asked by itself.
            let inner = inner_alias(alias);
            let holder = (self.unsettled)(target.id(), &inner).map(|unsettled| {
                let reference = predicate.column.sql(alias);
                format!(
                    "exists (select from {} {inner} where {inner}.id = {reference} and {unsettled})",
                    target.table()
                )
            });
            return sense.of(&sense.of(&test, holder), unsettled);
        };
        let inner = inner_alias(alias);
        let target = (step.target.id(), inner.as_str());
        let found =
            format!("{inner}.deleted_at is null and {}", self.behind(further, predicate, target, sense));
        let found = sense.of(&found, (self.unsettled)(target.0, target.1));
        let test = format!(
            "exists (select from {} {inner} where {inner}.id = {alias}.{} and {found})",
            step.target.table(),
            identifier(&step.slug)
        );
        sense.of(&test, unsettled)
    }
}
