//! Background jobs of changed definitions: nothing waits for them, and they complete.

mod collation;
mod documents;
mod indexes;
mod scheduling;
mod series;
mod workers;

use harness::{Database, Session};
use serde_json::{Value, json};

/// More records than a definition processes in its own transaction, with more bytes than it indexes there.
const MANY: usize = 6000;

/// A project with many customers, each of which is named with a German and an English word and has a number.
async fn with_many() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(&format!(
            "insert into crm.customers (external_key, name, visits, tags)
             select 'K-' || n, 'Kindern running ' || repeat(n || ' ', 20), n, array['t' || n % 7] from generate_series(1, {MANY}) n"
        ))
        .await;
    (database, session)
}

/// The documents table of the customers.
async fn documents(session: &Session) -> String {
    session
        .text("select 'keyed_state.text_' || id from keyed_state.template where slug = 'customers'", &[])
        .await
}

/// The number of customers that a search finds.
async fn found(session: &Session, query: Value) -> u64 {
    let mut body = json!({"limit": 1, "count": "exact"});
    body.as_object_mut().expect("an object").extend(query.as_object().expect("an object").clone());
    let result = session.json("select keyed.search('crm.customers', $1::jsonb)", &[&body.to_string()]).await;
    result["total"].as_u64().expect("a count")
}

async fn found_words(session: &Session, words: &str) -> u64 {
    found(session, json!({"global_search": words})).await
}

async fn jobs(session: &Session) -> Vec<Value> {
    let jobs = session.json("select coalesce(jsonb_agg(to_jsonb(j)), '[]') from keyed.jobs() j", &[]).await;
    jobs.as_array().expect("an array").clone()
}

/// Waits until the jobs meet a condition.
async fn until(session: &Session, expected: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let mut now = Vec::new();
    harness::until("the jobs are as expected", async || {
        now = jobs(session).await;
        expected(&now)
    })
    .await;
    now
}

async fn until_done(session: &Session) {
    until(session, <[Value]>::is_empty).await;
}

/// Waits until no worker is running.
async fn until_idle(session: &Session) {
    let workers = "select count(*) from pg_stat_activity where datname = current_database() and backend_type = 'keyed jobs'";
    session.until(workers, "0").await;
}

/// Waits until the worker waits for another session's lock.
async fn until_blocked(session: &Session) {
    let blocked = "select count(*) from pg_stat_activity where datname = current_database()
                   and backend_type = 'keyed jobs' and wait_event_type = 'Lock'";
    session.until(blocked, "1").await;
}

/// Waits until the worker has processed all but this many records, which are locked; with 1000 or more it stops there.
async fn until_left_out(session: &Session, count: u64) {
    let hint = format!("Wait for the open transactions that lock {count} records");
    let is_left_out = |job: &Value| {
        let number = |name: &str| job[name].as_u64().unwrap_or_default();
        job["hint"].as_str().is_some_and(|it| it.starts_with(&hint))
            && (count >= 1000 || number("records_done") + count == number("records"))
    };
    until(session, |jobs| jobs.iter().any(is_left_out)).await;
}

/// A session that locks the documents of some customers, in the order of their ids.
async fn with_locked(database: &Database, offset: usize, count: usize) -> Session {
    let session = database.session().await;
    let documents = documents(&session).await;
    // Only documents, because a lock on the records would block the definition itself.
    let sql = format!(
        "begin; select from {documents} where record_id in
           (select record_id from {documents} order by record_id offset {offset} limit {count}) for update"
    );
    session.run(&sql).await;
    session
}

/// A session with a snapshot that an index build has to wait for.
async fn with_old_snapshot(database: &Database) -> Session {
    let session = database.session().await;
    session.run("begin isolation level repeatable read").await;
    session.text("select count(*) from pg_class", &[]).await;
    session
}

async fn set_language(session: &Session, language: &str) {
    session
        .rows("select keyed.alter_template('crm.customers', jsonb_build_object('language', $1))", &[language])
        .await;
}

async fn set_indexed(session: &Session, slug: &str, indexed: bool) {
    let changes = json!({"indexed": indexed}).to_string();
    session.rows("select keyed.alter_attribute('crm.customers', $1, $2::jsonb)", &[slug, &changes]).await;
}

/// The number of valid and of invalid indexes of an attribute.
async fn indexes(session: &Session, slug: &str) -> (String, String) {
    let count = async |condition: &str| {
        let sql = format!(
            "select count(*) from pg_index i where i.indrelid = 'crm.customers'::regclass and {condition}
             and pg_get_indexdef(i.indexrelid) ~ ('\\m' || $1 || '\\M')"
        );
        session.text(&sql, &[slug]).await
    };
    (count("i.indisvalid").await, count("not i.indisvalid").await)
}
