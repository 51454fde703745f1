//! The cost model of the access paths, which [`super`] describes. Pure arithmetic.

/// The cost of a record that the index of a lookup finds, in records of an ordered scan along ids, whose neighbors are on one
/// page: its TID is added to a bitmap, and the record is fetched, compared once more and sorted.
const COST_OF_FOUND: f64 = 3.5;

/// The same, in records of an ordered scan along another index, each of which is on another page.
const COST_OF_FOUND_FAR: f64 = 1.5;

/// The cost of a TID that the index of a lookup finds, in entries of the index of an order.
const COST_OF_ENTRY: f64 = 3.0;

/// The fixed cost of a lookup, in records of an ordered scan.
const COST_OF_LOOKUP: f64 = 200.0;

/// The maximum share of the records that a lookup finds. Above it, reading all records costs less.
const MAX_FOUND: f64 = 0.4;

/// The maximum share of the records that an ordered scan reads where no index serves a condition, before all records are read.
const MAX_SCANNED: f64 = 0.25;

/// After this many times the expected number of records, an ordered scan is compared with the other paths again.
const PATIENCE: f64 = 2.0;

/// Fewer matches than this in a sample say little about the share of matches.
const FEW_HITS: u64 = 8;

/// How many times as large the next sample is then.
const GROWTH: u64 = 4;

/// The maximum cost of a sample, as a share of the cost of a lookup.
const COST_OF_SAMPLE: f64 = 0.25;

/// What is known of a search before a sample is taken.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The number of records of the template.
    pub records: f64,
    /// The number of records that are wanted.
    pub wanted: usize,
    /// Whether there is an index of the order; else all records found must be sorted.
    pub has_ordered_scan: bool,
    /// How records are read along the order.
    pub reading: Reading,
}

/// How records are read along the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// By the index of the ids: newer records are on later pages.
    ByAge,
    /// By another index.
    Far,
    /// By the index of the ids, without a statement: of the records that a lookup has found, only the first are fetched.
    DirectByAge,
    /// The same by another index.
    DirectFar,
}

/// What a sample of the records shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The number of records sampled for the page.
    pub records: u64,
    /// How many of them are on the page.
    pub passing: u64,
    /// The number of records among which the finds of indexes were counted.
    pub counted: u64,
    /// How many of these the index of each served condition finds.
    pub served: Vec<u64>,
}

/// An access path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessPath {
    /// Along the index of the order, among this many records.
    OrderedScan(u64),
    /// Not certain yet: take a sample of this size.
    Sample(u64),
    /// By the indexes of these conditions.
    Lookup(Vec<usize>),
    /// The plan of PostgreSQL, since no index serves a rare condition.
    Planned,
}

impl Question {
    /// The cost of a lookup that finds `found` records of which `passing` match, in records of an ordered scan.
    fn cost_of_lookup(self, found: f64, passing: f64) -> f64 {
        let is_far = self.has_ordered_scan && matches!(self.reading, Reading::Far | Reading::DirectFar);
        let cost_of_found = if is_far { COST_OF_FOUND_FAR } else { COST_OF_FOUND };
        let all = found * cost_of_found;
        if matches!(self.reading, Reading::ByAge | Reading::Far) {
            return COST_OF_LOOKUP + all;
        }
        let entry = cost_of_found / ENTRIES_OF_ROW as f64;
        // The entries and the records up to the last one that is wanted.
        let first = self.wanted as f64 / passing.max(1.0) * (self.records * entry + found * cost_of_found);
        COST_OF_LOOKUP + found * COST_OF_ENTRY * entry + all.min(first)
    }
}

/// How many entries of an index are read in the time of a row of the table.
pub const ENTRIES_OF_ROW: u64 = 30;

