//! The bytes of responses in memory, of all callers and of each key.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

/// What a response is expected to take before anything is known of a key's.
const FIRST_EXPECTATION: usize = 4 << 20;

/// The bytes of all responses.
pub(super) struct ResponseBudget {
    most: usize,
    of_a_key: usize,
    held: Mutex<usize>,
    /// Some were given back.
    returned: Notify,
}

/// The bytes of one key's responses.
pub(super) struct KeyResponses {
    held: AtomicUsize,
    /// How large its next responses may be, by the earlier ones: of lookups and writes, and of other reads.
    expected: [AtomicUsize; 2],
}

impl Default for KeyResponses {
    fn default() -> KeyResponses {
        let expected = [0, FIRST_EXPECTATION].map(AtomicUsize::new);
        KeyResponses { held: AtomicUsize::new(0), expected }
    }
}

impl KeyResponses {
    fn expected(&self, is_read: bool) -> &AtomicUsize {
        &self.expected[usize::from(is_read)]
    }

    /// A response had so many bytes. The expectation rises at once, and falls slowly.
    pub(super) fn learn(&self, is_read: bool, bytes: usize) {
        let expected = self.expected(is_read);
        let before = expected.load(Ordering::Relaxed);
        expected.store(bytes.max(before - before / 8), Ordering::Relaxed);
    }
}

/// The budget is used up.
pub(super) struct UsedUp;

/// Bytes that count until it is dropped.
pub(crate) struct ResponseBytes {
    budget: Arc<ResponseBudget>,
    key: Arc<KeyResponses>,
    bytes: usize,
}

impl ResponseBudget {
    /// A budget of so many bytes, of which one key can use half.
    pub(super) fn new(most: usize) -> Arc<ResponseBudget> {
        let (held, returned) = (Mutex::new(0), Notify::new());
        Arc::new(ResponseBudget { most, of_a_key: most / 2, held, returned })
    }

    /// Waits until there is room for the next response of a key, and reserves it.
    pub(super) async fn expect(
        self: &Arc<ResponseBudget>,
        key: &Arc<KeyResponses>,
        is_read: bool,
        patience: Duration,
    ) -> Result<ResponseBytes, UsedUp> {
        if let Some(reserved) = self.try_expect(key, is_read) {
            return Ok(reserved);
        }
        let wait = async {
            loop {
                let returned = self.returned.notified();
                match self.try_expect(key, is_read) {
                    Some(reserved) => return reserved,
                    None => returned.await,
                }
            }
        };
        timeout(patience, wait).await.map_err(|_| UsedUp)
    }

    fn try_expect(
        self: &Arc<ResponseBudget>,
        key: &Arc<KeyResponses>,
        is_read: bool,
    ) -> Option<ResponseBytes> {
        let bytes = key.expected(is_read).load(Ordering::Relaxed);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let of_key = key.held.load(Ordering::Relaxed);
        // A response that is larger than the whole budget passes alone.
        let fits = |held: usize, most: usize| held == 0 || held.saturating_add(bytes) <= most;
        if !fits(of_key, self.of_a_key) || !fits(*held, self.most) {
            return None;
        }
        Some(self.add(&mut held, key, bytes))
    }

    /// Counts a response that is there.
    pub(super) fn hold(self: &Arc<ResponseBudget>, key: &Arc<KeyResponses>, bytes: usize) -> ResponseBytes {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        self.add(&mut held, key, bytes)
    }

    fn add(
        self: &Arc<ResponseBudget>,
        held: &mut usize,
        key: &Arc<KeyResponses>,
        bytes: usize,
    ) -> ResponseBytes {
        *held = held.saturating_add(bytes);
        key.held.fetch_add(bytes, Ordering::Relaxed);
        ResponseBytes { budget: Arc::clone(self), key: Arc::clone(key), bytes }
    }
}

impl Drop for ResponseBytes {
    fn drop(&mut self) {
        let mut held = self.budget.held.lock().unwrap_or_else(PoisonError::into_inner);
        *held = held.saturating_sub(self.bytes);
        self.key.held.fetch_sub(self.bytes, Ordering::Relaxed);
        drop(held);
        if self.bytes > 0 {
            self.budget.returned.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;
    const SHORT: Duration = Duration::from_millis(20);

    fn key(expected: usize) -> Arc<KeyResponses> {
        let key = KeyResponses::default();
        key.expected(true).store(expected, Ordering::Relaxed);
        Arc::new(key)
    }

    #[tokio::test]
    async fn one_key_holds_half_of_the_budget_and_all_keys_the_whole() {
        let budget = ResponseBudget::new(64 * MIB);
        let keys = [key(16 * MIB), key(16 * MIB), key(16 * MIB)];
        let mut held = Vec::new();
        for key in &keys[..2] {
            for _ in 0..2 {
                held.push(budget.expect(key, true, SHORT).await.ok().expect("there is room"));
            }
            assert!(budget.expect(key, true, SHORT).await.is_err(), "half of it is a key's");
        }
        assert!(budget.expect(&keys[2], true, SHORT).await.is_err(), "nothing is left");
        assert!(budget.expect(&keys[2], false, SHORT).await.is_ok(), "writes have had small responses");
        held.pop();
        assert!(budget.expect(&keys[2], true, SHORT).await.is_ok());
    }

    #[tokio::test]
    async fn a_response_larger_than_the_budget_passes_alone() {
        let budget = ResponseBudget::new(MIB);
        let key = key(100 * MIB);
        let first = budget.expect(&key, true, SHORT).await.ok().expect("nothing is held");
        assert!(budget.expect(&key, true, SHORT).await.is_err());
        let waiting = tokio::spawn({
            let (budget, key) = (Arc::clone(&budget), Arc::clone(&key));
            async move { budget.expect(&key, true, Duration::from_secs(60)).await.is_ok() }
        });
        drop(first);
        assert!(waiting.await.expect("it ends"));
        assert_eq!(*budget.held.lock().expect("not poisoned"), 0);
        assert_eq!(key.held.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn expectations_rise_at_once_and_fall_slowly() {
        let key = key(0);
        let expected = || key.expected(true).load(Ordering::Relaxed);
        key.learn(true, 8 * MIB);
        assert_eq!(expected(), 8 * MIB);
        key.learn(true, 100);
        assert_eq!(expected(), 7 * MIB);
        for _ in 0..200 {
            key.learn(true, 100);
        }
        assert_eq!(expected(), 100);
    }
}
