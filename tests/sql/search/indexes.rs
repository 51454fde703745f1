//! `indexed`: filters and sorts on the attribute use its index, as the planner chooses it.

use harness::{Database, Session};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

pub(super) const TEMPLATE: &str = r#"
    select keyed.create_project('crm');
    select keyed.create_template('crm', 'companies', '[{"slug": "name", "type": "string"}]');
    select keyed.create_template('crm', 'customers', '[
      {"slug": "name", "type": "string", "indexed": true}, {"slug": "plain", "type": "string"},
      {"slug": "visits", "type": "number", "indexed": true}, {"slug": "mood", "type": "metric", "indexed": true},
      {"slug": "tags", "type": "list", "indexed": true},
      {"slug": "born", "type": "date", "indexed": true}, {"slug": "seen", "type": "datetime", "indexed": true},
      {"slug": "company", "type": "reference", "template": "companies"}
    ]');
    insert into crm.companies (name, external_key) select 'Company ' || n, 'C-' || n from generate_series(1, 500) n"#;

/// 20,000 records: each value is shared by about 20, and one in ten is missing.
pub(super) const FILL: &str = "
    insert into crm.customers (external_key, name, plain, visits, mood, tags, born, seen, company)
    select 'K-' || n, 'name ' || n % 1000, 'name ' || n % 1000, case when n % 10 > 0 then n % 1000 end, n % 1000,
      array['tag ' || n % 1000, 'all'], '2000-01-01'::date + n % 1000, '2000-01-01Z'::timestamptz + n % 1000 * interval '1 day',
      (select id from crm.companies where external_key = 'C-' || n % 500 + 1)
    from generate_series(1, 20000) n";

/// The database that all tests here read and none changes.
async fn filled() -> (&'static Database, Session) {
    static FILLED: OnceCell<Database> = OnceCell::const_new();
    let fill = async || {
        let database = Database::new().await;
        let session = database.session().await;
        session.run(TEMPLATE).await;
        // Without history, which is not needed here.
        session.run(&format!("set session_replication_role = replica; {FILL}")).await;
        session.run("vacuum analyze crm.customers").await;
        session.run("vacuum analyze crm.companies").await;
        database
    };
    let database = FILLED.get_or_init(fill).await;
    (database, database.session().await)
}

/// The nodes of the plan of a statement.
pub(super) async fn plan(session: &Session, statement: &str) -> String {
    let rows = session.rows(&format!("explain (costs off) {statement}"), &[]).await;
    rows.into_iter().flatten().flatten().collect::<Vec<_>>().join("\n")
}

/// The plan of a search with these filters.
async fn plan_of_filters(session: &Session, filters: &Value) -> String {
    let query = json!({"filters": filters}).to_string();
    let condition = session.text("select keyed.filter_sql('crm.customers', $1)", &[&query]).await;
    plan(session, &format!("select * from crm.customers t where t.deleted_at is null and {condition}")).await
}

/// The definitions of the attribute's indexes.
pub(super) async fn indexes_on(session: &Session, slug: &str) -> Vec<String> {
    let statement = "select indexname from pg_indexes where schemaname = 'crm' and tablename = 'customers'
                     and indexdef ~ ('[( \"]' || $1 || '[ ,\")]') order by indexname";
    let rows = session.rows(statement, &[slug]).await;
    rows.into_iter().flatten().flatten().collect()
}

/// Whether the plan uses one of the attribute's indexes.
async fn uses_index_on(session: &Session, slug: &str, plan: &str) -> bool {
    indexes_on(session, slug).await.iter().any(|index| {
        plan.contains(&format!("{index}\n")) || plan.contains(&format!("{index} ")) || plan.ends_with(index)
    })
}

