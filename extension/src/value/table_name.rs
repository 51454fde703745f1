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
    /// Its name within the schema of the state.
    pub fn name(self, template: i32) -> String {
        let kind = match self {
            SideTable::History => "history",
            SideTable::Series => "metric",
            SideTable::Documents => "text",
            SideTable::Vectors => "vector",
        };
        format!("{kind}_{template}")
    }

    /// The same with its schema, as SQL names it.
    pub fn sql(self, template: i32) -> String {
        format!("{STATE}.{}", self.name(template))
    }
}
