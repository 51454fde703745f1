//! Words find records with their synonyms.

use super::words::{crm, explained, found, upsert};
use harness::{Database, Session, companies, has_direct_access};
use serde_json::{Value, json};

async fn define(session: &Session, template: &str, synonyms: &Value) {
    let changes = json!({"synonyms": synonyms}).to_string();
    session.rows(&format!("select keyed.alter_template('crm.{template}', $1)"), &[&changes]).await;
}

fn sets() -> Value {
    json!([{"synonyms": ["car", "automobile", "motor car"]}, {"root": "phone", "synonyms": ["smartphone", "handset"]},
           {"synonyms": ["New York", "NYC", "big apple"]}, {"synonyms": ["tv", "television"]}])
}

/// Customers with these names.
async fn garage() -> (Database, Session) {
    let (database, session) = crm().await;
    for (key, name) in [
        ("1", "red car"),
        ("2", "Automobiles"),
        ("3", "old motor  car"),
        ("4", "motor"),
        ("5", "phone"),
        ("6", "smartphone"),
        ("7", "new york"),
        ("8", "N.Y.C., NYC"),
        ("9", "the Big Apple"),
        ("10", "television"),
        ("11", "TV set"),
        ("12", "tvs"),
        ("13", "apple, big"),
    ] {
        upsert(&session, key, json!({"name": name})).await;
    }
    define(&session, "customers", &sets()).await;
    (database, session)
}

#[tokio::test]
async fn word_finds_records_with_its_synonyms() {
    let (_database, session) = garage().await;
    for (query, keys) in [
        ("car", "2 3 1"),
        ("CÁRS", "2 3 1"),
        ("automobile", "2 3 1"),
        ("motor car", "2 3 1"),
        ("motor cars", "2 3 1"),
        ("motor", "4 3"),
        ("car motor", "3"),
        ("red automobile", "1"),
        ("\"car\"", "3 1"),
        ("\"automobiles\"", "2"),
        ("phone", "6 5"),
        ("phones", "6 5"),
        ("smartphone", "6"),
        ("new york", "7 9 8"),
        ("York new", "7"),
        ("nyc", "7 9 8"),
        ("\"new york\"", "7"),
        ("tv", "10 12 11"),
        ("television", "10 12 11"),
        ("motor -car", "4"),
        ("motor -automobile", "4"),
        ("motor -\"car\"", "4"),
        ("car -automobile", ""),
        ("car -\"automobile\"", "3 1"),
    ] {
        assert_eq!(found(&session, query).await, keys, "{query}");
    }
}

#[tokio::test]
async fn synonym_match_ranks_like_a_word_match() {
    let (_database, session) = crm().await;
    define(&session, "customers", &sets()).await;
    upsert(&session, "1", json!({"name": "automobile"})).await;
    upsert(&session, "2", json!({"tags": ["car"]})).await;
    upsert(&session, "3", json!({"name": "motor car"})).await;
    upsert(&session, "4", json!({"tags": ["cars and automobiles"]})).await;
    upsert(&session, "5", json!({"name": "scarlet"})).await;
    assert_eq!(found(&session, "car").await, "3 1 4 2 5");
    assert_eq!(found(&session, "automobile").await, "3 1 4 2 5", "as a search for each would");
}

#[tokio::test]
async fn synonyms_apply_to_all_sessions() {
    let (database, session) = garage().await;
    let reader = database.session().await;
    assert_eq!(found(&reader, "car").await, "2 3 1");
    define(&session, "customers", &json!([{"synonyms": ["car", "phone"]}])).await;
    assert_eq!(found(&reader, "car").await, "5 3 1 6");
    session.run("select keyed.alter_template('crm.customers', '{\"language\": \"simple\"}')").await;
    session.until("select count(*) from keyed.jobs()", "0").await;
    assert_eq!(found(&reader, "cars").await, "", "its stem differs");
    session.run("begin").await;
    define(&session, "customers", &Value::Null).await;
    assert_eq!(found(&session, "car").await, "3 1");
    session.run("rollback").await;
    assert_eq!(found(&session, "car").await, "5 3 1 6");
    define(&session, "customers", &json!([])).await;
    assert_eq!(found(&reader, "car").await, "3 1");
}

