//! Filters: conditions of clients, compiled to SQL. Search, scopes and views use this pipeline, and no other code turns
//! client input into SQL. Pure.
//!
//! ```text
//! JSON ──parse──▶ conditions ──check (against a template)──▶ Filter ──render──▶ a condition in SQL
//! ```
//!
//! **Two-valued logic.** A condition is true or false, never unknown. `neq`, `not-in` and `not-like` are true exactly if
//! `eq`, `in` and `like` are false, so they are true for null. In SQL, conditions are positive, and a negation is
//! `(…) is not true`.
//!
//! **Empty** is null, an empty text or an empty list. `eq ""` matches the empty text but not null.
//!
//! **References.** `artist.name` is the name of the live, visible record that `artist` refers to. If there is none (null, or
//! a deleted or invisible record), positive conditions are false, and negative ones and `empty` are true.
//!
//! **Days.** In a condition on a time, a date is the whole day in the time zone of the request: `eq` matches any time of the
//! day, `gt` any later time, `lte` any time until its end.
//!
//! **Strict checks.** An invalid field, operator or value is rejected with its pointer. A value that is not an option of a
//! list is rejected too. `in []` is valid and matches no record.

/// Constants as parameters of statements.
pub mod arguments;
/// Checks of conditions against a template.
pub mod check;
/// Operands → constants.
pub mod constant;
/// The field of a condition.
pub mod field;
/// Conditions that can use an index.
mod indexable;
/// The value of a condition → operands.
pub mod operand;
/// Operators, and the fields they apply to.
pub mod operator;
/// JSON → conditions.
pub mod parse;
/// Filter → conditions that are possibly or certainly true.
pub mod possible;
/// Checked conditions.
pub mod predicate;
/// Fields of other records that a filter reads.
pub mod referenced_field;
/// Filter → SQL.
pub mod render;
/// The interface to templates.
pub mod schema;
/// Composition of SQL conditions.
mod sql;
/// Boolean combinations.
pub mod tree;
/// Collects errors for one response.
mod violations;

#[cfg(test)]
pub(crate) mod tests;

use field::Column;
use operator::Operator;
use predicate::Predicate;
use tree::Tree;

/// A checked filter. It can be rendered repeatedly, in different forms.
#[derive(Clone, Debug)]
pub struct Filter {
    tree: Tree<Predicate>,
    template: i32,
    time_zone: String,
}

/// The use of a field in a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The id of the template that has the field.
    pub template: i32,
    /// The id of the attribute; `None` for a standard field.
    pub attribute: Option<i32>,
    /// The field's name in the template.
    pub field: String,
    /// The operator; `None` for a reference to another template's field.
    pub operator: Option<Operator>,
    /// Whether all matches meet this condition, so that an index on the field can evaluate the whole filter.
    pub is_decisive: bool,
}

impl Filter {
    /// A filter that matches no record.
    pub fn never(template: i32) -> Filter {
        Filter { tree: Tree::never(), template, time_zone: "UTC".to_owned() }
    }

    /// The conjunction of two filters with the same template and time zone.
    pub fn and(self, other: Filter) -> Filter {
        Filter { tree: Tree::all([self.tree, other.tree]), ..self }
    }

    /// Whether the filter matches every record.
    pub fn is_always_true(&self) -> bool {
        self.tree.is_always()
    }

    /// Whether the filter matches no record.
    pub fn is_never_true(&self) -> bool {
        self.tree.is_never()
    }

    /// Whether a condition on this column ensures that all matches have a value in it.
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

    /// All uses of fields, including those of referenced templates. Decisive ones come first.
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
