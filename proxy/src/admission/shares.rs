//! Shares the connections to the database fairly: no key and no role can hold all of them, and the party with the
//! fewest is served first.
//!
//! A key belongs to a party: the keys of one role, or the tokens of one project. Some connections are reserved: only a
//! party that holds none, and whose statements are short, can get one of them. The party with the fewest connections is
//! served first; connections with long statements count twice.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::time::{Instant as Deadline, timeout_at};

use super::party::PartyName;

/// The run time from which a statement counts twice.
const LONG: Duration = Duration::from_secs(1);

/// A party is slow if its statements take longer than this on average.
const SLOW: Duration = Duration::from_millis(250);

/// The weight of the latest statement in the average is 1 / `WEIGHT`.
const WEIGHT: u32 = 8;

/// The number of parties at which parties without requests are removed.
const MANY: usize = 1000;

/// Why a caller gets no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoShare {
    /// Its key has reached this limit.
    KeyLimit(usize),
    /// Its party has reached this limit.
    PartyLimit(usize),
    /// All connections are in use.
    Busy,
}

/// The connections and their holders.
pub(super) struct Shares {
    total: usize,
    reserved: usize,
    max_per_key: usize,
    max_per_party: usize,
    state: Mutex<State>,
}

struct State {
    free: usize,
    parties: HashMap<PartyName, Party>,
    /// The number of waiters so far.
    arrivals: u64,
}

#[derive(Default)]
struct Party {
    /// When each of its connections was acquired.
    since: Vec<Instant>,
    /// The average run time of its statements.
    average: Duration,
    keys: HashMap<u64, Key>,
}

#[derive(Default)]
struct Key {
    held: usize,
    waiting: VecDeque<Waiter>,
}

struct Waiter {
    arrival: u64,
    sender: oneshot::Sender<Share>,
}

/// A permit for one connection, released when it is dropped.
pub(crate) struct Share {
    shares: Arc<Shares>,
    party: PartyName,
    key: u64,
    since: Instant,
}

impl Party {
    fn is_slow(&self) -> bool {
        self.average > SLOW
    }

    /// The number of its connections. Those with long statements count twice.
    fn weight(&self, now: Instant) -> usize {
        let long = self.since.iter().filter(|since| now.saturating_duration_since(**since) > LONG);
        self.since.len() + long.count()
    }
}

impl Shares {
    /// Shares `total` connections. A party can hold `max_per_party` of them, and a key `max_per_key`.
    pub(super) fn new(total: usize, max_per_party: usize, max_per_key: usize) -> Arc<Shares> {
        let reserved = total.saturating_sub(max_per_party);
        let state = State { free: total, parties: HashMap::new(), arrivals: 0 };
        Arc::new(Shares { total, reserved, max_per_key, max_per_party, state: Mutex::new(state) })
    }

    /// Acquires a connection for a key of this party. Waits until `deadline`.
    pub(super) async fn take(
        self: &Arc<Shares>,
        party: PartyName,
        key: u64,
        deadline: Deadline,
    ) -> Result<Share, NoShare> {
        let receiver = {
            let mut state = self.lock();
            let now = Instant::now();
            if state.parties.len() > MANY {
                state.parties.retain(|_, party| !party.keys.is_empty());
            }
            let entry = state.parties.entry(party.clone()).or_default();
            entry.keys.entry(key).or_default();
            if self.rejection(&state, &party, key).is_none() {
                return Ok(self.give(&mut state, &party, key, now));
            }
            state.arrivals += 1;
            let (sender, receiver) = oneshot::channel();
            let waiter = Waiter { arrival: state.arrivals, sender };
            if let Some(queue) = queue(&mut state, &party, key) {
                // Most waiters that have timed out are at the front.
                while queue.front().is_some_and(|first| first.sender.is_closed()) {
                    queue.pop_front();
                }
                queue.push_back(waiter);
            }
            receiver
        };
        match timeout_at(deadline, receiver).await {
            Ok(Ok(share)) => Ok(share),
            _ => {
                let mut state = self.lock();
                let rejection = self.rejection(&state, &party, key).unwrap_or(NoShare::Busy);
                remove_unused(&mut state, &party, key);
                Err(rejection)
            }
        }
    }

