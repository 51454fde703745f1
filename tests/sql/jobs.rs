//! What a change of a definition leaves to a background worker: nobody waits for it, and it comes to its end.

use harness::{Database, Session};
use serde_json::{Value, json};
use std::time::Duration;

/// More records than are done within the transaction of a definition, in more bytes than an index is built on there.
const MANY: usize = 6000;

/// A project with many customers: each is named with a German and an English word, and has a number.
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

/// The name of the table of documents of the customers.
async fn documents(session: &Session) -> String {
    session
        .text("select 'keyed_state.text_' || id from keyed_state.template where slug = 'customers'", &[])
        .await
}

/// How many customers a search finds.
async fn found(session: &Session, query: Value) -> u64 {
    let mut body = json!({"limit": 1, "count": "exact"});
    body.as_object_mut().expect("an object").extend(query.as_object().expect("an object").clone());
    let answer = session.json("select keyed.search('crm.customers', $1::jsonb)", &[&body.to_string()]).await;
    answer["total"].as_u64().expect("a count")
}

async fn found_words(session: &Session, words: &str) -> u64 {
    found(session, json!({"global_search": words})).await
}

async fn jobs(session: &Session) -> Vec<Value> {
    let jobs = session.json("select coalesce(jsonb_agg(to_jsonb(j)), '[]') from keyed.jobs() j", &[]).await;
    jobs.as_array().expect("an array").clone()
}

