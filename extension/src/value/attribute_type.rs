//! The types of attributes.

/// The type of an attribute .
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeType {
    /// `text`; its alias is `dimension`.
    String,
    /// `numeric`: exact, every digit kept.
    Number,
    /// `double precision`: the latest value of a time series that is kept apart.
    Metric,
    /// `text[]`.
    List,
    /// `date`.
    Date,
    /// `timestamptz`.
    DateTime,
    /// `uuid` with a foreign key to the target template.
    Reference,
}

impl AttributeType {
    /// Every type, with its name in the API and its column type.
    pub const ALL: [(AttributeType, &'static str, &'static str); 7] = [
        (AttributeType::String, "string", "text"),
        (AttributeType::Number, "number", "numeric"),
        (AttributeType::Metric, "metric", "double precision"),
        (AttributeType::List, "list", "text[]"),
        (AttributeType::Date, "date", "date"),
        (AttributeType::DateTime, "datetime", "timestamptz"),
        (AttributeType::Reference, "reference", "uuid"),
    ];

    /// The type of that name, in any letter case; `dimension` is another word for `string`.
    pub fn parse(name: &str) -> Option<AttributeType> {
        let name = if name.eq_ignore_ascii_case("dimension") { "string" } else { name };
        AttributeType::ALL.into_iter().find(|row| row.1.eq_ignore_ascii_case(name)).map(|row| row.0)
    }

    /// Its name in the API.
    pub fn name(self) -> &'static str {
        AttributeType::ALL[self as usize].1
    }

    /// Its column type, as SQL writes it.
    pub fn column_type(self) -> &'static str {
        AttributeType::ALL[self as usize].2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_types_stands_in_the_order_of_the_enum() {
        for (position, (kind, name, _)) in AttributeType::ALL.into_iter().enumerate() {
            assert_eq!((kind as usize, AttributeType::parse(name)), (position, Some(kind)));
            assert_eq!(AttributeType::parse(&name.to_uppercase()), Some(kind));
        }
        for (name, kind) in [
            ("String", AttributeType::String),
            ("Dimension", AttributeType::String),
            ("DateTime", AttributeType::DateTime),
        ] {
            assert_eq!(AttributeType::parse(name), Some(kind));
        }
        assert_eq!(AttributeType::parse("text"), None);
    }
}
