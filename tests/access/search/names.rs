//! Displays of invisible records that visible ones reference.

use crate::sales::{Sales, found, of_region};
use harness::Session;
use serde_json::{Value, json};

/// A role that can read all customers, and of the companies only Acme.
async fn with_clerk() -> (Sales, Session) {
    let sales = Sales::new().await;
    let (role, session) = sales.member().await;
    sales.database.grant(&role, "crm.customers", "read, update").await;
    sales.database.grant_within(&role, "crm.companies", "read", &of_region("EU")).await;
    (sales, session)
}

async fn search(session: &Session, query: Value) -> Value {
    session.json("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await
}

fn tells(response: &Value) -> (bool, bool) {
    let text = response.to_string();
    assert!(!text.contains("C-US"), "{text}");
    (text.contains("Acme"), text.contains("Globex"))
}

#[tokio::test]
async fn verbose_and_facets_hide_unreadable_targets() {
    let (sales, session) = with_clerk().await;
    let all = search(&session, json!({"verbose": true, "facets": ["company"]})).await;
    assert_eq!(tells(&all), (true, false), "{all}");
    for (key, expected) in [("EU-1", (true, false)), ("US-1", (false, false))] {
        let record =
            session.json("select keyed.get_record($1, verbose => true)", &[&sales.id(key).await]).await;
        assert_eq!(tells(&record), expected, "{record}");
        let record =
            session.json("select keyed.get_by_key('crm.customers', $1, verbose => true)", &[key]).await;
        assert_eq!(tells(&record), expected, "{record}");
    }
}

#[tokio::test]
async fn text_search_finds_no_unreadable_targets() {
    let (_sales, session) = with_clerk().await;
    assert_eq!(found(&session, json!({"global_search": "acme"})).await, "EU-1 EU-2");
    for words in ["Globex", "globe", "lobex gold", "\"Globex\"", "Customer Globex"] {
        assert_eq!(found(&session, json!({"global_search": words})).await, "", "{words}");
    }
    let without = json!({"global_search": "customer -globex"});
    assert_eq!(found(&session, without).await, "EU-1 EU-2 US-1 US-2", "nor do they exclude records");
}

#[tokio::test]
async fn sort_ignores_unreadable_targets() {
    let (sales, session) = with_clerk().await;
    let add = "select keyed.upsert_by_key('crm.companies', $1, $2)";
    let order = async |field: &str| {
        let ids = search(&session, json!({"sort": [{"field": field}], "fields": ["id"]})).await;
        let ids = ids["records"].as_array().expect("records").iter().map(|record| record["id"].to_string());
        ids.collect::<Vec<_>>()
    };
    for (first, second) in [("A", "Z"), ("Z", "A")] {
        for (key, customer, name) in [("C-1", "US-1", first), ("C-2", "US-2", second)] {
            let attributes = json!({"name": name, "region": "US"}).to_string();
            sales.admin.rows(add, &[key, &attributes]).await;
            let company = json!({"company": {"external_key": key}}).to_string();
            let upsert = "select keyed.upsert_by_key('crm.customers', $1, $2)";
            sales.admin.rows(upsert, &[customer, &company]).await;
        }
        let mut by_id = [sales.id("US-1").await, sales.id("US-2").await].map(|id| json!(id).to_string());
        by_id.sort();
        for field in ["company", "company.name", "company.external_key", "company.created_at"] {
            assert_eq!(order(field).await[2..], by_id, "{field}: invisible ones come last, by id");
        }
    }
}

#[tokio::test]
async fn conditions_treat_unreadable_targets_as_missing() {
    let (sales, session) = with_clerk().await;
    for (field, operator, value, expected) in [
        ("company.name", "eq", json!("Globex"), ""),
        ("company.name", "not-empty", Value::Null, "EU-1 EU-2"),
        ("company.name", "empty", Value::Null, "US-1 US-2"),
        ("company.name", "neq", json!("Globex"), "EU-1 EU-2 US-1 US-2"),
        ("company.external_key", "eq", json!("C-US"), ""),
        ("company", "eq", json!({"external_key": "C-US"}), ""),
        ("company", "neq", json!({"external_key": "C-US"}), "EU-1 EU-2 US-1 US-2"),
        ("company", "eq", json!({"external_key": "C-EU"}), "EU-1 EU-2"),
    ] {
        let condition = json!({"field": field, "operator": operator, "value": value});
        assert_eq!(found(&session, json!({"filters": [condition]})).await, expected, "{condition}");
        let sql = session
            .text(
                "select keyed.filter_sql('crm.customers', $1)",
                &[&json!({"filters": [condition]}).to_string()],
            )
            .await;
        let select = format!(
            "select coalesce(string_agg(external_key, ' ' order by external_key), '') from crm.customers t where {sql}"
        );
        assert_eq!(session.text(&select, &[]).await, expected, "{sql}");
    }
    drop(sales);
}

#[tokio::test]
async fn conditions_on_an_unreadable_template_are_rejected() {
    let sales = Sales::new().await;
    let (role, session) = sales.member().await;
    sales.database.grant(&role, "crm.customers", "read").await;
    for query in [
        json!({"filters": [{"field": "company.name", "operator": "eq", "value": "Globex"}]}),
        json!({"sort": "company.name"}),
    ] {
        let error = session.error("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await;
        assert!(["22023", "42501"].contains(&error.state.as_str()), "{error}");
        assert!(!format!("{error:?}").contains("Globex\""), "{error:?}");
    }
}

#[tokio::test]
async fn template_without_privileges_is_indistinguishable_from_a_missing_one() {
    let sales = Sales::new().await;
    let (role, clerk) = sales.clerk("read", &of_region("EU")).await;
    let hidden = sales.admin.text("select id from crm.companies limit 1", &[]).await;
    let proxy = sales.database.session_as("keyed_proxy").await;
    for projects in [&["crm"][..], &[]] {
        let key = sales.database.api_key(&role, projects).await;
        for call in [
            "keyed_http.get_template('1')",
            "keyed_http.get_template('companies')",
            "keyed_http.create_record('1', '{}')",
            "keyed_http.get_by_key('companies', 'C-EU', null, false)",
            "keyed_http.search('1', '{}')",
            "keyed_http.list_views('1')",
            &format!("keyed_http.get_record('{hidden}', null, false, false)"),
            &format!("keyed_http.delete_record('{hidden}')"),
            &format!("keyed_http.history('{hidden}', null, null)"),
        ] {
            let ask = |call: &str| {
                let key = harness::quote(&key);
                format!("select {call} from keyed.authenticate(sha256({key}::bytea), 'crm')")
            };
            let error = proxy.error(&ask(call), &[]).await;
            let missing = call.replace("'1'", "'99'").replace("companies", "missing");
            let missing = proxy.error(&ask(&missing.replace(&hidden[..8], "00000000")), &[]).await;
            assert_eq!(error, missing, "{call}");
            assert_eq!(error.codes(), ("P0002", "not_found"), "{call}");
        }
        // A template with any privilege is visible.
        let known = format!(
            "select keyed_http.create_record('2', '{{}}') from keyed.authenticate(sha256({}::bytea))",
            harness::quote(&key)
        );
        assert_eq!(proxy.error(&known, &[]).await.codes(), ("42501", "forbidden"));
    }
    // A login finds every table in the catalog.
    let error = clerk.error("select keyed.create_record('crm.companies')", &[]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"));
}

#[tokio::test]
async fn errors_of_definitions_disclose_nothing_hidden() {
    let sales = Sales::new().await;
    let (definer, session) = sales.member().await;
    sales.database.grant(&definer, "crm.customers", "define").await;
    let (reader, reads) = sales.member().await;
    sales.database.grant(&reader, "crm.customers", "define, read").await;
    let (scoped, sees_some) = sales.member().await;
    sales.database.grant(&scoped, "crm.customers", "define").await;
    sales.database.grant_within(&scoped, "crm.customers", "read", &of_region("EU")).await;
    sales.admin.run("select keyed.save_view('crm.companies', 'behind', '{}')").await;

    let narrow = "select keyed.alter_attribute('crm.customers', 'tier', '{\"options\": [\"silver\"]}')";
    for (session, is_disclosed) in
        [(&session, false), (&sees_some, false), (&reads, true), (&sales.admin, true)]
    {
        let error = session.error(narrow, &[]).await;
        assert_eq!(error.codes(), ("23505", "conflict"));
        let text = format!("{error} {}", error.hint);
        assert_eq!((text.contains("gold"), text.contains('4')), (is_disclosed, is_disclosed), "{text}");
    }
    let drop = "select keyed.drop_attribute('crm.customers', 'region')";
    for (session, is_disclosed) in [(&session, false), (&reads, false), (&sales.admin, true)] {
        let error = session.error(drop, &[]).await;
        assert_eq!(error.codes(), ("23505", "conflict"));
        assert_eq!(error.message.contains(&scoped), is_disclosed, "{error}");
    }
    let point = r#"select keyed.add_attribute('crm.customers', '{"slug": "x", "type": "reference", "template": "companies"}')"#;
    let missing = session.error(&point.replace("companies", "nothing"), &[]).await;
    let hidden = session.error(point, &[]).await;
    assert_eq!(hidden.message, missing.message.replace("nothing", "companies"));
}

#[tokio::test]
async fn blocking_object_of_another_owner_is_reported() {
    let sales = Sales::new().await;
    let reader = sales.european("read").await;
    let login = reader.text("select current_user", &[]).await;
    reader.run("create temporary view mine as select name from crm.customers").await;
    let error = sales.admin.error("select keyed.drop_attribute('crm.customers', 'name')", &[]).await;
    assert_eq!(error.codes(), ("23505", "conflict"));
    assert!(error.message.contains(&format!(".mine of {login}")), "{error}");
    reader
        .run("drop view mine; create temporary table kept (a int, c crm.customers, d crm.customers[])")
        .await;
    let add = "select keyed.add_attribute('crm.customers', '{\"slug\": \"more\", \"type\": \"string\", \"default\": \"x\"}')";
    for statement in [add, "select keyed.drop_template('crm.customers', true)"] {
        let error = sales.admin.error(statement, &[]).await;
        assert_eq!(error.codes(), ("23505", "conflict"), "{statement}: {error}");
        assert!(error.message.contains("kept") && error.message.contains(&login), "{error}");
    }
    reader.run("drop table kept").await;
    sales.admin.run(add).await;
}

#[tokio::test]
async fn scoped_caller_gets_no_plan() {
    let sales = Sales::new().await;
    let session = sales.european("read").await;
    let (reader, reads) = sales.member().await;
    sales.database.grant(&reader, "crm.customers", "read").await;
    for query in [
        json!({"filters": [{"field": "amount", "operator": "gt", "value": 0}]}),
        json!({"global_search": "customer"}),
        json!({"global_search": "customer", "filters": [{"field": "amount", "operator": "lt", "value": 0}], "fuzzy": "auto"}),
    ] {
        let explain = "select keyed.explain('crm.customers', $1)";
        let scoped = session.text(explain, &[&query.to_string()]).await;
        for reported in ["Scan", "rows=", "Every row", "records hold"] {
            assert!(!scoped.contains(reported), "{query}: {scoped}");
        }
    }
    let whole = reads.text("select keyed.explain('crm.customers')", &[]).await;
    assert!(whole.contains("rows="), "{whole}");
}

#[tokio::test]
async fn explain_discloses_no_term_frequency_to_scoped_callers() {
    let sales = Sales::new().await;
    let session = sales.european("read").await;
    let hidden = "insert into crm.customers (external_key, name, region) select 'H-' || n, 'frequent', 'US' from generate_series(1, 31000) n";
    sales.admin.run(hidden).await;
    sales.admin.run("analyze crm.customers").await;
    for mut query in [
        json!({"facets": ["region"]}),
        json!({"count": "exact", "sort": "name"}),
        json!({"filters": [{"field": "amount", "operator": "gt", "value": 0}], "count": "exact", "facets": ["region"]}),
        json!({"fuzzy": "auto", "facets": ["name"]}),
    ] {
        let mut explained = Vec::new();
        for word in ["frequent", "nothing"] {
            query["global_search"] = json!(word);
            explained
                .push(session.text("select keyed.explain('crm.customers', $1)", &[&query.to_string()]).await);
        }
        assert_eq!(explained[0], explained[1], "{query}");
    }
}
