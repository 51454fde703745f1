//! Words find records by the display values of their references.

use super::words::{crm, found, upsert};
use harness::{companies, customers::DOCUMENTS};
use serde_json::json;

#[tokio::test]
async fn renamed_target_is_found_immediately() {
    let (_database, session) = crm().await;
    session.run(r#"select keyed.upsert_by_key('crm.companies', 'C-1', '{"name": "Müller & Söhne"}')"#).await;
    upsert(&session, "1", json!({"name": "Ada", "company": {"external_key": "C-1"}})).await;
    upsert(&session, "2", json!({"name": "Ada Muller"})).await;
    upsert(&session, "3", json!({"name": "Grace"})).await;
    for (query, keys) in [
        ("muller", "2 1"),
        ("uell", ""),
        ("\"muller & sohne\"", "1"),
        ("ada sohne", "1"),
        ("grace sohne", ""),
        ("ada -sohne", "2"),
        ("-muller", "3"),
        ("so", "1"),
        ("C-1", ""),
    ] {
        assert_eq!(found(&session, query).await, keys, "{query}");
    }
    let before = session.text(&format!("select xmin from {DOCUMENTS} order by record_id limit 1"), &[]).await;
    session.run(r#"select keyed.upsert_by_key('crm.companies', 'C-1', '{"name": "Schmidt"}')"#).await;
    assert_eq!(
        (found(&session, "muller").await, found(&session, "schmidts").await),
        ("2".into(), "1".into())
    );
    assert_eq!(
        session.text(&format!("select xmin from {DOCUMENTS} order by record_id limit 1"), &[]).await,
        before
    );
    session.run("select keyed.delete_record(id) from crm.companies").await;
    assert_eq!(found(&session, "schmidt").await, "");
}

#[tokio::test]
async fn reference_is_found_by_its_display() {
    let (_database, session) = crm().await;
    session
        .run(
            r#"select keyed.add_attribute('crm.companies', '{"slug": "city", "type": "string"}');
               select keyed.add_attribute('crm.companies', '{"slug": "size", "type": "number"}');
               select keyed.upsert_by_key('crm.companies', 'C-1', '{"name": "Acme", "city": "Bern", "size": 4711}')"#,
        )
        .await;
    upsert(&session, "1", json!({"name": "Ada", "company": {"external_key": "C-1"}})).await;
    for (display, shown) in
        [(json!(null), "acme"), (json!("city"), "bern"), (json!("size"), "4711"), (json!("name"), "acme")]
    {
        let change = json!({"display": display}).to_string();
        session.rows("select keyed.alter_template('crm.companies', $1)", &[&change]).await;
        for query in ["acme", "bern", "4711"] {
            assert_eq!(
                found(&session, query).await,
                if query == shown { "1" } else { "" },
                "{display} {query}"
            );
        }
    }
    session
        .run(
            "select keyed.create_template('crm', 'tokens'); select keyed.upsert_by_key('crm.tokens', 'T-77')",
        )
        .await;
    session.run(r#"select keyed.add_attribute('crm.customers', '{"slug": "token", "type": "reference", "template": "tokens"}')"#).await;
    upsert(&session, "1", json!({"token": {"external_key": "T-77"}})).await;
    assert_eq!(found(&session, "t-77").await, "1");
}

#[tokio::test]
async fn invisible_displays_are_not_searched() {
    let (database, session) = crm().await;
    session.run(r#"select keyed.upsert_by_key('crm.companies', 'C-1', '{"name": "Acme"}')"#).await;
    upsert(&session, "1", json!({"name": "Ada", "company": {"external_key": "C-1"}})).await;
    let role = database.create_role("clerk").await;
    let clerk = database.session_as(&role).await;
    let error =
        clerk.error("select keyed.search('crm.customers', '{\"global_search\": \"ada\"}')", &[]).await;
    assert_eq!(error.state, "42501");
    database.grant(&role, "crm.customers", "read").await;
    assert_eq!((found(&clerk, "ada").await, found(&clerk, "acme").await), ("1".into(), String::new()));
    assert_eq!(found(&clerk, "-acme").await, "1");
    assert_eq!(clerk.error(&format!("select from {DOCUMENTS}"), &[]).await.state, "42501");
    database.grant(&role, "crm.companies", "read").await;
    assert_eq!((found(&clerk, "acme").await, found(&clerk, "-acme").await), ("1".into(), String::new()));
}

#[tokio::test]
async fn explain_reports_full_reads_of_displays() {
    let (_database, session) = crm().await;
    session
        .run("insert into crm.companies (name) select 'Company ' || md5(n::text) from generate_series(1, 5000) n")
        .await;
    session.run(&format!("vacuum analyze {}", companies::DOCUMENTS)).await;
    for (word, is_read) in [("company", true), ("abcdef", false)] {
        let query = json!({"global_search": word}).to_string();
        let how = session.text("select keyed.explain('crm.customers', $1)", &[&query]).await;
        assert_eq!(
            how.contains(&format!("t.\"company\" can refer to are scanned for names with {word}.")),
            is_read,
            "{how}"
        );
    }
}
