use std::time::Duration;

use super::*;

const MIB: usize = 1 << 20;

fn key(role: &str, key: u64) -> Holder {
    Holder { party: PartyName::Role(role.to_owned()), key }
}

/// A response of this many megabytes, if it fits.
fn take(budget: &Arc<ResponseBudget>, holder: &Holder, megabytes: usize) -> Option<ResponseBytes> {
    let mut response = budget.enter(holder.clone());
    response.resize(megabytes * MIB, false).ok().map(|()| response)
}

/// All responses of this many megabytes that fit.
fn fill(budget: &Arc<ResponseBudget>, holder: &Holder, megabytes: usize) -> Vec<ResponseBytes> {
    std::iter::from_fn(|| take(budget, holder, megabytes)).take(1000).collect()
}

#[test]
fn key_has_half_of_the_budget_and_role_three_quarters() {
    let budget = ResponseBudget::new(64 * MIB);
    let first = fill(&budget, &key("reader", 1), 8);
    let second = fill(&budget, &key("reader", 2), 8);
    let third = fill(&budget, &key("reader", 3), 8);
    assert_eq!([first.len(), second.len(), third.len()], [4, 2, 0]);
}

#[test]
fn each_role_has_capacity() {
    let budget = ResponseBudget::new(64 * MIB);
    let _others = [fill(&budget, &key("reader", 1), 4), fill(&budget, &key("reader", 2), 4)];
    assert_eq!(fill(&budget, &key("steward", 3), 2).len(), 4);
    // With three roles, each of them can hold something.
    let _large = fill(&budget, &key("steward", 3), 12);
    assert_eq!(fill(&budget, &key("clerk", 4), 2).len(), 4);
}

#[test]
fn oversized_response_leaves_capacity_to_other_roles() {
    let budget = ResponseBudget::new(64 * MIB);
    let large = take(&budget, &key("reader", 1), 1000);
    assert!(large.is_some());
    assert!(take(&budget, &key("reader", 1), 1).is_none(), "its key has reached its limit");
    assert!(take(&budget, &key("reader", 2), 1).is_none(), "its role has reached its limit");
    assert_eq!(fill(&budget, &key("steward", 3), 2).len(), 4);
    drop(large);
    assert!(take(&budget, &key("reader", 1), 1).is_some());
}

#[test]
fn rejected_response_does_not_count() {
    let budget = ResponseBudget::new(64 * MIB);
    let [mut first, mut second] = [1, 1].map(|number| budget.enter(key("reader", number)));
    assert_eq!([first.resize(MIB, false), second.resize(MIB, false)], [Ok(()), Ok(())]);
    assert_eq!([first.resize(30 * MIB, false), second.resize(30 * MIB, false)], [Ok(()), Err(Exhausted)]);
    assert_eq!(budget.lock().counted, 30 * MIB);
    // The response of a completed write is always sent.
    assert_eq!(second.resize(30 * MIB, true), Ok(()));
    assert_eq!(budget.lock().counted, 48 * MIB);
    drop((first, second));
    let state = budget.lock();
    assert_eq!((state.counted, state.parties.len()), (0, 0));
}

#[tokio::test]
async fn waiting_request_reserves_nothing() {
    let budget = ResponseBudget::new(64 * MIB);
    let holder = key("reader", 1);
    let held = take(&budget, &holder, 32);
    let wait_for = |patience| {
        let (budget, holder) = (Arc::clone(&budget), holder.clone());
        let deadline = Instant::now() + Duration::from_millis(patience);
        tokio::spawn(async move { budget.wait_for(&holder, || MIB, deadline).await })
    };
    assert_eq!(wait_for(20).await.expect("it ends"), Err(Exhausted));
    let waiting = wait_for(60_000);
    tokio::task::yield_now().await;
    drop(held);
    assert_eq!(waiting.await.expect("it ends"), Ok(()));
    assert_eq!(budget.lock().counted, 0);
}
