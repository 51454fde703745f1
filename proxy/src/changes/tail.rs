//! The end of the feed, which streams of the same group follow together: each of its pages is read and written once.
//!
//! A stream joins when it has read all that there is. Its last page and that of the tail are read under one snapshot, so the
//! same follows both.

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

/// How many pages a stream may lag. One that lags more reads for itself.
const AHEAD: usize = 4;

/// How many streams join under one snapshot.
const TOGETHER: usize = 50;

/// After this time without changes, a page is read: it reports a revoked key, and moves the cursor.
const CHECK: Duration = Duration::from_secs(15);

/// The pause after an error that passes.
pub(super) const RETRY: Duration = Duration::from_secs(1);

const BEGIN: &str = "begin isolation level repeatable read read only";

/// All tails, by their groups.
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

/// A stream that wants to join.
struct Joining {
    caller: Arc<Caller>,
    cursor: String,
    joined: oneshot::Sender<Joined>,
}

/// What a stream reads before it follows.
pub(super) struct Joined {
    /// The last page of its own. If it has more, the stream has not joined.
    pub(super) page: Arc<Page>,
    /// The pages after it.
    pub(super) pages: broadcast::Receiver<Arc<Page>>,
}

/// The tail of one group. It ends when it is dropped.
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
        let (joins, joining) = mpsc::channel(TOGETHER);
        let turn = watch.turn();
        let reader = Reader {
            pages,
            feed,
            watch,
            turn,
            cursor: None,
            members: Vec::new(),
            sent: broadcast::Sender::new(AHEAD),
            sent_at: Instant::now(),
        };
        Tail { joins, task: tokio::spawn(reader.run(joining)) }
    }

    /// Joins after a cursor; none if that is not possible at the moment.
    pub(super) async fn join(&self, caller: &Arc<Caller>, cursor: &str) -> Option<Joined> {
        let (joined, has_joined) = oneshot::channel();
        let joining = Joining { caller: Arc::clone(caller), cursor: cursor.to_owned(), joined };
        self.joins.send(joining).await.ok()?;
        has_joined.await.ok()
    }
}

/// Reads for a tail.
struct Reader {
    pages: Arc<Pages>,
    feed: Feed,
    watch: Watch,
    /// The turn in which it was read last.
    turn: u64,
    /// Once a stream has joined.
    cursor: Option<String>,
    /// Those in whose name it reads.
    members: Vec<Weak<Caller>>,
    sent: broadcast::Sender<Arc<Page>>,
    /// When a page was sent last.
    sent_at: Instant,
}

impl Reader {
    /// Until a page is refused for good: then each stream asks for itself why.
    async fn run(mut self, mut joining: mpsc::Receiver<Joining>) {
        loop {
            let done = tokio::select! {
                joining = joining_together(&mut joining) => match joining {
                    Some(joining) => self.join(joining).await,
                    None => return,
                },
                () = self.watch.moved(self.turn) => self.read().await,
                () = sleep(CHECK) => self.read().await,
            };
            match done {
                Ok(()) => {}
                Err(problem) if problem.is_retryable() => sleep(RETRY).await,
                Err(_) => return,
            }
        }
    }

    /// Reads up to the end.
    async fn read(&mut self) -> Result<(), Problem> {
        let turn = self.watch.turn();
        self.members.retain(|member| member.strong_count() > 0);
        if let Some(caller) = self.members.iter().find_map(Weak::upgrade) {
            while let Some(cursor) = &self.cursor {
                let page = self.pages.read(&caller, &self.feed, Some(cursor)).await?;
                if !self.send(page) {
                    break;
                }
            }
        }
        self.turn = turn;
        Ok(())
    }

    /// Sends a page to the streams. Returns whether there are more. An empty one is sent from time to time, for its cursor.
    fn send(&mut self, page: Page) -> bool {
        let has_more = page.has_more;
        self.cursor = Some(page.next.clone());
        if !page.is_empty || self.sent_at.elapsed() >= CHECK {
            self.sent_at = Instant::now();
            // Without streams, it goes nowhere.
            let _ = self.sent.send(Arc::new(page));
        }
        has_more
    }

    /// Lets streams join. After an error, none of them does.
    async fn join(&mut self, joining: Vec<Joining>) -> Result<(), Problem> {
        let Some(caller) = joining.first().map(|first| Arc::clone(&first.caller)) else { return Ok(()) };
        let pages = Arc::clone(&self.pages);
        let mut transaction = pages.database.begin(&caller, BEGIN).await?;
        let turn = self.watch.turn();
        let mut read: HashMap<String, Arc<Page>> = HashMap::new();
        let mut end = None;
        for Joining { cursor, .. } in &joining {
            if read.contains_key(cursor) {
                continue;
            }
            let page = match read_within(&mut transaction, &caller, &self.feed, Some(cursor)).await {
                Ok(page) => Arc::new(page),
                // It may be the fault of this cursor: who sent it reads for itself, and learns that.
                Err(_) => {
                    transaction.roll_back().await;
                    return Ok(());
                }
            };
            if !page.has_more {
                end = Some(page.next.clone());
            }
            read.insert(cursor.clone(), page);
        }
        // The tail is read last. A transaction of another database that has ended in between can take the end of what is final
        // back, so what a stream has read already could come again, but is never left out.
        while let Some(cursor) = &self.cursor {
            let page = read_within(&mut transaction, &caller, &self.feed, Some(cursor)).await?;
            if !self.send(page) {
                break;
            }
        }
        transaction.roll_back().await;
        self.cursor = self.cursor.take().or(end);
        self.turn = turn;
        for Joining { caller, cursor, joined } in joining {
            let Some(page) = read.get(&cursor) else { continue };
            self.members.push(Arc::downgrade(&caller));
            let _ = joined.send(Joined { page: Arc::clone(page), pages: self.sent.subscribe() });
        }
        Ok(())
    }
}

/// The streams that want to join now; none if no stream can any longer.
async fn joining_together(joining: &mut mpsc::Receiver<Joining>) -> Option<Vec<Joining>> {
    let mut together = Vec::new();
    match joining.recv_many(&mut together, TOGETHER).await {
        0 => None,
        _ => Some(together),
    }
}
