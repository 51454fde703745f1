//! Measurements for a monitoring system: each is correct, and its cost does not depend on the amount of data.

use harness::{Cluster, Database, Session};
use keyed_checks::MEASUREMENTS;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The value of each measurement, with its label after its name.
async fn measured(session: &Session) -> BTreeMap<String, f64> {
    let rows = session
        .rows(
            "select name || coalesce(' ' || (labels ->> 'state'), ''), value from keyed_http.measurements()",
            &[],
        )
        .await;
    let value = |text: &Option<String>| text.as_deref().unwrap_or_default().parse().expect("a number");
    rows.iter().map(|row| (row[0].clone().expect("a name"), value(&row[1]))).collect()
}

/// An embedding queue entry for each of this many records.
async fn queue(session: &Session, records: usize, state: &str) {
    let insert = "insert into keyed_state.embedding_job (record_id, template_id, state, due_at)
                  select gen_random_uuid(), n % 7 + 1, $2, now() - interval '1 hour' from generate_series(1, $1::integer) n";
    session.rows(insert, &[&records.to_string(), state]).await;
}

#[tokio::test]
async fn every_measurement_has_a_help_text_and_its_labels() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let rows = session
        .rows(
            "select name, coalesce((select string_agg(k, ',') from jsonb_object_keys(labels) k), '') from keyed_http.measurements()",
            &[],
        )
        .await;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let answered: BTreeSet<(String, String)> =
        rows.iter().map(|row| (text(&row[0]), text(&row[1]))).collect();
    let described: BTreeSet<(String, String)> =
        MEASUREMENTS.iter().map(|it| (it.name.to_owned(), it.labels.join(","))).collect();
    let undescribed: Vec<_> = answered.difference(&described).collect();
    assert!(undescribed.is_empty(), "{undescribed:?}");
    // There is no standby and no replication slot.
    let absent: Vec<&str> = described.difference(&answered).map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        absent,
        ["replication_lag_bytes", "replication_lag_seconds", "replication_slots_retained_bytes"]
    );
    assert!(MEASUREMENTS.iter().all(|it| it.help.ends_with('.')));
}

#[tokio::test]
async fn only_the_proxy_and_administrators_read_measurements() {
    let database = Database::with_crm().await;
    let (dba, unprivileged) = (database.create_role("dba").await, database.create_role("stranger").await);
    let administrator = database.session().await;
    administrator.run(&format!("grant keyed_admin to {dba}")).await;
    let expected: Vec<String> = measured(&administrator).await.into_keys().collect();
    for role in ["keyed_proxy", &dba] {
        let session = database.session_as(role).await;
        assert_eq!(measured(&session).await.into_keys().collect::<Vec<_>>(), expected, "{role}");
        let direct = session.error("select from keyed.server_measurements()", &[]).await;
        assert_eq!(direct.state, "42501", "{role}");
    }
    let error =
        database.session_as(&unprivileged).await.error("select from keyed_http.measurements()", &[]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"));
}

#[tokio::test]
async fn pending_failed_and_expiring_items_are_counted() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let before = measured(&session).await;
    for name in [
        "embedding_queue_pending",
        "embedding_queue_failed",
        "jobs failed",
        "inbound_dead_letters",
        "webhooks_pending",
        "webhooks_failed",
        "webhooks_oldest_seconds",
        "api_keys_unused",
        "api_keys_expiring",
    ] {
        assert_eq!(before[name], 0.0, "{name}");
    }
    queue(&session, 20, "pending").await;
    queue(&session, 3, "failed").await;
    session
        .run(
            "update keyed_state.embedding_job set due_at = now() - interval '3 hours' where template_id = 4;
             insert into keyed_state.job (template_id, kind, state, created_at) values (1, 'documents', 'failed', now() - interval '2 hours');
             insert into keyed_state.idempotent_request (key_id, idempotency_key, fingerprint, answer)
               select 1, n::text, sha256('x'), '{200,null,\"{}\"}' from generate_series(1, 7) n;
             select keyed.create_inbound_endpoint('crm.customers', '{\"slug\": \"shop\", \"external_key\": \"$.id\"}');
             insert into keyed_state.inbound_delivery (endpoint_id, status, payload) values (1, 'failed', 'abc'), (1, 'failed', 'é'), (1, 'done', 'x');
             select keyed.create_webhook_endpoint('crm', '{\"slug\": \"shop\", \"url\": \"https://example.com\"}');
             insert into keyed_state.webhook_delivery (endpoint_id, operation, state) values (1, 'test', 'pending'), (1, 'test', 'pending'), (1, 'test', 'failed'), (1, 'test', 'done');
             select keyed.issue_api_key('keyed_admin', null, n, now() + interval '13 days') from unnest(array['a', 'b']) n;
             select keyed.issue_api_key('keyed_admin', null, 'old');
             update keyed_state.api_key set created_at = now() - interval '91 days' where label in ('a', 'old');
             update keyed_state.api_key_use set last_used_at = now() - interval '89 days' where key_id = 1;
             delete from keyed_state.version where number = 28",
        )
        .await;
    let after = measured(&session).await;
    for (name, expected) in [
        ("embedding_queue_pending", 20.0),
        ("embedding_queue_failed", 3.0),
        ("jobs failed", 1.0),
        ("jobs pending", 0.0),
        ("jobs_stalled", 1.0),
        ("inbound_dead_letters", 2.0),
        ("inbound_dead_letters_bytes", 5.0),
        ("webhooks_pending", 2.0),
        ("webhooks_failed", 1.0),
        ("idempotent_responses", 7.0),
        ("api_keys", 3.0),
        ("api_keys_expiring", 2.0),
        ("api_keys_unused", 1.0),
        ("projects", 1.0),
        ("state_migrations_pending", 1.0),
    ] {
        assert_eq!(after[name], expected, "{name}");
    }
    for (name, hours) in [("embedding_queue_oldest_seconds", 3.0), ("jobs_stalled_oldest_seconds", 2.0)] {
        assert!((hours * 3600.0..(hours + 1.0) * 3600.0).contains(&after[name]), "{name}: {}", after[name]);
    }
}

