//! Locks are taken in one order, also where records of one template refer to each other and definitions change.

use harness::Database;
use tokio::task::JoinSet;

async fn deadlocks(database: &Database) -> String {
    let count = "select deadlocks from pg_stat_database where datname = current_database()";
    // The server's counters lag behind; a session that ends brings them up to date.
    tokio::time::sleep(std::time::Duration::from_millis(1200)).await;
    database.session().await.text(count, &[]).await
}

#[tokio::test]
async fn batches_whose_records_refer_to_each_other_do_not_deadlock() {
    let database = Database::with_crm().await;
    let owner = database.session().await;
    owner.run("select keyed.create_template('crm', 'people', '[{\"slug\": \"boss\", \"type\": \"reference\", \"template\": \"people\"}, {\"slug\": \"n\", \"type\": \"number\"}]')").await;
    let mut sessions = JoinSet::new();
    for _ in 0..6 {
        let session = database.session().await;
        sessions.spawn(async move {
            for _ in 0..20 {
                // Thirty of sixty keys in random order, each with a boss among the sixty.
                let batch = "select keyed.batch((select jsonb_agg(jsonb_build_object('op', 'upsert', 'template', 'crm.people',
                      'external_key', 'p' || k, 'attributes', jsonb_build_object('n', (random() * 1000)::int,
                      'boss', jsonb_build_object('external_key', 'p' || boss)))) from (select k, lead(k, 7, k) over () as boss
                      from (select k from generate_series(1, 60) k order by random() limit 30) s) t), true)";
                session.rows(batch, &[]).await;
            }
        });
    }
    sessions.join_all().await;
    assert_eq!(deadlocks(&database).await, "0");
    let unlinked = "select count(*) from crm.people where boss is null";
    assert_eq!(owner.text(unlinked, &[]).await, "0");
}

#[tokio::test]
async fn changes_of_one_template_at_once_wait_for_each_other() {
    let database = Database::with_crm().await;
    let mut sessions = JoinSet::new();
    for number in 0..6 {
        let session = database.session().await;
        sessions.spawn(async move {
            for round in 0..5 {
                let alter = format!(
                    "select keyed.alter_attribute('crm.customers', 'name', '{{\"label\": \"Name {number} {round}\"}}')"
                );
                session.rows(&alter, &[]).await;
            }
        });
    }
    sessions.join_all().await;
    assert_eq!(deadlocks(&database).await, "0");
}
