//! The cost model of the access paths, described in [`super`]. Pure.

/// The cost of a record that a lookup finds, relative to a record of an ordered scan by id, in which adjacent records are on
/// the same page. Its TID is added to a bitmap, and the record is fetched, compared again and sorted.
const COST_OF_FOUND: f64 = 3.5;

/// The same, relative to a record of an ordered scan of another index, in which each record is on
/// another page.
const COST_OF_FOUND_FAR: f64 = 1.5;

/// The cost of a TID that a lookup finds, relative to an entry of the sort index.
const COST_OF_ENTRY: f64 = 3.0;

/// The fixed cost of a lookup, in records of an ordered scan.
const COST_OF_LOOKUP: f64 = 200.0;

/// The maximum share of the records that a lookup finds. Above it, reading all records costs less.
const MAX_FOUND: f64 = 0.4;

/// The maximum share of the records that an ordered scan reads if no index can evaluate a condition. Above it, all records
/// are read.
const MAX_SCANNED: f64 = 0.25;

/// After this many times the expected number of records, the cost of an ordered scan is compared with the other
/// paths again.
const MAX_OVERRUN: f64 = 2.0;

/// A sample with fewer matches than this is not reliable.
const FEW_HITS: u64 = 8;

/// The growth factor of the next sample.
const GROWTH: u64 = 4;

/// The maximum cost of a sample, as a share of the cost of a lookup.
const COST_OF_SAMPLE: f64 = 0.25;

/// The facts about a search that are known before a sample is taken.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The number of records of the template.
    pub records: f64,
    /// The number of requested records.
    pub requested: usize,
    /// Whether an index has the sort order. Otherwise, all records found must be sorted.
    pub has_ordered_scan: bool,
    /// The order in which records are read.
    pub reading: Reading,
}

/// The order in which records are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// By the primary key index: newer records are on later pages.
    ByAge,
    /// By another index.
    Far,
    /// By the primary key index, without a statement: of the records that a lookup finds, only the first are fetched.
    DirectByAge,
    /// The same by another index.
    DirectFar,
}

/// The results of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The number of records sampled for the page.
    pub records: u64,
    /// How many of them are on the page.
    pub passing: u64,
    /// The number of records in which the matches of indexes were counted.
    pub counted: u64,
    /// The number of these that the index of each condition finds.
    pub indexable: Vec<u64>,
}

/// An access path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessPath {
    /// An ordered scan of this many records.
    OrderedScan(u64),
    /// Undecided: take a sample of this size.
    Sample(u64),
    /// A lookup in the indexes of these conditions.
    Lookup(Vec<usize>),
    /// PostgreSQL's plan, because no index has a selective condition.
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
        // The number of index entries and of records up to the last requested one.
        let first = self.requested as f64 / passing.max(1.0) * (self.records * entry + found * cost_of_found);
        COST_OF_LOOKUP + found * COST_OF_ENTRY * entry + all.min(first)
    }
}

/// The number of index entries that are read in the time of one table row.
pub const ENTRIES_OF_ROW: u64 = 30;

/// The maximum number of sort index entries that are read to find the first of `found` rows of another index, before all of
/// these rows are read instead; 0 if that costs less even if all of them match.
pub fn entries(question: Question, found: usize) -> u64 {
    let all = found as u64 * ENTRIES_OF_ROW;
    let least = question.requested as f64 * (question.records / found.max(1) as f64 + ENTRIES_OF_ROW as f64);
    if least < all as f64 { all } else { 0 }
}

/// The maximum number of index entries that are counted, which takes no longer than reading sixty records.
const MAX_ENTRIES: f64 = 60.0 * ENTRIES_OF_ROW as f64;

/// The maximum number of records that an index may find so that a lookup costs less than an ordered scan, even if all of
/// them match.
pub fn max_entries(question: Question) -> u64 {
    let cost = if question.has_ordered_scan && question.reading == Reading::Far {
        COST_OF_FOUND_FAR
    } else {
        COST_OF_FOUND
    };
    // If matches are spread evenly, an ordered scan reads `records / found` records for each
    // requested one.
    let maximum = match question.has_ordered_scan {
        true => {
            let scan = 4.0 * cost * question.requested as f64 * question.records;
            ((COST_OF_LOOKUP * COST_OF_LOOKUP + scan).sqrt() - COST_OF_LOOKUP) / (2.0 * cost)
        }
        false => (MAX_SCANNED * question.records - COST_OF_LOOKUP) / cost,
    };
    maximum.clamp(0.0, MAX_ENTRIES) as u64
}

/// Chooses the path after a sample of the ordered scan that did not fill the page.
pub fn choose(question: Question, sample: &Sample) -> AccessPath {
    // Matches that the sample missed may still have a share of nearly one in the sample size.
    let density = |passing: u64, records: u64| (passing as f64).max(0.5) / records.max(1) as f64;
    let rarest = sample.indexable.iter().copied().min();
    let otherwise = match rarest {
        Some(rarest) => {
            let among = |count, records| density(count, records) * question.records;
            question.cost_of_lookup(among(rarest, sample.counted), among(sample.passing, sample.records))
        }
        None => MAX_SCANNED * question.records,
    };
    let scan = question.requested as f64 / density(sample.passing, sample.records);
    let additional = GROWTH * sample.counted;
    // With few hits, the true share may be twice as large.
    let is_uncertain =
        sample.passing < FEW_HITS && rarest.is_some_and(|rarest| (1..FEW_HITS).contains(&rarest));
    if is_uncertain && additional as f64 <= COST_OF_SAMPLE * otherwise {
        return AccessPath::Sample(additional);
    }
    let is_worth_it = scan <= otherwise && (sample.records as f64) < otherwise.min(question.records);
    if is_worth_it {
        return AccessPath::OrderedScan(
            (MAX_OVERRUN * scan).min(question.records).max(2.0 * sample.records as f64) as u64,
        );
    }
    lookup(sample)
}

/// A lookup with the most selective conditions, or PostgreSQL's plan.
fn lookup(sample: &Sample) -> AccessPath {
    let rarest = sample.indexable.iter().copied().min();
    let Some(rarest) = rarest.filter(|it| *it as f64 <= MAX_FOUND * sample.counted as f64) else {
        return AccessPath::Planned;
    };
    let indexable = sample.indexable.iter().enumerate();
    AccessPath::Lookup(indexable.filter(|(_, passing)| **passing == rarest).map(|(place, _)| place).collect())
}

/// The cost of a record in a sequential scan, relative to a record of a bitmap scan; both without a
/// statement.
const COST_OF_ALL: f64 = 0.1;

/// Whether a lookup costs less than reading all records if every match is needed; both without a statement.
pub fn is_lookup_less_than_all(records: f64, sample: &Sample) -> bool {
    let rarest = sample.indexable.iter().copied().min().unwrap_or(sample.counted);
    let found = (rarest as f64).max(0.5) / sample.counted.max(1) as f64;
    found * records + COST_OF_LOOKUP < COST_OF_ALL * records
}

/// Whether there are so few records that all are read, without a sample.
pub fn is_small(question: Question, sample: u64) -> bool {
    question.records <= 4.0 * sample as f64
}

#[cfg(test)]
mod tests;
