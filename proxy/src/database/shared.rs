//! Connections that many short reads share by pipelining.
//!
//! With one connection for each request, most of the time of a lookup goes into waking up the service and the
//! session. Pipelined, several statements cost one wake-up. Each is its own transaction, so none sees or undoes
//! anything of another. No request may wait long behind another: only reads of one row are shared, queues are short,
//! and a request that has waited too long is sent again on its own connection.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deadpool_postgres::ClientWrapper;
use tokio::runtime::Handle;

use super::trust::Trust;

/// A queue of this length is efficient: a session processes it in one go with warm caches. A lookup takes some 30 µs.
const GOOD_QUEUE: usize = 8;

/// The maximum length of a queue.
const MAX_QUEUE: usize = 32;

/// The time after which a lookup is sent again elsewhere: far longer than a queue of lookups needs, far shorter than
/// a person notices.
pub(crate) const PATIENCE: Duration = Duration::from_millis(25);

/// The places for shared connections. A place is empty until a connection is offered.
pub(crate) struct Shared {
    places: Box<[Mutex<Option<Arc<Connection>>>]>,
    trust: Trust,
}

struct Connection {
    client: ClientWrapper,
    opened: Instant,
    /// Requests that wait for its responses.
    waiting: AtomicUsize,
    /// Whether a response is long overdue.
    stuck: AtomicBool,
    /// Whether another takes its place: its buffer has grown.
    is_retired: AtomicBool,
}

/// A slot in the queue of a connection. It is released when everything sent from it is answered.
pub(crate) struct Slot {
    connection: Arc<Connection>,
    is_answered: bool,
}

impl Shared {
    pub(crate) fn new(places: usize, trust: Trust) -> Shared {
        Shared { places: (0..places).map(|_| Mutex::default()).collect(), trust }
    }

    /// A slot in the first queue that is not yet long, else in the shortest; none if all are full, stuck or closed.
    pub(crate) fn slot(&self) -> Option<Slot> {
        let connections = self.places.iter().filter_map(|place| self.trusted_connection(place));
        let best = connections
            .filter(|connection| connection.is_usable())
            .min_by_key(|connection| connection.waiting.load(Ordering::Relaxed).max(GOOD_QUEUE - 1))?;
        if best.waiting.fetch_add(1, Ordering::Relaxed) < MAX_QUEUE {
            return Some(Slot { connection: best, is_answered: false });
        }
        best.waiting.fetch_sub(1, Ordering::Relaxed);
        None
    }

    /// The connection of a place. One that is not used again is closed when its last request has ended.
    fn trusted_connection(&self, place: &Mutex<Option<Arc<Connection>>>) -> Option<Arc<Connection>> {
        let mut place = lock(place);
        let _ended =
            place.take_if(|connection| !connection.is_in_use() || !self.trust.holds(connection.opened));
        place.clone()
    }

    /// Closes the connections that are not used again.
    pub(crate) fn close_idle(&self) {
        for place in &self.places {
            let _connection = self.trusted_connection(place);
        }
    }

    /// Whether there is a place without an open connection.
    pub(crate) fn has_vacancy(&self) -> bool {
        self.places.iter().any(|place| self.is_vacant(&lock(place)))
    }

    /// Puts an idle connection into a vacant place, or closes it if there is none.
    pub(crate) fn offer(&self, client: ClientWrapper, opened: Instant) {
        for place in &self.places {
            let mut place = lock(place);
            if self.is_vacant(&place) {
                let (waiting, stuck) = (AtomicUsize::new(0), AtomicBool::new(false));
                let is_retired = AtomicBool::new(false);
                *place = Some(Arc::new(Connection { client, opened, waiting, stuck, is_retired }));
                return;
            }
        }
    }
}

/// How many connections there are, and how busy they are.
pub(crate) struct Status {
    pub(crate) usable: usize,
    pub(crate) stuck: usize,
    /// Requests that wait for their responses.
    pub(crate) queue: usize,
}

impl Shared {
    pub(crate) fn status(&self) -> Status {
        let mut status = Status { usable: 0, stuck: 0, queue: 0 };
        for connection in self.places.iter().filter_map(|place| lock(place).clone()) {
            status.queue += connection.waiting.load(Ordering::Relaxed);
            match (connection.client.is_closed(), connection.stuck.load(Ordering::Relaxed)) {
                (true, _) => {}
                (false, true) => status.stuck += 1,
                (false, false) => status.usable += 1,
            }
        }
        status
    }

    /// Whether there is no usable connection.
    fn is_vacant(&self, place: &Option<Arc<Connection>>) -> bool {
        let is_usable =
            |it: &Connection| it.is_in_use() && !it.client.is_closed() && self.trust.holds(it.opened);
        place.as_ref().is_none_or(|it| !is_usable(it))
    }
}

fn lock(place: &Mutex<Option<Arc<Connection>>>) -> std::sync::MutexGuard<'_, Option<Arc<Connection>>> {
    // Nothing that can panic runs under the lock.
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    fn is_usable(&self) -> bool {
        !self.stuck.load(Ordering::Relaxed) && !self.client.is_closed() && self.is_in_use()
    }

    fn is_in_use(&self) -> bool {
        !self.is_retired.load(Ordering::Relaxed)
    }
}

impl Slot {
    /// Releases the slot: the statement is answered, or was never sent.
    pub(crate) fn leave(mut self) {
        self.is_answered = true;
    }

    /// Has another connection take the place of this one, which is closed when all that was sent is answered.
    pub(crate) fn retire(&self) {
        self.connection.is_retired.store(true, Ordering::Relaxed);
    }

    /// Takes the connection out of use until all statements sent so far are answered.
    pub(crate) fn report_stuck(self) {
        self.connection.stuck.store(true, Ordering::Relaxed);
    }
}

impl Deref for Slot {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
        &self.connection.client
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let connection = self.connection.clone();
        if self.is_answered {
            connection.waiting.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        // The request has timed out or was dropped, but its statement is still queued. An empty query follows it; if
        // that fails, the connection is closed and its place becomes vacant.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                let _ = connection.client.simple_query("").await;
                connection.stuck.store(false, Ordering::Relaxed);
                connection.waiting.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }
}
