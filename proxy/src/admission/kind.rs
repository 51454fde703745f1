//! The kinds of credentials.

use crate::problem::Problem;

/// The kinds of credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CredentialKind {
    ApiKey,
    DeliveryToken,
}

impl CredentialKind {
    /// The response to an invalid key or token.
    pub(super) fn refusal(self) -> Problem {
        match self {
            CredentialKind::ApiKey => Problem::invalid_key(),
            CredentialKind::DeliveryToken => Problem::not_found(),
        }
    }

    /// Whether a statement was refused because the key or token is not one.
    pub(crate) fn is_refusal(self, problem: &Problem) -> bool {
        match self {
            CredentialKind::ApiKey => problem.is_unauthorized(),
            CredentialKind::DeliveryToken => problem.is_not_found(),
        }
    }
}
