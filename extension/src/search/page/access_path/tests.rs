use super::*;
use proptest::prelude::*;

const QUESTION: Question =
    Question { records: 500_000.0, requested: 51, has_ordered_scan: true, reading: Reading::ByAge };

fn sample(passing: u64, indexable: &[u64]) -> Sample {
    Sample { records: 200, passing, counted: 200, indexable: indexable.to_vec() }
}

#[test]
fn frequent_matches_use_an_ordered_scan_and_rare_ones_a_lookup() {
    assert_eq!(choose(QUESTION, &sample(20, &[20])), AccessPath::OrderedScan(1020));
    assert_eq!(choose(QUESTION, &sample(0, &[0])), AccessPath::Lookup(vec![0]));
    let seen = Sample { records: 800, passing: 2, counted: 800, indexable: vec![2] };
    assert_eq!(choose(QUESTION, &seen), AccessPath::Lookup(vec![0]));
}

#[test]
fn expensive_lookup_waits_for_a_larger_sample() {
    assert_eq!(choose(QUESTION, &sample(0, &[1])), AccessPath::Sample(800));
    // With few records, a lookup takes no longer than the sample.
    let few = Question { records: 20_000.0, ..QUESTION };
    assert_eq!(choose(few, &sample(0, &[1])), AccessPath::Lookup(vec![0]));
}

#[test]
fn order_without_an_index_reads_all_records_unless_few_match() {
    for (records, found, is_lookup) in [
        (500_000.0, 0, true),
        (500_000.0, 8, true),
        (500_000.0, 30, false),
        (10_000.0, 8, true),
        (1_500.0, 0, false),
    ] {
        assert_eq!(is_lookup_less_than_all(records, &sample(0, &[found])), is_lookup, "{found} of {records}");
    }
}

#[test]
fn direct_lookup_fetches_only_the_first_records() {
    // Of 500,000 records, 5000 match: an ordered scan reads 5100 records, and a lookup fetches 51 of the records
    // that it finds.
    let seen = Sample { records: 1000, passing: 10, counted: 1000, indexable: vec![10] };
    assert_eq!(choose(QUESTION, &seen), AccessPath::OrderedScan(10_200));
    let direct = Question { reading: Reading::DirectByAge, ..QUESTION };
    assert_eq!(choose(direct, &seen), AccessPath::Lookup(vec![0]));
    assert_eq!(entries(direct, 5000), 5000 * ENTRIES_OF_ROW);
    // With few candidates, all are fetched: finding 51 of them through the sort index takes longer.
    assert_eq!(entries(direct, 60), 0);
}

#[test]
fn value_is_rare_if_its_lookup_costs_less_than_an_ordered_scan() {
    for has_ordered_scan in [true, false] {
        for (records, reading) in
            [(2_000.0, Reading::Far), (12_000.0, Reading::ByAge), (20_000.0, Reading::Far)]
        {
            let question = Question { records, has_ordered_scan, reading, ..QUESTION };
            let most = max_entries(question) as f64;
            assert!((1.0..MAX_ENTRIES).contains(&most), "{question:?}: {most}");
            let is_less = |found: f64| {
                let scan = question.requested as f64 * records / found;
                question.cost_of_lookup(found, found)
                    <= if has_ordered_scan { scan } else { MAX_SCANNED * records }
            };
            assert!(is_less(most) && !is_less(most + 2.0), "{question:?}: {most}");
        }
    }
    assert_eq!(max_entries(Question { records: 10_000_000.0, ..QUESTION }) as f64, MAX_ENTRIES);
    assert_eq!(max_entries(Question { records: 0.0, ..QUESTION }), 0);
}

#[test]
fn rarest_condition_is_looked_up() {
    let few = Question { records: 20_000.0, ..QUESTION };
    assert_eq!(choose(few, &sample(0, &[90, 3, 120])), AccessPath::Lookup(vec![1]));
    assert_eq!(choose(few, &sample(0, &[0, 3, 0])), AccessPath::Lookup(vec![0, 2]));
}

#[test]
fn ordered_scan_is_tried_if_the_index_finds_many_other_records() {
    assert_eq!(choose(QUESTION, &sample(0, &[14])), AccessPath::OrderedScan(40_800));
    assert_eq!(choose(QUESTION, &sample(0, &[])), AccessPath::OrderedScan(40_800));
}

#[test]
fn ordered_scan_that_nearly_filled_the_page_continues() {
    let scanned = |passing| Sample { records: 8192, passing, counted: 200, indexable: vec![9] };
    assert_eq!(choose(QUESTION, &scanned(43)), AccessPath::OrderedScan(19_432));
    assert_eq!(choose(QUESTION, &scanned(1)), AccessPath::Lookup(vec![0]));
}

#[test]
fn frequent_value_is_not_looked_up() {
    assert_eq!(lookup(&sample(100, &[100])), AccessPath::Planned);
    assert_eq!(lookup(&sample(60, &[60])), AccessPath::Lookup(vec![0]));
}

proptest! {
    #[test]
    fn path_costs_at_most_about_twice_as_much_as_the_better_one(
        density in 0.0001..1.0f64, records in 1_000.0..10_000_000.0f64, requested in 1..1001usize,
    ) {
        // Samples with the true share.
        let question = Question { records, requested, ..QUESTION };
        let seen = |at: u64| (density * at as f64).round() as u64;
        let mut sample = Sample { records: 200, passing: seen(200), counted: 200, indexable: vec![seen(200)] };
        let (mut spent, full) = (200.0, (requested as f64 / density).min(records));
        let cost = loop {
            match choose(question, &sample) {
                AccessPath::OrderedScan(among) => {
                    prop_assert!(among > sample.records);
                    if among as f64 >= full {
                        break spent + full;
                    }
                    (sample.records, sample.passing) = (among, seen(among));
                    spent += among as f64;
                }
                AccessPath::Sample(at) => {
                    sample = Sample { records: at.max(sample.records), counted: at, indexable: vec![seen(at)], ..sample };
                    sample.passing = seen(sample.records);
                    spent += 2.0 * at as f64;
                }
                AccessPath::Lookup(_) => break spent + COST_OF_LOOKUP + COST_OF_FOUND * density * records,
                AccessPath::Planned => break spent + records,
            }
        };
        let best = full.min(COST_OF_LOOKUP + COST_OF_FOUND * density * records);
        // A value that no sample contains counts as one record in four hundred.
        let unseen = COST_OF_FOUND * records / 400.0;
        prop_assert!(cost <= 6.0 * best + 2.0 * unseen + 1000.0, "{cost} where {best} would do");
    }
}
