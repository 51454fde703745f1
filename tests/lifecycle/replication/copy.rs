//! A subscriber of logical replication follows its publisher: docs/explanation/replication.md.

use harness::{Cluster, Database, Durability, Session};
use std::process::{Command, Stdio};
use std::sync::Arc;

struct Pair {
    publisher: Database,
    subscriber: Database,
    on_publisher: Session,
    on_subscriber: Session,
}

impl Pair {
    /// Two clusters with the same roles and definitions, of which one subscribes to the other.
    async fn new(prepare: &str) -> Pair {
        let source = Cluster::start(Durability::None);
        source.sql("postgres", "alter system set wal_level = logical");
        tokio::task::block_in_place(|| {
            source.stop();
            source.start_again();
        });
        let publisher = Database::new_in(&Arc::new(source)).await.add_crm().await;
        let on_publisher = publisher.session().await;
        on_publisher.run(prepare).await;
        let target = Arc::new(Cluster::start(Durability::None));
        let subscriber = Database::empty_in(&target).await;
        tokio::task::block_in_place(|| {
            let globals = publisher
                .cluster()
                .program("pg_dumpall")
                .arg("--globals-only")
                .output()
                .expect("the program runs");
            pipe(target.program("psql").args(["--quiet", "--dbname", "postgres"]), &globals.stdout);
            let mut dump = publisher.cluster().program("pg_dump");
            let dump = dump
                .args(["--schema-only", "--dbname", publisher.name()])
                .output()
                .expect("the program runs");
            pipe(
                target.program("psql").args([
                    "--quiet",
                    "--set=ON_ERROR_STOP=1",
                    "--dbname",
                    subscriber.name(),
                ]),
                &dump.stdout,
            );
        });
        let on_subscriber = subscriber.session().await;
        on_publisher.run("create publication keyed for all tables").await;
        let connection = format!(
            "host={} user=postgres dbname={}",
            publisher.cluster().data_folder().parent().expect("a folder").display(),
            publisher.name()
        );
        on_subscriber
            .rows(&format!("create subscription keyed connection '{connection}' publication keyed"), &[])
            .await;
        let pair = Pair { publisher, subscriber, on_publisher, on_subscriber };
        pair.until("select count(*) from pg_subscription_rel where srsubstate <> 'r'", "0").await;
        pair
    }

    /// Waits until the subscriber has applied all changes of the publisher.
    async fn catch_up(&self) {
        let position = self.on_publisher.text("select pg_current_wal_lsn()", &[]).await;
        let is_there = format!("select bool_and(replay_lsn >= '{position}') from pg_stat_replication");
        self.on_publisher.until(&is_there, "t").await;
    }

    /// Waits until a statement on the subscriber returns this value.
    async fn until(&self, question: &str, response: &str) {
        self.on_subscriber.until(question, response).await;
    }
}

