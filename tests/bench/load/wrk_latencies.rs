//! The latencies of requests, computed from the output of wrk.
//!
//! wrk corrects for coordinated omission: it assumes that requests are due at a constant rate, and adds those that a
//! slow response has delayed, each with its estimated latency (`stats_correct` in wrk's stats.c). A closed-loop client
//! delays no requests, so this module removes the added ones.

use std::collections::BTreeMap;

/// The number of requests by latency in microseconds.
pub(super) struct Latencies(BTreeMap<u64, u64>);

impl Latencies {
    /// Removes wrk's correction for this interval.
    pub(super) fn of_wrk(mut counts: BTreeMap<u64, u64>, interval: u64) -> Latencies {
        // In descending order, because a longer latency adds to the counts of shorter ones.
        let mut rest: Vec<u64> = counts.keys().copied().collect();
        while let Some(latency) = rest.pop() {
            let requests = counts[&latency];
            for added in held_up(latency, interval) {
                if let Some(count) = counts.get_mut(&added) {
                    *count = count.saturating_sub(requests);
                }
            }
        }
        Latencies(counts)
    }

    /// The percentile of the latencies, in milliseconds.
    pub(super) fn percentile(&self, percent: u64) -> f64 {
        let all: u64 = self.0.values().sum();
        let mut seen = 0;
        let reached = self.0.iter().find(|(_, count)| {
            seen += *count;
            seen * 100 >= all * percent
        });
        reached.map_or(0.0, |(latency, _)| *latency as f64 / 1000.0)
    }
}

/// The latencies that wrk adds for one request.
fn held_up(latency: u64, interval: u64) -> impl Iterator<Item = u64> {
    let next = move |held: &u64| held.checked_sub(interval);
    std::iter::successors(next(&latency).filter(|_| latency >= 2 * interval), next)
        .take_while(move |held| *held > interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies wrk's correction, in ascending order.
    fn completed(requests: &BTreeMap<u64, u64>, interval: u64) -> BTreeMap<u64, u64> {
        let mut counts = requests.clone();
        let longest = *requests.keys().last().expect("requests");
        for latency in 2 * interval..=longest {
            let count = counts.get(&latency).copied().unwrap_or_default();
            let mut held = latency - interval;
            while count > 0 && held > interval {
                *counts.entry(held).or_default() += count;
                held -= interval;
            }
        }
        counts
    }

    #[test]
    fn latencies_exclude_wrk_corrections() {
        let requests =
            BTreeMap::from([(90, 700), (100, 200), (101, 3), (205, 40), (400, 1), (1234, 20), (90_000, 2)]);
        for interval in [95, 100, 120, 300] {
            let counts = completed(&requests, interval);
            assert_ne!(counts, requests);
            let mut found = Latencies::of_wrk(counts, interval).0;
            found.retain(|_, count| *count > 0);
            assert_eq!(found, requests, "{interval}");
        }
    }

    #[test]
    fn percentile_is_an_upper_bound_of_its_share() {
        let latencies = Latencies((1..=100).map(|latency| (latency * 1000, 1)).collect());
        assert_eq!((latencies.percentile(50), latencies.percentile(99)), (50.0, 99.0));
    }
}
