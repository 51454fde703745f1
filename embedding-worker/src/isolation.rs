//! Finds the invalid texts of a failed request by sending them one by one. Pure.

use crate::outcome::{Failed, Failure, Outcome};

/// The outcomes of texts, in their order.
#[derive(Debug)]
pub struct Outcomes {
    /// `None` for a text without outcome, if the reason does not depend on the text.
    pub outcomes: Vec<Option<Outcome>>,
    /// Why outcomes are missing.
    pub failure: Option<Failure>,
}

impl Outcomes {
    pub(crate) fn complete(outcomes: Vec<Outcome>) -> Outcomes {
        Outcomes { outcomes: outcomes.into_iter().map(Some).collect(), failure: None }
    }

    pub(crate) fn none(texts: usize, failure: Failure) -> Outcomes {
        Outcomes { outcomes: (0..texts).map(|_| None).collect(), failure: Some(failure) }
    }
}

/// The texts of a failed request, sent one by one to find the invalid ones.
pub(crate) struct Isolation {
    outcomes: Vec<Option<Outcome>>,
    /// The texts for which the server failed. The cause may be the text or the server.
    broken: Vec<(usize, Failure)>,
    /// Whether the server embedded the probe.
    probe_succeeded: bool,
}

impl Isolation {
    pub(crate) fn new(texts: usize) -> Isolation {
        Isolation { outcomes: (0..texts).map(|_| None).collect(), broken: Vec::new(), probe_succeeded: false }
    }

    /// Records the response to one text.
    pub(crate) fn settle(&mut self, position: usize, result: Result<Vec<Outcome>, Failed>) {
        match result {
            Ok(mut alone) => self.outcomes[position] = alone.pop(),
            Err(Failed::Texts(reason)) => self.outcomes[position] = Some(Err(reason)),
            Err(failed) => self.broken.push((position, failed.into_failure())),
        }
    }

    /// Whether any text got a vector.
    pub(crate) fn has_vector(&self) -> bool {
        self.outcomes.iter().any(|outcome| matches!(outcome, Some(Ok(_))))
    }

    /// Records whether the server embedded the probe, which is known to be valid.
    pub(crate) fn record_probe(&mut self, probe_succeeded: bool) {
        self.probe_succeeded = probe_succeeded;
    }

    /// Decides whether the texts or the server caused the failures. `failure` is the reason why texts were not tried.
    pub(crate) fn finish(mut self, failure: Option<Failure>) -> Outcomes {
        // The server embedded other texts, so this text is invalid.
        if self.probe_succeeded || self.has_vector() {
            for (position, failure) in self.broken {
                self.outcomes[position] = Some(Err(failure.message));
            }
            return Outcomes { outcomes: self.outcomes, failure };
        }
        let rejection = self.outcomes.iter().flatten().find_map(|outcome| outcome.as_ref().err());
        let rejection = rejection.map(|reason| Failure { message: reason.clone(), retry_after: None });
        let broken = self.broken.pop().map(|(_, failure)| failure);
        let failure = failure.or(broken).or(rejection);
        Outcomes { outcomes: (0..self.outcomes.len()).map(|_| None).collect(), failure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;

    fn failure(message: &str) -> Failure {
        Failure { message: message.to_owned(), retry_after: None }
    }

    /// Runs an isolation. Each character is a text: it got a vector (v), the server failed for it (b), it was not tried
    /// (-), or it was rejected for the reason that the character stands for.
    fn isolate(texts: &str, probe: bool, rest: Option<&str>) -> (String, Option<String>) {
        let mut isolation = Isolation::new(texts.len());
        for (position, letter) in texts.chars().enumerate() {
            let result = match letter {
                '-' => continue,
                'v' => Ok(vec![Ok(hash::embed("text"))]),
                'b' => Err(Failed::Temporary {
                    message: "b".to_owned(),
                    retry_after: None,
                    may_depend_on_text: true,
                    is_busy: false,
                }),
                reason => Err(Failed::Texts(reason.to_string())),
            };
            isolation.settle(position, result);
        }
        isolation.record_probe(probe);
        let outcomes = isolation.finish(rest.map(failure));
        let letter = |outcome: &Option<Outcome>| match outcome {
            None => "-".to_owned(),
            Some(Ok(_)) => "v".to_owned(),
            Some(Err(reason)) => reason.clone(),
        };
        (outcomes.outcomes.iter().map(letter).collect(), outcomes.failure.map(|failure| failure.message))
    }

    #[test]
    fn text_fails_if_another_succeeds() {
        assert_eq!(isolate("vbv", false, None), ("vbv".into(), None));
        assert_eq!(isolate("vrr", false, None), ("vrr".into(), None));
        for texts in ["b", "bbb", "r", "rrr", "rb", "rs"] {
            assert_eq!(isolate(texts, true, None), (texts.into(), None));
        }
    }

    #[test]
    fn no_text_fails_if_all_fail() {
        assert_eq!(isolate("bbb", false, None), ("---".into(), Some("b".into())));
        assert_eq!(isolate("rrr", false, None), ("---".into(), Some("r".into())));
        assert_eq!(isolate("rb", false, None), ("--".into(), Some("b".into())));
        assert_eq!(isolate("r", false, None), ("-".into(), Some("r".into())));
        assert_eq!(isolate("r-", false, Some("gone")), ("--".into(), Some("gone".into())));
    }

    #[test]
    fn outage_keeps_known_results() {
        assert_eq!(isolate("vr--", false, Some("gone")), ("vr--".into(), Some("gone".into())));
        assert_eq!(isolate("b-", false, Some("gone")), ("--".into(), Some("gone".into())));
    }
}
