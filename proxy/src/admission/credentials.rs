//! Recently used API keys and delivery tokens, by digest.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::credential::{Credential, Parts};

/// The number of entries at which unused ones are removed.
const MANY: usize = 10_000;

/// The keys, or the tokens.
pub(super) struct Table {
    parts: Parts,
    map: Mutex<Map>,
}

struct Map {
    entries: HashMap<[u8; 32], Arc<Credential>>,
    /// The number of entries at which the next sweep is due, which amortizes its cost.
    sweep_at: usize,
}

impl Table {
    pub(super) fn new(parts: Parts) -> Table {
        Table { parts, map: Mutex::new(Map { entries: HashMap::new(), sweep_at: MANY }) }
    }

    pub(super) fn parts(&self) -> &Parts {
        &self.parts
    }

    pub(super) fn find(&self, digest: &[u8; 32]) -> Option<Arc<Credential>> {
        lock(&self.map).entries.get(digest).cloned()
    }

    pub(super) fn insert(&self, digest: [u8; 32], now: Instant) -> Arc<Credential> {
        let mut map = lock(&self.map);
        if map.entries.len() >= map.sweep_at {
            map.entries.retain(|_, credential| Arc::strong_count(credential) > 1 || credential.is_live(now));
            map.sweep_at = (2 * map.entries.len()).max(MANY);
        }
        // Another request with the same key may have inserted it.
        match map.entries.entry(digest) {
            Entry::Occupied(entry) => Arc::clone(entry.get()),
            Entry::Vacant(entry) => Arc::clone(entry.insert(Arc::new(Credential::new(&self.parts, now)))),
        }
    }
}

fn lock(map: &Mutex<Map>) -> MutexGuard<'_, Map> {
    // Nothing that can panic half-way runs under the lock.
    map.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::bucket::Limit;
    use super::*;
    use crate::observation::Identity;

    fn digest(number: usize) -> [u8; 32] {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&number.to_be_bytes());
        digest
    }

    #[test]
    fn invalid_keys_use_bounded_memory() {
        let (rate, memory) = (Limit::per_second(2), Duration::from_secs(1));
        let parts = Parts { rate, files: 1, body_bytes: 100, memory };
        let (table, now) = (Table::new(parts), Instant::now());
        let good = table.insert(digest(0), now);
        let (id, role, project) = ("1".to_owned(), None, None);
        good.store_result(&Ok(Some(Arc::new(Identity::Key { id, role, project }))), now, table.parts());
        drop(good);
        for number in 1..5 * MANY {
            let credential = table.insert(digest(number), now);
            credential.store_result(&Ok(None), now - Duration::from_secs(2), table.parts());
        }
        let entries = &lock(&table.map).entries;
        assert!(entries.len() <= MANY + 1, "{}", entries.len());
        assert!(entries.contains_key(&digest(0)));
    }
}
