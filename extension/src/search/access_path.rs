//! Which access path finds the records of a page. Pure arithmetic.
//!
//! There are two. A walk reads records along the index of the page's order until the page is full: the more records pass,
//! the sooner. A lookup reads all that an index of a condition finds, and sorts them: the fewer pass, the better. Where
//! density is `d` among `n` records, a walk reads `page / d` records and a lookup `d * n`. PostgreSQL chooses by what it
//! expects of `d`, which for parts of texts is often wrong by a factor of a hundred, and the wrong choice may read every
//! record. Here, a look at the first records of the walk decides: what it costs is known, and what it finds fills the
//! page, or tells `d`.

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

/// Whether so few records are best read one after the other, without a look before.
pub fn is_small(question: Question, look: u64) -> bool {
    question.records <= 4.0 * look as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QUESTION: Question =
        Question { records: 500_000.0, wanted: 51, may_walk: true, reading: Reading::ByAge };

    fn look(passing: u64, served: &[u64]) -> Look {
        Look { records: 200, passing, counted: 200, served: served.to_vec() }
    }

    #[test]
    fn frequent_matches_are_found_along_the_order_and_rare_ones_by_their_index() {
        assert_eq!(choose(QUESTION, &look(20, &[20])), AccessPath::Walk(1020));
        assert_eq!(choose(QUESTION, &look(0, &[0])), AccessPath::Lookup(vec![0]));
        let seen = Look { records: 800, passing: 2, counted: 800, served: vec![2] };
        assert_eq!(choose(QUESTION, &seen), AccessPath::Lookup(vec![0]));
    }

    #[test]
    fn where_a_lookup_would_take_long_more_is_looked_at_before() {
        assert_eq!(choose(QUESTION, &look(0, &[1])), AccessPath::Look(800));
        // Of few records, it takes no longer than the look.
        let few = Question { records: 20_000.0, ..QUESTION };
        assert_eq!(choose(few, &look(0, &[1])), AccessPath::Lookup(vec![0]));
    }

    #[test]
    fn of_what_is_found_directly_only_the_first_are_read() {
        // Of half a million records 5000 pass: a walk reads 5100 of them, and a lookup 51 of those it finds.
        let seen = Look { records: 1000, passing: 10, counted: 1000, served: vec![10] };
        assert_eq!(choose(QUESTION, &seen), AccessPath::Walk(10_200));
        let direct = Question { reading: Reading::DirectByAge, ..QUESTION };
        assert_eq!(choose(direct, &seen), AccessPath::Lookup(vec![0]));
        assert_eq!(entries(direct, 5000), 5000 * ENTRIES_OF_ROW);
        // Of few, all are read: to find the places of 51 of them takes longer.
        assert_eq!(entries(direct, 60), 0);
    }

    #[test]
    fn the_rarest_condition_leads() {
        let few = Question { records: 20_000.0, ..QUESTION };
        assert_eq!(choose(few, &look(0, &[90, 3, 120])), AccessPath::Lookup(vec![1]));
        assert_eq!(choose(few, &look(0, &[0, 3, 0])), AccessPath::Lookup(vec![0, 2]));
    }

    #[test]
    fn a_walk_is_tried_where_the_index_finds_much_that_does_not_pass() {
        assert_eq!(choose(QUESTION, &look(0, &[14])), AccessPath::Walk(40_800));
        assert_eq!(choose(QUESTION, &look(0, &[])), AccessPath::Walk(40_800));
    }

    #[test]
    fn a_walk_that_nearly_filled_the_page_goes_on_and_one_that_found_nothing_ends() {
        let walked = |passing| Look { records: 8192, passing, counted: 200, served: vec![9] };
        assert_eq!(choose(QUESTION, &walked(43)), AccessPath::Walk(19_432));
        assert_eq!(choose(QUESTION, &walked(1)), AccessPath::Lookup(vec![0]));
    }

    #[test]
    fn no_index_is_asked_for_what_many_records_have() {
        let sorted = Question { may_walk: false, ..QUESTION };
        assert_eq!(lookup(&look(100, &[100])), AccessPath::Planned);
        assert_eq!(choose(Question { records: 20_000.0, ..sorted }, &look(100, &[])), AccessPath::Planned);
        assert_eq!(lookup(&look(60, &[60])), AccessPath::Lookup(vec![0]));
    }

    proptest! {
        #[test]
        fn the_path_costs_about_twice_as_much_as_the_better_one_at_most(
            density in 0.0001..1.0f64, records in 1_000.0..10_000_000.0f64, wanted in 1..1001usize,
        ) {
            // What looks show that show the truth.
            let question = Question { records, wanted, ..QUESTION };
            let seen = |at: u64| (density * at as f64).round() as u64;
            let mut look = Look { records: 200, passing: seen(200), counted: 200, served: vec![seen(200)] };
            let (mut spent, full) = (200.0, (wanted as f64 / density).min(records));
            let cost = loop {
                match choose(question, &look) {
                    AccessPath::Walk(among) => {
                        prop_assert!(among > look.records);
                        if among as f64 >= full {
                            break spent + full;
                        }
                        (look.records, look.passing) = (among, seen(among));
                        spent += among as f64;
                    }
                    AccessPath::Look(at) => {
                        look = Look { records: at.max(look.records), counted: at, served: vec![seen(at)], ..look };
                        look.passing = seen(look.records);
                        spent += 2.0 * at as f64;
                    }
                    AccessPath::Lookup(_) => break spent + COST_OF_LOOKUP + COST_OF_FOUND * density * records,
                    AccessPath::Planned => break spent + records,
                }
            };
            let best = full.min(COST_OF_LOOKUP + COST_OF_FOUND * density * records);
            // What was never seen counts for one in four hundred.
            let unseen = COST_OF_FOUND * records / 400.0;
            prop_assert!(cost <= 6.0 * best + 2.0 * unseen + 1000.0, "{cost} where {best} would do");
        }
    }
}
