//! Under REPEATABLE READ and SERIALIZABLE, a late write fails with a serialization failure immediately.

use crate::live;
use harness::Database;

const LEVELS: [&str; 2] = ["repeatable read", "serializable"];

/// Writes to the key K in every way that a function offers.
const WRITES: [&str; 6] = [
    "select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"late\"}')",
    "select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"first\"}')",
    "select keyed.upsert_by_key('crm.customers', 'K', '{\"visits\": {\"$inc\": 1}, \"mood\": 1}')",
    "select keyed.upsert_by_key('crm.customers', 'K', '{}')",
    "select keyed.create_record('crm.customers', '{}', 'K')",
    "select keyed.patch_record((select id from crm.customers where external_key = 'other'), '{\"external_key\": \"K\"}')",
];

#[tokio::test]
async fn key_created_after_the_snapshot_is_a_serialization_failure() {
    let database = Database::with_crm().await;
    let (late, first) = (database.session().await, database.session().await);
    // A write that retries forever ends here.
    late.run("set statement_timeout = '60s'").await;
    for level in LEVELS {
        for write in WRITES {
            first
                .run("delete from crm.customers; select keyed.upsert_by_key('crm.customers', 'other')")
                .await;
            late.run(&format!("begin isolation level {level}; select from crm.customers")).await;
            first.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"first\"}')").await;
            let error = late.error(write, &[]).await;
            assert_eq!(error.state, "40001", "{level}: {write}: {error}");
            late.run("rollback").await;
            assert_eq!(live(&first, "K").await, "1");
        }
    }
}

#[tokio::test]
async fn record_changed_after_the_snapshot_is_a_serialization_failure() {
    let database = Database::with_crm().await;
    let (late, first) = (database.session().await, database.session().await);
    for level in LEVELS {
        for write in [
            WRITES[0],
            WRITES[2],
            "select keyed.patch_record(id, '{\"attributes\": {\"visits\": {\"$inc\": 1}}}') from crm.customers where external_key = 'K'",
            "select keyed.delete_record(id) from crm.customers where external_key = 'K'",
        ] {
            first.run("delete from crm.customers; select keyed.upsert_by_key('crm.customers', 'K', '{\"visits\": 1}')").await;
            late.run(&format!("begin isolation level {level}; select from crm.customers")).await;
            first
                .run("select keyed.upsert_by_key('crm.customers', 'K', '{\"visits\": {\"$inc\": 1}}')")
                .await;
            let error = late.error(write, &[]).await;
            assert_eq!(error.state, "40001", "{level}: {write}: {error}");
            late.run("rollback").await;
            assert_eq!(first.text("select visits from crm.customers", &[]).await, "2");
        }
    }
}

#[tokio::test]
async fn key_released_after_the_snapshot_stays_unique() {
    let database = Database::with_crm().await;
    let (late, first) = (database.session().await, database.session().await);
    // A write that retries forever ends here.
    late.run("set statement_timeout = '60s'").await;
    for level in LEVELS {
        for write in WRITES {
            first
                .run("delete from crm.customers; select keyed.upsert_by_key('crm.customers', 'other')")
                .await;
            first.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"first\"}')").await;
            late.run(&format!("begin isolation level {level}; select from crm.customers")).await;
            first.run("select keyed.delete_record(id) from crm.customers where external_key = 'K'").await;
            match late.attempt(write, &[]).await {
                Ok(_) => late.run("commit").await,
                Err(error) => {
                    assert_eq!(error.state, "40001", "{level}: {write}: {error}");
                    late.run("rollback").await;
                }
            }
            assert!(["0", "1"].contains(&live(&first, "K").await.as_str()), "{level}: {write}");
            let history =
                "select count(*) from crm.customers c where not exists (select from keyed.history(c.id))";
            assert_eq!(first.text(history, &[]).await, "0");
        }
    }
}

#[tokio::test]
async fn transaction_reads_its_own_writes_and_its_own_snapshot() {
    let database = Database::with_crm().await;
    let (reader, writer) = (database.session().await, database.session().await);
    writer.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"old\"}')").await;
    let name = "select keyed.get_by_key('crm.customers', 'K') #>> '{attributes,name}'";
    for (level, seen) in [("read committed", "new"), ("repeatable read", "old"), ("serializable", "old")] {
        reader.run(&format!("begin isolation level {level}; {name}")).await;
        writer.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"new\"}')").await;
        assert_eq!(reader.text(name, &[]).await, seen, "{level}");
        reader.run("select keyed.upsert_by_key('crm.customers', 'own', '{\"name\": \"mine\"}')").await;
        assert_eq!(reader.text(&name.replace("'K'", "'own'"), &[]).await, "mine", "{level}");
        reader.run("rollback").await;
        writer.run("select keyed.upsert_by_key('crm.customers', 'K', '{\"name\": \"old\"}')").await;
    }
}
