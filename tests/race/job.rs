//! Jobs of definitions with concurrent writers of the same records.

use harness::customers::DOCUMENTS;
use harness::{Database, Session};
use tokio::task::JoinSet;

/// More records than a definition processes in its own transaction.
const MANY: usize = 6000;

async fn until_done(session: &Session) {
    session.until("select count(*) from keyed.jobs()", "0").await;
}

/// A writer may get a retryable error while the template changes.
async fn write(session: &Session, statement: &str, strings: &[&str]) {
    if let Err(error) = session.attempt(statement, strings).await {
        assert_eq!(error.state, "40001", "{error}");
    }
}

#[tokio::test]
async fn documents_are_up_to_date_after_a_job_despite_concurrent_writes() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(&format!(
            "insert into crm.customers (external_key, name, tags)
             select 'K-' || n, 'Kindern running ' || n, array['t'] from generate_series(1, {MANY}) n"
        ))
        .await;
    let mut writers = JoinSet::new();
    for writer in 0..4 {
        let session = database.session().await;
        writers.spawn(async move {
            for round in 0..60 {
                // Keys across the whole table, some of which other writers use as well.
                let key = format!("K-{}", 1 + (round * 397 + writer % 2 * 11) % MANY);
                let name = format!("Kinder running {round} {writer}");
                let attributes = serde_json::json!({ "name": name }).to_string();
                let upsert = "select id from keyed.upsert_by_key('crm.customers', $1, $2::jsonb)";
                match round % 6 {
                    // A transaction that stays open for several statements.
                    0 => {
                        session.run("begin").await;
                        write(&session, upsert, &[&key, &attributes]).await;
                        session.attempt("select count(*) from keyed_state.project", &[]).await.ok();
                        session.run(if writer == 3 { "rollback" } else { "commit" }).await;
                    }
                    1 if writer == 0 => {
                        let sql = "select keyed.delete_record(id) from crm.customers where external_key = $1";
                        write(&session, sql, &[&key]).await;
                    }
                    _ => write(&session, upsert, &[&key, &attributes]).await,
                }
            }
        });
    }
    for language in ["german", "english", "french", "german"] {
        let change = serde_json::json!({ "language": language }).to_string();
        session.rows("select keyed.alter_template('crm.customers', $1::jsonb)", &[&change]).await;
        session.rows("select keyed.rebuild_documents('crm.customers')", &[]).await;
    }
    writers.join_all().await;
    until_done(&session).await;
    let all =
        &format!("select md5(string_agg(record_id || document, '' order by record_id)) from {DOCUMENTS}");
    let of_the_jobs = session.text(all, &[]).await;
    session.run(&format!("delete from {DOCUMENTS}")).await;
    session.rows("select keyed.rebuild_documents('crm.customers')", &[]).await;
    until_done(&session).await;
    assert_eq!(session.text(all, &[]).await, of_the_jobs);
    let count = &format!(
        "select count(*) = (select count(*) from crm.customers where deleted_at is null) from {DOCUMENTS}"
    );
    assert_eq!(session.text(count, &[]).await, "t");
}

#[tokio::test]
async fn listing_jobs_locks_no_table() {
    let database = Database::with_crm().await;
    let administrator = database.session().await;
    let (unprivileged, reader, definer) = (
        database.create_role("stranger").await,
        database.create_role("reader").await,
        database.create_role("definer").await,
    );
    database.grant(&reader, "crm", "read").await;
    database.grant(&definer, "crm.customers", "define").await;
    // No worker is requested.
    administrator
        .run("insert into keyed_state.job (template_id, kind) select id, 'embeddings' from keyed_state.template")
        .await;
    let all = administrator.text("select count(*) from keyed.jobs()", &[]).await;
    assert_ne!(all, "1", "there are other templates");
    let holder = database.session().await;
    for (role, expected) in [(&unprivileged, "0"), (&reader, "0"), (&definer, "1")] {
        let session = database.session_as(role).await;
        // A statement that waits for the table fails here.
        session.run("set lock_timeout = '20s'").await;
        holder.run("begin; lock table crm.customers in access exclusive mode").await;
        session.run("begin").await;
        assert_eq!(session.text("select count(*) from keyed.jobs()", &[]).await, expected);
        holder.run("rollback").await;
        assert_eq!(session.text("select count(*) from keyed.jobs()", &[]).await, expected);
        let locked = "select count(*) from pg_locks l join pg_class c on c.oid = l.relation
             where l.database = (select oid from pg_database where datname = current_database())
             and c.relnamespace = 'crm'::regnamespace";
        assert_eq!(administrator.text(locked, &[]).await, "0");
        session.run("rollback").await;
    }
}
