//! Collations: their names in definitions and in PostgreSQL. Pure.

use super::quote::identifier;

/// The Unicode root collation, which suits most languages.
pub const ROOT: &str = "und";

/// The byte order, which is also the order of code points.
pub const BYTES: &str = "C";

/// The suffix of ICU collations in PostgreSQL.
const ICU_SUFFIX: &str = "-x-icu";

/// The name of a collation in PostgreSQL's catalog.
pub fn name_in_catalog(collation: &str) -> String {
    if collation == BYTES { BYTES.to_owned() } else { format!("{collation}{ICU_SUFFIX}") }
}

/// The qualified and quoted name of a collation in SQL.
pub fn name_in_sql(collation: &str) -> String {
    format!("pg_catalog.{}", identifier(&name_in_catalog(collation)))
}

/// The COLLATE clause of an expression; empty for the column's collation.
pub fn clause(name_in_sql: &str) -> String {
    if name_in_sql.is_empty() { String::new() } else { format!(" collate {name_in_sql}") }
}

/// The collations of an attribute, by their SQL names; empty for the column's collation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collations {
    /// The collation of sorts.
    pub order: String,
    /// The collation of its B-tree, which is rebuilt after a change of the definition; that of sorts if there is no B-tree.
    pub index: String,
}

impl Collations {
    /// Whether the B-tree has the collation of sorts.
    pub fn agree(&self) -> bool {
        self.order == self.index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_map_to_icu_collations() {
        assert_eq!(name_in_sql(ROOT), "pg_catalog.\"und-x-icu\"");
        assert_eq!(name_in_sql("de-CH"), "pg_catalog.\"de-CH-x-icu\"");
        assert_eq!(name_in_sql(BYTES), "pg_catalog.\"C\"");
    }

    #[test]
    fn column_collation_has_no_clause() {
        assert_eq!(clause(""), "");
        assert_eq!(clause(&name_in_sql("sv")), " collate pg_catalog.\"sv-x-icu\"");
    }
}
