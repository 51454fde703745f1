//! Who is let in, and how much of the process one caller may use.
//!
//! A request passes here before anything of its body is read: its key must be known to be good, and it must be within
//! the bounds of its key, of its address, and of the process. What it has taken is given back when the [`Admitted`] is
//! dropped. Keys that were good once are remembered, so that in the usual case nothing here waits and the database
//! authenticates and answers by one statement; that statement has the last word, so that a revocation holds at once.

/// From which address a request comes.
pub(crate) mod address;
/// Whether a request is let in.
mod admit;
/// A request that was let in.
mod admitted;
/// Events that may happen so often, and no oftener.
mod bucket;
/// How much is left of what all callers share.
mod budget;
/// How many connections callers have.
pub(crate) mod connections;
/// Recently used API keys and delivery tokens.
mod credential;
/// Failed authentications by address.
mod failures;
/// What a request identifies itself with.
mod kind;
/// The bounds of the process, and what is in use.
mod limits;
/// The least rate of a transfer.
pub(crate) mod min_rate;
/// What a caller is told that uses too much.
mod refusal;
/// A connection whose other side must keep moving.
pub(crate) mod socket;
/// What a key looks like.
mod token;

pub(crate) use admit::admit;
pub(crate) use admitted::{Admitted, FilePermit};
pub(crate) use budget::Reserved as ReservedBytes;
pub(crate) use kind::CredentialKind;
pub(crate) use limits::Admission;
