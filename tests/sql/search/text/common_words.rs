//! Words that very many records have, or for which no index can be used.

use super::words::{crm, explained, found};
use harness::Session;
use serde_json::{Value, json};

/// Many customers: all have `common`, every hundredth `seldom`, and number 7 has the key `common`.
async fn fill(session: &Session) {
    fill_with(session, "").await;
}

/// The same customers, with different further text in each.
async fn fill_with(session: &Session, text: &str) {
    session
        .rows(
            "insert into crm.customers (external_key, name)
             select case n when 7 then 'common' else 'k' || n end,
               rtrim(case when n % 100 = 0 then 'common seldom ' else 'common ' end || $1)
             from generate_series(1, 31000) n",
            &[text],
        )
        .await;
}

async fn search(session: &Session, query: Value) -> Value {
    session.json("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await
}

fn keys(result: &Value) -> Vec<&str> {
    let records = result["records"].as_array().expect("records");
    records.iter().filter_map(|record| record["external_key"].as_str()).collect()
}

#[tokio::test]
async fn page_of_a_frequent_word_is_found_among_the_newest() {
    let (_database, session) = crm().await;
    fill(&session).await;
    if harness::has_direct_access() {
        let explained = explained(&session, "common").await;
        assert!(
            explained.contains("At least 103 records match")
                && explained.contains("documents are read, newest first"),
            "{explained}"
        );
        assert!(!explained.contains("Every document"), "{explained}");
    }
    // The name of number 31,000 has another word.
    let found = found(&session, "common").await;
    assert_eq!(found.split(' ').take(4).collect::<Vec<_>>(), ["common", "k30999", "k30998", "k30997"]);

    let (mut cursor, mut seen) = (Value::Null, Vec::new());
    for page in 0..3 {
        let query = json!({"global_search": "common", "limit": 3, "cursor": cursor});
        let result = search(&session, query).await;
        seen.extend(keys(&result).iter().map(|key| (*key).to_owned()));
        cursor = result["next_cursor"].clone();
        // Records written between two pages are newer than the remaining ones.
        let write = "insert into crm.customers (external_key, name) values ($1, 'common')";
        session.rows(write, &[&format!("new{page}")]).await;
    }
    let expected = ["common", "k30999", "k30998", "k30997", "k30996", "k30995", "k30994", "k30993", "k30992"];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn best_of_many_matches_come_first() {
    let (_database, session) = crm().await;
    fill(&session).await;
    // Substrings are everywhere; the whole word is in old records, once in a name.
    session.run("update crm.customers set tags = array['commo'] where external_key in ('k8', 'k90')").await;
    session.run("update crm.customers set name = 'commo common' where external_key = 'k50'").await;
    let found = found(&session, "commo").await;
    assert_eq!(found.split(' ').take(5).collect::<Vec<_>>(), ["k50", "k90", "k8", "k31000", "k30999"]);
    if harness::has_direct_access() {
        let explained = explained(&session, "commo").await;
        assert!(explained.contains(" with the terms as whole words."), "{explained}");
        let read = explained.split(" documents are read,").next().and_then(|it| it.rsplit('\n').next());
        let read: usize = read.and_then(|it| it.parse().ok()).expect("the number of records read");
        assert!(read < 2000, "{explained}");
    }
}

#[tokio::test]
async fn rare_term_among_frequent_ones_is_looked_up() {
    let (_database, session) = crm().await;
    fill(&session).await;
    for query in ["common seldom", "seldom -\"common common\"", "eldo commo"] {
        assert!(explained(&session, query).await.contains("records match") || !harness::has_direct_access());
        assert_eq!(found(&session, query).await.split(' ').count(), 310, "{query}");
        let body = json!({"global_search": query, "count": "exact"});
        assert_eq!(search(&session, body).await["total"], 310, "{query}");
    }
}

#[tokio::test]
async fn scan_finds_the_same_as_the_index() {
    let (_database, session) = crm().await;
    fill(&session).await;
    session.run("update crm.customers set name = 'x § y' where external_key in ('k3', 'k30000')").await;
    assert_eq!(found(&session, "§").await, "k30000 k3");
    assert_eq!(found(&session, "-common").await, "k30000 k3");
    assert!(explained(&session, "§").await.contains("Every document is read for §:"));
    // An index does not help either if all documents have the only required word.
    session.run("update crm.customers set name = 'common other' where name = 'common'").await;
    assert_eq!(found(&session, "common -other -seldom").await, "");
}

#[tokio::test]
async fn term_in_many_displays_is_checked_per_record() {
    let (_database, session) = crm().await;
    session
        .run(
            "insert into crm.companies (external_key, name)
             select 'C-' || n, 'Acme ' || n from generate_series(1, 10500) n;
             insert into crm.customers (external_key, name, company) select 'k' || c.external_key, 'Ada', c.id
             from crm.companies c where c.external_key in ('C-5', 'C-10500');
             insert into crm.customers (external_key, name) values ('none', 'Ada'), ('self', 'Acme')",
        )
        .await;
    for (query, keys) in [
        ("acme", "kC-10500 kC-5 self"),
        ("ada acme", "kC-10500 kC-5"),
        ("-acme", "none"),
        ("ada -acme", "none"),
    ] {
        let found = found(&session, query).await;
        let mut found: Vec<&str> = found.split(' ').collect();
        found.sort_unstable();
        assert_eq!(found.join(" "), keys, "{query}");
    }
}

#[tokio::test]
async fn compiled_condition_finds_the_same_records() {
    let (_database, session) = crm().await;
    session
        .run(
            r#"insert into crm.companies (external_key, name) values ('C-1', 'Söhne'), ('C-2', 'Other');
               insert into crm.customers (external_key, name, tier, company)
               select 'k' || n, 'Running ' || n || '% \ it''s', array['gold'], c.id
               from generate_series(1, 20) n join crm.companies c on c.external_key = 'C-' || 1 + n % 2"#,
        )
        .await;
    for query in ["run", "gold sohne", "-sohne k1", "5% -run", "k7", "it's", r"% \ it", "\"running 7\"", "so"]
    {
        let body = json!({"global_search": query, "limit": 1000}).to_string();
        let condition = session.text("select keyed.filter_sql('crm.customers', $1)", &[&body]).await;
        let by_condition = format!(
            "select string_agg(external_key, ' ' order by external_key collate \"C\") from crm.customers t where {condition}"
        );
        let result = session.json("select keyed.search('crm.customers', $1)", &[&body]).await;
        let mut found = keys(&result);
        found.sort_unstable();
        assert_eq!(session.text(&by_condition, &[]).await, found.join(" "), "{query}");
    }
}

#[tokio::test]
async fn text_matches_are_counted_and_explained() {
    for text in [String::new(), "xy ".repeat(400)] {
        are_counted_and_explained(&text).await;
    }
}

/// Long documents are compared before PostgreSQL gets their ids, short ones by PostgreSQL.
async fn are_counted_and_explained(text: &str) {
    let (_database, session) = crm().await;
    fill_with(&session, text).await;
    session.run("update crm.customers set deleted_at = now() where external_key = 'k9'").await;
    session.run("update crm.customers set tags = array['a', 'b', 'a'] where external_key like 'k1%'").await;
    session.run("vacuum analyze crm.customers").await;
    // The record whose key is the whole text is counted although its name has another word.
    session.run("update crm.customers set name = 'x' where external_key = 'common'").await;
    let holders = session.text("select count(*) from crm.customers where external_key like 'k1%'", &[]).await;
    let keyed = json!([{"field": "external_key", "operator": "not-empty"}]);
    for filters in [json!([]), keyed] {
        let query = json!({"global_search": "common", "filters": filters, "count": "exact", "facets": ["tags"], "limit": 1});
        let result = search(&session, query.clone()).await;
        assert_eq!(result["total"], 30999, "{query}");
        let counted = result["facets"]["tags"].as_array().expect("values").iter();
        let counted: Vec<String> = counted.map(|it| format!("{}{}", it["value"], it["count"])).collect();
        assert_eq!(counted, [format!("\"a\"{holders}"), format!("\"b\"{holders}")], "{query}");
        let how = session.text("select keyed.explain('crm.customers', $1)", &[&query.to_string()]).await;
        let in_one_pass = "Counting all records found and the values of tags: in one pass over the table, without a statement.\n\n\
                           Every row of crm.customers is read.";
        let by_statements = "Counting the values of tags:\n\nselect ";
        let is_one_pass = how.contains(in_one_pass);
        assert_ne!(is_one_pass, how.contains(by_statements), "{how}");
        // Just enough records for a combination with filters, according to a sample.
        if filters == json!([]) || !harness::has_direct_access() {
            assert_eq!(is_one_pass, harness::has_direct_access(), "{how}");
        }
        assert!(how.contains("Every row of "), "{how}");
        assert!(is_one_pass || text.is_empty() || how.contains("unnest($1)"), "{how}");
    }
}
