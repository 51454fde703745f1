//! A vector search in one template.

use crate::access::{Caller, visibility};
use crate::postgres::parameter::Parameter;
use crate::postgres::spi::{Connection, Rows, Snapshot};
use crate::search::query::plan::Plan;
use crate::template::Template;
use crate::value::table_name::RECORD;
use crate::value::vector::Vector;

/// What is looked for.
pub struct VectorSearch<'a> {
    /// In which template.
    pub template: &'a Template,
    /// Which of its records, as a condition over its table under the alias `t`.
    pub condition: &'a str,
    /// Whether that is all live ones.
    pub is_open: bool,
    /// Whether the condition is the same in many searches, so that its statements are worth keeping.
    pub is_lasting: bool,
    /// Close to what.
    pub vector: &'a Vector,
    /// The most records.
    pub limit: usize,
    /// The least similarity.
    pub threshold: f64,
}

impl<'a> VectorSearch<'a> {
    /// The search of a plan, limited to what its caller sees.
    pub fn of(
        caller: &Caller,
        template: &'a Template,
        plan: &'a Plan,
        vector: &'a Vector,
        limit: usize,
        threshold: f64,
    ) -> VectorSearch<'a> {
        let is_lasting = plan.filter.is_always_true();
        let is_open = is_lasting && visibility::rows(caller, template, RECORD).is_none();
        VectorSearch { template, condition: &plan.condition, is_open, is_lasting, vector, limit, threshold }
    }

    /// The records that pass the condition, as what follows FROM.
    pub fn candidates(&self) -> String {
        format!("{} t where {}", self.template.table_sql(), self.condition)
    }

    /// Runs a statement of the search, which is kept where it is the same in many.
    pub fn ask<'c>(&self, spi: &'c Connection, sql: &str, arguments: &[Parameter]) -> Rows<'c> {
        if !self.is_lasting {
            return spi.run_once(sql, Snapshot::Active, arguments);
        }
        self.template.run(spi, sql, Snapshot::Active, arguments)
    }
}
