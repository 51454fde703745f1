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
fn without_an_index_of_the_order_all_records_are_read_unless_few_are_found() {
    for (records, found, is_lookup) in [
        (500_000.0, 0, true),
        (500_000.0, 8, true),
        (500_000.0, 30, false),
        (10_000.0, 8, true),
        (1_500.0, 0, false),
    ] {
        assert_eq!(is_lookup_less_than_all(records, &look(0, &[found])), is_lookup, "{found} of {records}");
    }
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
fn a_value_is_rare_where_its_lookup_costs_less_than_a_walk_to_as_many() {
    for may_walk in [true, false] {
        for (records, reading) in
            [(2_000.0, Reading::Far), (12_000.0, Reading::ByAge), (20_000.0, Reading::Far)]
        {
            let question = Question { records, may_walk, reading, ..QUESTION };
            let most = most_entries(question) as f64;
            assert!((1.0..MOST_ENTRIES).contains(&most), "{question:?}: {most}");
            let is_less = |found: f64| {
                let walk = question.wanted as f64 * records / found;
                question.cost_of_lookup(found, found) <= if may_walk { walk } else { MOST_WALKED * records }
            };
            assert!(is_less(most) && !is_less(most + 2.0), "{question:?}: {most}");
        }
    }
    assert_eq!(most_entries(Question { records: 10_000_000.0, ..QUESTION }) as f64, MOST_ENTRIES);
    assert_eq!(most_entries(Question { records: 0.0, ..QUESTION }), 0);
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
