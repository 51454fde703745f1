//! A vector search in one template, and its strategy: exact comparison or index.

use crate::access::{Caller, visibility};
use crate::postgres::parameter::Parameter;
use crate::postgres::rows::Page;
use crate::postgres::spi::{Connection, Rows, Snapshot};
use crate::search::query::plan::Plan;
use crate::template::{Template, catalog};
use crate::value::table_name::{RECORD, SideTable};
use crate::value::vector::{DIMENSIONS, Vector};
use crate::vectors::table;
use pgrx::pg_sys;
use uuid::Uuid;

/// Up to this number of vectors, all are compared: the index takes as long and is approximate.
const FEW_VECTORS: i64 = 4000;
/// Candidates are compared one by one if there are fewer than this times the square root of the number of vectors:
/// the time to compare them grows with their number, and the time to find enough of them in the index is inversely
/// proportional to it. For 100,000 vectors, both are equal at 3,200.
const FEW_BY_ROOT: f64 = 10.0;
/// The bounds of that number.
const MIN_FEW: usize = 1000;
const MAX_FEW: usize = 20_000;
/// The number of pages of the sample that estimates how many records pass, and the minimum number of pages with matches,
/// because matches can be clustered.
const PAGES: i64 = 32;
const MIN_PAGES: usize = 5;

/// A vector search in one template.
pub struct VectorSearch<'a> {
    /// The template.
    pub template: &'a Template,
    /// The condition on its records, under the alias `t`.
    pub condition: &'a str,
    /// Whether the condition holds for all live records.
    pub is_open: bool,
    /// Whether many searches have the same condition, so that its statements are cached.
    pub is_common: bool,
    /// The vector that records are compared with.
    pub vector: &'a Vector,
    /// The maximum number of records.
    pub limit: usize,
    /// The minimum similarity.
    pub threshold: f64,
}

impl<'a> VectorSearch<'a> {
    /// The search of a plan, within the caller's scope.
    pub fn of(
        caller: &Caller,
        template: &'a Template,
        plan: &'a Plan,
        vector: &'a Vector,
        limit: usize,
        threshold: f64,
    ) -> VectorSearch<'a> {
        let is_common = plan.filter.is_always_true();
        let is_open = is_common && visibility::rows(caller, template, RECORD).is_none();
        VectorSearch { template, condition: &plan.condition, is_open, is_common, vector, limit, threshold }
    }

    /// The records that pass the condition, as a FROM clause.
    pub fn candidates(&self) -> String {
        format!("{} t where {}", self.template.table_sql(), self.condition)
    }

    /// Runs a statement of the search, which is cached if many searches have it.
    pub fn ask<'c>(&self, spi: &'c Connection, sql: &str, arguments: &[Parameter]) -> Rows<'c> {
        if !self.is_common {
            return spi.run_once(sql, Snapshot::Active, arguments);
        }
        self.template.run(spi, sql, Snapshot::Active, arguments)
    }
}

/// The strategy.
pub enum Strategy {
    /// Compares all candidates: there are few vectors.
    FewVectors,
    /// Compares these candidates, because there are few.
    FewCandidates(Vec<Uuid>),
    /// Scans the index.
    Index,
    /// Compares all candidates: there is no index.
    NoIndex,
}

impl Strategy {
    /// The strategy in words.
    pub fn describe(&self) -> &'static str {
        match self {
            Strategy::FewVectors => "There are few vectors: each is compared, which is exact.\n",
            Strategy::FewCandidates(_) => {
                "Few records pass: the vector of each is compared, which is exact.\n"
            }
            Strategy::Index => {
                "Many records pass: the index of vectors is scanned until enough of them are found, which may miss \
                some; if the scan stops early, all are compared.\n"
            }
            Strategy::NoIndex => {
                "There is no index of vectors: all are compared, which is exact and slow. keyed.migrate() creates \
                the index.\n"
            }
        }
    }
}

/// Chooses the strategy, and selects the candidates if it needs them.
pub fn choose(spi: &Connection, requested: &VectorSearch) -> Strategy {
    // A vector takes three kilobytes; a deleted one counts until its space is reused.
    let vectors =
        size(spi, requested, &SideTable::Vectors.sql(requested.template.id)) / (4 * DIMENSIONS as i64);
    if vectors <= FEW_VECTORS {
        return Strategy::FewVectors;
    }
    let few = ((FEW_BY_ROOT * (vectors as f64).sqrt()) as usize).clamp(MIN_FEW, MAX_FEW);
    if !requested.is_open
        && !exceeds(spi, requested, few)
        && let Some(ids) = candidates_up_to(spi, requested, few)
    {
        return Strategy::FewCandidates(ids);
    }
    let index = table::index_name(requested.template.id);
    if catalog::table_oid("keyed_state", &index).is_some() { Strategy::Index } else { Strategy::NoIndex }
}

/// The size of a table in bytes.
fn size(spi: &Connection, requested: &VectorSearch, table: &str) -> i64 {
    requested
        .template
        .run(spi, &format!("select pg_relation_size('{table}')"), Snapshot::Active, &[])
        .value()
        .unwrap_or(0)
}

/// Whether more than `few` records pass, estimated from a sample of the table. A wrong estimate only costs time.
fn exceeds(spi: &Connection, requested: &VectorSearch, few: usize) -> bool {
    let table = requested.template.table_sql();
    let pages = size(spi, requested, &table) / i64::from(pg_sys::BLCKSZ);
    if pages <= PAGES {
        return false;
    }
    // A power of two, because a percentage that changes with every new page would create a new statement each
    // time.
    let part = ((pages / PAGES) as u64).next_power_of_two();
    let sql = format!(
        "select t.ctid from {table} t tablesample system ({}) repeatable (1) where {}",
        100.0 / part as f64,
        requested.condition
    );
    let rows = requested.ask(spi, &sql, &[]);
    // The rows are in the order of pages.
    let mut pages: Vec<u32> = rows.column::<Page>().map(|page| page.0).collect();
    pages.dedup();
    pages.len() >= MIN_PAGES && rows.len() as u64 * part > few as u64
}

/// The ids of all candidates; none if there are more than `few`.
fn candidates_up_to(spi: &Connection, requested: &VectorSearch, few: usize) -> Option<Vec<Uuid>> {
    let sql = format!("select t.id from {} limit {}", requested.candidates(), few + 1);
    let rows = requested.ask(spi, &sql, &[]);
    let ids = rows.column::<Uuid>();
    (rows.len() <= few).then(|| ids.collect())
}
