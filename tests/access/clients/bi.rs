//! BI tools find the tables of a project, and read only the records of their login, whatever statements they send.

use harness::bi::{Statement, Visibility, fill, introspection, statements};
use harness::{Database, Rows, Session};

const ORDERS: u32 = 4000;

async fn orders() -> (Database, Session) {
    let database = Database::new().await;
    let admin = database.session().await;
    fill(&admin, ORDERS).await;
    (database, admin)
}

/// The rows of a result, sorted, because few statements have ORDER BY.
async fn result(session: &Session, sql: &str) -> Rows {
    let mut rows = session.rows(sql, &[]).await;
    rows.sort();
    rows
}

#[tokio::test]
async fn bi_tool_reads_exactly_its_scope() {
    let (database, admin) = orders().await;
    for visibility in [Visibility::Scoped, Visibility::All] {
        let mut expected = Vec::new();
        for statement in statements() {
            let rows = result(&admin, &statement.by_hand(visibility)).await;
            assert!(!rows.is_empty(), "{} finds nothing", statement.name);
            expected.push((statement, rows));
        }
        let login = visibility.login(&database).await;
        for paths in ["on", "off"] {
            admin.run(&format!("alter role {login} set keyed.policy_paths = {paths}")).await;
            let session = database.session_as(&login).await;
            // The first evaluation of a policy loads the library.
            session.run("select from crm.orders limit 1").await;
            assert_eq!(session.text("show keyed.policy_paths", &[]).await, paths);
            for planner in ["on", "off"] {
                session.run(&format!("set enable_seqscan = {planner}")).await;
                for (Statement { name, sql }, rows) in &expected {
                    let found = result(&session, sql).await;
                    assert_eq!(
                        &found, rows,
                        "{name}: {visibility:?}, paths {paths}, enable_seqscan {planner}"
                    );
                }
            }
        }
    }
}

/// Names that the results of these statements contain, by the purpose of the statement.
const EXPECTED_NAMES: [(&str, &[&str]); 3] = [
    ("tables", &["orders", "customers"]),
    ("columns", &["external_key", "title", "price", "quantity", "bought", "shipped", "tags", "customer"]),
    ("foreign keys", &["orders", "customer", "customers", "id"]),
];

#[tokio::test]
async fn bi_tool_finds_tables_columns_comments_and_foreign_keys() {
    let (database, _admin) = orders().await;
    let login = Visibility::Scoped.login(&database).await;
    let session = database.session_as(&login).await;
    let mut reported = 0;
    for Statement { name, sql } in introspection() {
        let rows = session.rows(sql, &[]).await;
        let has = |text: &str| rows.iter().flatten().flatten().any(|value| value == text);
        for (purpose, strings) in EXPECTED_NAMES {
            if name.split(": ").nth(1).is_some_and(|it| it.starts_with(purpose)) {
                reported += 1;
                for text in strings {
                    assert!(has(text), "{name} does not return {text}: {rows:?}");
                }
            }
        }
        if name.ends_with("comments") {
            assert!(
                has("Name of the company") && has("What was ordered"),
                "{name} returns no comment: {rows:?}"
            );
        }
    }
    assert!(reported >= 9, "{reported}");
}