#[tokio::test]
async fn filter_on_an_indexed_attribute_uses_its_index() {
    let (_, session) = filled().await;
    for (field, operator, value) in [
        ("name", "eq", json!("name 7")),
        ("name", "in", json!(["name 7", "name 8"])),
        ("name", "empty", Value::Null),
        ("name", "like", json!("e 77")),
        ("name", "ilike", json!("NAME 77")),
        ("name", "starts-with", json!("name 77")),
        ("name", "ends-with", json!("me 77")),
        ("visits", "eq", json!(7)),
        ("visits", "in", json!("7,8")),
        ("visits", "between", json!([7, 8])),
        ("visits", "gt", json!(995)),
        ("visits", "lt", json!(3)),
        ("mood", "eq", json!(7)),
        ("mood", "gte", json!(997)),
        ("tags", "in", json!("tag 7")),
        ("tags", "in", json!(["tag 7", "tag 8"])),
        ("born", "eq", json!("2000-01-08")),
        ("born", "lt", json!("2000-01-04")),
        ("seen", "eq", json!("2000-01-08")),
        ("seen", "eq", json!("2000-01-08T00:00:00Z")),
        ("seen", "between", json!(["2000-01-08", "2000-01-09"])),
        ("seen", "today", Value::Null),
        ("company", "eq", json!({"external_key": "C-7"})),
        ("company", "in", json!([{"external_key": "C-7"}, {"external_key": "C-8"}])),
        ("company.name", "eq", json!("Company 7")),
        ("company.external_key", "eq", json!("C-7")),
        ("external_key", "eq", json!("K-7")),
        ("external_key", "in", json!("K-7,K-8")),
    ] {
        let condition = json!({"field": field, "operator": operator, "value": value});
        let slug = field.split('.').next().unwrap_or_default();
        for filters in [json!([condition]), json!([condition, {"field": "plain", "operator": "not-empty"}])] {
            let plan = plan_of_filters(&session, &filters).await;
            assert!(uses_index_on(&session, slug, &plan).await, "{filters}\n{plan}");
            assert!(!plan.contains("Seq Scan on customers"), "{filters}\n{plan}");
        }
    }
}

#[tokio::test]
async fn or_of_indexed_conditions_uses_both_indexes() {
    let (_, session) = filled().await;
    let either = json!([{"or": [
        {"field": "name", "operator": "eq", "value": "name 7"}, {"field": "visits", "operator": "eq", "value": 9},
        {"field": "company", "operator": "eq", "value": {"external_key": "C-7"}}
    ]}]);
    let plan = plan_of_filters(&session, &either).await;
    for field in ["name", "visits", "company"] {
        assert!(uses_index_on(&session, field, &plan).await, "{field}\n{plan}");
    }
    assert!(!plan.contains("Seq Scan on customers"), "{plan}");
}

