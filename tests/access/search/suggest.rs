//! Words of invisible records in completions and highlights.

use crate::sales::{Sales, of_region};
use harness::Session;
use serde_json::{Value, json};

async fn suggest(session: &Session, prefix: &str) -> String {
    let query = json!({"prefix": prefix, "limit": 50}).to_string();
    session.json("select keyed.suggest('crm.customers', $1)", &[&query]).await["suggestions"].to_string()
}

fn words(suggestions: &[(&str, u32)]) -> String {
    let suggestions = suggestions.iter().map(|(text, count)| json!({"text": text, "count": count}));
    Value::from(suggestions.collect::<Vec<_>>()).to_string()
}

#[tokio::test]
async fn suggestions_come_from_visible_records() {
    let sales = Sales::new().await;
    sales
        .admin
        .run(
            "update crm.customers set name = name || ' zebra zeppelin' where external_key = 'US-1';
              update crm.customers set name = name || ' zebra' where external_key = 'EU-1'",
        )
        .await;
    let session = sales.european("read").await;
    assert_eq!(suggest(&sales.admin, "ze").await, words(&[("zebra", 2), ("zeppelin", 1)]));
    assert_eq!(suggest(&session, "ze").await, words(&[("zebra", 1)]));
    assert_eq!(suggest(&session, "us").await, words(&[]), "nor a key");
    assert_eq!(suggest(&session, "zeppelin ze").await, words(&[]));
    assert_eq!(suggest(&session, "cust").await, words(&[("Customer", 2)]));
    let (_, nobody) = sales.member().await;
    let query = json!({"prefix": "ze"}).to_string();
    let error = nobody.error("select keyed.suggest('crm.customers', $1)", &[&query]).await;
    assert_eq!(error.codes().0, "42501");
}

/// A caller that can read only few of many records with a word gets the word, but none of the other records.
#[tokio::test]
async fn small_scope_gets_suggestions() {
    let sales = Sales::new().await;
    sales
        .admin
        .run(
            "insert into crm.customers (external_key, name, region)
             select 'X-' || n, 'common' || case when n % 2 = 0 then 'hidden' else '' end, 'US' from generate_series(1, 12000) n;
             insert into crm.customers (external_key, name, region) values ('rare', 'Commoner', 'AQ')",
        )
        .await;
    let (_, session) = sales.clerk("read", &of_region("AQ")).await;
    let query = json!({"prefix": "com"}).to_string();
    let result = session.json("select keyed.suggest('crm.customers', $1)", &[&query]).await;
    assert_eq!(result, json!({"suggestions": [{"text": "Commoner", "count": 1}], "exact": true}));
}

/// Neither the counts nor `exact` depend on the number of invisible records with the same words.
#[tokio::test]
async fn invisible_records_do_not_affect_suggestions() {
    let sales = Sales::new().await;
    sales
        .admin
        .run(
            "insert into crm.customers (external_key, name, region)
             select 'EU-X-' || n, 'common' || case when n % 3 = 0 then 'er' else 'ly' end, 'EU' from generate_series(1, 60) n",
        )
        .await;
    let session = sales.european("read").await;
    let results = async || {
        let suggestions = async |prefix: &str| {
            let query = json!({"prefix": prefix}).to_string();
            session.json("select keyed.suggest('crm.customers', $1)", &[&query]).await.to_string()
        };
        let meant = json!({"global_search": "commonlx", "fuzzy": "auto", "limit": 1, "count": "exact"});
        let found = session.json("select keyed.search('crm.customers', $1)", &[&meant.to_string()]).await;
        [
            suggestions("com").await,
            suggestions("commoner com").await,
            suggestions("nothing").await,
            json!([found["total"], found["did_you_mean"]]).to_string(),
        ]
    };
    let before = results().await;
    assert!(before[0].contains("\"count\":40") && before[0].contains("\"exact\":true"), "{before:?}");
    for hidden in [500, 6000] {
        sales
            .admin
            .run(&format!(
                "insert into crm.customers (external_key, name, region)
                 select 'US-{hidden}-' || n, 'COMMONLY commonlz common' || n % 7, 'US' from generate_series(1, {hidden}) n"
            ))
            .await;
        assert_eq!(results().await, before, "{hidden}");
    }
    sales.admin.run("analyze").await;
    assert_eq!(results().await, before, "however the planner finds them");
}