#[tokio::test]
async fn displays_match_synonyms_of_the_searched_template() {
    let (_database, session) = crm().await;
    for (key, name) in [("C-1", "Automobile works"), ("C-2", "Motor car works"), ("C-3", "Motor works")] {
        let create = "select keyed.upsert_by_key('crm.companies', $1, jsonb_build_object('name', $2::text))";
        session.rows(create, &[key, name]).await;
        upsert(&session, &key[2..], json!({"name": "x", "company": {"external_key": key}})).await;
    }
    define(&session, "companies", &sets()).await;
    assert_eq!(found(&session, "car").await, "2");
    define(&session, "customers", &sets()).await;
    define(&session, "companies", &json!([])).await;
    for (query, keys) in [("car", "2 1"), ("cars -works", ""), ("works -car", "3"), ("motor car", "2 1")] {
        assert_eq!(found(&session, query).await, keys, "{query}");
    }
    // A display value without its own document.
    session
        .run(
            r#"select keyed.add_attribute('crm.companies', '{"slug": "size", "type": "number"}');
               select keyed.alter_template('crm.companies', '{"display": "size"}');
               select keyed.upsert_by_key('crm.companies', 'C-1', '{"size": 4711}')"#,
        )
        .await;
    define(&session, "customers", &json!([{"synonyms": ["cologne", "4711"]}])).await;
    assert_eq!(found(&session, "cologne").await, "1");
    // So many display values that they are not collected.
    session
        .run(&format!(
            "select keyed.alter_template('crm.companies', '{{\"display\": null}}');
             insert into crm.companies (name) select 'soap ' || n from generate_series(1, 10100) n;
             insert into crm.customers (external_key, company) select 'S', id from crm.companies where name = 'soap 77';
             analyze {}", companies::DOCUMENTS
        ))
        .await;
    define(&session, "customers", &json!([{"synonyms": ["detergent", "soap", "washing powder"]}])).await;
    assert_eq!(found(&session, "detergent").await, "S");
}

#[tokio::test]
async fn matched_synonyms_are_highlighted() {
    let (_database, session) = garage().await;
    let highlights = async |words: &str| {
        let query = json!({"global_search": words, "highlight": true, "limit": 1}).to_string();
        session
            .json("select keyed.search('crm.customers', $1) #> '{records,0,highlights,name,0}'", &[&query])
            .await
    };
    for (words, expected) in [
        ("car", "<mark>Automobiles</mark>"),
        ("car old", "old <mark>motor  car</mark>"),
        ("automobile red", "red <mark>car</mark>"),
        ("nyc -york", "the <mark>Big Apple</mark>"),
        ("tv", "<mark>television</mark>"),
    ] {
        let shown = highlights(words).await;
        let shown = shown
            .as_str()
            .expect("a fragment")
            .replace("<mark>red</mark>", "red")
            .replace("<mark>old</mark>", "old");
        assert_eq!(shown, expected, "{words}");
    }
}

#[tokio::test]
async fn suggestions_apply_synonyms_to_earlier_words() {
    let (_database, session) = garage().await;
    for (prefix, expected) in [("automobile re", "red 1"), ("\"automobile\" re", ""), ("nyc b", "Big 1")] {
        let query = json!({"prefix": prefix}).to_string();
        let result = session.json("select keyed.suggest('crm.customers', $1)", &[&query]).await;
        let shown = result["suggestions"].as_array().expect("suggestions").iter();
        let shown: Vec<String> = shown.map(|it| format!("{} {}", it["text"], it["count"])).collect();
        assert_eq!(shown.join(", ").replace('"', ""), expected, "{prefix}");
    }
}

