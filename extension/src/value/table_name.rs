//! Names of tables. Names of projects and templates are valid slugs. Pure.

/// The quoted name of a template's table. A slug contains no quote that would need escaping.
pub fn table_sql(project: &str, template: &str) -> String {
    format!("\"{project}\".\"{template}\"")
}

/// The alias of a template's table in statements.
pub const RECORD: &str = "t";

/// The schema of the state.
pub const STATE: &str = "keyed_state";

/// A side table of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideTable {
    /// The history of each record.
    History,
    /// The points of metrics.
    Series,
    /// The search document of each live record.
    Documents,
    /// The vectors.
    Vectors,
}

impl SideTable {
    /// All side tables.
    pub const ALL: [SideTable; 4] =
        [SideTable::History, SideTable::Series, SideTable::Documents, SideTable::Vectors];

    /// The prefix of the names.
    fn prefix(self) -> &'static str {
        match self {
            SideTable::History => "history_",
            SideTable::Series => "metric_",
            SideTable::Documents => "text_",
            SideTable::Vectors => "vector_",
        }
    }

    /// Its name within the schema of the state.
    pub fn name(self, template: i32) -> String {
        format!("{}{template}", self.prefix())
    }

    /// Whether a table of the state is a side table of this kind.
    pub fn is_named(self, table: &str) -> bool {
        table.strip_prefix(self.prefix()).is_some_and(|number| number.parse::<i32>().is_ok())
    }

    /// An SQL expression for its OID, given an expression for the template's id; null if it does not exist. If
    /// `|| '_trigram'` follows the number, the expression yields the index with this suffix.
    pub fn regclass_sql(self, number: &str) -> String {
        format!("pg_catalog.to_regclass('{STATE}.{}' || {number})", self.prefix())
    }

    /// Its name with its schema.
    pub fn sql(self, template: i32) -> String {
        format!("{STATE}.{}", self.name(template))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn side_table_name_is_consistent() {
        let names = SideTable::ALL.map(|table| table.name(2));
        assert_eq!(names, ["history_2", "metric_2", "text_2", "vector_2"]);
        for table in SideTable::ALL {
            assert_eq!(table.sql(2), format!("keyed_state.{}", table.name(2)));
            let prefix = table.sql(2).trim_end_matches('2').to_owned();
            assert_eq!(table.regclass_sql("t.id"), format!("pg_catalog.to_regclass('{prefix}' || t.id)"));
            let kinds = SideTable::ALL.into_iter().filter(|kind| kind.is_named(&table.name(2)));
            assert_eq!(kinds.collect::<Vec<_>>(), [table]);
        }
        assert!(!SideTable::Documents.is_named("text_notes"));
    }
}
