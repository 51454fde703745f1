//! The end of the feed, which the streams of a group share: each page is read and rendered once.
//!
//! A stream joins when it has read all pages. Its last page ends at the cursor of the tail, so the same changes follow
//! both.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::page::{Feed, Group, Page, Pages, read_within};
use super::watch::Watch;
use crate::caller::Caller;
use crate::problem::Problem;

/// The number of pages that a stream can lag behind. A stream that lags more reads its own pages.
const AHEAD: usize = 4;

/// The maximum number of streams that join with one snapshot.
const MAX_JOINS: usize = 50;

/// The interval at which a page is read without changes, to detect a revoked key and to advance the cursor.
const CHECK_INTERVAL: Duration = Duration::from_secs(15);

/// The pause after a temporary error.
pub(super) const RETRY: Duration = Duration::from_secs(1);

const BEGIN: &str = "begin isolation level repeatable read read only";

/// All tails, by group.
#[derive(Default)]
pub(super) struct Tails(Mutex<HashMap<Group, Weak<Tail>>>);

impl Tails {
    /// The tail of a group.
    pub(super) fn of(
        &self,
        group: Group,
        pages: &Arc<Pages>,
        feed: &Feed,
        watch: impl FnOnce() -> Watch,
    ) -> Arc<Tail> {
        // Nothing that can panic half-way runs under the lock.
        let mut tails = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tail) = tails.get(&group).and_then(Weak::upgrade)
            && !tail.task.is_finished()
        {
            return tail;
        }
        tails.retain(|_, tail| tail.strong_count() > 0);
        let tail = Arc::new(Tail::begin(Arc::clone(pages), feed.clone(), watch()));
        tails.insert(group, Arc::downgrade(&tail));
        tail
    }
}

/// A request to join.
struct Joining {
    caller: Arc<Caller>,
    cursor: String,
    joined: oneshot::Sender<Joined>,
}

/// The result of joining.
pub(super) struct Joined {
    /// The stream's page after its cursor. If there are more pages, the stream has not joined.
    pub(super) page: Arc<Page>,
    /// The pages after it.
    pub(super) pages: broadcast::Receiver<Arc<Page>>,
}

/// The tail of one group. Its task stops when it is dropped.
pub(super) struct Tail {
    joins: mpsc::Sender<Joining>,
    task: JoinHandle<()>,
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Tail {
    fn begin(pages: Arc<Pages>, feed: Feed, watch: Watch) -> Tail {
        let (joins, joining) = mpsc::channel(MAX_JOINS);
        let generation = watch.generation();
        let reader = Reader {
            pages,
            feed,
            watch,
            generation,
            cursor: None,
            members: Vec::new(),
            sent: broadcast::Sender::new(AHEAD),
            sent_at: Instant::now(),
        };
        Tail { joins, task: tokio::spawn(reader.run(joining)) }
    }

    /// Joins after a cursor; `None` if that is not possible at the moment.
    pub(super) async fn join(&self, caller: &Arc<Caller>, cursor: &str) -> Option<Joined> {
        let (joined, has_joined) = oneshot::channel();
        let joining = Joining { caller: Arc::clone(caller), cursor: cursor.to_owned(), joined };
        self.joins.send(joining).await.ok()?;
        has_joined.await.ok()
    }
}

/// Reads the pages of a tail.
struct Reader {
    pages: Arc<Pages>,
    feed: Feed,
    watch: Watch,
    /// The generation of the last read.
    generation: u64,
    /// Set when a stream has joined.
    cursor: Option<String>,
    /// The callers of the joined streams. Pages are read with the first that still exists.
    members: Vec<Weak<Caller>>,
    sent: broadcast::Sender<Arc<Page>>,
    /// When the last page was sent.
    sent_at: Instant,
}

impl Reader {
    /// Runs until a permanent error. Each stream then reads its own page, which reports the error.
    async fn run(mut self, mut joining: mpsc::Receiver<Joining>) {
        loop {
            let done = tokio::select! {
                joining = next_joins(&mut joining) => match joining {
                    Some(joining) => self.join(joining).await,
                    None => return,
                },
                () = self.watch.moved(self.generation) => self.read().await,
                () = sleep(CHECK_INTERVAL) => self.read().await,
            };
            match done {
                Ok(()) => {}
                Err(problem) if problem.is_retryable() => sleep(RETRY).await,
                Err(_) => return,
            }
        }
    }

    /// Reads all pages up to the end.
    async fn read(&mut self) -> Result<(), Problem> {
        let generation = self.watch.generation();
        self.members.retain(|member| member.strong_count() > 0);
        if let Some(caller) = self.members.iter().find_map(Weak::upgrade) {
            while let Some(cursor) = &self.cursor {
                let page = self.pages.read(&caller, &self.feed, Some(cursor)).await?;
                if !self.send(page) {
                    break;
                }
            }
        }
        self.generation = generation;
        Ok(())
    }

    /// Sends a page to the streams. Returns whether there are more pages. An empty page is sent only after a pause, for
    /// its cursor.
    fn send(&mut self, page: Page) -> bool {
        let has_more = page.has_more;
        self.cursor = Some(page.next.clone());
        if !page.is_empty || self.sent_at.elapsed() >= CHECK_INTERVAL {
            self.sent_at = Instant::now();
            // An error means that there are no streams.
            let _ = self.sent.send(Arc::new(page));
        }
        has_more
    }

    /// Joins streams. After an error, none of them has joined.
    async fn join(&mut self, joining: Vec<Joining>) -> Result<(), Problem> {
        let Some(caller) = joining.first().map(|first| Arc::clone(&first.caller)) else { return Ok(()) };
        let pages = Arc::clone(&self.pages);
        let mut transaction = pages.database.begin(&caller, BEGIN).await?;
        let generation = self.watch.generation();
        // The horizon of final changes differs between statements: it can move back when a transaction of another database
        // ends. So the tail is read first, and each stream up to the cursor of the tail.
        while let Some(cursor) = &self.cursor {
            let page = read_within(&mut transaction, &caller, &self.feed, Some(cursor), None).await?;
            if !self.send(page) {
                break;
            }
        }
        let mut end = self.cursor.clone();
        let mut read: HashMap<String, Arc<Page>> = HashMap::new();
        for Joining { cursor, .. } in &joining {
            if read.contains_key(cursor) {
                continue;
            }
            let until = end.as_deref();
            let page = match read_within(&mut transaction, &caller, &self.feed, Some(cursor), until).await {
                Ok(page) => Arc::new(page),
                // The cursor may be invalid: its stream reads the page itself and gets the error.
                Err(_) => {
                    transaction.roll_back().await;
                    return Ok(());
                }
            };
            if !page.has_more && end.is_none() {
                end = Some(page.next.clone());
            }
            read.insert(cursor.clone(), page);
        }
        transaction.roll_back().await;
        self.cursor = end;
        self.generation = generation;
        for Joining { caller, cursor, joined } in joining {
            let Some(page) = read.get(&cursor) else { continue };
            self.members.push(Arc::downgrade(&caller));
            let _ = joined.send(Joined { page: Arc::clone(page), pages: self.sent.subscribe() });
        }
        Ok(())
    }
}

/// The streams that are waiting to join; `None` if the tail was dropped.
async fn next_joins(joining: &mut mpsc::Receiver<Joining>) -> Option<Vec<Joining>> {
    let mut together = Vec::new();
    match joining.recv_many(&mut together, MAX_JOINS).await {
        0 => None,
        _ => Some(together),
    }
}
