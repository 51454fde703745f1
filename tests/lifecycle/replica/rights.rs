//! A key or grant counts on a replica as soon as the replica has replayed it; the primary is exact.

use harness::Replicated;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn key_works_as_soon_as_it_is_issued() {
    let replicated = Replicated::start(1, &[("KEYED_READ_LAG", "600")]).await;
    replicated.write("A", "Ada").await;
    replicated.catch_up();
    replicated.pause_replay(1, true);
    let key = replicated.service.database.api_key("keyed_admin", &["crm"]).await;
    let (replica, answer) = replicated.answered_by(replicated.lookup("A").key(&key)).await;
    // The replica does not know it yet.
    assert_eq!((replica, answer.status), (0, 200));
    let unknown = replicated.lookup("A").key("keyed_1_unknown").send().await;
    unknown.expect_error(401, "unauthorized");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn revoked_key_stops_on_a_replica_once_that_is_replayed() {
    let replicated = Replicated::start(1, &[("KEYED_READ_LAG", "600")]).await;
    replicated.write("A", "Ada").await;
    let key = replicated.service.database.api_key("keyed_admin", &["crm"]).await;
    replicated.catch_up();
    let read = || replicated.lookup("A").key(&key);
    assert_eq!(replicated.answered_by(read()).await.0, 1);
    replicated.pause_replay(1, true);
    let revoke = "select keyed.revoke_api_key(split_part($1, '_', 2)::int)";
    replicated.service.session().await.text(revoke, &[&key]).await;
    // The replica does not know it yet, the primary does.
    let (replica, answer) = replicated.answered_by(read()).await;
    assert_eq!((replica, answer.status), (1, 200));
    read().header("x-keyed-read", "primary").send().await.expect_error(401, "unauthorized");
    // From now on the proxy knows, too.
    read().send().await.expect_error(401, "unauthorized");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn revoked_grant_stops_on_a_replica_once_that_is_replayed() {
    let replicated = Replicated::start(1, &[]).await;
    replicated.write("A", "Ada").await;
    let database = &replicated.service.database;
    let clerk = database.create_role("clerk").await;
    database.grant(&clerk, "crm.customers", "read").await;
    let key = database.api_key(&clerk, &["crm"]).await;
    replicated.catch_up();
    let (replica, answer) = replicated.answered_by(replicated.search("Ada").key(&key)).await;
    assert_eq!((replica, &answer.expect(200)["records"][0]["external_key"]), (1, &json!("A")));
    database.revoke(&clerk, "crm.customers").await;
    let primary = replicated.search("Ada").key(&key).header("x-keyed-read", "primary").send().await;
    assert!([403, 404].contains(&primary.status), "{}", primary.text);
    replicated.catch_up();
    let (replica, answer) = replicated.answered_by(replicated.search("Ada").key(&key)).await;
    assert_eq!((replica, answer.status), (1, primary.status), "{}", answer.text);
}
