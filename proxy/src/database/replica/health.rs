//! Whether a replica answers reads. Pure.

use std::time::{Duration, Instant};

use super::samples::Samples;
use crate::database::version::line_of;

/// Why a replica is used, or is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Usable,
    /// It was not asked yet, or the primary has not answered yet.
    Unknown,
    /// It does not respond.
    Unreachable,
    /// It is not in recovery: it was promoted, or never was a standby.
    NotStandby,
    /// It follows another primary.
    OtherSystem,
    /// Its library of keyed is of another version.
    Incompatible,
    Lagging,
}

impl State {
    pub(super) const ALL: [State; 7] = [
        State::Usable,
        State::Unknown,
        State::Unreachable,
        State::NotStandby,
        State::OtherSystem,
        State::Incompatible,
        State::Lagging,
    ];

    /// As metrics and /readyz name it.
    pub(super) fn name(self) -> &'static str {
        match self {
            State::Usable => "usable",
            State::Unknown => "unknown",
            State::Unreachable => "unreachable",
            State::NotStandby => "not_standby",
            State::OtherSystem => "other_system",
            State::Incompatible => "incompatible",
            State::Lagging => "lagging",
        }
    }

    /// For the log.
    pub(super) fn reason(self) -> &'static str {
        match self {
            State::Usable => "it is usable",
            State::Unknown => "its lag is unknown, because the primary has not answered yet",
            State::Unreachable => "it does not respond",
            State::NotStandby => "it is not a standby: it was promoted, or KEYED_READ_URL names the primary",
            State::OtherSystem => "it is not a standby of the database in KEYED_DATABASE_URL",
            State::Incompatible => {
                "its files of keyed are of another version than keyed-proxy: install the same version there"
            }
            State::Lagging => "it lags by more than KEYED_READ_LAG",
        }
    }
}

/// What a replica says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) is_standby: bool,
    /// The position that it has replayed.
    pub(super) replayed: u64,
    /// The identifier of the database system.
    pub(super) system: String,
    /// The version of the library; none if it has no function that says it.
    pub(super) library: Option<String>,
}

/// The state of a replica that has said this, and its lag.
pub(super) fn judge(
    seen: &Seen,
    samples: &Samples,
    now: Instant,
    max_lag: Duration,
    proxy: &str,
) -> (State, Option<Duration>) {
    if !seen.is_standby {
        return (State::NotStandby, None);
    }
    match samples.system() {
        None => return (State::Unknown, None),
        Some(system) if system != seen.system => return (State::OtherSystem, None),
        Some(_) => {}
    }
    let lag = samples.lag(seen.replayed, now);
    let is_compatible = seen.library.as_deref().is_some_and(|library| line_of(library) == line_of(proxy));
    let state = match lag {
        _ if !is_compatible => State::Incompatible,
        Some(lag) if lag <= max_lag => State::Usable,
        _ => State::Lagging,
    };
    (state, lag)
}

#[cfg(test)]
mod tests {
    use super::super::samples::Sample;
    use super::*;

    fn seen() -> Seen {
        Seen { is_standby: true, replayed: 10, system: "7".to_owned(), library: Some("0.2.9".to_owned()) }
    }

    fn state(seen: &Seen, seconds: u64) -> State {
        let (mut samples, start) = (Samples::new(Duration::from_secs(10)), Instant::now());
        samples.add(start, Sample { position: 10, system: "7".to_owned(), timeline: "00000001".to_owned() });
        judge(seen, &samples, start + Duration::from_secs(seconds), Duration::from_secs(10), "0.2.0").0
    }

    #[test]
    fn replica_within_the_maximum_lag_is_usable() {
        assert_eq!(state(&seen(), 0), State::Usable);
        assert_eq!(state(&seen(), 10), State::Usable);
        assert_eq!(state(&seen(), 11), State::Lagging);
        assert_eq!(state(&Seen { replayed: 9, ..seen() }, 0), State::Lagging);
    }

    #[test]
    fn server_that_is_no_replica_is_left_out() {
        assert_eq!(state(&Seen { is_standby: false, ..seen() }, 0), State::NotStandby);
        assert_eq!(state(&Seen { system: "8".to_owned(), ..seen() }, 0), State::OtherSystem);
    }

    #[test]
    fn replica_needs_a_compatible_library() {
        for library in [None, Some("0.1.9"), Some("0.3.0")] {
            let seen = Seen { library: library.map(str::to_owned), ..seen() };
            assert_eq!(state(&seen, 0), State::Incompatible, "{library:?}");
        }
    }

    #[test]
    fn replica_is_unknown_until_the_primary_answers() {
        let samples = Samples::new(Duration::from_secs(10));
        let judged = judge(&seen(), &samples, Instant::now(), Duration::from_secs(10), "0.2.0");
        assert_eq!(judged, (State::Unknown, None));
    }
}
