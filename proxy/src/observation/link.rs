//! What the sender of a response learns from its connection: a large response ends when the peer has taken its last byte.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::facts::Ended;

/// The end of a response that was handed over.
pub(super) trait Tail: Send {
    fn finish(self: Box<Self>, ended: Ended);
}

/// One connection. Copies are of the same.
#[derive(Clone, Default)]
pub(crate) struct Link(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Bytes that the socket has accepted.
    written: AtomicU64,
    /// Whether the connection was closed because the peer read too slowly.
    is_cut: AtomicBool,
    /// Whether a request waits for its response.
    is_awaited: AtomicBool,
    /// The number of the response in `tail`, from 1 on; 0 if there is none.
    current: AtomicU64,
    /// How many responses have been there.
    deferred: AtomicU64,
    /// A response that was handed over, and of which bytes may still be on their way.
    tail: Mutex<Option<Box<dyn Tail>>>,
}

impl Link {
    /// The socket has accepted bytes.
    pub(crate) fn wrote(&self, bytes: usize) {
        self.0.written.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// A request has begun.
    pub(crate) fn asked(&self) {
        self.0.is_awaited.store(true, Ordering::Relaxed);
    }

    /// Its response goes out.
    pub(crate) fn answered(&self) {
        self.0.is_awaited.store(false, Ordering::Relaxed);
    }

    /// Whether a request waits for its response.
    pub(crate) fn is_awaited(&self) -> bool {
        self.0.is_awaited.load(Ordering::Relaxed)
    }

    /// How many bytes the socket has accepted.
    pub(crate) fn written(&self) -> u64 {
        self.0.written.load(Ordering::Relaxed)
    }

    /// The connection is closed because its peer reads too slowly.
    pub(crate) fn cut(&self) {
        self.0.is_cut.store(true, Ordering::Relaxed);
    }

    /// How a response ended that did not arrive as a whole.
    pub(super) fn interruption(&self) -> Ended {
        if self.0.is_cut.load(Ordering::Relaxed) { Ended::TooSlow } else { Ended::ClientGone }
    }

    /// Has a response end when its last byte is on its way.
    pub(super) fn defer(&self, tail: Box<dyn Tail>) {
        let number = self.0.deferred.fetch_add(1, Ordering::Relaxed) + 1;
        let earlier = self.lock().replace(tail);
        self.0.current.store(number, Ordering::Relaxed);
        // Bytes arrive in their order.
        end(earlier, Ended::Complete);
    }

    /// The number of the response that waits for its end.
    pub(crate) fn tail(&self) -> Option<u64> {
        Some(self.0.current.load(Ordering::Relaxed)).filter(|number| *number > 0)
    }

    /// The peer has taken all bytes.
    pub(crate) fn arrived(&self) {
        end(self.take(), Ended::Complete);
    }

    /// The connection has ended.
    pub(crate) fn closed(&self) {
        end(self.take(), self.interruption());
    }

    fn take(&self) -> Option<Box<dyn Tail>> {
        self.0.current.store(0, Ordering::Relaxed);
        self.lock().take()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Box<dyn Tail>>> {
        // Nothing that can panic runs under the lock.
        self.0.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn end(tail: Option<Box<dyn Tail>>, ended: Ended) {
    if let Some(tail) = tail {
        tail.finish(ended);
    }
}
