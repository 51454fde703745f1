//! Shares of the connections to the database: no key and no role has all of them, and who has none is served first.
//!
//! A key belongs to a party: the keys of one role, or the tokens of one project. A part of the connections is spare: only a
//! party that holds none, and whose statements are short, takes one of them. Who
//! has fewer connections comes first, and those of long statements count twice.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::time::{Instant as Deadline, timeout_at};

use super::party::PartyName;

/// From this time on, a statement that runs counts double.
const LONG: Duration = Duration::from_secs(1);

/// A party is slow whose statements take longer than this on average.
const SLOW: Duration = Duration::from_millis(250);

/// The weight of the latest statement in the average is 1 / `WEIGHT`.
const WEIGHT: u32 = 8;

/// The number of parties at which those without a request are forgotten.
const MANY: usize = 1000;

/// Why there is no connection for a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoShare {
    /// Its key has this many, the limit.
    KeyLimit(usize),
    /// Its party has all that it can have.
    PartyLimit(usize),
    /// All are in use.
    Busy,
}

/// The connections and who has them.
pub(super) struct Shares {
    total: usize,
    spare: usize,
    of_a_key: usize,
    of_a_party: usize,
    state: Mutex<State>,
}

struct State {
    free: usize,
    parties: HashMap<PartyName, Party>,
    /// How many have waited so far.
    arrivals: u64,
}

#[derive(Default)]
struct Party {
    /// Since when it has each of its connections.
    since: Vec<Instant>,
    /// How long its statements took.
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
    place: oneshot::Sender<Share>,
}

/// Leave to use one connection. It is given back when it is dropped.
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

    /// How many connections it has, those of long statements twice.
    fn weight(&self, now: Instant) -> usize {
        let long = self.since.iter().filter(|since| now.saturating_duration_since(**since) > LONG);
        self.since.len() + long.count()
    }
}

impl Shares {
    /// Shares of `total` connections, of which a party may have `of_a_party`, and one key `of_a_key`.
    pub(super) fn new(total: usize, of_a_party: usize, of_a_key: usize) -> Arc<Shares> {
        let spare = total.saturating_sub(of_a_party);
        let state = State { free: total, parties: HashMap::new(), arrivals: 0 };
        Arc::new(Shares { total, spare, of_a_key, of_a_party, state: Mutex::new(state) })
    }

    /// Leave for a key of this party to use one connection, for which it waits until then.
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
            if self.refusal(&state, &party, key).is_none() {
                return Ok(self.give(&mut state, &party, key, now));
            }
            state.arrivals += 1;
            let (place, receiver) = oneshot::channel();
            let waiter = Waiter { arrival: state.arrivals, place };
            if let Some(queue) = queue(&mut state, &party, key) {
                // Most of those that have given up stand at the front.
                while queue.front().is_some_and(|first| first.place.is_closed()) {
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
                let refusal = self.refusal(&state, &party, key).unwrap_or(NoShare::Busy);
                forget(&mut state, &party, key);
                Err(refusal)
            }
        }
    }

    /// Why this key does not get a connection now.
    fn refusal(&self, state: &State, name: &PartyName, key: u64) -> Option<NoShare> {
        let party = state.parties.get(name)?;
        // Who may have all of them is at no fault when all are in use.
        let has = |held: usize, limit: usize| held >= limit && limit < self.total;
        if party.keys.get(&key).is_some_and(|key| has(key.held, self.of_a_key)) {
            return Some(NoShare::KeyLimit(self.of_a_key));
        }
        if has(party.since.len(), self.of_a_party) {
            return Some(NoShare::PartyLimit(self.of_a_party));
        }
        let spare = if party.since.is_empty() && !party.is_slow() { 0 } else { self.spare };
        (state.free <= spare).then_some(NoShare::Busy)
    }

    fn give(self: &Arc<Shares>, state: &mut State, party: &PartyName, key: u64, now: Instant) -> Share {
        state.free = state.free.saturating_sub(1);
        let entry = state.parties.entry(party.clone()).or_default();
        entry.since.push(now);
        entry.keys.entry(key).or_default().held += 1;
        Share { shares: Arc::clone(self), party: party.clone(), key, since: now }
    }

    fn take_back(self: &Arc<Shares>, share: &Share) {
        let mut state = self.lock();
        let now = Instant::now();
        state.free += 1;
        if let Some(party) = state.parties.get_mut(&share.party) {
            if let Some(place) = party.since.iter().position(|since| *since == share.since) {
                party.since.swap_remove(place);
            }
            let latest = now.saturating_duration_since(share.since).min(LONG);
            party.average = (party.average * (WEIGHT - 1) + latest) / WEIGHT;
            if let Some(key) = party.keys.get_mut(&share.key) {
                key.held = key.held.saturating_sub(1);
            }
        }
        forget(&mut state, &share.party, share.key);
        let mut served = Vec::new();
        while let Some((party, key)) = self.next(&state, now) {
            let Some(waiter) = queue(&mut state, &party, key).and_then(VecDeque::pop_front) else { break };
            if waiter.place.is_closed() {
                forget(&mut state, &party, key);
                continue;
            }
            let share = self.give(&mut state, &party, key, now);
            served.push((waiter, share));
        }
        drop(state);
        for (waiter, share) in served {
            // If it has gone meanwhile, the share is dropped here, and given to the next.
            let _ = waiter.place.send(share);
        }
    }

    /// Who comes next: of the party with the fewest connections the key with the fewest, then the first.
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
        let may = waiting.filter(|(_, name, key)| self.refusal(state, name, *key).is_none());
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

/// Removes a key that holds nothing and waits for nothing.
fn forget(state: &mut State, party: &PartyName, key: u64) {
    let Some(party) = state.parties.get_mut(party) else { return };
    if let Some(entry) = party.keys.get_mut(&key) {
        entry.waiting.retain(|waiter| !waiter.place.is_closed());
        if entry.held == 0 && entry.waiting.is_empty() {
            party.keys.remove(&key);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let shares = Arc::clone(&self.shares);
        shares.take_back(self);
    }
}

#[cfg(test)]
mod tests;
