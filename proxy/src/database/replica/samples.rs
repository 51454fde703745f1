//! The positions of the primary over time, which say how old is what a replica shows. Pure.
//!
//! The lag of a replica is the age of the newest sample that it has replayed. No clocks are compared, an idle primary gives no
//! lag, and while the primary does not respond the lag grows.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How long samples are kept at least.
const MEMORY: Duration = Duration::from_secs(3600);

/// What the primary says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// The position up to which its log is safe.
    pub(super) position: u64,
    /// The identifier of the database system.
    pub(super) system: String,
    /// The timeline, which each promotion begins.
    pub(super) timeline: String,
}

/// The samples of the primary.
pub(super) struct Samples {
    memory: Duration,
    system: String,
    timeline: String,
    /// In the order of their times. Of several with one position, only the newest is here.
    all: VecDeque<(Instant, u64)>,
    /// The highest position that is known: of the primary or of a replica.
    highest: u64,
    /// Replicas that have replayed no more than this may have done so on a timeline that the primary left.
    floor: u64,
}

impl Samples {
    /// `max_lag`: the largest lag of interest.
    pub(super) fn new(max_lag: Duration) -> Samples {
        let (system, timeline, all) = Default::default();
        Samples { memory: MEMORY.max(2 * max_lag), system, timeline, all, highest: 0, floor: 0 }
    }

    /// The primary was asked then, and answered this. Whether it is another primary than before.
    pub(super) fn add(&mut self, asked: Instant, sample: Sample) -> bool {
        let is_other_system = sample.system != self.system;
        let is_other = !self.all.is_empty() && (is_other_system || sample.timeline != self.timeline);
        if is_other {
            self.all.clear();
            self.floor = if is_other_system { 0 } else { self.highest };
        }
        if is_other_system {
            self.highest = 0;
        }
        (self.system, self.timeline) = (sample.system, sample.timeline);
        self.highest = self.highest.max(sample.position);
        if self.all.back().is_some_and(|(_, position)| *position == sample.position) {
            self.all.pop_back();
        }
        self.all.push_back((asked, sample.position));
        while self.all.front().is_some_and(|(at, _)| asked.saturating_duration_since(*at) > self.memory) {
            self.all.pop_front();
        }
        is_other
    }

    /// A replica has replayed this position.
    pub(super) fn saw_replica(&mut self, position: u64) {
        self.highest = self.highest.max(position);
    }

    /// How old is what a replica that has replayed this position shows; `None` if that is unknown.
    pub(super) fn lag(&self, replayed: u64, now: Instant) -> Option<Duration> {
        let known = self.all.iter().rev().find(|(_, position)| *position <= replayed);
        known.filter(|_| replayed > self.floor).map(|(at, _)| now.saturating_duration_since(*at))
    }

    /// The identifier of the database system, once it is known.
    pub(super) fn system(&self) -> Option<&str> {
        Some(self.system.as_str()).filter(|_| !self.all.is_empty())
    }

    /// When the primary was last asked and answered.
    pub(super) fn latest(&self) -> Option<Instant> {
        self.all.back().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn sample(position: u64, timeline: &str) -> Sample {
        Sample { position, system: "7".to_owned(), timeline: timeline.to_owned() }
    }

    #[test]
    fn lag_is_the_age_of_the_newest_replayed_sample() {
        let (mut samples, start) = (Samples::new(SECOND), Instant::now());
        assert_eq!((samples.lag(100, start), samples.system()), (None, None), "nothing is known yet");
        for (seconds, position) in [(0, 10), (1, 20), (2, 30)] {
            samples.add(start + SECOND * seconds, sample(position, "1"));
        }
        let now = start + SECOND * 3;
        for (replayed, lag) in [(9, None), (10, Some(3)), (29, Some(2)), (30, Some(1)), (99, Some(1))] {
            assert_eq!(samples.lag(replayed, now), lag.map(|lag| SECOND * lag), "{replayed}");
        }
    }

    #[test]
    fn idle_primary_gives_no_lag_and_a_silent_one_does() {
        let (mut samples, start) = (Samples::new(SECOND), Instant::now());
        for seconds in 0..100 {
            samples.add(start + SECOND * seconds, sample(10, "1"));
        }
        assert_eq!(samples.all.len(), 1);
        assert_eq!(samples.lag(10, start + SECOND * 99), Some(Duration::ZERO));
        assert_eq!(samples.lag(10, start + SECOND * 129), Some(SECOND * 30));
    }

    #[test]
    fn replica_on_an_abandoned_timeline_has_no_lag() {
        let (mut samples, start) = (Samples::new(SECOND), Instant::now());
        samples.add(start, sample(100, "1"));
        // A replica had more of the old primary than the one that was promoted.
        samples.saw_replica(120);
        assert!(samples.add(start, sample(90, "2")), "it is another primary");
        assert_eq!(samples.lag(120, start), None);
        assert!(!samples.add(start, sample(130, "2")));
        assert_eq!(samples.lag(120, start), None, "it cannot follow");
        assert_eq!(samples.lag(130, start), Some(Duration::ZERO));
    }

    #[test]
    fn another_system_has_positions_of_its_own() {
        let (mut samples, start) = (Samples::new(SECOND), Instant::now());
        samples.add(start, sample(100, "1"));
        assert!(samples.add(start, Sample { system: "8".to_owned(), ..sample(10, "1") }));
        assert_eq!((samples.lag(10, start), samples.system()), (Some(Duration::ZERO), Some("8")));
    }

    #[test]
    fn number_of_samples_is_bounded() {
        let (mut samples, start) = (Samples::new(SECOND), Instant::now());
        for second in 0..100_000_u32 {
            samples.add(start + SECOND * second, sample(u64::from(second), "1"));
        }
        assert_eq!(samples.all.len(), 3601);
        let now = start + SECOND * 99_999;
        assert_eq!(samples.lag(99_990, now), Some(SECOND * 9));
        assert_eq!(samples.lag(50_000, now), None);
    }
}
