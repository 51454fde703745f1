//! Filters: a pure pipeline, and the only place that turns client input into SQL. Search, scopes and views share it.
//!
//! ```text
//! JSON ──parse──▶ conditions ──check (against a template)──▶ Filter ──render──▶ a condition in SQL
//! ```
//!
//! **Two truth values.** A condition is true or false, never unknown. `neq`, `not-in` and `not-like` hold exactly
//! where `eq`, `in` and `like` do not, so they hold for null; `not` negates what follows. In SQL, every condition is
//! positive, and its negation is `(…) is not true`.
//!
//! **Empty** is null, an empty text, an empty list. `eq ""` still means the empty text and not null.
//!
//! **Through references.** `artist.name` is the name of the live record that `artist` points to, as far as the caller
//! may see it. Where there is none (no link, a deleted or an invisible record), positive conditions do not hold,
//! negative ones and `empty` do.
//!
//! **Days.** On a field of times a date means the whole day in the time zone of the request: `eq` is any time of it,
//! `gt` begins after it, `lte` ends with it.
//!
//! **No guessing.** A field, an operator or a value that does not fit is refused with its pointer; so is a value that
//! is not an option of a list, because the condition could never hold. `in []` is valid and matches no record.

/// Constants as arguments of statements.
pub mod arguments;
/// What a filter reads of other records.
pub mod behind;
/// Conditions + template → filter.
pub mod check;
/// Single values → constants of a type.
pub mod constant;
/// Collects errors for one response.
mod faults;
/// The field of a condition.
pub mod field;
/// A column that is like a pattern → SQL.
mod like;
/// The value of a condition → single values.
pub mod operand;
/// The operators and what they apply to.
pub mod operator;
/// Options of rendering a filter.
mod options;
/// JSON → conditions.
pub mod parse;
/// Filter → what is possible and what is certain.
pub mod possible;
/// Checked conditions.
pub mod predicate;
/// Ends of ranges.
pub mod range;
/// Filter → SQL.
pub mod render;
/// The schema of a template, as filters see it.
pub mod schema;
/// What an index finds.
mod served;
/// Conditions in SQL, put together.
mod sql;
/// And, or, not.
pub mod tree;

#[cfg(test)]
pub(crate) mod tests;

use field::Column;
use operator::Operator;
use predicate::Predicate;
use tree::Tree;

/// A filter that agrees with its template. It can be rendered many times, in statements of different shape.
#[derive(Clone, Debug)]
pub struct Filter {
    tree: Tree<Predicate>,
    template: i32,
    time_zone: String,
}

/// A place where a filter makes use of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The number of the template that has the field.
    pub template: i32,
    /// The number of the attribute; `None` for a standard field.
    pub attribute: Option<i32>,
    /// The field's name in the template.
    pub field: String,
    /// How it is used; `None` for a reference that is followed to another template's field.
    pub operator: Option<Operator>,
    /// Whether no record passes the filter without passing this condition, so that an index on the field alone can
    /// serve the whole.
    pub is_decisive: bool,
}

impl Filter {
    /// The filter of a template that no record passes.
    pub fn never(template: i32) -> Filter {
        Filter { tree: Tree::never(), template, time_zone: "UTC".to_owned() }
    }

    /// The filter that a record passes when it passes both, which are about the same template and time zone.
    pub fn and(self, other: Filter) -> Filter {
        Filter { tree: Tree::all([self.tree, other.tree]), ..self }
    }

    /// Whether every record passes, whatever it holds.
    pub fn is_always_true(&self) -> bool {
        self.tree.is_always()
    }

    /// Whether no record passes, whatever it holds.
    pub fn is_never_true(&self) -> bool {
        self.tree.is_never()
    }

    /// Whether every record that passes has a value in this column, because a condition of its own asks for one.
    pub fn needs_value(&self, column: &Column) -> bool {
        let needs = |part: &Tree<Predicate>| match part {
            Tree::Leaf(leaf) => leaf.path.is_empty() && leaf.column == *column && leaf.test.needs_value(),
            _ => false,
        };
        match &self.tree {
            Tree::All(parts) => parts.iter().any(needs),
            other => needs(other),
        }
    }

    /// Every use of a field, of the filtered template and of those behind references; the decisive ones first.
    pub fn uses(&self) -> Vec<Use> {
        let (decisive, others) = match &self.tree {
            Tree::All(parts) => parts.iter().partition(|part| matches!(part, Tree::Leaf(_))),
            Tree::Leaf(_) => (vec![&self.tree], Vec::new()),
            other => (Vec::new(), vec![other]),
        };
        let each = |parts: Vec<&Tree<Predicate>>, is_decisive| {
            let predicates = parts.into_iter().flat_map(Tree::leaves);
            predicates.flat_map(|predicate| self.uses_of(predicate, is_decisive)).collect::<Vec<_>>()
        };
        let mut uses = each(decisive, true);
        uses.extend(each(others, false));
        uses
    }

    fn uses_of(&self, predicate: &Predicate, is_decisive: bool) -> Vec<Use> {
        let mut uses = Vec::with_capacity(predicate.path.len() + 1);
        let mut template = self.template;
        for step in &predicate.path {
            let (attribute, field) = (Some(step.attribute), step.slug.clone());
            uses.push(Use { template, attribute, field, operator: None, is_decisive });
            template = step.target.id();
        }
        let (attribute, field) = (predicate.column.attribute(), predicate.column.name().to_owned());
        uses.push(Use { template, attribute, field, operator: Some(predicate.operator), is_decisive });
        uses
    }
}
