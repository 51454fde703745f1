//! A statement of a search with its arguments: run, or shown by an explanation.

use crate::postgres::guard::with_settings;
use crate::postgres::parameter::Parameter;
use crate::postgres::planning::Shape;
use crate::postgres::spi::{Connection, Rows, Snapshot};
use std::ffi::CStr;

/// A statement of a search.
pub struct Statement {
    /// Its text.
    pub sql: String,
    /// Its arguments.
    pub arguments: Vec<Parameter>,
    /// Whether these are very many ids, which the planner does not count.
    pub are_many: bool,
}

impl Statement {
    /// Runs it, with something before it.
    pub fn run<'c>(&self, spi: &'c Connection, before: &str, snapshot: Snapshot) -> Rows<'c> {
        // Very many ids are not looked up one by one.
        let settings: &[(&CStr, &CStr)] = if self.are_many { &[(c"enable_nestloop", c"off")] } else { &[] };
        with_settings(settings, || spi.run_once(&format!("{before}{}", self.sql), snapshot, &self.arguments))
    }
}

/// A statement that is explained.
pub struct Told {
    /// What it is for.
    pub purpose: String,
    /// The statement, without arguments of its own.
    pub statement: Statement,
    /// The shape that it is planned in.
    pub shape: Option<Shape>,
    /// The member of the search without which it would not run; none where it finds the page.
    pub member: Option<&'static str>,
}
