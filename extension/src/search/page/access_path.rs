//! Which access path finds the records of a page. Pure arithmetic.
//!
//! There are two. A walk reads records along the index of the page's order until the page is full: the more records pass,
//! the sooner. A lookup reads all that an index of a condition finds, and sorts them: the fewer pass, the better. Where
//! density is `d` among `n` records, a walk reads `page / d` records and a lookup `d * n`. PostgreSQL chooses by what it
//! expects of `d`, which for parts of texts is often wrong by a factor of a hundred, and the wrong choice may read every
//! record. Here, a look at the first records of the walk decides: what it costs is known, and what it finds fills the
//! page, or tells `d`.
//!
//! PostgreSQL's estimates decide only for full-text search, deleted records, conditions behind references, and more
//! than twenty conditions. For a substring alone, no statement finds the first page of an order by one field: see
//! `part_rows.rs` (with an index of the order) and `sorted_parts.rs` (without one).

/// What a lookup costs for each record that its index finds, in records of a walk from the newest on, which lie side by
/// side: its place is entered into a bitmap, it is compared once more and sorted.
const COST_OF_FOUND: f64 = 3.5;

/// The same, in records of a walk along another index, each of which is on another page.
const COST_OF_FOUND_FAR: f64 = 1.5;

/// What a lookup costs for each place that its index finds, in entries of the index of an order.
const COST_OF_ENTRY: f64 = 3.0;

/// What a lookup costs before it finds anything, in records of a walk.
const COST_OF_LOOKUP: f64 = 200.0;

/// The greatest part of the records that an index is asked for. Reading all of them costs less then.
const MOST_FOUND: f64 = 0.4;

/// The part of the records that is walked along where no index serves a condition, before all of them are read.
const MOST_WALKED: f64 = 0.25;

/// How much longer than expected a walk may take until it is asked again whether it goes on.
const PATIENCE: f64 = 2.0;

/// Fewer hits than this say little about how many there are.
const FEW_HITS: u64 = 8;

/// How many times as many records the next look is at then.
const GROWTH: u64 = 4;

/// The part of the cost of a lookup that a look before it may cost.
const COST_OF_LOOK: f64 = 0.25;

/// What is known of a search before any record was looked at.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The number of records of the template.
    pub records: f64,
    /// How many are wanted.
    pub wanted: usize,
    /// Whether there is an index of the order, or all records found must be sorted.
    pub may_walk: bool,
    /// How records are read along the order.
    pub reading: Reading,
}

/// How records are read along the order that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// By the index of the ids: newer records are on later pages.
    ByAge,
    /// By another index.
    Far,
    /// By the index of the ids, without a statement: of those that a lookup has found, only the first need to be read.
    DirectByAge,
    /// The same by another index.
    DirectFar,
}

/// What is known once records were looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// How many were looked at for the page.
    pub records: u64,
    /// How many of them are on it.
    pub passing: u64,
    /// Among how many it was counted what the indexes find.
    pub counted: u64,
    /// How many of these each of the conditions finds that an index may serve.
    pub served: Vec<u64>,
}

/// How the records are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessPath {
    /// Perhaps along the index of the order, among so many records.
    Walk(u64),
    /// It is not certain yet: so many records tell more.
    Look(u64),
    /// By the indexes of these conditions.
    Lookup(Vec<usize>),
    /// As PostgreSQL chooses, since no index serves a rare condition.
    Planned,
}

impl Question {
    /// What a lookup costs that finds so many, of which so many pass, in records of a walk.
    fn cost_of_lookup(self, found: f64, passing: f64) -> f64 {
        let is_far = self.may_walk && matches!(self.reading, Reading::Far | Reading::DirectFar);
        let cost_of_found = if is_far { COST_OF_FOUND_FAR } else { COST_OF_FOUND };
        let all = found * cost_of_found;
        if matches!(self.reading, Reading::ByAge | Reading::Far) {
            return COST_OF_LOOKUP + all;
        }
        let entry = cost_of_found / ENTRIES_OF_ROW as f64;
        // The entries and the records found up to the last one that is wanted.
        let first = self.wanted as f64 / passing.max(1.0) * (self.records * entry + found * cost_of_found);
        COST_OF_LOOKUP + found * COST_OF_ENTRY * entry + all.min(first)
    }
}

