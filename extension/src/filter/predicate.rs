//! Checked conditions: what is left when a filter agrees with its template.

use super::field::{Column, Step};
use super::operator::Operator;
use super::range::Bound;
use super::schema::Schema;
use crate::value::constant::Constant;
use std::rc::Rc;

/// A condition on one column, of this template or behind references. It is positive: it needs a value to hold, except
/// for [`Test::Empty`], which is never used behind a reference. So every condition is true or not true, and its
/// negation is `is not true`, which includes null.
#[derive(Clone, Debug)]
pub struct Predicate {
    /// The references that are followed, outermost first.
    pub path: Vec<Step>,
    /// What is tested.
    pub column: Column,
    /// The operator that was sent.
    pub operator: Operator,
    /// The test.
    pub test: Test,
}

/// What a column is tested for.
#[derive(Clone, Debug)]
pub enum Test {
    /// It is one of these, at least one; a list shares one with them.
    OneOf(Vec<Constant>),
    /// It is the id of a live record of the target that holds one of these keys.
    HoldsKey(Vec<String>, Rc<dyn Schema>),
    /// It is like a pattern, whose wildcards are ours and whose text is escaped.
    Like {
        /// The pattern.
        pattern: String,
        /// Whether upper and lower case count as the same.
        ignores_case: bool,
    },
    /// It is within bounds.
    Within {
        /// Not below.
        lower: Option<Bound>,
        /// Not above.
        upper: Option<Bound>,
    },
    /// It is on the present day.
    Today,
    /// It is null, an empty text or an empty list.
    Empty,
    /// It is something else.
    NotEmpty,
    /// Nothing: that there is a record at the end of the path is all.
    Exists,
    /// At least one of these tests succeeds; without any, none does.
    AnyOf(Vec<Test>),
}

impl Test {
    /// Whether null fails it.
    pub fn needs_value(&self) -> bool {
        match self {
            Test::Empty => false,
            Test::AnyOf(tests) => tests.iter().all(Test::needs_value),
            _ => true,
        }
    }
}
