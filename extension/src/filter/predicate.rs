//! Checked conditions, and the bounds of their ranges.

use super::field::{Column, Step};
use super::operator::Operator;
use super::schema::Schema;
use crate::value::constant::Constant;
use std::rc::Rc;

/// A positive condition on a column of the template or of a referenced one. It is false or null without a value, except for
/// [`Test::Empty`], which is not used through references. Its negation is `is not true`.
#[derive(Clone, Debug)]
pub struct Predicate {
    /// The references to follow, outermost first.
    pub path: Vec<Step>,
    /// The column.
    pub column: Column,
    /// The operator in the request.
    pub operator: Operator,
    /// The test.
    pub test: Test,
}

/// A test of a column.
#[derive(Clone, Debug)]
pub enum Test {
    /// Equal to one of these values, or overlapping with them for a list.
    OneOf(Vec<Constant>),
    /// The id of a live record of the target with one of these keys.
    HoldsKey(Vec<String>, Rc<dyn Schema>),
    /// Matching a LIKE pattern. The text of the request is escaped.
    Like {
        /// The pattern.
        pattern: String,
        /// Whether the match is case-insensitive.
        ignores_case: bool,
    },
    /// Within bounds.
    Within {
        /// The lower bound.
        lower: Option<Bound>,
        /// The upper bound.
        upper: Option<Bound>,
    },
    /// On the current day.
    Today,
    /// Null, an empty text or an empty list.
    Empty,
    /// Not empty.
    NotEmpty,
    /// Always true if the record at the end of the path exists.
    Exists,
    /// At least one of these tests is true.
    AnyOf(Vec<Test>),
}

impl Test {
    /// Whether the test is not true for null.
    pub fn needs_value(&self) -> bool {
        match self {
            Test::Empty => false,
            Test::AnyOf(tests) => tests.iter().all(Test::needs_value),
            _ => true,
        }
    }
}

/// A value that a number, date or time is compared with. A day on a field of times is a range.
#[derive(Clone, Debug, PartialEq)]
pub enum Point {
    /// A value.
    At(Constant),
    /// Any time of this day, in days since 2000-01-01.
    Day(i32),
}

/// A bound of a range.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The value.
    pub at: Constant,
    /// Whether the bound is inclusive.
    pub included: bool,
}

impl Bound {
    fn including(at: Constant) -> Bound {
        Bound { at, included: true }
    }

    fn excluding(at: Constant) -> Bound {
        Bound { at, included: false }
    }
}

impl Point {
    /// The lower bound of a range that begins with it.
    pub fn from(self) -> Bound {
        match self {
            Point::At(at) => Bound::including(at),
            Point::Day(day) => Bound::including(Constant::Midnight(day)),
        }
    }

    /// The lower bound of a range that begins after it.
    pub fn after(self) -> Bound {
        match self {
            Point::At(at) => Bound::excluding(at),
            Point::Day(day) => Bound::including(Constant::Midnight(day + 1)),
        }
    }

    /// The upper bound of a range that ends with it.
    pub fn to(self) -> Bound {
        match self {
            Point::At(at) => Bound::including(at),
            Point::Day(day) => Bound::excluding(Constant::Midnight(day + 1)),
        }
    }

    /// The upper bound of a range that ends before it.
    pub fn before(self) -> Bound {
        match self {
            Point::At(at) => Bound::excluding(at),
            Point::Day(day) => Bound::excluding(Constant::Midnight(day)),
        }
    }
}