/// Waits until the jobs are as a test wants them.
async fn until(session: &Session, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    for _ in 0..3000 {
        let jobs = jobs(session).await;
        if wanted(&jobs) {
            return jobs;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the jobs are {:?}", jobs(session).await)
}

async fn until_done(session: &Session) {
    until(session, <[Value]>::is_empty).await;
}

/// Waits until no worker is there.
async fn until_idle(session: &Session) {
    for _ in 0..3000 {
        let sql = "select count(*) from pg_stat_activity where datname = current_database() and backend_type = 'keyed jobs'";
        if session.text(sql, &[]).await == "0" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the worker does not end: {:?}", jobs(session).await)
}

/// Waits until the worker waits for a lock of somebody else.
async fn until_blocked(session: &Session) {
    for _ in 0..3000 {
        let sql = "select count(*) from pg_stat_activity where datname = current_database()
                   and backend_type = 'keyed jobs' and wait_event_type = 'Lock'";
        if session.text(sql, &[]).await == "1" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the worker is not blocked: {:?}", jobs(session).await)
}

/// A session that keeps a worker from writing the document in the middle.
async fn in_the_middle(database: &Database) -> Session {
    let session = database.session().await;
    let documents = documents(&session).await;
    let sql = format!("select id from crm.customers order by id offset {} limit 1", MANY / 2);
    let record = session.text(&sql, &[]).await;
    // Only the document: a lock on the records would keep the definition itself waiting.
    session.run(&format!("begin; select from {documents} where record_id = '{record}' for update")).await;
    session
}

/// A session with a snapshot that an index under construction has to wait for.
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

/// The indexes of an attribute: how many are valid and how many are not.
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

#[tokio::test]
async fn while_documents_follow_a_new_language_others_read_write_and_find() {
    let (database, session) = with_many().await;
    assert_eq!((found_words(&session, "runs").await, found_words(&session, "Kindes").await), (6000, 0));
    let blocker = in_the_middle(&database).await;
    set_language(&session, "german").await;
    until_blocked(&session).await;

    let running = jobs(&session).await;
    assert_eq!((&running[0]["kind"], &running[0]["state"]), (&json!("documents"), &json!("running")));
    assert_eq!(running[0]["template"], "crm.customers");
    assert_eq!((&running[0]["records_done"], &running[0]["records"]), (&json!(3000), &json!(6000)));
    assert_eq!(running[0]["progress"], 0.5);
    // Each record is found in the language of its document, and by parts of words in any.
    assert_eq!((found_words(&session, "runs").await, found_words(&session, "Kindes").await), (3000, 3000));
    assert_eq!(found_words(&session, "inder unnin").await, 6000);
    assert_eq!(
        found(&session, json!({"filters": [{"field": "visits", "operator": "lte", "value": 10}]})).await,
        10
    );
    // Who writes is not kept waiting, and what is written is found at once by the new language, on either side.
    for number in [1, 5999] {
        let key = format!("K-{number}");
        let attributes = json!({"name": format!("Rindern {number}")}).to_string();
        session
            .rows("select keyed.upsert_by_key('crm.customers', $1, $2::jsonb)", &[&key, &attributes])
            .await;
    }
    session.rows("select keyed.upsert_by_key('crm.customers', 'new', '{\"name\": \"Rindern\"}')", &[]).await;
    assert_eq!(found_words(&session, "Rindes").await, 3);

    blocker.run("rollback").await;
    until_done(&session).await;
    assert_eq!((found_words(&session, "runs").await, found_words(&session, "Kindes").await), (0, 5998));
    assert_eq!(found_words(&session, "Rindes").await, 3);
}

#[tokio::test]
async fn documents_of_a_job_are_those_that_a_write_makes() {
    let (_database, session) = with_many().await;
    let documents = documents(&session).await;
    let all =
        format!("select md5(string_agg(record_id || document, '' order by record_id)) from {documents}");
    set_language(&session, "german").await;
    until_done(&session).await;
    let of_the_job = session.text(&all, &[]).await;
    session
        .run("update crm.customers set name = name || '.'; update crm.customers set name = rtrim(name, '.')")
        .await;
    assert_eq!(session.text(&all, &[]).await, of_the_job);

    // Missing ones are made, wrong ones corrected, and those of no record are taken away.
    session
        .run(&format!(
            "delete from {documents} where record_id in (select id from crm.customers where visits % 10 < 5);
             update {documents} set document = 'wrong' where record_id in (select id from crm.customers where visits % 10 = 5);
             insert into {documents} values (gen_random_uuid(), 'of nobody')"
        ))
        .await;
    session.rows("select keyed.rebuild_documents('crm.customers')", &[]).await;
    until_done(&session).await;
    assert_eq!(session.text(&all, &[]).await, of_the_job);
}

#[tokio::test]
async fn new_labels_and_the_default_of_a_new_text_are_found_when_the_job_is_done() {
    let (_database, session) = with_many().await;
    session.run("update crm.customers set tier = array['gold']").await;
    session
        .rows(
            r#"select keyed.alter_template('crm.customers', '{"attributes": [
                 {"slug": "tier", "options": [{"value": "gold", "label": "Platinum"}, "silver"]},
                 {"slug": "origin", "type": "string", "default": "unknown"}]}')"#,
            &[],
        )
        .await;
    assert_eq!(
        found(&session, json!({"filters": [{"field": "origin", "operator": "eq", "value": "unknown"}]}))
            .await,
        6000
    );
    until_done(&session).await;
    for (words, count) in [("Platinum", 6000), ("unknown", 6000), ("card", 0)] {
        assert_eq!(found_words(&session, words).await, count, "{words}");
    }
}

#[tokio::test]
async fn while_an_index_is_built_others_read_and_write() {
    let (database, session) = with_many().await;
    let blocker = with_old_snapshot(&database).await;
    set_indexed(&session, "name", true).await;
    until_blocked(&session).await;
    let running = jobs(&session).await;
    assert_eq!((&running[0]["kind"], &running[0]["attribute"]), (&json!("index"), &json!("name")));
    assert_eq!(running[0]["state"], "running");
    assert!(running[0]["phase"].is_string(), "{running:?}");
    let starting = json!({"filters": [{"field": "name", "operator": "starts-with", "value": "Kindern"}], "sort": "name"});
    assert_eq!(found(&session, starting.clone()).await, 6000);
    session.rows("select keyed.upsert_by_key('crm.customers', 'new', '{\"name\": \"Kindern\"}')", &[]).await;
    session.run("update crm.customers set name = 'other' where visits <= 10").await;
    assert_eq!(found(&session, starting.clone()).await, 5991);

    blocker.run("rollback").await;
    until_done(&session).await;
    assert_eq!(indexes(&session, "name").await, ("2".into(), "0".into()));
    assert_eq!(found(&session, starting).await, 5991);
    set_indexed(&session, "name", false).await;
    assert_eq!(indexes(&session, "name").await, ("0".into(), "0".into()));
}

#[tokio::test]
async fn a_definition_does_not_wait_for_an_index_that_is_being_built() {
    let (database, session) = with_many().await;
    let blocker = with_old_snapshot(&database).await;
    set_indexed(&session, "name", true).await;
    until_blocked(&session).await;
    session.rows("select keyed.alter_attribute('crm.customers', 'name', '{\"slug\": \"title\"}')", &[]).await;
    set_indexed(&session, "visits", true).await;
    session.rows("select keyed.add_attribute('crm.customers', '{\"slug\": \"since\", \"type\": \"date\", \"indexed\": true}')", &[]).await;
    assert_eq!(jobs(&session).await.len(), 3);
    // One that is taken back is not built.
    set_indexed(&session, "visits", false).await;
    blocker.run("rollback").await;
    until_done(&session).await;
    for (slug, count) in [("title", "2"), ("visits", "0"), ("since", "1")] {
        assert_eq!(indexes(&session, slug).await, (count.into(), "0".into()), "{slug}");
    }
}

#[tokio::test]
async fn a_job_that_fails_says_why_and_is_tried_again_when_asked() {
    let (_database, session) = with_many().await;
    let long = "array[(select string_agg(md5(n::text), '') from generate_series(1, 300) n)]";
    // Our triggers would refuse what no index can hold.
    session
        .run(&format!(
            "set session_replication_role = replica;
             update crm.customers set tags = {long} where external_key = 'K-7'; reset session_replication_role"
        ))
        .await;
    set_indexed(&session, "tags", true).await;
    let failed = until(&session, |jobs| jobs.iter().any(|job| job["state"] == "failed")).await;
    assert!(failed[0]["error"].as_str().is_some_and(|error| error.contains("index row")), "{failed:?}");
    assert!(failed[0]["hint"].as_str().is_some_and(|hint| hint.contains("keyed.run_jobs(retry => true)")));
    for _ in 0..100 {
        if indexes(&session, "tags").await.1 == "0" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(indexes(&session, "tags").await, ("0".into(), "0".into()));

    assert_eq!(session.text("select keyed.run_jobs()", &[]).await, "0");
    session.run("update crm.customers set tags = null where external_key = 'K-7'").await;
    assert_eq!(session.text("select keyed.run_jobs(retry => true)", &[]).await, "1");
    until_done(&session).await;
    assert_eq!(indexes(&session, "tags").await, ("1".into(), "0".into()));
}

#[tokio::test]
async fn a_template_is_dropped_while_a_job_of_it_runs() {
    let (database, session) = with_many().await;
    let blocker = with_old_snapshot(&database).await;
    set_indexed(&session, "name", true).await;
    until_blocked(&session).await;
    session.rows("select keyed.drop_template('crm.customers', with_records => true)", &[]).await;
    assert_eq!(jobs(&session).await, Vec::<Value>::new());
    blocker.run("rollback").await;
    assert_eq!(session.text("select to_regclass('crm.customers') is null", &[]).await, "t");
    database.cluster().assert_no_crash();
}

#[tokio::test]
async fn a_worker_that_was_ended_is_followed_by_one_that_goes_on() {
    let (database, session) = with_many().await;
    let blocker = in_the_middle(&database).await;
    set_language(&session, "german").await;
    until_blocked(&session).await;
    session.rows("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and backend_type = 'keyed jobs'", &[]).await;
    let waiting = until(&session, |jobs| jobs[0]["state"] == "pending").await;
    assert_eq!(waiting[0]["records_done"], 3000);
    assert!(waiting[0]["hint"].as_str().is_some_and(|hint| hint.contains("keyed.run_jobs()")), "{waiting:?}");
    assert_eq!((found_words(&session, "runs").await, found_words(&session, "Kindes").await), (3000, 3000));
    assert_eq!(session.text("select keyed.run_jobs()", &[]).await, "1");
    until_blocked(&session).await;
    blocker.run("rollback").await;
    until_done(&session).await;
    assert_eq!(found_words(&session, "Kindes").await, 6000);
}

#[tokio::test]
async fn the_worker_is_no_superuser_and_the_state_holds_no_statement() {
    let (database, session) = with_many().await;
    let blocker = in_the_middle(&database).await;
    set_language(&session, "german").await;
    until_blocked(&session).await;
    let login = "select usename from pg_stat_activity where datname = current_database() and backend_type = 'keyed jobs'";
    assert_eq!(session.text(login, &[]).await, "keyed_proxy");
    blocker.run("rollback").await;
    until_done(&session).await;
    // Whoever could write the state leads the worker to no table of another.
    session.run("create table crm.foreign_table (id uuid, external_key text, created_at timestamptz, updated_at timestamptz, deleted_at timestamptz, name text);
                 insert into keyed_state.job (template_id, kind) select id, 'documents' from keyed_state.template where slug = 'customers';
                 update keyed_state.template set slug = 'foreign_table' where slug = 'customers'").await;
    let role = database.create_role("other").await;
    session
        .run(&format!("grant create on schema crm to {role}; alter table crm.foreign_table owner to {role}"))
        .await;
    session.text("select keyed.run_jobs()", &[]).await;
    until_idle(&session).await;
    assert_eq!(jobs(&session).await.len(), 1);
    session.run("update keyed_state.template set slug = 'customers' where slug = 'foreign_table'").await;
}

#[tokio::test]
async fn a_definition_that_is_rolled_back_leaves_no_job() {
    let (_database, session) = with_many().await;
    session.run("begin").await;
    set_language(&session, "german").await;
    set_indexed(&session, "name", true).await;
    assert_eq!(jobs(&session).await.len(), 2);
    session.run("rollback").await;
    assert_eq!(jobs(&session).await.len(), 0);
    assert_eq!(indexes(&session, "name").await, ("0".into(), "0".into()));
    assert_eq!(found_words(&session, "runs").await, 6000);
}

#[tokio::test]
async fn records_are_looked_at_for_texts_to_embed_by_a_job() {
    let (_database, session) = with_many().await;
    session.run("update crm.customers set deleted_at = now() where visits > 5990").await;
    session.rows("select keyed.alter_template('crm.customers', '{\"embed\": [\"name\"]}')", &[]).await;
    until_done(&session).await;
    let pending = "select count(*) from keyed_state.embedding_job where state = 'pending'";
    assert_eq!(session.text(pending, &[]).await, "5990");
}

#[tokio::test]
async fn jobs_are_shown_to_those_who_may_define_the_template() {
    let (database, session) = with_many().await;
    let _blocker = in_the_middle(&database).await;
    set_language(&session, "german").await;
    let (reader, definer) = (database.create_role("reader").await, database.create_role("definer").await);
    database.grant(&reader, "crm.customers", "read").await;
    database.grant(&definer, "crm.customers", "read, define").await;
    for (role, count) in [(&reader, 0), (&definer, 1)] {
        let theirs = database.session_as(role).await;
        assert_eq!(jobs(&theirs).await.len(), count, "{role}");
        assert_eq!(theirs.refusal("select keyed.run_jobs()", &[]).await.is(), ("42501", "forbidden"));
    }
}
