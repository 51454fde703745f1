//! Ends of ranges. A number, a date or an instant is one point; a day on a field of times has a beginning and an end.

use crate::value::constant::Constant;

/// What a column of numbers, dates or times is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Point {
    /// A value.
    At(Constant),
    /// Any time of this day, in days since 2000-01-01.
    Day(i32),
}

/// An end of a range.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Where.
    pub at: Constant,
    /// Whether the end itself belongs to the range.
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
    /// The lower end of a range that begins with it.
    pub fn from(self) -> Bound {
        match self {
            Point::At(at) => Bound::including(at),
            Point::Day(day) => Bound::including(Constant::Midnight(day)),
        }
    }

    /// The lower end of a range that begins after it.
    pub fn after(self) -> Bound {
        match self {
            Point::At(at) => Bound::excluding(at),
            Point::Day(day) => Bound::including(Constant::Midnight(day + 1)),
        }
    }

    /// The upper end of a range that ends with it.
    pub fn to(self) -> Bound {
        match self {
            Point::At(at) => Bound::including(at),
            Point::Day(day) => Bound::excluding(Constant::Midnight(day + 1)),
        }
    }

    /// The upper end of a range that ends before it.
    pub fn before(self) -> Bound {
        match self {
            Point::At(at) => Bound::excluding(at),
            Point::Day(day) => Bound::excluding(Constant::Midnight(day)),
        }
    }
}
