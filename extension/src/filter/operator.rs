//! The operators, and which of them each family of fields takes.

/// An operator of a condition, by the name it has in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// Equal to the value.
    Eq,
    /// Not equal to the value; null differs from every value.
    Neq,
    /// One of the values; for a list, shares at least one with them.
    In,
    /// None of the values.
    NotIn,
    /// Holds the text as it is written; `%` and `_` are plain characters.
    Like,
    /// Does not hold the text.
    NotLike,
    /// Holds the text, letter case aside.
    Ilike,
    /// Begins with the text.
    StartsWith,
    /// More than the value, or later.
    Gt,
    /// The value, or more.
    Gte,
    /// Less than the value, or earlier.
    Lt,
    /// The value, or less.
    Lte,
    /// From the first of two values to the second, both included.
    Between,
    /// On the day that it is now in the time zone of the request.
    Today,
    /// Null, an empty text or an empty list.
    Empty,
    /// Anything else.
    NotEmpty,
}

/// Fields that take the same operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Attributes of type string.
    Text,
    /// Attributes of type number and metric.
    Number,
    /// Attributes of type list.
    List,
    /// Attributes of type date and datetime, and the times of a record.
    Time,
    /// Attributes of type reference.
    Reference,
    /// `external_key`.
    Key,
    /// `id`.
    Id,
    /// `template_id` and `template_slug`: the same for every record of a template.
    Template,
}

/// Operator × family, in the order of [`Family`]: the table of docs/reference/search.md.
#[rustfmt::skip]
const TABLE: [(Operator, &str, [bool; 8]); 16] = {
    const Y: bool = true;
    const N: bool = false;
    use Operator::*;
    [   //                         Text Number List Time Reference Key Id Template
        (Eq,         "eq",          [Y,   Y,     N,   Y,   Y,        Y,  Y, Y]),
        (Neq,        "neq",         [Y,   Y,     N,   Y,   Y,        Y,  Y, Y]),
        (In,         "in",          [Y,   Y,     Y,   Y,   Y,        Y,  Y, Y]),
        (NotIn,      "not-in",      [Y,   Y,     Y,   Y,   Y,        Y,  Y, Y]),
        (Like,       "like",        [Y,   N,     N,   N,   N,        Y,  N, N]),
        (NotLike,    "not-like",    [Y,   N,     N,   N,   N,        Y,  N, N]),
        (Ilike,      "ilike",       [Y,   N,     N,   N,   N,        N,  N, N]),
        (StartsWith, "starts-with", [Y,   N,     N,   N,   N,        N,  N, N]),
        (Gt,         "gt",          [N,   Y,     N,   Y,   N,        N,  N, N]),
        (Gte,        "gte",         [N,   Y,     N,   Y,   N,        N,  N, N]),
        (Lt,         "lt",          [N,   Y,     N,   Y,   N,        N,  N, N]),
        (Lte,        "lte",         [N,   Y,     N,   Y,   N,        N,  N, N]),
        (Between,    "between",     [N,   Y,     N,   Y,   N,        N,  N, N]),
        (Today,      "today",       [N,   N,     N,   Y,   N,        N,  N, N]),
        (Empty,      "empty",       [Y,   Y,     Y,   Y,   Y,        Y,  Y, N]),
        (NotEmpty,   "not-empty",   [Y,   Y,     Y,   Y,   Y,        Y,  Y, N]),
    ]
};

impl Operator {
    /// The operator of exactly this name.
    pub fn parse(name: &str) -> Option<Operator> {
        TABLE.into_iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Whether fields of this family take it.
    pub fn applies_to(self, family: Family) -> bool {
        TABLE[self as usize].2[family as usize]
    }

    /// The names of all operators that fields of this family take.
    pub fn names_for(family: Family) -> Vec<&'static str> {
        TABLE.into_iter().filter(|row| row.2[family as usize]).map(|row| row.1).collect()
    }

    /// Whether it holds exactly where another does not, so that it holds for null.
    pub fn is_negative(self) -> bool {
        matches!(self, Operator::Neq | Operator::NotIn | Operator::NotLike)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_enum() {
        for (position, (operator, name, _)) in TABLE.into_iter().enumerate() {
            assert_eq!((operator as usize, Operator::parse(name)), (position, Some(operator)));
            assert_eq!(operator.name(), name);
        }
        assert_eq!(Family::Template as usize + 1, TABLE[0].2.len());
    }

    #[test]
    fn names_are_taken_only_as_written() {
        for name in ["EQ", "Eq", "=", "not_in", "not in", "nin", "", " eq", "eq\0"] {
            assert_eq!(Operator::parse(name), None, "{name:?}");
        }
    }

    #[test]
    fn an_external_key_takes_eight_operators() {
        assert_eq!(
            Operator::names_for(Family::Key),
            ["eq", "neq", "in", "not-in", "like", "not-like", "empty", "not-empty"]
        );
    }

    #[test]
    fn every_type_takes_its_most_common_operators() {
        use Operator::*;
        for (family, offered) in [
            (Family::Text, vec![Eq, Like, StartsWith, Empty]),
            (Family::Number, vec![Eq, Gt, Lt, Gte, Lte, Between]),
            (Family::List, vec![In, NotIn, Empty]),
            (Family::Time, vec![Lt, Gt, Between, Today]),
            (Family::Reference, vec![Eq, In, Empty]),
        ] {
            assert!(offered.into_iter().all(|operator| operator.applies_to(family)), "{family:?}");
        }
    }
}
