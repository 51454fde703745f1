//! The names of tables: pure text. Names of projects and templates are checked slugs.

/// A table of a project, as SQL names it. Slugs hold no quote, so quoting is enough.
pub fn table_sql(project: &str, template: &str) -> String {
    format!("\"{project}\".\"{template}\"")
}

/// The alias of a template's table in statements on its records.
pub const RECORD: &str = "t";

/// The schema of the state.
pub const STATE: &str = "keyed_state";

/// A side table of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideTable {
    /// What changed in each record.
    History,
    /// The points of metrics.
    Series,
    /// What is searched of each live record.
    Documents,
    /// The vectors.
    Vectors,
}

impl SideTable {
    /// Every one.
    pub const ALL: [SideTable; 4] =
        [SideTable::History, SideTable::Series, SideTable::Documents, SideTable::Vectors];

    /// What the names of all of this kind begin with.
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

    /// Whether a table of the state is one of this kind, of any template.
    pub fn is_named(self, table: &str) -> bool {
        table.strip_prefix(self.prefix()).is_some_and(|number| number.parse::<i32>().is_ok())
    }

    /// Its oid, or null where there is none, as an SQL expression over the number of a template. With `|| '_trigram'` after
    /// the number it is that of the index with this ending.
    pub fn regclass_sql(self, number: &str) -> String {
        format!("pg_catalog.to_regclass('{STATE}.{}' || {number})", self.prefix())
    }

    /// The same with its schema, as SQL names it.
    pub fn sql(self, template: i32) -> String {
        format!("{STATE}.{}", self.name(template))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_table_has_the_same_name_in_every_form() {
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
