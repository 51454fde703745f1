//! Admission: authentication and limits.
//!
//! A request is admitted before its body is read: its key must be valid, and it must be within the limits of its key,
//! its address and the process. Its resources are released when the [`Admitted`] is dropped. Valid keys are
//! remembered, so that usually nothing waits here, and the database authenticates and answers in one statement; that
//! statement decides, so a revocation takes effect at once.

/// The client address of a request.
pub(crate) mod address;
/// Admission of a request.
mod admit;
/// An admitted request.
mod admitted;
/// Rate limits.
mod bucket;
/// The shared resources.
mod budget;
/// Client connections.
pub(crate) mod connections;
/// A recently used API key or delivery token.
mod credential;
/// All of them.
mod credentials;
/// The expected sizes of responses.
mod expectation;
/// Failed authentications by address.
mod failures;
/// The kinds of credentials.
mod kind;
/// The limits of the process, and their usage.
mod limits;
/// Verification of keys with the database.
mod lookup;
/// The minimum rate of a transfer.
pub(crate) mod min_rate;
/// What a peer has taken of what was written.
mod outgoing;
/// Whose keys share a limit.
mod party;
/// When the database answered last.
mod pulse;
/// The responses to exceeded limits.
mod refusal;
/// The bytes of responses.
mod responses;
/// Shares of the connections to the database.
mod shares;
/// Connections with timeouts.
pub(crate) mod socket;
/// The options of connections.
pub(crate) mod tcp;
/// The format of keys and tokens.
mod token;
/// Requests for what everybody may read.
mod visits;

pub(crate) use admit::admit;
pub(crate) use admitted::{Admitted, FilePermit};
pub(crate) use budget::Reserved as ReservedBytes;
pub(crate) use expectation::ResponseKind;
pub(crate) use kind::CredentialKind;
pub(crate) use limits::Admission;
pub(crate) use pulse::Pulse;
pub(crate) use shares::Share;
