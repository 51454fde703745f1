//! Cursors of the change feed: which remain valid, and which expire.

use super::{all, next, now, operations_and_keys, page};
use harness::{Database, Session, companies};

async fn is_rejected(session: &Session, cursor: &str) -> bool {
    let error = session.error("select keyed.changes('crm', after => $1)", &[cursor]).await;
    assert_eq!(error.pointers(), ["/after"], "{error}");
    match error.codes() {
        ("22023", "invalid_value") => false,
        ("24000", "resync_required") => true,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn forged_cursor_is_rejected() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let cursor = now(&session).await;
    let mut changed = cursor.clone();
    changed.replace_range(40..41, if &cursor[40..41] == "A" { "B" } else { "A" });
    for forged in [
        "",
        "Start",
        "v12",
        "%",
        &changed,
        &cursor[..cursor.len() - 4],
        &format!("{cursor}AAAA"),
        &cursor.repeat(100),
    ] {
        assert!(!is_rejected(&session, forged).await, "{forged}");
    }
    // A cursor signed by another database.
    let elsewhere = Database::with_crm().await;
    elsewhere.session().await.run("update keyed_state.change_secret set secret = sha256('another')").await;
    assert!(!is_rejected(&elsewhere.session().await, &cursor).await);
}

#[tokio::test]
async fn cursor_belongs_to_one_project_or_template() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("select keyed.create_project('other', 'Other')").await;
    let of_project = now(&session).await;
    let of_other = next(&session.json("select keyed.changes('other')", &[]).await);
    let of_template = next(&session.json("select keyed.changes('crm', 'crm.customers')", &[]).await);
    assert!(!is_rejected(&session, &of_other).await && !is_rejected(&session, &of_template).await);
    page(&session, &of_project, 1).await;
}

#[tokio::test]
async fn changed_grants_end_a_cursor() {
    let database = Database::with_crm().await;
    let admin = database.session().await;
    let role = database.create_role("reader").await;
    admin.run(&format!("grant usage on schema crm to {role}")).await;
    let grant =
        |scope: &str| format!("select keyed.grant_access('{role}', 'crm.customers', '{{read}}', {scope})");
    admin.run(&grant("null")).await;
    let on_companies = format!("select keyed.grant_access('{role}', 'crm.companies', '{{read}}')");
    admin.run(&on_companies).await;
    let reader = database.session_as(&role).await;
    for change in [
        grant(r#"'{"filters": [{"field": "visits", "operator": "gt", "value": 1}]}'"#),
        grant(r#"'{"filters": [{"field": "visits", "operator": "gt", "value": 2}]}'"#),
        grant("null"),
        format!("select keyed.revoke_access('{role}', 'crm.companies')"),
        on_companies,
        "select keyed.drop_template('crm.companies')".to_owned(),
    ] {
        let cursor = now(&reader).await;
        page(&reader, &cursor, 1).await;
        if change.contains("drop_template") {
            admin.run("select keyed.drop_attribute('crm.customers', 'company')").await;
            page(&reader, &cursor, 1).await;
        }
        admin.run(&change).await;
        assert!(is_rejected(&reader, &cursor).await, "{change}");
    }
    admin.run(&format!("select keyed.revoke_access('{role}', 'crm.customers')")).await;
    assert_eq!(reader.error("select keyed.changes('crm')", &[]).await.codes().0, "42501");
}

#[tokio::test]
async fn new_templates_and_names_keep_a_cursor_valid() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let cursor = now(&session).await;
    session
        .run(
            "select keyed.create_template('crm', 'orders', '[{\"slug\": \"total\", \"type\": \"number\"}]');
             insert into crm.orders (external_key) values ('O')",
        )
        .await;
    session
        .run(
            "select keyed.alter_attribute('crm.customers', 'name', '{\"slug\": \"full_name\"}');
             insert into crm.customers (external_key, full_name) values ('C', 'Ada')",
        )
        .await;
    assert_eq!(operations_and_keys(&all(&session, &cursor, 1).await.0), ["create O", "create C"]);
}

#[tokio::test]
async fn cursors_expire_when_the_generation_row_is_restored() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("insert into crm.companies (external_key, name) values ('one', '1')").await;
    let cursor = now(&session).await;
    // As after a restore in place: the row exists, but another transaction has written it.
    session
        .run(
            "create temporary table saved as select * from keyed_state.change_generation;
             truncate keyed_state.change_generation;
             insert into keyed_state.change_generation select * from saved",
        )
        .await;
    assert!(is_rejected(&session, &cursor).await);
    let (changes, fresh) = all(&session, "start", 10).await;
    assert_eq!(operations_and_keys(&changes), ["create one"]);
    session.run("insert into crm.companies (external_key, name) values ('two', '2')").await;
    assert_eq!(operations_and_keys(&all(&session, &fresh, 10).await.0), ["create two"]);
    assert!(is_rejected(&session, &cursor).await);
    session.run("select keyed.continue_changes()").await;
    assert_eq!(operations_and_keys(&all(&session, &cursor, 10).await.0), ["create two"]);
    let positions = format!("select count(distinct position >> 48) from {}", companies::HISTORY);
    assert_eq!(session.text(&positions, &[]).await, "2");
}
