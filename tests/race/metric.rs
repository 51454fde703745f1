//! Series with concurrent writers.

use crate::Waiting;
use harness::{Database, Session};
use tokio::task::JoinSet;

async fn column_and_series(session: &Session) -> String {
    let both = "select mood || ' ' || (select string_agg(value::text, ',' order by at) from keyed.metric_series(id, 'mood'))
                from crm.customers where external_key = 'K'";
    session.text(both, &[]).await
}

#[tokio::test]
async fn concurrent_writers_leave_the_latest_point() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    let write = |hour: u32| {
        format!(
            "select keyed.upsert_by_key('crm.customers', 'K', '{{\"mood\": {{\"at\": \"2024-02-29T{hour:02}:00:00Z\", \"value\": {hour}}}}}')"
        )
    };
    for (earlier, later) in [(10, 5), (5, 10)] {
        first.run("delete from crm.customers; select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"x\"}')").await;
        first.run(&format!("begin; {}", write(earlier))).await;
        let waiting = Waiting::start(database.session().await, &observer, &write(later), &[]).await;
        first.run("commit").await;
        waiting.outcome().await.expect("an upsert");
        assert_eq!(column_and_series(&observer).await, "10 5,10");
    }
}

#[tokio::test]
async fn points_are_neither_lost_nor_duplicated() {
    let database = Database::with_crm().await;
    let mut sessions = JoinSet::new();
    for writer in 0..8 {
        let session = database.session().await;
        sessions.spawn(async move {
            for number in 0..25 {
                let value = writer * 25 + number;
                let upsert =
                    "select keyed.upsert_by_key('crm.customers', 'K', jsonb_build_object('mood', $1::int))";
                session.rows(upsert, &[&value.to_string()]).await;
            }
        });
    }
    sessions.join_all().await;
    let points = "select count(*) || ' ' || count(distinct value) from crm.customers c, keyed.metric_series(c.id, 'mood')";
    let session = database.session().await;
    assert_eq!(session.text(points, &[]).await, "200 200");
    let latest = "select c.mood = (select value from keyed.metric_series(c.id, 'mood') order by at desc limit 1) from crm.customers c";
    assert_eq!(session.text(latest, &[]).await, "t");
}

#[tokio::test]
async fn latest_value_matches_series_after_concurrent_deletion() {
    let database = Database::with_crm().await;
    let (first, observer) = (database.session().await, database.session().await);
    let write = "select keyed.upsert_by_key('crm.customers', 'K', '{\"mood\": {\"at\": \"2024-02-29T05:00:00Z\", \"value\": 5}}')";
    let correct = "select keyed.delete_metric_points(id, 'mood', '2999-01-01T00:00:00Z') from crm.customers where external_key = 'K'";
    for (earlier, later) in [(write, correct), (correct, write)] {
        first.run("delete from crm.customers").await;
        first.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"mood\": {\"at\": \"2999-01-01T00:00:00Z\", \"value\": 9}}')").await;
        first.run(&format!("begin; {earlier}")).await;
        let waiting = Waiting::start(database.session().await, &observer, later, &[]).await;
        first.run("commit").await;
        waiting.outcome().await.expect("a write");
        assert_eq!(column_and_series(&observer).await, "5 5", "{later} after {earlier}");
    }
}
