//! What a session caches of templates: definitions, statements, conditions. They share one limit in bytes, and the
//! least recently used entries are evicted.

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
    /// Counts the uses of anything, so that later ones have higher numbers.
    static USES: Cell<u64> = const { Cell::new(0) };
}

/// The overhead of an entry: its name and the map.
const OVERHEAD: usize = 128;

fn next_use() -> u64 {
    USES.set(USES.get() + 1);
    USES.get()
}

/// What takes memory.
pub(super) trait Measured {
    /// How much.
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

/// A share of the memory, given back when it is dropped.
pub(super) struct Share {
    pub(super) bytes: Cell<usize>,
    pub(super) used: Cell<u64>,
}

impl Share {
    pub(super) fn of(bytes: usize) -> Share {
        BYTES.set(BYTES.get() + bytes);
        Share { bytes: Cell::new(bytes), used: Cell::new(next_use()) }
    }

    fn become_of(&self, bytes: usize) {
        BYTES.set(BYTES.get() + bytes - self.bytes.replace(bytes));
    }

    /// Notes that it was used now.
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
    /// A statement is carried out for the first time after it was kept, and takes more from then on.
    is_measured: Cell<bool>,
}

/// Values under their names.
pub(super) struct Kept<K, V>(RefCell<HashMap<K, Entry<V>>>);

impl<K, V> Default for Kept<K, V> {
    fn default() -> Kept<K, V> {
        Kept(RefCell::default())
    }
}

impl<K: Eq + Hash + AsRef<[u8]> + Clone, V: Clone + Measured> Kept<K, V> {
    /// The value of this name.
    pub(super) fn get<Q>(&self, name: &Q) -> Option<V>
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + AsRef<[u8]> + ?Sized,
    {
        let kept = self.0.borrow();
        let entry = kept.get(name)?;
        entry.share.touch();
        if !entry.is_measured.replace(true) {
            entry.share.become_of(entry.value.bytes() + name.as_ref().len() + OVERHEAD);
        }
        Some(entry.value.clone())
    }

    /// Keeps a value. `make_room` of the session must follow.
    pub(super) fn insert(&self, name: K, value: V) {
        let share = Share::of(value.bytes() + name.as_ref().len() + OVERHEAD);
        let before = self.0.borrow_mut().insert(name, Entry { value, share, is_measured: Cell::new(false) });
        drop(before);
    }

    pub(super) fn uses(&self, out: &mut Vec<(u64, usize)>) {
        out.extend(self.0.borrow().values().map(|entry| (entry.share.used.get(), entry.share.bytes.get())));
    }

    /// Forgets what was last used before this.
    pub(super) fn forget_before(&self, moment: u64) {
        let old: Vec<K> = self
            .0
            .borrow()
            .iter()
            .filter(|(_, entry)| entry.share.used.get() < moment)
            .map(|(name, _)| name.clone())
            .collect();
        // Each is dropped after the borrow has ended, since that frees memory of PostgreSQL.
        for name in old {
            let entry = self.0.borrow_mut().remove(&name);
            drop(entry);
        }
    }
}

/// Whether there is more than there may be.
pub(super) fn is_too_much() -> bool {
    BYTES.get() > setting::session_memory()
}

/// How much has to go so that there is a quarter of the room again.
pub(super) fn excess() -> usize {
    BYTES.get().saturating_sub(setting::session_memory() / 4 * 3)
}