/// The statements of a search, from the server's log, with their plans.
pub(super) async fn plans_of_search(database: &Database, role: Option<&str>, query: &Value) -> String {
    let session = database.session().await;
    // The first search reads the definitions, which the session then caches.
    session.run("select keyed.search('crm.customers')").await;
    session
        .run("load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on")
        .await;
    if let Some(role) = role {
        session.run(&format!("set role {role}; select keyed.search('crm.customers')")).await;
    }
    let before = database.cluster().log().len();
    session.rows("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await;
    let (log, own) = (database.cluster().log(), format!("[{}]", session.process().await));
    // Lines of a plan start with a tab. Lines of other sessions are omitted together with their plans.
    let mut is_own = false;
    let lines = log[before..].lines().filter(|line| {
        if !line.starts_with('\t') {
            is_own = line.contains(&own);
        }
        is_own
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn sorted_page_is_read_from_its_index_in_both_directions() {
    let (database, session) = filled().await;
    for field in ["name", "visits", "mood", "born", "seen", "id"] {
        let indexes = match field {
            "id" => vec!["customers_pkey".to_owned()],
            _ => indexes_on(&session, field).await,
        };
        for direction in ["asc", "desc"] {
            let sort = json!([{"field": field, "direction": direction}]);
            let first = json!({"sort": sort, "limit": 20});
            let text = first.to_string();
            let page = session.json("select keyed.search('crm.customers', $1)", &[&text]).await;
            let next = json!({"sort": sort, "limit": 20, "cursor": page["next_cursor"]});
            for query in [first, next] {
                let plans = plans_of_search(database, None, &query).await;
                assert!(indexes.iter().any(|index| plans.contains(index)), "{query}\n{plans}");
                assert!(
                    !plans.contains("Sort") && !plans.contains("Seq Scan on customers"),
                    "{query}\n{plans}"
                );
                assert_eq!(plans.contains("Scan Backward"), direction == "desc", "{query}\n{plans}");
            }
        }
    }
}

#[tokio::test]
async fn newest_records_are_read_from_the_primary_key() {
    let (database, _) = filled().await;
    let plans = plans_of_search(database, None, &json!({"limit": 20})).await;
    assert!(plans.contains("customers_pkey") && !plans.contains("Sort"), "{plans}");
}

#[tokio::test]
async fn indexed_creates_and_drops_the_index() {
    let database = Database::new().await;
    let session = database.session().await;
    session.run(TEMPLATE).await;
    for slug in ["name", "visits", "mood", "tags", "born", "seen"] {
        // A text attribute has one index for the whole value and one for substrings.
        let all = if slug == "name" { 2 } else { 1 };
        assert_eq!(indexes_on(&session, slug).await.len(), all, "{slug}");
        for (indexed, count) in [(false, 0), (true, all), (true, all), (false, 0)] {
            let changes = json!({"indexed": indexed}).to_string();
            session.rows("select keyed.alter_attribute('crm.customers', $1, $2)", &[slug, &changes]).await;
            let indexes = indexes_on(&session, slug).await;
            assert_eq!(indexes.len(), count, "{slug}: {indexes:?}");
        }
    }
    // The index of a reference stays, because the deletion of a target needs it.
    let statement = "select keyed.alter_attribute('crm.customers', 'company', '{\"indexed\": false}')";
    session.run(statement).await;
    assert_eq!(indexes_on(&session, "company").await.len(), 1);
}

#[tokio::test]
async fn migration_creates_missing_indexes() {
    let database = Database::new().await;
    let session = database.session().await;
    session.run(TEMPLATE).await;
    session
        .run("select keyed.add_attribute('crm.customers', '{\"slug\": \"town\", \"type\": \"string\", \"indexed\": true}')")
        .await;
    let before = [indexes_on(&session, "name").await, indexes_on(&session, "town").await];
    assert_eq!(before.each_ref().map(Vec::len), [2, 2]);
    // The state before there was an index for substrings.
    session.run("drop index crm.customers_name_idx; delete from keyed_state.version where number = 4").await;
    assert_eq!(indexes_on(&session, "name").await.len(), 1);
    session.run("select keyed.migrate()").await;
    assert_eq!([indexes_on(&session, "name").await, indexes_on(&session, "town").await], before);
    assert!(indexes_on(&session, "plain").await.is_empty());
}

#[tokio::test]
async fn text_matches_equally_with_and_without_an_index() {
    let database = Database::new().await;
    let session = database.session().await;
    session.run(TEMPLATE).await;
    session
        .run(
            "insert into crm.customers (external_key, name, plain)
             select n, v, v from unnest(array['Istanbul', 'İSTANBUL', 'ıstanbul', '5 Kelvin', '5 \u{212a}elvin', 'MÜLLER',
               'Müller', 'Mu\u{308}ller', 'Straße', 'STRASSE', '50%', '50_', 'a\\b', '', null, 'x y', 'ab', 'aB', 'κόσμος'])
             with ordinality x (v, n)",
        )
        .await;
    for text in [
        "istan",
        "IST",
        "İ",
        "ı",
        "kelvin",
        "\u{212a}elv",
        "müll",
        "LLER",
        "ÜLLER",
        "straße",
        "strasse",
        "0%",
        "0_",
        "\\B",
        "",
        "X Y",
        "AB",
        "b",
        "ΣΜ",
        "ΌΣ",
        "k",
        "i",
        "%",
        "nobody",
    ] {
        for operator in ["like", "not-like", "ilike", "starts-with", "ends-with"] {
            let mut results = Vec::new();
            for field in ["name", "plain"] {
                let condition = json!({"field": field, "operator": operator, "value": text});
                let query = json!({"filters": [condition], "sort": "external_key"}).to_string();
                let page = session.json("select keyed.search('crm.customers', $1)", &[&query]).await;
                let found = page["records"].as_array().expect("records").iter();
                results.push(found.map(|record| record["external_key"].clone()).collect::<Vec<_>>());
            }
            let negation = if operator == "not-like" { "not" } else { "" };
            let (pattern, same) = match operator {
                "ilike" => ("'%' || $1 || '%'", "ilike"),
                "starts-with" => ("$1 || '%'", "like"),
                "ends-with" => ("'%' || $1", "like"),
                _ => ("'%' || $1 || '%'", "like"),
            };
            let plain = text.replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
            // A text or one of its normal forms: the Kelvin sign is normalized to the letter K.
            let direct_sql = format!(
                "select coalesce(jsonb_agg(external_key order by external_key), '[]') from crm.customers
                 where {negation} coalesce(
                   name {same} any (array[{pattern}, normalize({pattern}, nfc), normalize({pattern}, nfd)]), false)"
            );
            let expected = session.json(&direct_sql, &[&plain]).await;
            assert_eq!(results, vec![expected.as_array().expect("keys").clone(); 2], "{operator} {text:?}");
        }
    }
}
