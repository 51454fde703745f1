//! Limits the memory of responses, in total, per party and per key.
//!
//! A request reserves memory before it runs a statement, based on the size of the key's earlier responses. When the
//! response has arrived, its actual size counts until the caller has read it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::party::PartyName;

/// The holder of a response.
#[derive(Clone, Debug)]
pub(super) struct Holder {
    pub(super) party: PartyName,
    pub(super) key: u64,
}

/// The limit is reached.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exhausted;

/// The memory of all responses. One key can use half of it, and all keys of a party three quarters. The last quarter is
/// reserved for parties that hold little.
pub(super) struct ResponseBudget {
    max: usize,
    max_per_party: usize,
    max_per_key: usize,
    reserved: usize,
    state: Mutex<State>,
    /// Notified when memory is released.
    returned: Notify,
}

#[derive(Default)]
struct State {
    /// The counted bytes of all parties. A party counts at most with its limit.
    counted: usize,
    parties: HashMap<PartyName, Party>,
}

#[derive(Default)]
struct Party {
    held: usize,
    keys: HashMap<u64, usize>,
}

impl ResponseBudget {
    pub(super) fn new(max: usize) -> Arc<ResponseBudget> {
        Arc::new(ResponseBudget {
            max,
            max_per_party: max / 4 * 3,
            max_per_key: max / 2,
            reserved: max / 4,
            state: Mutex::default(),
            returned: Notify::new(),
        })
    }

    /// Waits until `bytes` fit, without reserving them.
    pub(super) async fn wait_for(
        &self,
        holder: &Holder,
        bytes: impl Fn() -> usize,
        deadline: Instant,
    ) -> Result<(), Exhausted> {
        let wait = async {
            loop {
                let returned = self.returned.notified();
                if self.fits(&self.lock(), holder, bytes()) {
                    return;
                }
                returned.await;
            }
        };
        timeout_at(deadline, wait).await.map_err(|_| Exhausted)
    }

    /// `bytes`, but at most the limit of a key.
    pub(super) fn limited_to_key(&self, bytes: usize) -> usize {
        bytes.min(self.max_per_key)
    }

    /// A response that does not count any bytes yet.
    pub(super) fn enter(self: &Arc<ResponseBudget>, holder: Holder) -> ResponseBytes {
        ResponseBytes { budget: Arc::clone(self), holder, bytes: 0 }
    }

    fn fits(&self, state: &State, holder: &Holder, bytes: usize) -> bool {
        // A response larger than the limit of a key is treated like one of that size.
        let bytes = self.limited_to_key(bytes);
        let party = state.parties.get(&holder.party);
        let of_party = party.map_or(0, |party| party.held);
        let of_key = party.and_then(|party| party.keys.get(&holder.key)).map_or(0, |held| *held);
        // A response larger than a limit is accepted if nothing else counts towards the limit.
        let within = |held: usize, limit: usize| held == 0 || held.saturating_add(bytes) <= limit;
        let holds_little = of_party.saturating_add(bytes) <= self.reserved / 2;
        let max = if holds_little { self.max } else { self.max - self.reserved };
        within(of_key, self.max_per_key)
            && within(of_party, self.max_per_party)
            && (state.counted == 0 || state.counted.saturating_add(bytes) <= max)
    }

    fn add(&self, state: &mut State, holder: &Holder, bytes: usize) {
        let party = state.parties.entry(holder.party.clone()).or_default();
        let before = party.held.min(self.max_per_party);
        party.held = party.held.saturating_add(bytes);
        state.counted += party.held.min(self.max_per_party) - before;
        let held = party.keys.entry(holder.key).or_default();
        *held = held.saturating_add(bytes);
    }

    fn remove(&self, state: &mut State, holder: &Holder, bytes: usize) {
        let Some(party) = state.parties.get_mut(&holder.party) else { return };
        let before = party.held.min(self.max_per_party);
        party.held = party.held.saturating_sub(bytes);
        state.counted -= before - party.held.min(self.max_per_party);
        if let Some(held) = party.keys.get_mut(&holder.key) {
            *held = held.saturating_sub(bytes);
            if *held == 0 {
                party.keys.remove(&holder.key);
            }
        }
        if party.held == 0 {
            state.parties.remove(&holder.party);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic half-way runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bytes of one response, which count until it is dropped.
pub(crate) struct ResponseBytes {
    budget: Arc<ResponseBudget>,
    holder: Holder,
    bytes: usize,
}

impl ResponseBytes {
    /// Changes the counted bytes to `bytes` if they fit, otherwise to 0. A response that must be sent always fits.
    pub(super) fn resize(&mut self, bytes: usize, must_be_given: bool) -> Result<(), Exhausted> {
        let before = self.bytes;
        let budget = &self.budget;
        let mut state = budget.lock();
        // Under the same lock, so that no other response can take the released bytes in between.
        budget.remove(&mut state, &self.holder, before);
        let fits = must_be_given || budget.fits(&state, &self.holder, bytes);
        self.bytes = if fits { bytes } else { 0 };
        if self.bytes > 0 {
            budget.add(&mut state, &self.holder, self.bytes);
        }
        drop(state);
        if self.bytes < before {
            budget.returned.notify_waiters();
        }
        if fits { Ok(()) } else { Err(Exhausted) }
    }
}

impl Drop for ResponseBytes {
    fn drop(&mut self) {
        let _ = self.resize(0, true);
    }
}

#[cfg(test)]
mod tests;
