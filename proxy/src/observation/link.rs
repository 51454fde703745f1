//! Connects the socket with the responses sent on it: a large response ends when its last byte has been sent.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::facts::Ended;

/// A response that has been passed to the connection.
pub(super) trait Tail: Send {
    fn finish(self: Box<Self>, ended: Ended);
}

/// One connection. Clones refer to the same connection.
#[derive(Clone, Default)]
pub(crate) struct Link(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// The number of bytes that the kernel has accepted.
    written: AtomicU64,
    /// Whether the connection was closed because the peer read too slowly.
    is_cut: AtomicBool,
    /// Whether a request is waiting for its response.
    is_awaited: AtomicBool,
    /// The number of the response in `tail`, starting at 1; 0 if there is none.
    current: AtomicU64,
    /// The number of such responses so far.
    deferred: AtomicU64,
    /// A response that has been passed to the connection, but may not have been sent completely.
    tail: Mutex<Option<Box<dyn Tail>>>,
}

impl Link {
    /// Counts bytes that the kernel has accepted.
    pub(crate) fn wrote(&self, bytes: usize) {
        self.0.written.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Records the start of a request.
    pub(crate) fn asked(&self) {
        self.0.is_awaited.store(true, Ordering::Relaxed);
    }

    /// Records the start of its response.
    pub(crate) fn responded(&self) {
        self.0.is_awaited.store(false, Ordering::Relaxed);
    }

    /// Whether a request is waiting for its response.
    pub(crate) fn is_awaited(&self) -> bool {
        self.0.is_awaited.load(Ordering::Relaxed)
    }

    /// The number of bytes that the kernel has accepted.
    pub(crate) fn written(&self) -> u64 {
        self.0.written.load(Ordering::Relaxed)
    }

    /// Records that the connection is closed because the peer reads too slowly.
    pub(crate) fn cut(&self) {
        self.0.is_cut.store(true, Ordering::Relaxed);
    }

    /// The outcome of an incomplete response.
    pub(super) fn interruption(&self) -> Ended {
        if self.0.is_cut.load(Ordering::Relaxed) { Ended::TooSlow } else { Ended::ClientGone }
    }

    /// Defers the end of a response until its last byte has been sent.
    pub(super) fn defer(&self, tail: Box<dyn Tail>) {
        let number = self.0.deferred.fetch_add(1, Ordering::Relaxed) + 1;
        let earlier = self.lock().replace(tail);
        self.0.current.store(number, Ordering::Relaxed);
        // Bytes are sent in order, so an earlier response has been sent.
        end(earlier, Ended::Complete);
    }

    /// The number of the deferred response.
    pub(crate) fn tail(&self) -> Option<u64> {
        Some(self.0.current.load(Ordering::Relaxed)).filter(|number| *number > 0)
    }

    /// Ends the deferred response: all bytes have been sent.
    pub(crate) fn arrived(&self) {
        end(self.take(), Ended::Complete);
    }

    /// Ends the deferred response when the connection is closed.
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
