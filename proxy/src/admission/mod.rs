//! Admission: authentication and limits.
//!
//! A request is admitted before its body is read: its key must be valid, and the limits of the key, the address and the
//! process must not be exceeded. The first request with a key looks it up with a separate statement, which concurrent
//! requests with the key share. Valid keys are cached, so most requests do not wait here. The statement of the request
//! itself authenticates again, so a revocation takes effect immediately. If it rejects the key, the next request looks
//! the key up again.
//!
//! A body of more than 64 KiB is read only if the key was valid within the last second.

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
/// The cache of API keys and delivery tokens.
mod credentials;
/// The expected sizes of responses.
mod expectation;
/// Failed authentications by address.
mod failures;
/// The limits of the process, and their usage.
mod limits;
/// Verification of keys with the database.
mod lookup;
/// The minimum rate of a transfer.
pub(crate) mod min_rate;
/// Parties: the keys that share a limit.
mod party;
/// Requests to public resources.
mod public_requests;
/// The time of the last response of the database.
mod pulse;
/// The errors for exceeded limits.
mod rejection;
/// The bytes of responses.
mod responses;
/// Shares of the connections to the database.
mod shares;
/// Connections with timeouts.
pub(crate) mod socket;
/// Socket options.
pub(crate) mod tcp;
/// The format of keys and tokens.
mod token;

pub(crate) use admit::{admit, is_known, is_remembered};
pub(crate) use admitted::{Admitted, FilePermit};
pub(crate) use budget::Reserved as ReservedBytes;
pub(crate) use expectation::ResponseKind;
pub(crate) use limits::Admission;
pub(crate) use pulse::Pulse;
pub(crate) use responses::ResponseBytes;
pub(crate) use shares::Share;
pub(crate) use token::CredentialKind;
