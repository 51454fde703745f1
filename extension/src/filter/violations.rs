//! Collects errors for one response.

use crate::error::{Code, Error, MAX_VIOLATIONS};

/// The errors found so far, in the order of the request.
#[derive(Debug, Default)]
pub(super) struct Violations(Vec<Error>);

impl Violations {
    /// The value, or `None` after recording the error.
    pub(super) fn keep<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.add(error);
                None
            }
        }
    }

    /// The values, or `None` if there is an error. All errors are recorded.
    pub(super) fn keep_all<T>(&mut self, results: impl Iterator<Item = Result<T, Error>>) -> Option<Vec<T>> {
        let read: Vec<Option<T>> = results.map(|result| self.keep(result)).collect();
        read.into_iter().collect()
    }

    /// Records an error, up to the maximum number.
    pub(super) fn add(&mut self, error: Error) {
        if error.code == Code::MalformedRequest {
            // A request that does not parse gets only this error.
            self.0.clear();
        }
        let is_unreadable = self.0.first().is_some_and(|first| first.code == Code::MalformedRequest);
        if !is_unreadable && self.0.len() < MAX_VIOLATIONS {
            self.0.push(error);
        }
    }

    /// The value, or the joined errors.
    pub(super) fn or<T>(self, value: T) -> Result<T, Error> {
        Error::join(self.0).map_or(Ok(value), Err)
    }
}
