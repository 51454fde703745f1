//! Callers that wait for changes: requests with `wait`, and streams of events.
//!
//! While callers wait for a project, one task asks the database every 50 ms whether it has new changes. A caller that waits holds
//! no connection to the database, and is not among the requests in flight. Streams of one key that follow the same feed share
//! each page.

/// A page as events.
mod event;
/// A caller that waits.
mod listener;
/// Pages of the feed.
mod page;
/// A request with `wait`.
mod poll;
/// A stream of events.
mod stream;
/// What streams of the same key follow together.
mod tail;
/// Whether a project has new changes.
mod watch;

pub(crate) use event::is_wanted;
pub(crate) use listener::{Changes, Listener};
pub(crate) use page::{Feed, Form};
pub(crate) use poll::poll;
pub(crate) use stream::{MEDIA_TYPE, stream};