#[tokio::test]
async fn synonyms_come_before_typo_correction() {
    let (_database, session) = crm().await;
    upsert(&session, "1", json!({"name": "NYC hotel"})).await;
    upsert(&session, "2", json!({"name": "phones"})).await;
    define(&session, "customers", &sets()).await;
    let result = async |words: &str| {
        let query = json!({"global_search": words, "fuzzy": "auto"}).to_string();
        let result = session.json("select keyed.search('crm.customers', $1)", &[&query]).await;
        let key = result["records"][0]["external_key"].as_str().unwrap_or_default().to_owned();
        (key, result["did_you_mean"].as_str().unwrap_or_default().to_owned())
    };
    for (words, key, meant) in [
        ("new york", "1", ""),
        ("new york hotle", "1", "new york hotel"),
        ("new yorkk hotle", "", ""),
        ("phonr", "", ""),
        ("phonrs", "2", "phones"),
    ] {
        assert_eq!(result(words).await, (key.to_owned(), meant.to_owned()), "{words}");
    }
}

#[tokio::test]
async fn synonyms_use_the_index() {
    let (_database, session) = crm().await;
    session
        .run(
            "insert into crm.customers (external_key, name)
             select 'K-' || n, md5(n::text) || case n when 77 then ' automobile' when 78 then ' motor car' when 79 then ' §' else '' end
             from generate_series(1, 5000) n",
        )
        .await;
    define(&session, "customers", &sets()).await;
    let how = explained(&session, "car").await;
    assert!(how.starts_with("Records with car or automobile or \"motor car\" are looked for.\n"), "{how}");
    if has_direct_access() {
        assert!(how.contains("The index finds 2 documents"), "{how}");
    }
    assert_eq!(found(&session, "cars").await, "K-78 K-77");
    define(&session, "customers", &json!([{"root": "car", "synonyms": ["§"]}])).await;
    assert!(explained(&session, "car").await.contains("for car: no index serves"), "a sign has no key");
    assert_eq!(found(&session, "car").await, "K-79 K-78");
}

#[tokio::test]
async fn view_and_search_combine_their_terms() {
    let (_database, session) = garage().await;
    let save = "select keyed.save_view('crm.customers', 'york', '{\"global_search\": \"new york\"}')";
    session.run(save).await;
    let within = async |words: &str| {
        let query = json!({"view": "york", "global_search": words, "fields": []}).to_string();
        let records = session.json("select keyed.search('crm.customers', $1) -> 'records'", &[&query]).await;
        let keys = records.as_array().expect("records").iter().map(|it| it["external_key"].as_str());
        keys.map(|key| key.unwrap_or_default().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(within("").await, "7 9 8");
    assert_eq!(within("york").await, "7", "york alone is not the synonym of NYC");
    assert_eq!(within("nyc").await, "9 8 7");
}

#[tokio::test]
async fn corrected_word_finds_its_synonyms() {
    let (_database, session) = crm().await;
    upsert(&session, "1", json!({"name": "sausage"})).await;
    upsert(&session, "2", json!({"name": "frankfurter"})).await;
    upsert(&session, "3", json!({"name": "bread"})).await;
    define(&session, "customers", &json!([{"synonyms": ["sausage", "frankfurter"]}])).await;
    let query = json!({"global_search": "sausagee", "fuzzy": "auto", "count": "exact", "limit": 1});
    let search = async |query: &Value| {
        session.json("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await
    };
    let result = search(&query).await;
    assert_eq!((&result["total"], &result["did_you_mean"]), (&json!(2), &json!("sausage")));
    let mut next = query.clone();
    next["cursor"] = result["next_cursor"].clone();
    let first = result["records"][0]["external_key"].clone();
    let second = search(&next).await["records"][0]["external_key"].clone();
    assert_eq!((first, second), (json!("2"), json!("1")));
}