    /// Why this key cannot get a connection now; `None` if it can.
    fn rejection(&self, state: &State, name: &PartyName, key: u64) -> Option<NoShare> {
        let party = state.parties.get(name)?;
        // A limit that equals the total is never the reason: the connections are busy.
        let has = |held: usize, limit: usize| held >= limit && limit < self.total;
        if party.keys.get(&key).is_some_and(|key| has(key.held, self.max_per_key)) {
            return Some(NoShare::KeyLimit(self.max_per_key));
        }
        if has(party.since.len(), self.max_per_party) {
            return Some(NoShare::PartyLimit(self.max_per_party));
        }
        let reserved = if party.since.is_empty() && !party.is_slow() { 0 } else { self.reserved };
        (state.free <= reserved).then_some(NoShare::Busy)
    }

    fn give(self: &Arc<Shares>, state: &mut State, party: &PartyName, key: u64, now: Instant) -> Share {
        state.free = state.free.saturating_sub(1);
        let entry = state.parties.entry(party.clone()).or_default();
        entry.since.push(now);
        entry.keys.entry(key).or_default().held += 1;
        Share { shares: Arc::clone(self), party: party.clone(), key, since: now }
    }

    fn release(self: &Arc<Shares>, share: &Share) {
        let mut state = self.lock();
        let now = Instant::now();
        state.free += 1;
        if let Some(party) = state.parties.get_mut(&share.party) {
            if let Some(index) = party.since.iter().position(|since| *since == share.since) {
                party.since.swap_remove(index);
            }
            let latest = now.saturating_duration_since(share.since).min(LONG);
            party.average = (party.average * (WEIGHT - 1) + latest) / WEIGHT;
            if let Some(key) = party.keys.get_mut(&share.key) {
                key.held = key.held.saturating_sub(1);
            }
        }
        remove_unused(&mut state, &share.party, share.key);
        let mut served = Vec::new();
        while let Some((party, key)) = self.next(&state, now) {
            let Some(waiter) = queue(&mut state, &party, key).and_then(VecDeque::pop_front) else { break };
            if waiter.sender.is_closed() {
                remove_unused(&mut state, &party, key);
                continue;
            }
            let share = self.give(&mut state, &party, key, now);
            served.push((waiter, share));
        }
        drop(state);
        for (waiter, share) in served {
            // If the waiter has timed out, the share is dropped here and goes to the next waiter.
            let _ = waiter.sender.send(share);
        }
    }

    /// The next waiter: from the party with the fewest connections, the key with the fewest, then by arrival.
    fn next(&self, state: &State, now: Instant) -> Option<(PartyName, u64)> {
        if state.free == 0 {
            return None;
        }
        let waiting = state.parties.iter().flat_map(|(name, party)| {
            let weight = party.weight(now);
            party.keys.iter().filter_map(move |(number, key)| {
                let first = key.waiting.front()?;
                Some(((weight, key.held, first.arrival), name, *number))
            })
        });
        let may = waiting.filter(|(_, name, key)| self.rejection(state, name, *key).is_none());
        may.min_by_key(|(order, ..)| *order).map(|(_, name, key)| (name.clone(), key))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic half-way runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn queue<'a>(state: &'a mut State, party: &PartyName, key: u64) -> Option<&'a mut VecDeque<Waiter>> {
    Some(&mut state.parties.get_mut(party)?.keys.get_mut(&key)?.waiting)
}

/// Removes a key that holds no connection and waits for none.
fn remove_unused(state: &mut State, party: &PartyName, key: u64) {
    let Some(party) = state.parties.get_mut(party) else { return };
    if let Some(entry) = party.keys.get_mut(&key) {
        entry.waiting.retain(|waiter| !waiter.sender.is_closed());
        if entry.held == 0 && entry.waiting.is_empty() {
            party.keys.remove(&key);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let shares = Arc::clone(&self.shares);
        shares.release(self);
    }
}

#[cfg(test)]
mod tests;
