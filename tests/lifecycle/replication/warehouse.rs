//! A database without keyed subscribes to record tables: docs/how-to/replicate-to-a-warehouse.md.

use harness::{Cluster, Database, Durability, Session};
use std::process::Command;
use std::sync::Arc;

/// The SQL blocks of the page.
fn blocks() -> Vec<String> {
    let page = harness::repository_folder().join("docs/how-to/replicate-to-a-warehouse.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let blocks = page.split("```sql\n").skip(1);
    blocks.filter_map(|block| block.split("```").next()).map(ToOwned::to_owned).collect()
}

async fn run_each(session: &Session, statements: &str) {
    for statement in statements.split(';').filter(|statement| !statement.trim().is_empty()) {
        session.rows(statement, &[]).await;
    }
}

/// Waits until the subscriber has applied what the publisher has written.
async fn catch_up(publisher: &Session) {
    let position = publisher.text("select pg_current_wal_lsn()", &[]).await;
    let has_applied = format!(
        "select coalesce(bool_and(replay_lsn >= '{position}'), false) from pg_stat_replication \
         where application_name = 'warehouse'"
    );
    publisher.until(&has_applied, "t").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_database_subscribes_to_record_tables() {
    let source = Cluster::start(Durability::None);
    source.sql("postgres", "alter system set wal_level = logical");
    tokio::task::block_in_place(|| {
        source.stop();
        source.start_again();
    });
    let source = Database::new_in(&Arc::new(source)).await.add_crm().await;
    let target = Database::empty_in(&Arc::new(Cluster::start(Durability::None))).await;
    let (publisher, subscriber) = (source.session().await, target.session().await);
    publisher
        .run(r#"select keyed.upsert_by_key('crm.customers', 'gone'); select keyed.delete_record(id) from crm.customers;
                select keyed.upsert_by_key('crm.customers', 'A', '{"name": "Ada", "visits": 1.50, "tags": ["x", "y"]}')"#)
        .await;

    let blocks = blocks();
    run_each(&publisher, &blocks[0]).await;
    let folder = source.cluster().data_folder();
    let connection = format!(
        "host={} dbname={} user=warehouse",
        folder.parent().expect("a folder").display(),
        source.name()
    );
    run_each(&subscriber, &blocks[1].replace("host=… dbname=… user=warehouse", &connection)).await;
    subscriber.until("select count(*) from pg_subscription_rel where srsubstate <> 'r'", "0").await;
    let live = "select string_agg(concat_ws(' ', external_key, name, visits, tags), ', ' order by id) from crm.customers \
                where deleted_at is null";
    let all = "select count(*) from crm.customers";
    assert_eq!(subscriber.text(live, &[]).await, "A Ada 1.50 {x,y}");
    assert_eq!(subscriber.text(all, &[]).await, "1", "records deleted before the initial copy are hidden");

    publisher
        .run(
            r#"select keyed.upsert_by_key('crm.customers', 'B', '{"name": "Bo"}');
                update crm.customers set external_key = 'B2' where external_key = 'B'"#,
        )
        .await;
    catch_up(&publisher).await;
    assert_eq!(subscriber.text(live, &[]).await, "A Ada 1.50 {x,y}, B2 Bo");
    publisher.run("select keyed.delete_record(id) from crm.customers where external_key = 'B2'").await;
    catch_up(&publisher).await;
    assert_eq!(subscriber.text(live, &[]).await, "A Ada 1.50 {x,y}");
    let deleted = "select concat_ws(' ', external_key is null, _released_key) from crm.customers where deleted_at is not null";
    assert_eq!(subscriber.text(deleted, &[]).await, "t B2");

    // Replication stops at a row with an unknown column, and continues when the column exists.
    publisher
        .run(
            r#"select keyed.add_attribute('crm.customers', '{"slug": "city", "type": "string"}');
                select keyed.upsert_by_key('crm.customers', 'A', '{"city": "Rome"}')"#,
        )
        .await;
    subscriber.run("alter table crm.customers add column city text").await;
    catch_up(&publisher).await;
    assert_eq!(subscriber.text("select city from crm.customers where external_key = 'A'", &[]).await, "Rome");

    // A scope does not limit the stream, and a row filter on deleted_at rejects updates.
    publisher
        .run(
            r#"select keyed.grant_access('warehouse', 'crm', '{read}', '[{"field": "external_key", "operator": "eq", "value": "A"}]');
               select keyed.upsert_by_key('crm.companies', 'hidden', '{"name": "Hidden"}')"#,
        )
        .await;
    catch_up(&publisher).await;
    assert_eq!(subscriber.text("select external_key from crm.companies", &[]).await, "hidden");
    publisher.run("create publication live for table crm.customers where (deleted_at is null)").await;
    let error = publisher.error("update crm.customers set name = 'Eve'", &[]).await;
    assert!(error.message.contains("cannot update table"), "{}", error.message);
    publisher.run("drop publication live").await;
    subscriber.rows("drop subscription warehouse", &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn logical_slot_streams_record_tables() {
    let source = Cluster::start(Durability::None);
    source.sql("postgres", "alter system set wal_level = logical");
    tokio::task::block_in_place(|| {
        source.stop();
        source.start_again();
    });
    let source = Database::new_in(&Arc::new(source)).await.add_crm().await;
    let publisher = source.session().await;
    run_each(&publisher, &blocks()[0]).await;
    let slot = || {
        let mut command = source.cluster().program("pg_recvlogical");
        command.args(["--dbname", source.name(), "--slot", "connector"]);
        command
    };
    let made = slot().args(["--create-slot", "--plugin", "pgoutput"]).status().expect("the program runs");
    assert!(made.success());
    publisher.run(r#"select keyed.upsert_by_key('crm.customers', 'A', '{"name": "Ada Lovelace"}')"#).await;
    let end = publisher.text("select pg_current_wal_lsn()", &[]).await;
    let options = ["--option=proto_version=1", "--option=publication_names=warehouse"];
    let mut stream = slot();
    stream.args(["--start", "--file=-", "--endpos", &end]).args(options);
    let streamed = stream_of(&mut stream);
    let text = String::from_utf8_lossy(&streamed);
    assert!(text.contains("customers") && text.contains("Ada Lovelace"), "{text:?}");
    assert!(!text.contains("history_"), "the state of keyed is not published");
    assert!(slot().arg("--drop-slot").status().expect("the program runs").success());
}

fn stream_of(command: &mut Command) -> Vec<u8> {
    let output = tokio::task::block_in_place(|| command.output()).expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
