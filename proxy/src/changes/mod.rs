//! Callers that wait for changes: requests with `wait`, and streams of events.
//!
//! While callers wait for a project, one task polls the database for new changes every 50 ms. A waiting caller holds no
//! database connection and does not count as a request in flight. Streams with the same key and feed share each page.

/// Pages as events.
mod event;
/// A caller that waits.
mod listener;
/// Pages of the feed.
mod page;
/// A request with `wait`.
mod poll;
/// A stream of events.
mod stream;
/// The end of the feed, shared by the streams of a key.
mod tail;
/// Polls projects for new changes.
mod watch;

pub(crate) use event::is_requested;
pub(crate) use listener::{Changes, Listener};
pub(crate) use page::{Feed, Form};
pub(crate) use poll::poll;
pub(crate) use stream::{MEDIA_TYPE, stream};
