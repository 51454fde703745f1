//! The strategy to find the closest vectors: exact comparison or index.

use super::vector_search::VectorSearch;
use crate::postgres::rows::Page;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::catalog;
use crate::value::table_name::SideTable;
use crate::value::vector::DIMENSIONS;
use crate::vectors::table;
use pgrx::pg_sys;
use uuid::Uuid;

/// Up to this many vectors are all compared: the index takes as long and is approximate.
const FEW_VECTORS: i64 = 4000;
/// Candidates are compared one by one if there are fewer than this times the square root of the number of vectors:
/// the time for comparing grows with their number, the time to find enough of them in the index with its inverse. For
/// 100,000 vectors, both are equal at 3,200.
const FEW_BY_ROOT: f64 = 10.0;
/// Bounds of the same.
const LEAST_FEW: usize = 1000;
const MOST_FEW: usize = 20_000;
/// The number of pages that are sampled to estimate how many records pass, and on how many of them there must be
/// matches, because matches can be clustered.
const PAGES: i64 = 32;
const LEAST_PAGES: usize = 5;

/// The strategy.
pub enum Strategy {
    /// Compares all candidates: there are few vectors.
    FewVectors,
    /// Compares all candidates: there are few of them, these.
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

/// Chooses the strategy, and looks for the candidates where it needs them.
pub fn choose(spi: &Connection, wanted: &VectorSearch) -> Strategy {
    // A vector takes three kilobytes; what was deleted counts as long as its place was not used again.
    let vectors = size(spi, wanted, &SideTable::Vectors.sql(wanted.template.id)) / (4 * DIMENSIONS as i64);
    if vectors <= FEW_VECTORS {
        return Strategy::FewVectors;
    }
    let few = ((FEW_BY_ROOT * (vectors as f64).sqrt()) as usize).clamp(LEAST_FEW, MOST_FEW);
    if !wanted.is_open
        && !seem_many(spi, wanted, few)
        && let Some(ids) = candidates_up_to(spi, wanted, few)
    {
        return Strategy::FewCandidates(ids);
    }
    let index = table::index_name(wanted.template.id);
    if catalog::table_oid("keyed_state", &index).is_some() { Strategy::Index } else { Strategy::NoIndex }
}

/// The size of a table in bytes.
fn size(spi: &Connection, wanted: &VectorSearch, table: &str) -> i64 {
    wanted
        .template
        .run(spi, &format!("select pg_relation_size('{table}')"), Snapshot::Active, &[])
        .value()
        .unwrap_or(0)
}

/// Whether more than this many records pass, estimated from a sample of the table. A wrong estimate only costs time.
fn seem_many(spi: &Connection, wanted: &VectorSearch, few: usize) -> bool {
    let table = wanted.template.table_sql();
    let pages = size(spi, wanted, &table) / i64::from(pg_sys::BLCKSZ);
    if pages <= PAGES {
        return false;
    }
    // In powers of two, since a percentage that changes with every new page would make another statement each time.
    let part = ((pages / PAGES) as u64).next_power_of_two();
    let sql = format!(
        "select t.ctid from {table} t tablesample system ({}) repeatable (1) where {}",
        100.0 / part as f64,
        wanted.condition
    );
    let rows = wanted.ask(spi, &sql, &[]);
    // They come page by page.
    let mut pages: Vec<u32> = rows.column::<Page>().map(|page| page.0).collect();
    pages.dedup();
    pages.len() >= LEAST_PAGES && rows.len() as u64 * part > few as u64
}

/// The ids of all candidates; none if there are more than this.
fn candidates_up_to(spi: &Connection, wanted: &VectorSearch, few: usize) -> Option<Vec<Uuid>> {
    let sql = format!("select t.id from {} limit {}", wanted.candidates(), few + 1);
    let rows = wanted.ask(spi, &sql, &[]);
    let ids = rows.column::<Uuid>();
    (rows.len() <= few).then(|| ids.collect())
}
