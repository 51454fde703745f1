//! The log of slow statements: statement, duration and plan, but no value.

use harness::{Database, Session, quote, until};

/// The lines that a session's statements leave in the server's log, all of which name this template.
async fn logged(database: &Database, template: &str) -> Vec<String> {
    let lines = || {
        let log = database.cluster().log();
        let lines = log.lines().filter(|line| line.contains("slow statement of") && line.contains(template));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    until("the server logs it", async || !lines().is_empty()).await;
    lines()
}

/// A template with a name that no other test uses.
async fn template(name: &str) -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let create = "select keyed.create_template('crm', $1, '[{\"slug\": \"title\", \"type\": \"string\", \"indexed\": true}, {\"slug\": \"size\", \"type\": \"number\"}]')";
    session.rows(create, &[name]).await;
    (database, session)
}

#[tokio::test]
async fn slow_statement_is_logged_without_values() {
    let (database, session) = template("slow_parcels").await;
    session.run("set application_name = 'keyed-proxy'; set keyed.log_slow_statements = 0").await;
    session
        .run(
            "select keyed.create_record('crm.slow_parcels', '{\"title\": \"secret-title\", \"size\": 4711}')",
        )
        .await;
    let search = "select keyed.search('crm.slow_parcels', '{\"filters\": [{\"field\": \"title\", \"operator\": \"eq\", \"value\": \"secret-title\"}, {\"field\": \"size\", \"operator\": \"gt\", \"value\": 4710}]}')";
    let key = database.api_key("keyed_admin", &[]).await;
    // As the proxy does: one transaction for a request, with its id after the source.
    let authenticate =
        format!("select keyed.authenticate(sha256({}::bytea), 'crm', 'api 7d0c-99')", quote(&key));
    session.run(&format!("begin; {authenticate}; {search}; commit; {search}")).await;
    let lines = logged(&database, "slow_parcels").await;
    let found = lines.iter().find(|line| line.contains("slow statement of keyed.search: "));
    let found = found.unwrap_or_else(|| panic!("no search in {lines:?}"));
    assert!(found.contains(" ms, 1 rows, request 7d0c-99, plan: "), "{found}");
    let last = lines.last().expect("a line");
    assert!(!last.contains("request"), "the next transaction is of no request: {last}");
    assert!(found.contains("Scan on crm.slow_parcels") || found.contains(" on crm.slow_parcels"), "{found}");
    assert!(lines.iter().any(|line| line.contains("ModifyTable on crm.slow_parcels")), "{lines:?}");
    let log = database.cluster().log();
    for value in ["secret-title", "4711", "4710"] {
        assert!(!log.lines().any(|line| line.contains("slow") && line.contains(value)), "{value}");
    }
    // Nor the text after the line.
    assert!(!log.contains("secret-title"), "the statement or its context is in the log");
}

#[tokio::test]
async fn fast_statements_and_direct_sql_are_not_logged() {
    let (database, session) = template("fast_parcels").await;
    let search = "select keyed.search('crm.fast_parcels', '{\"sort\": \"size\"}')";
    // Switched off; above the duration of any statement; direct SQL.
    session.rows(search, &[]).await;
    session.run("set keyed.log_slow_statements = '1h'").await;
    session.rows(search, &[]).await;
    session.run("set keyed.log_slow_statements = 0; select * from crm.fast_parcels; set keyed.log_slow_statements = -1").await;
    session.rows(search, &[]).await;
    session.run("set keyed.log_slow_statements = 0; set application_name = 'psql'").await;
    session.rows(search, &[]).await;
    let first = logged(&database, "on crm.fast_parcels").await;
    assert!(
        first.iter().all(|line| line.contains("of keyed.search: ") && !line.contains("request")),
        "{first:?}"
    );
    // As many lines as another search writes: the searches before wrote none.
    session.rows(search, &[]).await;
    let count = async || logged(&database, "on crm.fast_parcels").await.len();
    until("the server logs the second", async || count().await >= 2 * first.len()).await;
    assert_eq!(count().await, 2 * first.len());
}

#[tokio::test]
async fn only_superusers_switch_the_log_of_slow_statements() {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    let session = database.session_as(&role).await;
    session.run("select keyed.library_version()").await;
    assert_eq!(session.error("set keyed.log_slow_statements = 0", &[]).await.state, "42501");
}