/// The same if there are more visible records than are read: the newest are read.
#[tokio::test]
async fn invisible_records_do_not_affect_the_sample() {
    let sales = Sales::new().await;
    sales
        .admin
        .run(
            "insert into crm.customers (external_key, name, region)
             select 'X-' || n, case when n % 4 > 0 then 'other' when n > 10000 then 'zebnew' else 'zebold' end,
               case when n % 4 > 0 then 'US' else 'EU' end from generate_series(1, 15000) n",
        )
        .await;
    let session = sales.european("read").await;
    let expected = json!({"suggestions": [{"text": "zebnew", "count": 1000}], "exact": false});
    for change in [
        "vacuum analyze crm.customers",
        "update crm.customers set name = 'zebhid ' || external_key where region = 'US'",
        "update crm.customers set deleted_at = now() where region = 'US' and external_key like '%1'",
        "vacuum analyze",
        "update crm.customers set deleted_at = now() where region = 'US' and deleted_at is null",
    ] {
        sales.admin.run(change).await;
        let query = json!({"prefix": "zeb"}).to_string();
        let result = session.json("select keyed.suggest('crm.customers', $1)", &[&query]).await;
        assert_eq!(result, expected, "{change}");
    }
}

/// Of very many visible records, a sample is read; of fewer, all are read, wherever they are among invisible ones.
#[tokio::test]
async fn large_scope_gets_suggestions_from_a_sample() {
    let sales = Sales::new().await;
    let session = sales.european("read").await;
    for (region, region_state) in [
        ("case when n % 3 = 0 then 'EU' else 'US' end", "among others"),
        ("case when n > 8000 then 'EU' else 'US' end", "behind others"),
    ] {
        sales
            .admin
            .run(&format!(
                "update crm.customers set deleted_at = now() where external_key like 'X-%';
                 insert into crm.customers (external_key, name, region)
                 select 'X-' || n, 'common' || case when region = 'US' then 'hidden' else (n % 5)::text end
                   || case when n % 12 = 0 then ' seldom' when region = 'US' then ' seldomhidden' else '' end, region
                 from (select n, {region} as region from generate_series(1, 12000) n) made"
            ))
            .await;
        let result = async |prefix: &str| {
            let query = json!({"prefix": prefix, "limit": 50}).to_string();
            session.json("select keyed.suggest('crm.customers', $1)", &[&query]).await
        };
        let common = result("com").await;
        let counts = common["suggestions"].as_array().expect("suggestions").iter();
        let counts: Vec<i64> = counts.map(|it| it["count"].as_i64().expect("a count")).collect();
        assert_eq!(
            (&common["exact"], counts.len(), counts.iter().sum()),
            (&json!(false), 5, 1000),
            "{region_state}: {common}"
        );
        let is_visible = "select to_jsonb(count(*)) from crm.customers where deleted_at is null and region = 'EU' and name like '% seldom'";
        let seldom = json!({"suggestions": [{"text": "seldom", "count": sales.admin.json(is_visible, &[]).await}], "exact": true});
        assert_eq!(result("seld").await, seldom, "{region_state}");
        assert_eq!(result("commonh").await["suggestions"], json!([]), "{region_state}");
        sales.admin.run("vacuum analyze").await;
        assert_eq!(result("seld").await, seldom, "{region_state}");
    }
}

#[tokio::test]
async fn invisible_displays_are_not_highlighted() {
    let sales = Sales::new().await;
    let (role, session) = sales.member().await;
    sales.database.grant(&role, "crm.customers", "read").await;
    sales.database.grant_within(&role, "crm.companies", "read", &of_region("EU")).await;
    let query = json!({"global_search": "customer -nobody", "highlight": true, "limit": 50}).to_string();
    let search = "select keyed.search('crm.customers', $1)";
    assert!(!session.json(search, &[&query]).await.to_string().contains("lobex"));
    for (words, expected) in [("globex", 0), ("acme customer", 2), ("acme", 2)] {
        let query = json!({"global_search": words, "highlight": true}).to_string();
        let result = session.json(search, &[&query]).await;
        let records = result["records"].as_array().expect("records");
        assert_eq!(records.len(), expected, "{words}");
        for record in records {
            assert_eq!(record["highlights"]["company"], json!(["<mark>Acme</mark>"]));
        }
    }
    // A record that matches by another field does not show a display that the caller cannot read.
    sales.admin.run("update crm.customers set name = 'Globex' where external_key = 'US-1'").await;
    let query = json!({"global_search": "globex", "highlight": true}).to_string();
    let result = session.json(search, &[&query]).await;
    assert_eq!(result["records"][0]["highlights"], json!({"name": ["<mark>Globex</mark>"]}));
}
