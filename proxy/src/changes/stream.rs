//! A stream of events, which ends when the service stops or with the event `error`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream::unfold;
use keyed_service::shutdown::{Shutdown, Step};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep, sleep_until};

use super::event;
use super::listener::Listener;
use super::page::Page;
use super::tail::{RETRY, Tail};
use crate::problem::Problem;

/// Its content type.
pub(crate) const MEDIA_TYPE: &str = "text/event-stream";

/// The interval of comments on an idle stream.
const COMMENT_INTERVAL: Duration = Duration::from_secs(15);

/// The minimum and maximum delay of reconnections, in milliseconds. It is random, so that clients do not all reconnect
/// at the same time.
const PAUSE: [u64; 2] = [1000, 3000];

/// The body of a response with the changes after a cursor. An error in the first page is the error of the request.
pub(crate) async fn stream(
    listener: Listener,
    after: Option<String>,
    shutdown: Shutdown,
    end: Step,
) -> Result<Body, Problem> {
    let page = listener.page(after.as_deref(), listener.generation()).await?;
    let start = event::start(fastrand::u64(PAUSE[0]..=PAUSE[1]), page.is_empty.then_some(&*page.next));
    let (cursor, position) = (page.next.clone(), Position::behind(&page));
    let known = cursor.clone();
    let first = (!page.is_empty).then(|| page.text.clone());
    let stream =
        Stream { listener, shutdown, end, start: Some(start.into()), first, cursor, known, position };
    Ok(Body::from_stream(unfold(Some(stream), async |stream| {
        let mut stream = stream?;
        let (bytes, is_last) = stream.next().await?;
        Some((Ok::<Bytes, Infallible>(bytes), (!is_last).then_some(stream)))
    })))
}

struct Stream {
    listener: Listener,
    shutdown: Shutdown,
    end: Step,
    /// Sent before the first page.
    start: Option<Bytes>,
    first: Option<Bytes>,
    /// The cursor after all sent events.
    cursor: String,
    /// The last cursor sent to the client.
    known: String,
    position: Position,
}

/// The state of a stream.
enum Position {
    /// There are more pages to read.
    Behind,
    /// All existing pages have been read.
    AtEnd,
    /// It receives the pages of its group.
    Following { pages: broadcast::Receiver<Arc<Page>>, _tail: Arc<Tail> },
}

impl Position {
    fn behind(page: &Page) -> Position {
        if page.has_more { Position::Behind } else { Position::AtEnd }
    }
}

impl Stream {
    /// The next chunk, and whether it is the last; `None` at the end.
    async fn next(&mut self) -> Option<(Bytes, bool)> {
        if let Some(bytes) = self.start.take().or_else(|| self.first.take()) {
            return Some((bytes, false));
        }
        let shutdown = self.shutdown.clone();
        let end = self.end;
        tokio::select! {
            biased;
            () = shutdown.reached(end) => None,
            next = self.event() => Some(next),
        }
    }

    async fn event(&mut self) -> (Bytes, bool) {
        let comment = Instant::now() + COMMENT_INTERVAL;
        loop {
            let advanced = tokio::select! {
                biased;
                advanced = self.advance() => advanced,
                () = sleep_until(comment) => {
                    let moved = (self.known != self.cursor).then_some(&*self.cursor);
                    let text = event::comment(moved);
                    self.known.clone_from(&self.cursor);
                    return (text.into(), false);
                }
            };
            match advanced {
                Ok(Some(bytes)) => {
                    self.known.clone_from(&self.cursor);
                    return (bytes, false);
                }
                Ok(None) => {}
                Err(problem) if problem.is_retryable() => sleep(RETRY).await,
                Err(problem) => return (self.error(&problem), true),
            }
        }
    }

    /// One step. It is cancellation-safe.
    async fn advance(&mut self) -> Result<Option<Bytes>, Problem> {
        match &mut self.position {
            Position::Behind => {
                let page = self.listener.page(Some(&self.cursor), self.listener.generation()).await?;
                self.position = Position::behind(&page);
                Ok(self.pass(&page))
            }
            Position::AtEnd => {
                let tail = self.listener.tail();
                let Some(joined) = tail.join(self.listener.caller(), &self.cursor).await else {
                    sleep(RETRY).await;
                    self.position = Position::Behind;
                    return Ok(None);
                };
                self.position = match joined.page.has_more {
                    true => Position::Behind,
                    false => Position::Following { pages: joined.pages, _tail: tail },
                };
                Ok(self.pass(&joined.page))
            }
            Position::Following { pages, .. } => match pages.recv().await {
                Ok(page) => Ok(self.pass(&page)),
                // The client reads too slowly, or the tail has ended, in which case the next page has the error.
                Err(RecvError::Lagged(_) | RecvError::Closed) => {
                    self.position = Position::Behind;
                    Ok(None)
                }
            },
        }
    }

    /// The events of a page.
    fn pass(&mut self, page: &Page) -> Option<Bytes> {
        self.cursor.clone_from(&page.next);
        (!page.is_empty).then(|| page.text.clone())
    }

    fn error(&self, problem: &Problem) -> Bytes {
        let admitted = self.listener.caller().admitted.as_ref();
        let observation = admitted.and_then(|admitted| admitted.observation());
        if let Some(cause) = problem.cause() {
            tracing::warn!(
                request_id = observation.map(|it| it.id().as_str()),
                cause,
                "stream of changes failed"
            );
        }
        let instance = observation.map_or_else(uuid::Uuid::nil, |observation| observation.instance());
        event::error(&problem.render(instance)).into()
    }
}