/// The maximum number of entries of the index of the order that are read to find the first of the `found` rows of another index,
/// before all of these rows are read instead; 0 where that costs less even if all of them match.
pub fn entries(question: Question, found: usize) -> u64 {
    let all = found as u64 * ENTRIES_OF_ROW;
    let least = question.wanted as f64 * (question.records / found.max(1) as f64 + ENTRIES_OF_ROW as f64);
    if least < all as f64 { all } else { 0 }
}

/// The maximum number of index entries that are counted, which takes no longer than to read sixty records.
const MAX_ENTRIES: f64 = 60.0 * ENTRIES_OF_ROW as f64;

/// The maximum number of records that an index may find for a lookup to cost less than an ordered scan, even if all of them match.
pub fn max_entries(question: Question) -> u64 {
    let cost = if question.has_ordered_scan && question.reading == Reading::Far {
        COST_OF_FOUND_FAR
    } else {
        COST_OF_FOUND
    };
    // Of as many as are found, an ordered scan reads `records / found` for each that is wanted.
    let maximum = match question.has_ordered_scan {
        true => {
            let scan = 4.0 * cost * question.wanted as f64 * question.records;
            ((COST_OF_LOOKUP * COST_OF_LOOKUP + scan).sqrt() - COST_OF_LOOKUP) / (2.0 * cost)
        }
        false => (MAX_SCANNED * question.records - COST_OF_LOOKUP) / cost,
    };
    maximum.clamp(0.0, MAX_ENTRIES) as u64
}

/// Chooses the path after a sample along the index of the order that did not fill the page.
pub fn choose(question: Question, sample: &Sample) -> AccessPath {
    // What the sample did not show may have nearly one match.
    let density = |passing: u64, records: u64| (passing as f64).max(0.5) / records.max(1) as f64;
    let rarest = sample.served.iter().copied().min();
    let otherwise = match rarest {
        Some(rarest) => {
            let among = |count, records| density(count, records) * question.records;
            question.cost_of_lookup(among(rarest, sample.counted), among(sample.passing, sample.records))
        }
        None => MAX_SCANNED * question.records,
    };
    let scan = question.wanted as f64 / density(sample.passing, sample.records);
    let further = GROWTH * sample.counted;
    // The true share may be twice that of few hits.
    let is_uncertain =
        sample.passing < FEW_HITS && rarest.is_some_and(|rarest| (1..FEW_HITS).contains(&rarest));
    if is_uncertain && further as f64 <= COST_OF_SAMPLE * otherwise {
        return AccessPath::Sample(further);
    }
    let is_worth_it = scan <= otherwise && (sample.records as f64) < otherwise.min(question.records);
    if is_worth_it {
        return AccessPath::OrderedScan(
            (PATIENCE * scan).min(question.records).max(2.0 * sample.records as f64) as u64,
        );
    }
    lookup(sample)
}

/// A lookup by the rarest conditions, or PostgreSQL's plan.
fn lookup(sample: &Sample) -> AccessPath {
    let rarest = sample.served.iter().copied().min();
    let Some(rarest) = rarest.filter(|it| *it as f64 <= MAX_FOUND * sample.counted as f64) else {
        return AccessPath::Planned;
    };
    let served = sample.served.iter().enumerate();
    AccessPath::Lookup(served.filter(|(_, passing)| **passing == rarest).map(|(place, _)| place).collect())
}

/// The cost of a record in a sequential scan, in records that a bitmap finds; both without a statement.
const COST_OF_ALL: f64 = 0.1;

/// Whether a lookup costs less than reading all records where every match is needed; both without a statement.
pub fn is_lookup_less_than_all(records: f64, sample: &Sample) -> bool {
    let rarest = sample.served.iter().copied().min().unwrap_or(sample.counted);
    let found = (rarest as f64).max(0.5) / sample.counted.max(1) as f64;
    found * records + COST_OF_LOOKUP < COST_OF_ALL * records
}

/// Whether the records are so few that all are read, without a sample.
pub fn is_small(question: Question, sample: u64) -> bool {
    question.records <= 4.0 * sample as f64
}

#[cfg(test)]
mod tests;