/// How many entries of an index are read in the time of a row of the table.
pub const ENTRIES_OF_ROW: u64 = 30;

/// How many entries of the index of the order are worth reading to find the first of so many rows that another index has found,
/// before all of these are read instead: none where that is less work even if all of them pass.
pub fn entries(question: Question, found: usize) -> u64 {
    let all = found as u64 * ENTRIES_OF_ROW;
    let least = question.wanted as f64 * (question.records / found.max(1) as f64 + ENTRIES_OF_ROW as f64);
    if least < all as f64 { all } else { 0 }
}

/// The most entries of an index that are worth counting: to count these takes no longer than to read sixty records.
const MOST_ENTRIES: f64 = 60.0 * ENTRIES_OF_ROW as f64;

/// How many records an index may find at most for a lookup to be less work than a walk, even if all of them pass.
pub fn most_entries(question: Question) -> u64 {
    let cost =
        if question.may_walk && question.reading == Reading::Far { COST_OF_FOUND_FAR } else { COST_OF_FOUND };
    // Of as many as are found, a walk reads `records / found` for each that is wanted.
    let most = match question.may_walk {
        true => {
            let walk = 4.0 * cost * question.wanted as f64 * question.records;
            ((COST_OF_LOOKUP * COST_OF_LOOKUP + walk).sqrt() - COST_OF_LOOKUP) / (2.0 * cost)
        }
        false => (MOST_WALKED * question.records - COST_OF_LOOKUP) / cost,
    };
    most.clamp(0.0, MOST_ENTRIES) as u64
}

/// Chooses, after a look that did not fill the page.
pub fn choose(question: Question, look: &Look) -> AccessPath {
    // Of what was never seen, there may be nearly one.
    let density = |passing: u64, records: u64| (passing as f64).max(0.5) / records.max(1) as f64;
    let rarest = look.served.iter().copied().min();
    let otherwise = match rarest {
        Some(rarest) => {
            let among = |count, records| density(count, records) * question.records;
            question.cost_of_lookup(among(rarest, look.counted), among(look.passing, look.records))
        }
        None => MOST_WALKED * question.records,
    };
    let walk = question.wanted as f64 / density(look.passing, look.records);
    let further = GROWTH * look.counted;
    // Few hits are as likely to be twice as many.
    let is_uncertain =
        look.passing < FEW_HITS && rarest.is_some_and(|rarest| (1..FEW_HITS).contains(&rarest));
    if is_uncertain && further as f64 <= COST_OF_LOOK * otherwise {
        return AccessPath::Look(further);
    }
    let is_worth_it = walk <= otherwise && (look.records as f64) < otherwise.min(question.records);
    if question.may_walk && is_worth_it {
        return AccessPath::Walk(
            (PATIENCE * walk).min(question.records).max(2.0 * look.records as f64) as u64
        );
    }
    lookup(look)
}

/// The path that is no walk.
fn lookup(look: &Look) -> AccessPath {
    let rarest = look.served.iter().copied().min();
    let Some(rarest) = rarest.filter(|it| *it as f64 <= MOST_FOUND * look.counted as f64) else {
        return AccessPath::Planned;
    };
    let served = look.served.iter().enumerate();
    AccessPath::Lookup(served.filter(|(_, passing)| **passing == rarest).map(|(place, _)| place).collect())
}

/// What a record costs in a sequential scan, in records that a bitmap finds; both without a statement.
const COST_OF_ALL: f64 = 0.1;

/// Whether, where all matches have to be looked at, a lookup costs less than all records, both without a statement.
pub fn is_lookup_less_than_all(records: f64, look: &Look) -> bool {
    let rarest = look.served.iter().copied().min().unwrap_or(look.counted);
    let found = (rarest as f64).max(0.5) / look.counted.max(1) as f64;
    found * records + COST_OF_LOOKUP < COST_OF_ALL * records
}

/// Whether so few records are best read one after the other, without a look before.
pub fn is_small(question: Question, look: u64) -> bool {
    question.records <= 4.0 * look as f64
}

#[cfg(test)]
mod tests;
