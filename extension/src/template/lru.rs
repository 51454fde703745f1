//! The LRU cache of the definitions, statements and conditions of a session, which share one limit in bytes.

use crate::postgres::condition::Condition;
use crate::postgres::setting;
use crate::postgres::spi::Plan;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

thread_local! {
    /// The size of all entries.
    static BYTES: Cell<usize> = const { Cell::new(0) };
    /// The number of the last use. Later uses have greater numbers.
    static USES: Cell<u64> = const { Cell::new(0) };
}

/// The overhead of an entry: its key and the map.
const OVERHEAD: usize = 128;

fn next_use() -> u64 {
    USES.set(USES.get() + 1);
    USES.get()
}

/// A value with a known size.
pub(super) trait Measured {
    /// Its size.
    fn bytes(&self) -> usize;
}

impl Measured for Rc<Plan> {
    fn bytes(&self) -> usize {
        Plan::bytes(self)
    }
}

impl Measured for Option<Rc<Condition>> {
    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, |condition| condition.bytes())
    }
}

/// Memory that counts towards the limit until it is dropped.
pub(super) struct Share {
    pub(super) bytes: Cell<usize>,
    pub(super) used: Cell<u64>,
}

impl Share {
    pub(super) fn of(bytes: usize) -> Share {
        BYTES.set(BYTES.get() + bytes);
        Share { bytes: Cell::new(bytes), used: Cell::new(next_use()) }
    }

    fn resize(&self, bytes: usize) {
        BYTES.set(BYTES.get() + bytes - self.bytes.replace(bytes));
    }

    /// Marks it as the most recently used.
    pub(super) fn touch(&self) {
        self.used.set(next_use());
    }
}

impl Default for Share {
    fn default() -> Share {
        Share::of(0)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        BYTES.set(BYTES.get() - self.bytes.get());
    }
}

struct Entry<V> {
    value: V,
    share: Share,
    /// Whether the size was measured after the first execution. A plan grows when it is first executed.
    is_measured: Cell<bool>,
}

/// Cached values by key.
pub(super) struct Cache<K, V>(RefCell<HashMap<K, Entry<V>>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Cache<K, V> {
        Cache(RefCell::default())
    }
}

impl<K: Eq + Hash + AsRef<[u8]> + Clone, V: Clone + Measured> Cache<K, V> {
    /// The value of this key.
    pub(super) fn get<Q>(&self, key: &Q) -> Option<V>
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + AsRef<[u8]> + ?Sized,
    {
        let entries = self.0.borrow();
        let entry = entries.get(key)?;
        entry.share.touch();
        if !entry.is_measured.replace(true) {
            entry.share.resize(entry.value.bytes() + key.as_ref().len() + OVERHEAD);
        }
        Some(entry.value.clone())
    }

    /// Inserts a value. Call `evict` of the session next.
    pub(super) fn insert(&self, key: K, value: V) {
        let share = Share::of(value.bytes() + key.as_ref().len() + OVERHEAD);
        let before = self.0.borrow_mut().insert(key, Entry { value, share, is_measured: Cell::new(false) });
        drop(before);
    }

    pub(super) fn uses(&self, out: &mut Vec<(u64, usize)>) {
        out.extend(self.0.borrow().values().map(|entry| (entry.share.used.get(), entry.share.bytes.get())));
    }

    /// Evicts the entries that were last used before this.
    pub(super) fn evict_before(&self, moment: u64) {
        let old: Vec<K> = self
            .0
            .borrow()
            .iter()
            .filter(|(_, entry)| entry.share.used.get() < moment)
            .map(|(key, _)| key.clone())
            .collect();
        // Dropped after the borrow ends, because this frees memory of PostgreSQL.
        for key in old {
            let entry = self.0.borrow_mut().remove(&key);
            drop(entry);
        }
    }
}

/// Whether the limit is exceeded.
pub(super) fn exceeds_limit() -> bool {
    BYTES.get() > setting::session_memory()
}

/// The number of bytes to evict, down to three quarters of the limit.
pub(super) fn excess() -> usize {
    BYTES.get().saturating_sub(setting::session_memory() / 4 * 3)
}
