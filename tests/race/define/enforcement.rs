//! Policies of a grant are created table by table: tables in use do not delay the others.

use harness::{Database, Session};

/// More tables than the statement can wait for within its timeout.
const MANY: usize = 80;

/// Templates `many.t1` to `many.t80` that a role may read.
async fn many(database: &Database, administrator: &Session) -> String {
    administrator.rows("select keyed.create_project('many')", &[]).await;
    administrator
        .rows(
            &format!(
                "select keyed.create_template('many', 't' || n, '[]') from generate_series(1, {MANY}) n"
            ),
            &[],
        )
        .await;
    let role = database.create_role("reader").await;
    database.grant(&role, "many", "read").await;
    assert_eq!(administrator.text("select keyed.enforce_grants()", &[]).await, "0");
    role
}

/// Keeps tables in use as long as the session's transaction is open.
async fn read(session: &Session, templates: impl Iterator<Item = usize>) {
    session.run("begin").await;
    for template in templates {
        session.run(&format!("lock table many.t{template} in access share mode")).await;
    }
}

/// The same after a revocation during which all tables were in use, so their policies are pending. Returns the session
/// that uses the tables.
async fn many_that_wait(database: &Database, administrator: &Session) -> Session {
    let role = many(database, administrator).await;
    let reader = database.session().await;
    read(&reader, 1..=MANY).await;
    administrator.rows(&format!("select keyed.revoke_access('{role}', 'many')"), &[]).await;
    reader.run("rollback").await;
    reader
}

const LEFT: &str =
    "select string_agg(distinct tablename, ' ') from pg_policies where policyname ~ '^keyed_read'";

async fn left(session: &Session) -> String {
    session.rows(LEFT, &[]).await[0][0].clone().unwrap_or_default()
}

#[tokio::test]
async fn free_tables_are_enforced_first() {
    let database = Database::new().await;
    let administrator = database.session().await;
    let reader = many_that_wait(&database, &administrator).await;
    let free = MANY - 3;
    read(&reader, (1..=MANY).filter(|template| *template != free)).await;
    // All tables but one are in use: a short wait for each of them takes longer than this timeout.
    administrator.run("set statement_timeout = '3s'").await;
    let enforce = "select keyed.enforce_grants(1)";
    assert_eq!(administrator.text(enforce, &[]).await, (MANY - 1).to_string());
    assert!(!left(&administrator).await.split(' ').any(|table| table == format!("t{free}")));
    assert_eq!(administrator.text(enforce, &[]).await, (MANY - 1).to_string(), "none is free");
    assert_eq!(administrator.text("select keyed.enforce_grants()", &[]).await, (MANY - 1).to_string());
    reader.run("rollback").await;
    assert_eq!(administrator.text("select keyed.enforce_grants(2)", &[]).await, (MANY - 3).to_string());
    assert_eq!(administrator.text("select keyed.enforce_grants(0)", &[]).await, (MANY - 3).to_string());
    while administrator.text("select keyed.enforce_grants()", &[]).await != "0" {}
    assert_eq!(left(&administrator).await, "");
}

#[tokio::test]
async fn enforced_tables_are_released_while_waiting() {
    let database = Database::new().await;
    let administrator = database.session().await;
    let reader = many_that_wait(&database, &administrator).await;
    read(&reader, 2..=MANY).await;
    // Fails if it has to wait for t1 until all others have been tried.
    let other = database.session().await;
    other.run("set lock_timeout = '3s'").await;
    let enforcer = database.session().await;
    // The read below may be using t1 when it is tried.
    let all_others = (MANY - 1).to_string();
    let enforce = async { while enforcer.text("select keyed.enforce_grants()", &[]).await != all_others {} };
    let look = async {
        while left(&administrator).await.split(' ').any(|table| table == "t1") {
            other.rows("select count(*) from many.t1", &[]).await;
        }
    };
    tokio::join!(enforce, look);
    reader.run("rollback").await;
}

#[tokio::test]
async fn pending_policy_blocks_no_role_whose_scope_uses_a_locked_template() {
    let database = Database::with_crm().await;
    let administrator = database.session().await;
    let (clerk, other) = (database.create_role("clerk").await, database.create_role("other").await);
    database.grant(&clerk, "crm.customers", "read").await;
    let reader = database.session().await;
    reader.run("begin; select from crm.customers").await;
    let scope = serde_json::json!({"field": "company.name", "operator": "eq", "value": "Acme"});
    database.grant_within(&clerk, "crm.customers", "read", &scope).await;
    reader.run("rollback; begin; lock table crm.companies in access exclusive mode").await;
    // A statement that waits for the table fails here.
    administrator.run("set statement_timeout = '5s'").await;
    assert_eq!(administrator.text("select keyed.enforce_grants()", &[]).await, "1");
    administrator.run("set lock_timeout = '400ms'").await;
    let grant = format!("select keyed.grant_access('{other}', 'crm.customers', '{{read}}')");
    let error = administrator.error(&grant, &[]).await;
    assert_eq!(error.codes(), ("55P03", "unavailable"), "{error}");
    assert!(error.hint.contains("pg_stat_activity"), "{error}");
    reader.run("rollback").await;
    administrator.run(&grant).await;
    assert_eq!(administrator.text("select keyed.enforce_grants()", &[]).await, "0");
}
