//! Operators, and the field families they apply to.

use crate::attribute_type::Family;
use crate::value::pattern;

/// An operator of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// Equal to the value.
    Eq,
    /// Not equal to the value; null differs from every value.
    Neq,
    /// One of the values; for a list, overlap with the values.
    In,
    /// None of the values.
    NotIn,
    /// Contains the text. `%` and `_` are ordinary characters.
    Like,
    /// Does not contain the text.
    NotLike,
    /// Contains the text, ignoring case.
    Ilike,
    /// Begins with the text.
    StartsWith,
    /// Ends with the text.
    EndsWith,
    /// Greater than the value.
    Gt,
    /// Greater than or equal to the value.
    Gte,
    /// Less than the value.
    Lt,
    /// Less than or equal to the value.
    Lte,
    /// Between two values, inclusive.
    Between,
    /// On the current day in the time zone of the request.
    Today,
    /// Null, an empty text or an empty list.
    Empty,
    /// Not empty.
    NotEmpty,
}

/// The comparison of an operator, which determines its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Whether the field is equal to the value.
    Value,
    /// Whether the field is one of several values, or a list overlaps with them.
    Values,
    /// Whether the field contains a string.
    Text(MatchPosition, Case),
    /// Whether the field is greater than the value.
    After,
    /// Whether the field is greater than or equal to the value.
    From,
    /// Whether the field is less than the value.
    Before,
    /// Whether the field is less than or equal to the value.
    To,
    /// Whether the field is between two values, inclusive.
    Between,
    /// Whether the field is on the current day. Takes no value.
    Today,
    /// Whether the field is empty. Takes no value.
    Empty,
    /// Whether the field is not empty. Takes no value.
    NotEmpty,
}

/// The position of a match in a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchPosition {
    /// Anywhere.
    Anywhere,
    /// At the beginning.
    Beginning,
    /// At the end.
    End,
}

impl MatchPosition {
    /// The LIKE pattern for `text` at this position. Wildcards in the text are escaped.
    pub fn pattern(self, text: &str) -> String {
        let text = pattern::escaped(text);
        match self {
            MatchPosition::Anywhere => format!("%{text}%"),
            MatchPosition::Beginning => format!("{text}%"),
            MatchPosition::End => format!("%{text}"),
        }
    }
}

/// Case sensitivity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Case-sensitive.
    Counts,
    /// Case-insensitive.
    Ignored,
}

/// The table of operators, in the order of [`Operator`] and [`Family`]. docs/reference/search.md has the same table.
#[rustfmt::skip]
const TABLE: &[(Operator, &str, bool, Comparison, [bool; 8])] = {
    const Y: bool = true;
    const N: bool = false;
    use Case::*;
    use Operator::*;
    use Comparison as Is;
    use MatchPosition::*;
    &[  //                         negative, tests                  Text Number List Time Discrete  Key Id Template
        (Eq,         "eq",          N, Is::Value,                    [Y,   Y,     N,   Y,   Y,        Y,  Y, Y]),
        (Neq,        "neq",         Y, Is::Value,                    [Y,   Y,     N,   Y,   Y,        Y,  Y, Y]),
        (In,         "in",          N, Is::Values,                   [Y,   Y,     Y,   Y,   Y,        Y,  Y, Y]),
        (NotIn,      "not-in",      Y, Is::Values,                   [Y,   Y,     Y,   Y,   Y,        Y,  Y, Y]),
        (Like,       "like",        N, Is::Text(Anywhere, Counts),   [Y,   N,     N,   N,   N,        Y,  N, N]),
        (NotLike,    "not-like",    Y, Is::Text(Anywhere, Counts),   [Y,   N,     N,   N,   N,        Y,  N, N]),
        (Ilike,      "ilike",       N, Is::Text(Anywhere, Ignored),  [Y,   N,     N,   N,   N,        N,  N, N]),
        (StartsWith, "starts-with", N, Is::Text(Beginning, Counts),  [Y,   N,     N,   N,   N,        N,  N, N]),
        (EndsWith,   "ends-with",   N, Is::Text(End, Counts),        [Y,   N,     N,   N,   N,        N,  N, N]),
        (Gt,         "gt",          N, Is::After,                    [N,   Y,     N,   Y,   N,        N,  N, N]),
        (Gte,        "gte",         N, Is::From,                     [N,   Y,     N,   Y,   N,        N,  N, N]),
        (Lt,         "lt",          N, Is::Before,                   [N,   Y,     N,   Y,   N,        N,  N, N]),
        (Lte,        "lte",         N, Is::To,                       [N,   Y,     N,   Y,   N,        N,  N, N]),
        (Between,    "between",     N, Is::Between,                  [N,   Y,     N,   Y,   N,        N,  N, N]),
        (Today,      "today",       N, Is::Today,                    [N,   N,     N,   Y,   N,        N,  N, N]),
        (Empty,      "empty",       N, Is::Empty,                    [Y,   Y,     Y,   Y,   Y,        Y,  Y, N]),
        (NotEmpty,   "not-empty",   N, Is::NotEmpty,                 [Y,   Y,     Y,   Y,   Y,        Y,  Y, N]),
    ]
};

impl Operator {
    /// The operator with this name, case-sensitive.
    pub fn parse(name: &str) -> Option<Operator> {
        Operator::all().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Whether it is the negation of another operator, so that it is true for null.
    pub fn is_negative(self) -> bool {
        TABLE[self as usize].2
    }

    /// Its comparison. A negative operator negates it.
    pub fn comparison(self) -> Comparison {
        TABLE[self as usize].3
    }

    /// Whether it applies to fields of this family.
    pub fn applies_to(self, family: Family) -> bool {
        TABLE[self as usize].4[family as usize]
    }

    /// The names of the operators that apply to fields of this family.
    pub fn names_for(family: Family) -> Vec<&'static str> {
        Operator::all().filter(|row| row.0.applies_to(family)).map(|row| row.1).collect()
    }

    /// Every operator, with its name.
    pub fn all() -> impl Iterator<Item = (Operator, &'static str)> {
        TABLE.iter().map(|row| (row.0, row.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_has_the_order_of_the_enum() {
        for (position, (operator, name)) in Operator::all().enumerate() {
            assert_eq!((operator as usize, Operator::parse(name)), (position, Some(operator)));
            assert_eq!(operator.name(), name);
        }
        assert_eq!(Family::Template as usize + 1, TABLE[0].4.len());
    }

    #[test]
    fn operator_name_is_case_sensitive() {
        for name in ["EQ", "Eq", "=", "not_in", "not in", "nin", "", " eq", "eq\0"] {
            assert_eq!(Operator::parse(name), None, "{name:?}");
        }
    }

    #[test]
    fn external_key_takes_eight_operators() {
        assert_eq!(
            Operator::names_for(Family::Key),
            ["eq", "neq", "in", "not-in", "like", "not-like", "empty", "not-empty"]
        );
    }

    #[test]
    fn type_takes_its_common_operators() {
        use Operator::*;
        for (family, offered) in [
            (Family::Text, vec![Eq, Like, StartsWith, Empty]),
            (Family::Number, vec![Eq, Gt, Lt, Gte, Lte, Between]),
            (Family::List, vec![In, NotIn, Empty]),
            (Family::Time, vec![Lt, Gt, Between, Today]),
            (Family::Discrete, vec![Eq, In, Empty]),
        ] {
            assert!(offered.into_iter().all(|operator| operator.applies_to(family)), "{family:?}");
        }
    }
}