fn pipe(command: &mut Command, input: &[u8]) {
    use std::io::Write;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the program runs");
    child.stdin.take().expect("piped").write_all(input).expect("the program reads");
    assert!(child.wait().expect("the program ends").success(), "{command:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn subscriber_follows_its_publisher() {
    let pair = Pair::new(
        r#"create role clerk login; create role reader login; create role boss login; grant keyed_admin to boss;
           select keyed.grant_access('clerk', 'crm.customers', '{read}');
           select keyed.set_quota('crm', 'live_records', 10);
           select keyed.upsert_by_key('crm.customers', 'A', '{"name": "Ada Lovelace"}')"#,
    )
    .await;
    let key = pair.publisher.api_key("clerk", &["crm"]).await;
    let revoke = pair.on_publisher.text("select max(id) from keyed_state.api_key", &[]).await;
    pair.catch_up().await;

    // Records with history and documents, written by functions and by SQL.
    let lookup = "select keyed.get_by_key('crm.customers', $1) -> 'attributes' ->> 'name'";
    assert_eq!(pair.on_subscriber.text(lookup, &["A"]).await, "Ada Lovelace");
    let words = "select jsonb_array_length(keyed.search('crm.customers', '{\"global_search\": \"lovelace\"}') -> 'records')";
    assert_eq!(pair.on_subscriber.text(words, &[]).await, "1");
    let history = "select count(*) from crm.customers c, keyed.history(c.id)";
    assert_eq!(pair.on_subscriber.text(history, &[]).await, "1");
    pair.on_publisher
        .run(r#"select keyed.upsert_by_key('crm.customers', 'A', '{"name": "Ada King"}'); select keyed.upsert_by_key('crm.customers', 'B')"#)
        .await;
    pair.catch_up().await;
    assert_eq!(pair.on_subscriber.text(lookup, &["A"]).await, "Ada King");
    assert_eq!(pair.on_subscriber.text(history, &[]).await, "3", "triggers of the subscriber write nothing");

    // Rows that sessions of the subscriber cache: a key, a grant, a quota.
    let show = format!("select keyed.me() from keyed.authenticate(sha256('{key}'), 'crm')");
    let proxy = pair.subscriber.session_as("keyed_proxy").await;
    proxy.run(&show).await;
    let clerk = pair.subscriber.session_as("clerk").await;
    clerk.rows(lookup, &["A"]).await;
    let quota = "select maximum from keyed.quota_usage('crm') where name = 'live_records'";
    assert_eq!(pair.on_subscriber.text(quota, &[]).await, "10");
    pair.on_publisher
        .run(&format!(
            "select keyed.revoke_api_key({revoke}); select keyed.set_quota('crm', 'live_records', 20)"
        ))
        .await;
    pair.on_publisher.run("select keyed.revoke_access('clerk', 'crm.customers')").await;
    pair.catch_up().await;
    assert_eq!(proxy.error(&show, &[]).await.state, "28000");
    assert_eq!(clerk.error(lookup, &["A"]).await.state, "42501");
    assert_eq!(pair.on_subscriber.text(quota, &[]).await, "20");

    // A grant is complete when the subscriber has PostgreSQL's privileges and the policies.
    let reader = pair.subscriber.session_as("reader").await;
    pair.on_publisher.run("select keyed.grant_access('reader', 'crm.customers', '{read}')").await;
    pair.catch_up().await;
    assert_eq!(reader.error(lookup, &["A"]).await.state, "42501");
    pair.on_subscriber
        .run("grant usage on schema crm to reader; grant select on crm.customers to reader")
        .await;
    let count = "select count(*) from crm.customers";
    assert_eq!(reader.text(lookup, &["A"]).await, "Ada King");
    assert_eq!(reader.text(count, &[]).await, "0");
    assert_eq!(pair.on_subscriber.text("select keyed.enforce_grants()", &[]).await, "0");
    assert_eq!(reader.text(count, &[]).await, "2");

    // A definition is made on both, first on the subscriber. Its label is replicated.
    let column = "alter table crm.customers add column city text collate \"C\"";
    pair.on_subscriber.run(column).await;
    pair.on_subscriber.rows(lookup, &["A"]).await;
    pair.on_publisher
        .run(r#"select keyed.add_attribute('crm.customers', '{"slug": "city", "type": "string"}'); select keyed.upsert_by_key('crm.customers', 'A', '{"city": "Rome"}')"#)
        .await;
    pair.catch_up().await;
    let city = "select keyed.get_by_key('crm.customers', 'A') -> 'attributes' ->> 'city'";
    assert_eq!(pair.on_subscriber.text(city, &[]).await, "Rome");

    // When the writers move to the subscriber, with the statements of the page.
    let page = std::fs::read_to_string(harness::repository_folder().join("docs/explanation/replication.md"));
    let page = page.expect("the page is there");
    let blocks: Vec<&str> =
        page.split("```sql\n").skip(1).filter_map(|block| block.split("```").next()).collect();
    for row in pair.on_publisher.rows(blocks[0], &[]).await {
        pair.on_subscriber.run(row[0].as_deref().expect("a statement")).await;
    }
    for statement in blocks[1].lines() {
        pair.on_subscriber.run(statement).await;
    }
    pair.on_subscriber
        .run("select keyed.issue_api_key('boss', null, 'late'); select keyed.create_template('crm', 'late'); select keyed.create_record('crm.late'); select keyed.create_record('crm.customers')")
        .await;
}
