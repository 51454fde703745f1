//! The observation of requests, for the access log, metrics and traces.
//!
//! The [`Observation`] is stored in the extensions of the request, and passed on in
//! [`Admitted`](crate::admission::Admitted). Each layer adds facts. The observation ends when the response body has
//! ended, or for a large response, when its last byte has been sent, or when the client disconnects.

/// One line per request.
pub mod access_log;
/// Bodies, counted.
mod body;
/// The collected facts.
mod facts;
/// The end of a request.
mod finish;
/// Connects the socket with the responses sent on it.
mod link;
/// The observation of one request.
mod observed;
/// The id of a request.
mod request_id;
/// From the head of a request to the end of its response.
mod run;
/// A request as spans.
mod spans;

pub(crate) use body::Sent;
pub(crate) use facts::{Identity, SqlState};
pub(crate) use link::Link;
pub(crate) use observed::{Observation, Resources};
pub(crate) use request_id::REQUEST_ID;
pub use run::Sinks;
pub(crate) use run::{InMemory, REPLAYED, observe};
