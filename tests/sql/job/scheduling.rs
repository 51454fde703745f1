//! Fair scheduling: no job blocks another for long.

use super::*;

/// As many companies as customers.
async fn with_companies() -> (Database, Session) {
    let (database, session) = with_many().await;
    session
        .run(&format!(
            "insert into crm.companies (name) select 'Kindern ' || n from generate_series(1, {MANY}) n"
        ))
        .await;
    (database, session)
}

async fn rebuild(session: &Session, template: &str) {
    session.rows("select keyed.rebuild_documents($1::text::regclass)", &[template]).await;
}

/// The templates of the remaining jobs.
async fn left(session: &Session) -> Vec<String> {
    jobs(session).await.iter().map(|job| job["template"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn documents_are_written_while_an_index_build_waits() {
    let (database, session) = with_many().await;
    let blocker = with_old_snapshot(&database).await;
    set_indexed(&session, "name", true).await;
    until_blocked(&session).await;
    rebuild(&session, "crm.customers").await;
    let left = until(&session, |jobs| jobs.len() == 1).await;
    assert_eq!((&left[0]["kind"], &left[0]["state"]), (&json!("index"), &json!("running")));
    blocker.run("rollback").await;
    until_done(&session).await;
}

#[tokio::test]
async fn locked_records_are_processed_last() {
    let (database, session) = with_companies().await;
    let blocker = with_locked(&database, 10, 3).await;
    set_language(&session, "german").await;
    rebuild(&session, "crm.companies").await;
    until_left_out(&session, 3).await;
    until(&session, |jobs| jobs.len() == 1).await;
    assert_eq!(found_words(&session, "Kindes").await, 5997);
    blocker.run("rollback").await;
    until_done(&session).await;
    assert_eq!(found_words(&session, "Kindes").await, 6000);
}

#[tokio::test]
async fn job_finishes_despite_locked_and_deleted_records() {
    let (database, session) = with_many().await;
    let writer = database.session().await;
    session.rows("select keyed.rebuild_documents('crm.customers')", &[]).await;
    until_done(&session).await;
    writer.run("begin; update crm.customers set name = name || ' Berlin' where visits between 1 and 2;
                update crm.customers set deleted_at = now() where visits between 3 and 4; delete from crm.customers where visits = 5").await;
    rebuild(&session, "crm.customers").await;
    until_left_out(&session, 5).await;
    writer.run("commit").await;
    until_done(&session).await;
    let documents = documents(&session).await;
    assert_eq!(session.text(&format!("select count(*) from {documents}"), &[]).await, "5997");
    assert_eq!(found_words(&session, "Berlin").await, 2);
}

#[tokio::test]
async fn record_being_written_does_not_block_embedding_of_others() {
    let (database, session) = with_many().await;
    session.rows("select keyed.alter_template('crm.customers', '{\"embed\": [\"name\"]}')", &[]).await;
    until_done(&session).await;
    let writer = database.session().await;
    // A lock on the records table would block the definition.
    let entry = "(select record_id from keyed_state.embedding_job order by record_id offset 7 limit 1)";
    writer
        .run(&format!("begin; select from keyed_state.embedding_job where record_id = {entry} for update"))
        .await;
    session
        .rows("select keyed.alter_template('crm.customers', '{\"embed\": [\"name\", \"tags\"]}')", &[])
        .await;
    until_left_out(&session, 1).await;
    writer.run("rollback").await;
    until_done(&session).await;
}

/// Records each chunk of each job.
async fn note_turns(session: &Session) {
    session
        .run(
            "create table public.turn (position bigint generated always as identity, template integer);
             grant insert on public.turn to keyed_owner;
             create function public.note_turn() returns trigger language plpgsql as
               'begin insert into public.turn (template) values (new.template_id); return null; end';
             create trigger note_turn after update of position on keyed_state.job for each row execute function public.note_turn();",
        )
        .await;
}

/// Has jobs rebuild the documents of both templates at the same time.
async fn rebuild_both(session: &Session) {
    session
        .run(
            "begin; select keyed.rebuild_documents('crm.customers'); select keyed.rebuild_documents('crm.companies'); commit",
        )
        .await;
    until_done(session).await;
}

#[tokio::test]
async fn jobs_of_templates_run_round_robin() {
    let (_database, session) = with_companies().await;
    note_turns(&session).await;
    rebuild_both(&session).await;
    let turns = "select string_agg(t.slug, ' ' order by position) from (select position, template, lag(template) over (order by position) as before
                 from public.turn) n join keyed_state.template t on t.id = n.template where n.before is distinct from n.template";
    assert_eq!(session.text(turns, &[]).await, "companies customers companies customers");
}

#[tokio::test]
async fn chunk_of_long_text_is_short_and_fills_a_turn() {
    let (_database, session) = with_companies().await;
    session.run("update crm.customers set name = repeat(visits || ' ', 250000) where visits <= 24").await;
    note_turns(&session).await;
    rebuild_both(&session).await;
    let chunks = |condition: &str| {
        format!(
            "select count(*) from public.turn n join keyed_state.template t on t.id = n.template
             where t.slug = 'customers' and {condition}"
        )
    };
    // The long documents need several chunks, all others six.
    let count: u32 = session.text(&chunks("true"), &[]).await.parse().expect("a count");
    assert!((9..=20).contains(&count), "{count}");
    let beside = "position < (select max(o.position) from public.turn o where o.template <> t.id)";
    assert_eq!(session.text(&chunks(beside), &[]).await, "1");
}

#[tokio::test]
async fn open_change_of_a_template_does_not_block_other_jobs() {
    let (database, session) = with_companies().await;
    let definer = database.session().await;
    // Both the job's row and the table are locked.
    definer.run("begin").await;
    definer.rows("select keyed.rebuild_documents('crm.companies')", &[]).await;
    definer.rows("select keyed.alter_template('crm.companies', '{\"label\": \"Firms\"}')", &[]).await;
    session.run("insert into keyed_state.job (template_id, kind) select id, 'embeddings' from keyed_state.template where slug = 'companies'").await;
    rebuild(&session, "crm.customers").await;
    // In keyed.jobs(), an administrator sees every job without waiting for a table.
    until(&session, |jobs| jobs.iter().all(|job| job["template"] != "crm.customers")).await;
    assert_eq!(left(&session).await, ["crm.companies"]);
    definer.run("commit").await;
    until_done(&session).await;
}

#[tokio::test]
async fn waiting_index_build_does_not_block_other_jobs() {
    let (database, session) = with_companies().await;
    session.run("update crm.companies set name = repeat(name || ' ', 30)").await;
    let writer = database.session().await;
    writer.run("begin; update crm.customers set visits = 0 where visits = 1").await;
    let index = "insert into keyed_state.job (template_id, kind, attribute_id)
                 select t.id, 'index', a.id from keyed_state.template t join keyed_state.attribute a on a.template_id = t.id
                 where t.slug = $1 and a.slug = 'name'";
    session.run("update keyed_state.attribute set indexed = true where slug = 'name'").await;
    for template in ["customers", "companies"] {
        session.rows(index, &[template]).await;
    }
    session.text("select keyed.run_jobs()", &[]).await;
    until(&session, |jobs| jobs.len() == 1).await;
    assert_eq!(left(&session).await, ["crm.customers"]);
    writer.run("rollback").await;
    until_done(&session).await;
    assert_eq!(indexes(&session, "name").await, ("2".into(), "0".into()));
}

#[tokio::test]
async fn database_has_two_workers_at_most() {
    let (database, session) = with_companies().await;
    let (_documents, _index) = (with_locked(&database, 0, 1).await, with_old_snapshot(&database).await);
    set_indexed(&session, "name", true).await;
    for template in ["crm.customers", "crm.companies", "crm.customers"] {
        rebuild(&session, template).await;
        session.text("select keyed.run_jobs()", &[]).await;
    }
    until_left_out(&session, 1).await;
    until_blocked(&session).await;
    // A worker that finds no free slot ends immediately.
    let workers = "select count(*) from pg_stat_activity where datname = current_database() and backend_type = 'keyed jobs'";
    session.until(workers, "2").await;
}

#[tokio::test]
async fn blocked_index_build_does_not_block_other_templates() {
    let (database, session) = with_companies().await;
    session
        .run(&format!(
            "insert into crm.companies (name) select repeat(n || ' ', 60) from generate_series(1, {MANY}) n"
        ))
        .await;
    for mode in ["share", "share update exclusive", "share row exclusive"] {
        let locker = database.session().await;
        session.run("begin").await;
        set_indexed(&session, "name", true).await;
        // The record is in the queue before the job starts.
        let lock = format!("begin; lock table crm.customers in {mode} mode");
        let requested = format!(
            "select count(*) > 0 from pg_locks where relation = 'crm.customers'::regclass and pid <> pg_backend_pid()
             and database = (select oid from pg_database where datname = current_database())
             and lower(mode) = '{}lock'",
            mode.replace(' ', "")
        );
        let commit = async {
            session.until(&requested, "t").await;
            session.run("commit").await;
        };
        tokio::join!(locker.run(&lock), commit);
        session
            .rows("select keyed.alter_attribute('crm.companies', 'name', '{\"indexed\": true}')", &[])
            .await;
        until(&session, |jobs| jobs.len() == 1).await;
        assert_eq!(left(&session).await, ["crm.customers"], "{mode}");
        locker.run("rollback").await;
        until_done(&session).await;
        for template in ["crm.customers", "crm.companies"] {
            let sql = "select keyed.alter_attribute($1::text::regclass, 'name', '{\"indexed\": false}')";
            session.rows(sql, &[template]).await;
        }
    }
}
