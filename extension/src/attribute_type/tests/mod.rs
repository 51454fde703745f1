//! Tests of attribute types.

mod cells;
mod json;

use super::AttributeType;

#[test]
fn type_name_is_case_insensitive() {
    for kind in AttributeType::ALL {
        assert_eq!(AttributeType::named(kind.name()), Some(*kind));
        assert_eq!(AttributeType::named(&kind.name().to_uppercase()), Some(*kind));
    }
    for (name, kind) in [
        ("String", AttributeType::String),
        ("Dimension", AttributeType::String),
        ("DateTime", AttributeType::DateTime),
    ] {
        assert_eq!(AttributeType::named(name), Some(kind));
    }
    assert_eq!(AttributeType::named("text"), None);
    assert!(AttributeType::names().ends_with("boolean and dimension, an alias of string"));
}
