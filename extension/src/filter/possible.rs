//! Renders a filter as a condition that is possibly or certainly true, if some records may have been in other
//! states.
//!
//! A record for which `unsettled` is true passes every test possibly, and none certainly. For all other records,
//! tests are exact.

use super::Filter;
use super::field::Step;
use super::predicate::Predicate;
use super::referenced_field::key_holder;
use super::render::Options;
use super::render::Writer;
use super::sql::inner_alias;
use super::tree::Tree;
use crate::value::quote::identifier;

/// The requested certainty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The record possibly passes.
    Possible,
    /// The record certainly passes, whatever its earlier states.
    Certain,
}

impl Certainty {
    fn opposite(self) -> Certainty {
        match self {
            Certainty::Possible => Certainty::Certain,
            Certainty::Certain => Certainty::Possible,
        }
    }

    /// A test with this certainty, on a record that may be unsettled.
    fn of(self, test: &str, unsettled: Option<String>) -> String {
        match (self, unsettled) {
            (_, None) => format!("({test})"),
            (Certainty::Possible, Some(unsettled)) => format!("(({test}) or {unsettled})"),
            (Certainty::Certain, Some(unsettled)) => format!("(({test}) and not {unsettled})"),
        }
    }
}

/// The SQL condition that a record of a template (by id), under an alias, may have been in another state. It is never null.
/// `None` if no record may have been.
pub type Unsettled<'u> = &'u dyn Fn(i32, &str) -> Option<String>;

/// The condition over the table under `alias`, in parentheses. It is never null.
pub fn render_sense(filter: &Filter, alias: &str, sense: Certainty, unsettled: Unsettled) -> String {
    let writer = Writer::new(filter, alias, Options { one_by_one: true, ..Options::default() });
    Possible { writer, unsettled }.tree(&filter.tree, (filter.template, alias), sense)
}

struct Possible<'a> {
    writer: Writer<'a>,
    unsettled: Unsettled<'a>,
}

impl Possible<'_> {
    fn tree(&self, tree: &Tree<Predicate>, at: (i32, &str), sense: Certainty) -> String {
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

    fn behind(&self, path: &[Step], predicate: &Predicate, at: (i32, &str), sense: Certainty) -> String {
        let (template, alias) = at;
        let unsettled = (self.unsettled)(template, alias);
        let Some((step, additional)) = path.split_first() else {
            let test = format!("({}) is true", self.writer.column_text(predicate, alias));
            let Some(target) = key_holder(&predicate.test) else { return sense.of(&test, unsettled) };
            // The keys of targets are read as a set, so a separate condition tests whether the referenced record is
            // unsettled.
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
            format!("{inner}.deleted_at is null and {}", self.behind(additional, predicate, target, sense));
        let found = sense.of(&found, (self.unsettled)(target.0, target.1));
        let test = format!(
            "exists (select from {} {inner} where {inner}.id = {alias}.{} and {found})",
            step.target.table(),
            identifier(&step.slug)
        );
        sense.of(&test, unsettled)
    }
}
