//! Lookups of many records by their keys.

use harness::{Database, Session};
use serde_json::{Value, json};

const LOOKUP: &str = "select keyed.get_by_keys('crm.customers', $1::text[], '{name}')";

/// A session in a database with the customers K1 to K3, of which K3 is deleted.
async fn with_records() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let upsert = "select keyed.upsert_by_key('crm.customers', 'K' || n, jsonb_build_object('name', 'n' || n)) \
                  from generate_series(1, 3) n";
    session.run(upsert).await;
    session.run("select keyed.delete_record(id) from crm.customers where external_key = 'K3'").await;
    (database, session)
}

/// The names of the found records, by key, and the missing keys.
fn found(result: &Value) -> Value {
    let records = result["records"].as_object().expect("records").iter();
    let names: serde_json::Map<String, Value> = records
        .map(|(key, record)| {
            assert_eq!(&record["external_key"], key);
            (key.clone(), record["attributes"]["name"].clone())
        })
        .collect();
    json!([names, result["missing"]])
}

#[tokio::test]
async fn each_key_is_found_or_missing() {
    let (_database, session) = with_records().await;
    for (keys, expected) in [
        ("{K1,K2}", json!([{"K1": "n1", "K2": "n2"}, []])),
        ("{K9,K2,K3,K8}", json!([{"K2": "n2"}, ["K9", "K3", "K8"]])),
        ("{\" K1 \",K1,K9,\"K9 \"}", json!([{"K1": "n1"}, ["K9"]])),
    ] {
        assert_eq!(found(&session.json(LOOKUP, &[keys]).await), expected, "{keys}");
    }
}

#[tokio::test]
async fn record_equals_that_of_a_lookup_by_its_key() {
    let (_database, session) = with_records().await;
    for options in ["", ", '{name,mood}'", ", verbose => true", ", '{tags}', true"] {
        let one =
            session.json(&format!("select keyed.get_by_key('crm.customers', 'K1'{options})"), &[]).await;
        let many = format!("select keyed.get_by_keys('crm.customers', '{{K9,K1}}'{options})");
        assert_eq!(
            session.json(&many, &[]).await,
            json!({"records": {"K1": one}, "missing": ["K9"]}),
            "{options}"
        );
    }
}

#[tokio::test]
async fn lookup_of_many_reads_the_snapshot_of_its_statement() {
    let (database, reader) = with_records().await;
    let writer = database.session().await;
    let expected = json!([{"K1": "n1", "K2": "n2"}, []]);
    reader.run("begin isolation level repeatable read; select 1 from crm.customers").await;
    writer.run("select keyed.upsert_by_key('crm.customers', 'K1', '{\"name\": \"new\"}')").await;
    writer.run("select keyed.delete_record(id) from crm.customers where external_key = 'K2'").await;
    assert_eq!(found(&reader.json(LOOKUP, &["{K1,K2}"]).await), expected);
    reader.run("commit").await;
    let expected = json!([{"K1": "new"}, ["K2"]]);
    assert_eq!(found(&reader.json(LOOKUP, &["{K1,K2}"]).await), expected);
    let index = "select i.indexrelid::regclass::text from pg_index i \
                 where i.indrelid = 'crm.customers'::regclass and i.indpred is not null";
    let index = reader.text(index, &[]).await;
    reader.run(&format!("begin; drop index {index}")).await;
    assert_eq!(found(&reader.json(LOOKUP, &["{K1,K2}"]).await), expected);
}

#[tokio::test]
async fn invalid_lookup_of_many_is_rejected_with_pointers() {
    let (_database, session) = with_records().await;
    for (keys, is, pointers) in [
        ("{}", ("22023", "invalid_value"), json!(["/keys"])),
        (
            "{K1,\"\",\" \",\"a\tb\"}",
            ("22023", "invalid_external_key"),
            json!(["/keys/1", "/keys/2", "/keys/3"]),
        ),
        ("{K1,NULL}", ("22023", "invalid_value"), json!(["/keys"])),
    ] {
        let error = session.error(LOOKUP, &[keys]).await;
        assert_eq!(error.codes(), is, "{keys}");
        let errors = error.detail["errors"].as_array().expect("errors").iter();
        assert_eq!(errors.map(|error| error["pointer"].clone()).collect::<Value>(), pointers, "{keys}");
    }
    let many = "select count(*) from jsonb_object_keys(keyed.get_by_keys('crm.customers', \
                array(select 'K' || n from generate_series(1, $1::integer) n)) -> 'records')";
    assert_eq!(session.text(many, &["1000"]).await, "2");
    assert_eq!(session.error(many, &["1001"]).await.codes(), ("54000", "payload_too_large"));
    let unknown = session.error("select keyed.get_by_keys('crm.customers', '{K1}', '{nam}')", &[]).await;
    assert_eq!(unknown.codes().1, "unknown_field");
}

#[tokio::test]
async fn records_of_more_than_32_mib_are_rejected() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let insert = "insert into crm.customers (external_key, name) \
                  select 'k' || n, repeat('a', 1000000) from generate_series(1, 34) n";
    session.run(insert).await;
    let many = "select length(keyed.get_by_keys('crm.customers', array(select 'k' || n from generate_series(1, 34) n), \
                $1::text[])::text) > 0";
    assert_eq!(session.error(many, &["{name}"]).await.codes(), ("54000", "payload_too_large"));
    assert_eq!(session.text(many, &["{mood}"]).await, "t");
}
