//! Finds the visible records of one template with the closest vectors.
//!
//! A vector index returns the closest vectors of the table, and filters apply afterwards. So it suits filters that most
//! records pass, and finds few records for selective ones. Therefore candidates are selected first. If there are few, each
//! is compared, which is exact. Otherwise, the index is scanned until enough candidates are found; if the scan ends before,
//! all candidates are compared. The planner's estimates are not used.

use super::strategy::{self, Strategy, VectorSearch};
use crate::error::Error;
use crate::postgres::guard::with_settings;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Rows, Snapshot};
use crate::value::table_name::SideTable;
use crate::value::vector::DIMENSIONS;
use crate::vectors::table;
use std::ffi::CString;
use uuid::Uuid;

/// The minimum number of index entries that are read before the first record is returned. Recall depends on it.
const EF_SEARCH: usize = 120;
/// The number of entries after which the index scan ends, because comparing all candidates is
/// faster.
const MAX_ENTRIES: usize = 20_000;
/// The unit of distances: whole millionths, which single precision represents exactly. Equal distances are
/// ordered by id.
const UNITS: f64 = 1e6;

/// A record that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Adjacent {
    /// Its distance (1 − cosine) in millionths, 0 to 2 millions.
    pub distance: i64,
    /// Its id.
    pub id: Uuid,
}

impl Adjacent {
    /// Its similarity, 0 to 1.
    pub fn similarity(self) -> f64 {
        // The division rounds 0.1 to the same double as the literal 0.1 of a threshold.
        (UNITS - self.distance as f64).clamp(0.0, UNITS) / UNITS
    }
}

/// The records found, the closest first.
#[derive(Debug)]
pub struct Found {
    /// The records.
    pub neighbours: Vec<Adjacent>,
    /// Whether every candidate was compared.
    pub is_exact: bool,
}

/// Finds the closest.
pub fn find(spi: &Connection, requested: &VectorSearch) -> Result<Found, Error> {
    let search = Search { spi, requested, schema: table::require(requested.template)? };
    let exact = |neighbours| Ok(Found { neighbours: search.within(neighbours), is_exact: true });
    match strategy::choose(spi, requested) {
        Strategy::FewCandidates(ids) => exact(search.compare(ids)),
        Strategy::FewVectors | Strategy::NoIndex => exact(search.compare_all()),
        Strategy::Index => {
            // The index may have missed a record above the threshold, so a short result is not conclusive.
            let met = search.within(search.scan_index());
            if met.len() >= requested.limit {
                return Ok(Found { neighbours: met, is_exact: false });
            }
            exact(search.compare_all())
        }
    }
}

struct Search<'a> {
    spi: &'a Connection,
    requested: &'a VectorSearch<'a>,
    schema: &'a str,
}

impl Search<'_> {
    /// The query vector, parsed once for each statement.
    fn asked(&self, kind: &str) -> String {
        format!("(select $1::{}.{kind}({DIMENSIONS}))", self.schema)
    }

    /// The distance of a vector, in units.
    fn distance(&self) -> String {
        let (schema, asked) = (self.schema, self.asked("vector"));
        format!("floor({UNITS:.0} * (v.embedding operator({schema}.<=>) {asked}) + 0.5)::bigint")
    }

    fn vectors(&self) -> String {
        format!("{} v", SideTable::Vectors.sql(self.requested.template.id))
    }

    /// Compares every candidate.
    fn compare_all(&self) -> Vec<Adjacent> {
        let sql = format!(
            "select v.record_id, {} as distance from {} join (select t.id from {}) t on t.id = v.record_id \
             where v.live order by distance, v.record_id limit {}",
            self.distance(),
            self.vectors(),
            self.requested.candidates(),
            self.requested.limit
        );
        read(&self.requested.ask(self.spi, &sql, &params![self.vector()]))
    }

    /// Compares these candidates.
    fn compare(&self, ids: Vec<Uuid>) -> Vec<Adjacent> {
        let sql = format!(
            "select v.record_id, {} as distance from {} where v.record_id = any ($2) and v.live \
             order by distance, v.record_id limit {}",
            self.distance(),
            self.vectors(),
            self.requested.limit
        );
        let arguments = params![self.vector(), ids];
        read(&self.requested.template.run(self.spi, &sql, Snapshot::Active, &arguments))
    }

    /// Scans the index until enough candidates are found. They are approximately ordered, so more than requested are read,
    /// and sorted.
    fn scan_index(&self) -> Vec<Adjacent> {
        let (schema, requested) = (self.schema, self.requested);
        let taken = requested.limit + requested.limit / 4 + 2;
        let sql = format!(
            "select v.record_id, {} from {} where v.live \
             and exists (select from {} and t.id = v.record_id offset 0) \
             order by v.embedding::{schema}.halfvec({DIMENSIONS}) operator({schema}.<=>) {} limit {taken}",
            self.distance(),
            self.vectors(),
            self.requested.candidates(),
            self.asked("halfvec")
        );
        let ef_search = CString::new(EF_SEARCH.max(taken).to_string()).unwrap_or_default();
        let maximum = CString::new(MAX_ENTRIES.to_string()).unwrap_or_default();
        let settings = [
            (c"hnsw.ef_search", ef_search.as_c_str()),
            (c"hnsw.iterative_scan", c"relaxed_order"),
            (c"hnsw.max_scan_tuples", maximum.as_c_str()),
            (c"enable_seqscan", c"off"),
            (c"enable_bitmapscan", c"off"),
            (c"enable_sort", c"off"),
        ];
        let mut met =
            with_settings(&settings, || read(&self.requested.ask(self.spi, &sql, &params![self.vector()])));
        met.sort_unstable();
        met
    }

    fn vector(&self) -> &[f32] {
        self.requested.vector.components()
    }

    /// The records above the threshold, up to the limit.
    fn within(&self, mut neighbours: Vec<Adjacent>) -> Vec<Adjacent> {
        neighbours.retain(|neighbour| neighbour.similarity() >= self.requested.threshold);
        neighbours.truncate(self.requested.limit);
        neighbours
    }
}

fn read(rows: &Rows) -> Vec<Adjacent> {
    rows.iter().map(|(id, distance)| Adjacent { distance, id }).collect()
}
