//! A replica that does not answer, lags or is none is left out, and is used again once it is well.

use harness::{Cluster, Database, Durability, Replicated, Service, until};
use serde_json::json;
use std::sync::Arc;

/// Reads again and again, while something happens. Each read has the answer.
async fn reads_go_on(replicated: &Replicated) {
    for _ in 0..20 {
        let record = replicated.lookup("A").send().await.expect(200);
        assert_eq!(record["attributes"]["name"], "Ada");
        let found = replicated.search("Ada").send().await.expect(200);
        assert_eq!(found["records"][0]["external_key"], "A");
    }
}

async fn of_one_customer(count: usize, settings: &[(&str, &str)]) -> Replicated {
    let replicated = Replicated::start(count, settings).await;
    replicated.write("A", "Ada").await;
    replicated.catch_up();
    reads_go_on(&replicated).await;
    replicated
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_replica_is_left_out_until_it_runs_again() {
    let replicated = of_one_customer(2, &[]).await;
    tokio::task::block_in_place(|| replicated.standbys[0].stop());
    reads_go_on(&replicated).await;
    replicated.until_state(1, "unreachable").await;
    assert_eq!(replicated.answered_by(replicated.lookup("A")).await.0, 2);
    tokio::task::block_in_place(|| replicated.standbys[1].stop());
    reads_go_on(&replicated).await;
    replicated.until_state(2, "unreachable").await;
    assert_eq!(replicated.answered_by(replicated.lookup("A")).await.0, 0);
    tokio::task::block_in_place(|| replicated.standbys[0].start_again());
    replicated.until_state(1, "usable").await;
    assert_eq!(replicated.answered_by(replicated.lookup("A")).await.0, 1);
    let log = replicated.service.proxy.log();
    assert!(log.contains("replica 1 answers no reads: it does not respond"), "{log}");
    assert_eq!(log.matches("replica 1 answers reads").count(), 2, "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suspended_replica_holds_up_no_read() {
    let replicated = of_one_customer(1, &[]).await;
    replicated.standbys[0].suspend();
    // They are abandoned there, and sent to the primary.
    reads_go_on(&replicated).await;
    replicated.until_state(1, "unreachable").await;
    let metrics = replicated.service.proxy.metrics().await;
    assert!(metrics.sum("keyed_database_retries_total", &[("reason", "replica")]) > 0.0);
    replicated.standbys[0].resume();
    replicated.until_state(1, "usable").await;
    assert_eq!(replicated.answered_by(replicated.lookup("A")).await.0, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lagging_replica_is_left_out_until_it_has_caught_up() {
    let replicated = of_one_customer(1, &[("KEYED_READ_LAG", "2")]).await;
    let standby = &replicated.standbys[0];
    let delay = |delay: &str| {
        let set = format!("alter system set recovery_min_apply_delay = '{delay}'");
        tokio::task::block_in_place(|| {
            standby.sql("postgres", &set);
            standby.sql("postgres", "select pg_reload_conf()");
        });
    };
    delay("1h");
    replicated.write("A", "Ada").await;
    replicated.write("B", "Bob").await;
    replicated.until_state(1, "lagging").await;
    let (replica, answer) = replicated.answered_by(replicated.lookup("B")).await;
    assert_eq!((replica, answer.status), (0, 200));
    let metrics = replicated.service.proxy.metrics().await;
    assert!(metrics.sum("keyed_replica_lag_seconds", &[("replica", "1")]) > 2.0);
    delay("0");
    replicated.until_state(1, "usable").await;
    reads_go_on(&replicated).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promoted_replica_answers_no_reads() {
    let replicated = of_one_customer(2, &[]).await;
    tokio::task::block_in_place(|| replicated.standbys[0].promote());
    replicated.until_state(1, "not_standby").await;
    let position = replicated.write("A", "Ada").await;
    for _ in 0..10 {
        let request = replicated.lookup("A").header("x-keyed-position", &position);
        assert_eq!(replicated.answered_by(request).await.0, 2);
    }
    let log = replicated.service.proxy.log();
    assert!(log.contains("replica 1 answers no reads: it is not a standby"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_answer_while_the_primary_does_not() {
    let replicated = of_one_customer(1, &[("KEYED_READ_LAG", "600")]).await;
    tokio::task::block_in_place(|| replicated.service.database.cluster().stop());
    let record = replicated.lookup("A").send().await.expect(200);
    assert_eq!(record["attributes"]["name"], "Ada");
    let body = json!({"external_key": "A", "attributes": {"name": "Bob"}});
    let write = replicated.service.put("/entities/template/customers/by-key", body).await;
    write.expect_error(503, "unavailable");
    tokio::task::block_in_place(|| replicated.service.database.cluster().start_again());
    until("the primary answers", async || {
        let request = replicated.lookup("A").header("x-keyed-read", "primary");
        request.send().await.status == 200
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_is_no_replica_is_reported() {
    let database = Database::with_crm().await;
    let other = Arc::new(Cluster::start(Durability::None));
    let foreign = Database::new_in(&other).await;
    let standby = tokio::task::block_in_place(|| other.start_standby());
    // The same database by another URL, a database of the same name elsewhere, and nothing.
    let urls = [
        database.cluster().url("keyed_proxy", database.name()) + "?application_name=replica",
        standby.url("keyed_proxy", foreign.name()).replace(foreign.name(), database.name()),
        format!("postgresql://keyed_proxy@%2Fnonexistent/{}", database.name()),
    ];
    tokio::task::block_in_place(|| {
        let rename = format!("alter database {} rename to {}", foreign.name(), database.name());
        other.sql("postgres", &rename);
        standby.catch_up_with(&other);
    });
    let service = Service::over(database, &[("KEYED_READ_URL", &urls.join(","))]).await;
    for (place, state) in ["not_standby", "other_system", "unreachable"].into_iter().enumerate() {
        until(state, async || {
            let body = service.proxy.request("GET", "/readyz").send().await.expect(200);
            body["replicas"][place]["state"] == state
        })
        .await;
    }
    service.upsert("A", json!({"name": "Ada"})).await.expect(201);
    service.by_key("A").await.expect(200);
}
