//! The feed of a caller with a scope.

use super::{all, now, operations_and_keys};
use harness::{Database, Session};

/// A database with a role that can read customers with more than five visits; sessions of the owner and of the role.
async fn with_reader(scope: &str) -> (Database, Session, Session) {
    let database = Database::with_crm().await;
    let admin = database.session().await;
    let reader = grant(&database, &admin, "reader", scope).await;
    (database, admin, reader)
}

/// A session of a new role with that scope.
async fn grant(database: &Database, admin: &Session, name: &str, scope: &str) -> Session {
    let role = database.create_role(name).await;
    admin.run(&format!("grant usage on schema crm to {role}")).await;
    admin.rows("select keyed.grant_access($1, 'crm.customers', '{read}', $2)", &[&role, scope]).await;
    database.session_as(&role).await
}

const VISITS: &str = r#"{"filters": [{"field": "visits", "operator": "gt", "value": 5}]}"#;

#[tokio::test]
async fn only_a_record_that_was_in_the_scope_is_reported_gone() {
    let (_database, admin, reader) = with_reader(VISITS).await;
    let start = now(&reader).await;
    admin
        .run(
            "insert into crm.customers (external_key, visits) values ('in', 9), ('out', 1), ('leaves', 9), ('enters', 1);
             update crm.customers set visits = 2 where external_key in ('leaves', 'out');
             update crm.customers set name = 'Ada' where external_key = 'leaves';
             update crm.customers set visits = 7 where external_key = 'enters';
             insert into crm.companies (name) values ('unseen')",
        )
        .await;
    let (changes, _) = all(&reader, &start, 2).await;
    let mut reported = operations_and_keys(&changes);
    reported.sort();
    assert_eq!(reported, ["create enters", "create in", "gone -", "update enters"]);
    let leaves = admin.text("select id from crm.customers where external_key = 'leaves'", &[]).await;
    let gone = changes.iter().find(|it| it["operation"] == "gone").expect("the record that left the scope");
    assert_eq!(gone["id"], leaves);
    assert!(!gone.to_string().contains("leaves"), "{gone}");
}

#[tokio::test]
async fn deletion_is_reported_to_callers_that_could_read_the_record() {
    let (_database, admin, reader) = with_reader(VISITS).await;
    let start = now(&reader).await;
    admin
        .run(
            "insert into crm.customers (external_key, visits) values ('in', 9), ('out', 1), ('both', 9);
             update crm.customers set deleted_at = now() where external_key in ('in', 'out');
             update crm.customers set visits = 0, deleted_at = now() where external_key = 'both';
             update crm.customers set visits = 1 where _released_key = 'in'",
        )
        .await;
    let mut reported = operations_and_keys(&all(&reader, &start, 100).await.0);
    reported.sort();
    // Later changes moved the deleted record out of the scope, so only the deletion is reported.
    assert_eq!(reported, ["delete both", "delete in", "gone -"]);
    admin.run("delete from crm.customers where _released_key = 'in'").await;
}

#[tokio::test]
async fn scope_on_keys_follows_changed_keys() {
    let scope = r#"{"filters": [{"field": "external_key", "operator": "like", "value": "erp:"}]}"#;
    let (_database, admin, reader) = with_reader(scope).await;
    let start = now(&reader).await;
    admin
        .run(
            "insert into crm.customers (external_key) values ('erp:1'), ('shop:1'), ('erp:2');
             update crm.customers set external_key = 'shop:2' where external_key = 'erp:2';
             update crm.customers set external_key = 'erp:3' where external_key = 'shop:1'",
        )
        .await;
    let mut reported = operations_and_keys(&all(&reader, &start, 100).await.0);
    reported.sort();
    assert_eq!(reported, ["create erp:1", "create shop:1", "gone -", "update erp:3"]);
}

#[tokio::test]
async fn past_value_of_another_type_does_not_stop_the_feed() {
    let (database, admin, _) = with_reader(VISITS).await;
    admin
        .run(
            r#"select keyed.add_attribute('crm.customers', '{"slug": "code", "type": "string"}');
               insert into crm.customers (external_key, code) values ('a', 'not a number');
               update crm.customers set code = 'x';
               select keyed.drop_attribute('crm.customers', 'code');
               select keyed.add_attribute('crm.customers', '{"slug": "code", "type": "number"}');
               update crm.customers set code = 7;
               update crm.customers set code = 1"#,
        )
        .await;
    let scope = r#"{"filters": [{"field": "code", "operator": "gt", "value": 5}]}"#;
    let other = grant(&database, &admin, "other", scope).await;
    assert_eq!(operations_and_keys(&all(&other, "start", 100).await.0), ["gone -"]);
}

#[tokio::test]
async fn cursor_advances_over_pages_without_visible_changes() {
    let (_database, admin, reader) = with_reader(VISITS).await;
    let start = now(&reader).await;
    admin.run("insert into crm.customers (visits) select 0 from generate_series(1, 20500)").await;
    let first = super::page(&reader, &start, 100).await;
    assert_eq!((first["changes"].as_array().map(Vec::len), &first["has_more"]), (Some(0), &true.into()));
    admin.run("insert into crm.customers (external_key, visits) values ('seen', 6)").await;
    assert_eq!(operations_and_keys(&all(&reader, &super::next(&first), 100).await.0), ["create seen"]);
    // A page of one entry reads this many invisible changes in one call.
    admin.run("insert into crm.customers (external_key, visits) values ('other', 7)").await;
    assert_eq!(operations_and_keys(&all(&reader, &start, 1).await.0), ["create seen", "create other"]);
}
