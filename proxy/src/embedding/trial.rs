//! What becomes of texts that are tried one by one, because a request with all of them failed. Pure.

use super::{Failure, Outcome};

/// What became of some texts, in their order.
#[derive(Debug)]
pub(crate) struct Answers {
    /// None for a text of which nothing is known yet, through no fault of its own.
    pub(crate) outcomes: Vec<Option<Outcome>>,
    /// Why not all are known.
    pub(crate) failure: Option<Failure>,
}

impl Answers {
    pub(super) fn complete(outcomes: Vec<Outcome>) -> Answers {
        Answers { outcomes: outcomes.into_iter().map(Some).collect(), failure: None }
    }

    pub(super) fn none(texts: usize, failure: Failure) -> Answers {
        Answers { outcomes: (0..texts).map(|_| None).collect(), failure: Some(failure) }
    }
}

/// What is known so far.
pub(super) struct Trial {
    outcomes: Vec<Option<Outcome>>,
    /// The texts at which the server failed, which may be its fault or theirs.
    broken: Vec<(usize, Failure)>,
}

impl Trial {
    pub(super) fn new(texts: usize) -> Trial {
        Trial { outcomes: (0..texts).map(|_| None).collect(), broken: Vec::new() }
    }

    pub(super) fn settle(&mut self, place: usize, outcome: Option<Outcome>) {
        self.outcomes[place] = outcome;
    }

    pub(super) fn broke(&mut self, place: usize, failure: Failure) {
        self.broken.push((place, failure));
    }

    /// Says whose fault it is. A `failure` is why not all texts were tried.
    pub(super) fn judge(mut self, failure: Option<Failure>) -> Answers {
        if let Some(reason) = self.common_refusal() {
            return Answers::none(self.outcomes.len(), Failure { message: reason, retry_after: None });
        }
        // A server that embeds others works, and it is the text that it fails at.
        if self.outcomes.iter().any(|outcome| matches!(outcome, Some(Ok(_)))) {
            for (place, failure) in self.broken {
                self.outcomes[place] = Some(Err(failure.message));
            }
            return Answers { outcomes: self.outcomes, failure };
        }
        let failure = failure.or_else(|| self.broken.pop().map(|(_, failure)| failure));
        Answers { outcomes: self.outcomes, failure }
    }

    /// Why each and every text is refused: then it is the set-up, and not the texts.
    fn common_refusal(&self) -> Option<String> {
        let Some(Some(Err(first))) = self.outcomes.first() else { return None };
        let is_first = |outcome: &Option<Outcome>| matches!(outcome, Some(Err(reason)) if reason == first);
        (self.outcomes.len() > 1 && self.outcomes.iter().all(is_first)).then(|| first.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::hash;
    use super::*;

    fn failure(message: &str) -> Failure {
        Failure { message: message.to_owned(), retry_after: None }
    }

    /// A trial of texts that got a vector (v), broke the server (b), were not tried (-), or were refused for a reason.
    fn judged(texts: &str, rest: Option<&str>) -> (String, Option<String>) {
        let mut trial = Trial::new(texts.len());
        for (place, letter) in texts.chars().enumerate() {
            match letter {
                'v' => trial.settle(place, Some(Ok(hash::embed("text")))),
                'b' => trial.broke(place, failure("b")),
                '-' => {}
                reason => trial.settle(place, Some(Err(reason.to_string()))),
            }
        }
        let answers = trial.judge(rest.map(failure));
        let letter = |outcome: &Option<Outcome>| match outcome {
            None => "-".to_owned(),
            Some(Ok(_)) => "v".to_owned(),
            Some(Err(reason)) => reason.clone(),
        };
        (answers.outcomes.iter().map(letter).collect(), answers.failure.map(|failure| failure.message))
    }

    #[test]
    fn a_text_is_at_fault_only_where_another_got_a_vector() {
        assert_eq!(judged("vbv", None), ("vbv".into(), None));
        assert_eq!(judged("bbb", None), ("---".into(), Some("b".into())));
        assert_eq!(judged("rb", None), ("r-".into(), Some("b".into())));
    }

    #[test]
    fn what_is_known_stays_known_when_the_server_goes_away() {
        assert_eq!(judged("vr--", Some("gone")), ("vr--".into(), Some("gone".into())));
        assert_eq!(judged("b-", Some("gone")), ("--".into(), Some("gone".into())));
    }

    #[test]
    fn texts_that_are_all_refused_for_one_reason_are_not_at_fault() {
        assert_eq!(judged("rrr", None), ("---".into(), Some("r".into())));
        assert_eq!(judged("rs", None), ("rs".into(), None));
        assert_eq!(judged("vrr", None), ("vrr".into(), None));
        assert_eq!(judged("r-", Some("gone")), ("r-".into(), Some("gone".into())));
    }
}
