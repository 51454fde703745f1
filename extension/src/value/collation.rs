//! The order of texts: collations by their names in definitions and in PostgreSQL. Pure.

use super::quote::identifier;

/// The root order of Unicode, which orders most languages as their readers expect.
pub const ROOT: &str = "und";

/// The order of bytes, which is that of code points.
pub const BYTES: &str = "C";

/// What PostgreSQL adds to the name of a language.
const BY_ICU: &str = "-x-icu";

/// A collation as PostgreSQL's catalog names it.
pub fn name_in_catalog(collation: &str) -> String {
    if collation == BYTES { BYTES.to_owned() } else { format!("{collation}{BY_ICU}") }
}

/// The same as SQL names it.
pub fn name_in_sql(collation: &str) -> String {
    format!("pg_catalog.{}", identifier(&name_in_catalog(collation)))
}

/// A collation as SQL names it, behind an expression; nothing for that of the column.
pub fn clause(name_in_sql: &str) -> String {
    if name_in_sql.is_empty() { String::new() } else { format!(" collate {name_in_sql}") }
}

/// The collations of an attribute, as SQL names them; empty for that of the column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collations {
    /// What orders its texts.
    pub order: String,
    /// The order of its B-tree, which follows a change of the definition; that of its texts where there is no B-tree.
    pub index: String,
}

impl Collations {
    /// Whether the B-tree has texts in their order.
    pub fn agree(&self) -> bool {
        self.order == self.index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_have_the_names_of_icu() {
        assert_eq!(name_in_sql(ROOT), "pg_catalog.\"und-x-icu\"");
        assert_eq!(name_in_sql("de-CH"), "pg_catalog.\"de-CH-x-icu\"");
        assert_eq!(name_in_sql(BYTES), "pg_catalog.\"C\"");
    }

    #[test]
    fn the_collation_of_the_column_is_not_stated() {
        assert_eq!(clause(""), "");
        assert_eq!(clause(&name_in_sql("sv")), " collate pg_catalog.\"sv-x-icu\"");
    }
}
