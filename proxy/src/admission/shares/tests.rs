//! Fair sharing of connections.

use super::*;

const SHORT: Duration = Duration::from_millis(20);
const PATIENT: Duration = Duration::from_secs(60);

fn role(name: &str) -> PartyName {
    PartyName::Role(name.to_owned())
}

async fn take(shares: &Arc<Shares>, party: &str, key: u64) -> Result<Share, NoShare> {
    shares.take(role(party), key, Deadline::now() + SHORT).await
}

/// Acquires as many connections as the party can get for these keys.
async fn take_all(shares: &Arc<Shares>, party: &str, keys: &[u64]) -> Vec<Share> {
    let mut taken = Vec::new();
    'all: loop {
        for key in keys {
            match take(shares, party, *key).await {
                Ok(share) => taken.push(share),
                Err(_) => break 'all taken,
            }
        }
    }
}

#[tokio::test]
async fn keys_of_one_role_leave_connections_to_others() {
    for keys in [&[1, 2][..], &[1, 2, 3], &[1, 2, 3, 4, 5, 6, 7, 8]] {
        let shares = Shares::new(8, 6, 6);
        let taken = take_all(&shares, "analyst", keys).await;
        assert_eq!(taken.len(), 6);
        assert_eq!(take(&shares, "analyst", 9).await.err(), Some(NoShare::PartyLimit(6)));
        let _other = take(&shares, "writer", 10).await.expect("two are left");
    }
}

#[tokio::test]
async fn roles_leave_connections_to_a_role_without_one() {
    let shares = Shares::new(8, 6, 6);
    let mut taken = take_all(&shares, "a", &[1]).await;
    taken.extend(take_all(&shares, "b", &[2]).await);
    assert_eq!(taken.len(), 7, "a second one for b would be a reserved one");
    assert_eq!(take(&shares, "b", 2).await.err(), Some(NoShare::Busy));
    let _other = take(&shares, "writer", 3).await.expect("one is left");
}

#[tokio::test]
async fn key_has_a_connection_limit() {
    let shares = Shares::new(8, 6, 2);
    let _taken = take_all(&shares, "a", &[1]).await;
    assert_eq!(take(&shares, "a", 1).await.err(), Some(NoShare::KeyLimit(2)));
    let _other = take(&shares, "a", 2).await.expect("another key of the role has its own");
}

#[tokio::test]
async fn single_connection_is_shared() {
    let shares = Shares::new(1, 1, 1);
    drop(take(&shares, "a", 1).await.expect("it is free"));
    let share = take(&shares, "b", 2).await.expect("it is free again");
    for (party, key) in [("a", 1), ("b", 2)] {
        assert_eq!(take(&shares, party, key).await.err(), Some(NoShare::Busy));
    }
    drop(share);
}

#[tokio::test]
async fn role_without_a_connection_is_served_first() {
    let shares = Shares::new(4, 3, 3);
    let mut taken = take_all(&shares, "a", &[1]).await;
    assert_eq!(taken.len(), 3);
    let last = take(&shares, "b", 2).await.expect("a reserved one");
    let (sender, mut served) = tokio::sync::mpsc::unbounded_channel();
    for (party, key) in [("a", 1), ("a", 1), ("c", 3)] {
        let (shares_of_it, sender) = (Arc::clone(&shares), sender.clone());
        let arrivals = shares.lock().arrivals;
        tokio::spawn(async move {
            let share = shares_of_it.take(role(party), key, Deadline::now() + PATIENT).await;
            let _ = sender.send((party, share.ok()));
        });
        while shares.lock().arrivals == arrivals {
            tokio::task::yield_now().await;
        }
    }
    drop(taken.pop());
    let (party, share) = served.recv().await.expect("a party is served");
    assert_eq!(party, "c", "although it came last");
    drop((share, last));
    assert_eq!(served.recv().await.expect("a party is served").0, "a");
}

#[tokio::test]
async fn cancelled_waiter_returns_its_connection() {
    let shares = Shares::new(1, 1, 1);
    for _ in 0..100 {
        let share = take(&shares, "a", 1).await.expect("it is free");
        let waiting = tokio::spawn({
            let shares = Arc::clone(&shares);
            async move { shares.take(role("b"), 2, Deadline::now() + PATIENT).await.is_ok() }
        });
        while shares.lock().parties.get(&role("b")).is_none_or(|party| party.keys.is_empty()) {
            tokio::task::yield_now().await;
        }
        waiting.abort();
        drop(share);
        let _ended = waiting.await;
    }
    let state = shares.lock();
    assert_eq!(state.free, 1);
    assert!(state.parties.values().all(|party| party.since.is_empty()));
}

#[test]
fn long_statement_counts_twice_in_the_order() {
    let shares = Shares::new(8, 6, 6);
    let (now, long, short) = (Instant::now(), role("long"), role("short"));
    let later = now + 2 * LONG;
    let mut state = shares.lock();
    let mut of_long: Vec<Share> = (0..2).map(|_| shares.give(&mut state, &long, 1, now)).collect();
    let of_short: Vec<Share> = (0..3).map(|_| shares.give(&mut state, &short, 2, later)).collect();
    let _places = [(&long, 1), (&short, 2)].map(|(party, key)| {
        state.arrivals += 1;
        let (sender, receiver) = oneshot::channel();
        let arrival = state.arrivals;
        queue(&mut state, party, key).expect("it is known").push_back(Waiter { arrival, sender });
        receiver
    });
    assert_eq!(shares.next(&state, now), Some((long.clone(), 1)), "two are less than three");
    assert_eq!(shares.next(&state, later), Some((short.clone(), 2)), "the two now count as four");
    for party in [&long, &short] {
        state
            .parties
            .get_mut(party)
            .expect("it is known")
            .keys
            .values_mut()
            .for_each(|key| key.waiting.clear());
    }
    drop(state);
    let began = now.checked_sub(2 * LONG).expect("the clock has run for seconds");
    for share in &mut of_long {
        // Simulates a long statement.
        let mut state = shares.lock();
        let party = state.parties.get_mut(&long).expect("it is known");
        let since = party.since.iter_mut().find(|since| **since == share.since).expect("it is held");
        (*since, share.since) = (began, began);
    }
    drop((of_long, of_short));
    for _ in 0..2 {
        let share = shares.give(&mut shares.lock(), &long, 1, began);
        drop(share);
    }
    let mut state = shares.lock();
    state.parties.entry(long.clone()).or_default().keys.entry(1).or_default();
    assert!(state.parties[&long].is_slow());
    state.free = 2;
    assert_eq!(shares.rejection(&state, &long, 1), Some(NoShare::Busy), "it cannot use the reserved ones");
    state.free = 3;
    assert_eq!(shares.rejection(&state, &long, 1), None);
}
