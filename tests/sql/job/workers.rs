//! Job workers: failure, termination, restart, and privileges.

use super::*;

#[tokio::test]
async fn failed_job_reports_its_error_and_is_retried_on_request() {
    let (_database, session) = with_many().await;
    let long = "array[(select string_agg(md5(n::text), '') from generate_series(1, 300) n)]";
    // keyed's triggers would reject text that no index can hold.
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
    let nothing_is_left = async || indexes(&session, "tags").await == ("0".into(), "0".into());
    harness::until("the index is removed", nothing_is_left).await;

    assert_eq!(session.text("select keyed.run_jobs()", &[]).await, "0");
    session.run("update crm.customers set tags = null where external_key = 'K-7'").await;
    assert_eq!(session.text("select keyed.run_jobs(retry => true)", &[]).await, "1");
    until_done(&session).await;
    assert_eq!(indexes(&session, "tags").await, ("1".into(), "0".into()));
}

#[tokio::test]
async fn terminated_worker_is_replaced() {
    let (database, session) = with_many().await;
    let blocker = with_locked(&database, MANY / 2, MANY).await;
    set_language(&session, "german").await;
    until_left_out(&session, 1000).await;
    session.rows("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and backend_type = 'keyed jobs'", &[]).await;
    let waiting = until(&session, |jobs| jobs[0]["state"] == "pending").await;
    assert_eq!(waiting[0]["records_done"], 3000);
    assert!(waiting[0]["hint"].as_str().is_some_and(|hint| hint.contains("keyed.run_jobs()")), "{waiting:?}");
    assert_eq!((found_words(&session, "runs").await, found_words(&session, "Kindes").await), (3000, 3000));
    assert_eq!(session.text("select keyed.run_jobs()", &[]).await, "1");
    until_left_out(&session, 1000).await;
    blocker.run("rollback").await;
    until_done(&session).await;
    assert_eq!(found_words(&session, "Kindes").await, 6000);
}

#[tokio::test]
async fn migrate_starts_workers_for_pending_jobs() {
    let (database, session) = with_many().await;
    let blocker = with_locked(&database, MANY / 2, 1).await;
    set_language(&session, "german").await;
    until_left_out(&session, 1).await;
    session.rows("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and backend_type = 'keyed jobs'", &[]).await;
    until(&session, |jobs| jobs[0]["state"] == "pending").await;
    session.run("select keyed.migrate()").await;
    blocker.run("rollback").await;
    until_done(&session).await;
}

#[tokio::test]
async fn worker_is_not_superuser_and_stores_no_statement() {
    let (database, session) = with_many().await;
    let blocker = with_locked(&database, MANY / 2, 1).await;
    set_language(&session, "german").await;
    until_left_out(&session, 1).await;
    let login = "select usename from pg_stat_activity where datname = current_database() and backend_type = 'keyed jobs'";
    assert_eq!(session.text(login, &[]).await, "keyed_proxy");
    blocker.run("rollback").await;
    until_done(&session).await;
    // A forged state row cannot direct the worker to a table outside keyed.
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
async fn rolled_back_definition_leaves_no_job() {
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
async fn job_queues_text_for_embedding() {
    let (_database, session) = with_many().await;
    session.run("update crm.customers set deleted_at = now() where visits > 5990").await;
    session.rows("select keyed.alter_template('crm.customers', '{\"embed\": [\"name\"]}')", &[]).await;
    until_done(&session).await;
    let pending = "select count(*) from keyed_state.embedding_job where state = 'pending'";
    assert_eq!(session.text(pending, &[]).await, "5990");
}

#[tokio::test]
async fn jobs_are_visible_with_the_define_privilege() {
    let (database, session) = with_many().await;
    let _blocker = with_locked(&database, MANY / 2, 1).await;
    set_language(&session, "german").await;
    let (reader, definer) = (database.create_role("reader").await, database.create_role("definer").await);
    database.grant(&reader, "crm.customers", "read").await;
    database.grant(&definer, "crm.customers", "read, define").await;
    for (role, count) in [(&reader, 0), (&definer, 1)] {
        let theirs = database.session_as(role).await;
        assert_eq!(jobs(&theirs).await.len(), count, "{role}");
        assert_eq!(theirs.error("select keyed.run_jobs()", &[]).await.codes(), ("42501", "forbidden"));
    }
}

#[tokio::test]
async fn starting_worker_is_awaited_and_a_missing_one_reported() {
    let (_database, session) = with_many().await;
    // As a definition does it, but without starting the worker.
    let add = "insert into keyed_state.job (template_id, kind, created_at) select id, 'documents', clock_timestamp() - $1::interval from keyed_state.template where slug = 'customers'";
    for (age, is_missed) in [("0 seconds", false), ("1 minute", true)] {
        session.rows(add, &[age]).await;
        let hint = jobs(&session).await[0]["hint"].clone();
        assert_eq!(
            hint.as_str().is_some_and(|it| it.contains("keyed.run_jobs()")),
            is_missed,
            "{age}: {hint}"
        );
        session.run("delete from keyed_state.job").await;
    }
}
