//! Slugs: names of projects, templates and attributes that are valid unquoted identifiers. Pure.

use crate::error::{Code, Error};

/// The kind of object that a slug names. Each kind has its own reserved names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noun {
    /// A schema.
    Project,
    /// A table.
    Template,
    /// A column.
    Attribute,
    /// A saved view: the last part of the SQL view's name.
    View,
    /// An inbound endpoint.
    Endpoint,
}

/// The standard fields, which are reserved names of attributes.
pub const STANDARD_FIELDS: [&str; 7] =
    ["id", "template_id", "template_slug", "external_key", "created_at", "updated_at", "deleted_at"];

/// PostgreSQL's system columns.
const SYSTEM_COLUMNS: [&str; 6] = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];

/// Schemas of PostgreSQL or of keyed.
const SYSTEM_SCHEMAS: [&str; 6] =
    ["information_schema", "public", "keyed", "keyed_http", "keyed_state", "keyed_scope"];

/// Checks that `slug` matches `^[a-z][a-z0-9_]{0,62}$` and is not reserved. `pointer` is its JSON pointer in the request.
pub fn check(noun: Noun, slug: &str, pointer: &str) -> Result<(), Error> {
    let mut bytes = slug.bytes();
    let shaped = slug.len() <= 63
        && bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !shaped {
        return Err(Error::at(Code::InvalidSlug, pointer, format!("{slug:?} is not a valid slug")).hint(
            "Use 1 to 63 characters: a lowercase letter, then lowercase letters, digits or \
             underscores.",
        ));
    }
    let reserved = match noun {
        Noun::Project => slug.starts_with("pg_") || SYSTEM_SCHEMAS.contains(&slug),
        Noun::Template | Noun::View | Noun::Endpoint => false,
        Noun::Attribute => STANDARD_FIELDS.contains(&slug) || SYSTEM_COLUMNS.contains(&slug),
    };
    if reserved {
        return Err(Error::at(Code::ReservedSlug, pointer, format!("the slug {slug:?} is reserved"))
            .hint("Choose another name."));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slug_is_a_lowercase_identifier() {
        for good in ["a", "customers", "a1_b2", &"a".repeat(63), "select"] {
            assert!(check(Noun::Attribute, good, "/slug").is_ok(), "{good}");
        }
        for bad in ["", "A", "é", "1a", "_a", "a b", "a-b", "a.b", "a\"b", "a\0", &"a".repeat(64)] {
            let error = check(Noun::Attribute, bad, "/slug").expect_err(bad);
            assert_eq!(error.code, Code::InvalidSlug, "{bad}");
        }
    }

    #[test]
    fn reserved_name_is_rejected_for_its_noun() {
        for name in STANDARD_FIELDS.iter().chain(&SYSTEM_COLUMNS) {
            let error = check(Noun::Attribute, name, "/slug").expect_err(name);
            assert_eq!(error.code, Code::ReservedSlug);
        }
        assert!(check(Noun::Template, "id", "/slug").is_ok());
        for name in ["pg_temp", "public", "keyed", "keyed_state"] {
            assert!(check(Noun::Project, name, "/slug").is_err());
        }
    }

    proptest! {
        #[test]
        fn slug_needs_no_quotes_and_is_not_truncated(slug in prop_oneof![any::<String>(), "[a-z0-9_A-Zé]{0,66}"]) {
            let noun = Noun::Template;
            match check(noun, &slug, "/slug") {
                Ok(()) => {
                    prop_assert!((1..=63).contains(&slug.len()) && slug.starts_with(|it: char| it.is_ascii_lowercase()));
                    prop_assert!(!slug.contains(|it: char| !matches!(it, 'a'..='z' | '0'..='9' | '_')));
                }
                Err(error) => prop_assert_eq!(error.violations[0].pointer.as_str(), "/slug"),
            }
        }
    }
}
