//! What each type takes, refuses and writes back.

mod cells;
mod json;

use super::AttributeType;

#[test]
fn a_type_has_one_name_in_any_letter_case_and_perhaps_an_alias() {
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
    assert!(AttributeType::names().ends_with("boolean and dimension, another word for string"));
}
