//! Names of projects, templates and attributes: PostgreSQL identifiers that need no quotes.

use crate::error::{Code, Error};

/// What a slug names; each has names of its own that it may not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noun {
    /// A schema.
    Project,
    /// A table.
    Template,
    /// A column.
    Attribute,
    /// A saved view: the end of a view's name.
    View,
    /// An inbound endpoint.
    Endpoint,
}

/// The standard fields: no attribute may take their names.
pub const STANDARD_FIELDS: [&str; 7] =
    ["id", "template_id", "template_slug", "external_key", "created_at", "updated_at", "deleted_at"];

/// Columns that PostgreSQL itself gives to every table.
const SYSTEM_COLUMNS: [&str; 6] = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];

/// Schemas that belong to PostgreSQL or to this extension.
const SYSTEM_SCHEMAS: [&str; 6] =
    ["information_schema", "public", "keyed", "keyed_http", "keyed_state", "keyed_scope"];

/// Checks that `slug` matches `^[a-z][a-z0-9_]{0,62}$` and is not reserved for its noun.
///
/// `pointer` is the place of the slug in the request (RFC 6901).
pub fn check(noun: Noun, slug: &str, pointer: &str) -> Result<(), Error> {
    let mut bytes = slug.bytes();
    let shaped = slug.len() <= 63
        && bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !shaped {
        return Err(Error::at(Code::InvalidSlug, pointer, format!("{slug:?} cannot be a slug")).hint(
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
    fn a_slug_is_a_plain_lowercase_identifier() {
        for good in ["a", "customers", "a1_b2", &"a".repeat(63), "select"] {
            assert!(check(Noun::Attribute, good, "/slug").is_ok(), "{good}");
        }
        for bad in ["", "A", "é", "1a", "_a", "a b", "a-b", "a.b", "a\"b", "a\0", &"a".repeat(64)] {
            let error = check(Noun::Attribute, bad, "/slug").expect_err(bad);
            assert_eq!(error.code, Code::InvalidSlug, "{bad}");
        }
    }

    #[test]
    fn reserved_names_are_refused_for_the_noun_that_they_would_shadow() {
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
        fn no_slug_needs_quotes_or_is_cut_by_postgresql(slug in prop_oneof![any::<String>(), "[a-z0-9_A-Zé]{0,66}"]) {
            let noun = Noun::Template;
            match check(noun, &slug, "/slug") {
                Ok(()) => {
                    prop_assert!((1..=63).contains(&slug.len()) && slug.starts_with(|it: char| it.is_ascii_lowercase()));
                    prop_assert!(!slug.contains(|it: char| !matches!(it, 'a'..='z' | '0'..='9' | '_')));
                }
                Err(error) => prop_assert_eq!(error.faults[0].pointer.as_str(), "/slug"),
            }
        }
    }
}
