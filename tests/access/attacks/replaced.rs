//! Objects that a login can replace between two calls of a function that runs as the owner.

use crate::sales::Sales;
use harness::Session;

const OPEN: &str = "select keyed_http.export_open('2', 'csv', '{\"sort\": \"external_key\"}')";
const NEXT: &str = "select keyed_http.export_next()";

/// Fails with the name of the role that runs it.
const SPY: &str = "create function pg_temp.spy() returns boolean language plpgsql as
  $$ begin raise exception 'the spy runs as %', current_user; end $$";

async fn reader(sales: &Sales) -> Session {
    let session = sales.european("read").await;
    session.run(SPY).await;
    session
}

#[tokio::test]
async fn cursor_of_the_owner_cannot_be_replaced() {
    let sales = Sales::new().await;
    let session = reader(&sales).await;
    session.run("begin").await;
    session.rows(OPEN, &[]).await;
    assert_eq!(
        session.text("select count(*) from pg_cursors where name not like '%pg_cursors%'", &[]).await,
        "0"
    );
    for number in 1..=5 {
        let name = format!("\"<unnamed portal {number}>\"");
        session.run("savepoint s").await;
        let error = session.error(&format!("close {name}"), &[]).await;
        assert_eq!(error.state, "34000", "{name}: {error}");
        session.run("rollback to s").await;
        session.run(&format!("declare {name} cursor for select 1 where pg_temp.spy()")).await;
    }
    let chunk = session.text(NEXT, &[]).await;
    assert!(chunk.contains("EU-1") && chunk.contains("EU-2") && !chunk.contains("US-"), "{chunk}");
    session.run("commit").await;
}

#[tokio::test]
async fn export_with_a_closed_cursor_fails() {
    let sales = Sales::new().await;
    let session = reader(&sales).await;
    for closing in ["close all", "rollback to before"] {
        session.run("begin; savepoint before").await;
        session.rows(OPEN, &[]).await;
        session.run(closing).await;
        for number in 1..=3 {
            let name = format!("\"<unnamed portal {number}>\"");
            session.run(&format!("declare {name} cursor for select 1 where pg_temp.spy()")).await;
        }
        let error = session.error(NEXT, &[]).await;
        assert_eq!(error.state, "22023", "{closing}: {error}");
        assert!(error.to_string().contains("was closed before its end"), "{closing}: {error}");
        session.run("rollback").await;
    }
}

#[tokio::test]
async fn only_the_role_that_opened_an_export_can_continue_it() {
    let sales = Sales::new().await;
    let session = reader(&sales).await;
    let login = session.text("select current_user", &[]).await;
    let other = sales.database.create_role("other").await;
    sales.admin.run(&format!("grant {other} to {login}")).await;
    session.run("begin").await;
    session.rows(OPEN, &[]).await;
    session.run(&format!("set local role {other}")).await;
    let error = session.error(NEXT, &[]).await;
    assert_eq!(error.state, "22023", "{error}");
    session.run("rollback").await;
}
