//! What is known of a request while it is answered: for the access log, the metrics and traces.
//!
//! The [`Observation`] is in the extensions of the request, and goes on with its [`Admitted`](crate::admission::Admitted).
//! Each layer adds what it learns. The observation ends when the body of the response has ended, that of a large one
//! when its last byte was sent, or when the client is gone.

/// One line for each request.
pub mod access_log;
/// Bodies, counted.
mod body;
/// What became known.
mod facts;
/// The end of a request.
mod finish;
/// What the sender of a response learns from its connection.
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