#[tokio::test]
async fn open_transactions_and_waiting_sessions_are_measured() {
    let database = Database::with_crm().await;
    let (proxy, holder, waiter) =
        (database.session_as("keyed_proxy").await, database.session().await, database.session().await);
    assert_eq!(measured(&proxy).await["sessions_waiting_for_locks"], 0.0);
    holder.run("begin; lock table crm.customers").await;
    let waiting = tokio::spawn(async move { waiter.run("select count(*) from crm.customers").await });
    database.session().await.until_blocked(1).await;
    let seen = measured(&proxy).await;
    assert_eq!((seen["sessions_waiting_for_locks"], seen["sessions idle in transaction"]), (1.0, 1.0));
    assert!(seen["oldest_transaction_seconds"] >= seen["oldest_idle_transaction_seconds"]);
    assert!(seen["oldest_transaction_seconds"] > 0.0);
    holder.run("rollback").await;
    waiting.await.expect("the session goes on");
}

#[tokio::test]
async fn connections_to_other_databases_count_towards_the_limit_of_the_server() {
    let cluster = Arc::new(Cluster::start_with(&["max_connections=50", "superuser_reserved_connections=4"]));
    let (database, other) = (Database::new_in(&cluster).await, Database::empty_in(&cluster).await);
    let session = database.session().await;
    let _more = (other.session().await, other.session().await, other.session().await);
    let seen = measured(&session).await;
    let of_this_database = seen["sessions active"] + seen["sessions idle"];
    assert!(of_this_database >= 1.0 && seen["connections"] >= of_this_database + 3.0, "{seen:?}");
    assert_eq!(seen["connections_limit"], 46.0);
}

#[tokio::test]
async fn locked_table_is_omitted_from_measurements() {
    let database = Database::with_crm().await;
    let (proxy, definer) = (database.session_as("keyed_proxy").await, database.session().await);
    definer.run("begin; lock table keyed_state.embedding_job in access exclusive mode").await;
    let seen = measured(&proxy).await;
    assert!(
        !seen.contains_key("embedding_queue_pending") && seen.contains_key("inbound_dead_letters"),
        "{seen:?}"
    );
    definer.run("rollback").await;
    assert!(measured(&proxy).await.contains_key("embedding_queue_pending"));
}

#[tokio::test]
async fn measurement_cost_is_independent_of_queue_length() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let keys = "with made as (
                  insert into keyed_state.api_key (role, hash, created_by, expires_at)
                  select current_user::regrole, sha256(gen_random_uuid()::text::bytea), 'x', now() + interval '7 days'
                  from generate_series(1, $1::integer) returning id)
                insert into keyed_state.api_key_use (key_id) select id from made";
    let mut costs = Vec::new();
    for more in [15_000, 45_000] {
        queue(&session, more, "pending").await;
        queue(&session, more, "done").await;
        session.rows(keys, &[&(more / 5).to_string()]).await;
        session
            .run("vacuum analyze keyed_state.embedding_job, keyed_state.api_key, keyed_state.api_key_use")
            .await;
        measured(&session).await;
        let plan = session
            .json(
                "explain (analyze, buffers, timing off, format json) select from keyed_http.measurements()",
                &[],
            )
            .await;
        costs.push(plan[0]["Plan"]["Shared Hit Blocks"].as_u64().unwrap_or_default());
    }
    assert!(costs[1] < costs[0] * 3 / 2, "{costs:?}");
    let measured = measured(&session).await;
    assert_eq!((measured["api_keys"], measured["api_keys_expiring"]), (2000.0, 2000.0));
    let pending = measured["embedding_queue_pending"];
    assert!((59_000.0..61_000.0).contains(&pending), "an estimate of 60000: {pending}");
}
