//! Shards: the ranges of their ids, their directory, and keys that several shards accept.

use harness::{Cluster, Database, Session};
use serde_json::{Value, json};

/// A database with this shard number.
async fn shard(number: i32) -> Database {
    let database = Database::empty_in(&Cluster::shared()).await;
    let session = database.session().await;
    session.run("create extension keyed cascade").await;
    session.run(&format!("select keyed.init(shard => {number})")).await;
    session.run("select keyed.create_project('crm')").await;
    let attributes = r#"[{"slug": "name", "type": "string"}, {"slug": "parent", "type": "reference", "template": "customers"}]"#;
    session.run(&format!("select keyed.create_template('crm', 'customers', '{attributes}')")).await;
    database
}

async fn customer(session: &Session, key: &str) -> String {
    session.text("select id from keyed.upsert_by_key('crm.customers', $1)", &[key]).await
}

#[tokio::test]
async fn ids_of_a_shard_contain_its_number() {
    let database = shard(3).await;
    let session = database.session().await;
    assert_eq!(session.text("select keyed.shard()", &[]).await, "3");
    let sql = "select string_agg(distinct (i >> bits)::text, ' ') from (
        select id::bigint, 24 from keyed_state.project union all select id, 24 from keyed_state.attribute
        union all select id, 17 from keyed_state.template) ids (i, bits)";
    assert_eq!(session.text(sql, &[]).await, "3");
    let id = customer(&session, "A-1").await;
    let template = u128::from_str_radix(&id.replace('-', ""), 16).expect("a UUID") >> 38 & 0xff_ffff;
    assert_eq!(template >> 17, 3, "{id}");
    let key = session.text("select keyed.issue_api_key('keyed_admin')", &[]).await;
    let number: i32 = key.split('_').nth(1).and_then(|id| id.parse().ok()).expect("an id");
    assert_eq!(number >> 24, 3, "{key}");
    let endpoint = r#"{"slug": "shop", "template": "crm.customers", "external_key": "$.id", "mapping": {}}"#;
    let made = session
        .text("select keyed.create_inbound_endpoint('crm.customers', $1::text::jsonb)", &[endpoint])
        .await;
    let made: Value = serde_json::from_str(&made).expect("JSON");
    let token = made["token"].as_str().expect("a token");
    let id = made["id"].as_str().expect("an id");
    assert_eq!(token.split('_').nth(1), Some(id), "{token}");
    assert_eq!(id.parse::<i32>().expect("a number") >> 24, 3, "{made}");
}

#[tokio::test]
async fn shard_keeps_its_ranges_after_a_dump_and_a_migration() {
    let database = shard(127).await;
    let session = database.session().await;
    let ranges = "select string_agg(seqrelid::regclass || ' ' || seqmin || ' ' || seqmax, E'\\n' order by seqrelid::regclass::text)
                  from pg_sequence s join pg_class c on c.oid = s.seqrelid where c.relnamespace = 'keyed_state'::regnamespace";
    let before = session.text(ranges, &[]).await;
    assert!(before.contains("keyed_state.template_id_seq 16646144 16777215"), "{before}");
    assert!(before.contains("keyed_state.project_id_seq 2130706432 2147483647"), "{before}");
    session.run("select keyed.migrate(); select keyed.init(shard => 127); select keyed.init()").await;
    assert_eq!(session.text(ranges, &[]).await, before);
    let copy = Database::empty_in(&Cluster::shared()).await;
    copy.restore(&database.dump(&["--format=custom"]));
    let session = copy.session().await;
    assert_eq!(session.text(ranges, &[]).await, before);
    assert_eq!(session.text("select keyed.shard()", &[]).await, "127");
    let next = session.text("select keyed.create_project('shop')", &[]).await;
    assert_eq!(next.parse::<i32>().expect("an id") >> 24, 127);
}

#[tokio::test]
async fn database_with_ids_outside_its_range_cannot_become_a_shard() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let error = session.error("select keyed.init(shard => 1)", &[]).await;
    assert_eq!(error.codes(), ("23505", "conflict"));
    assert!(error.to_string().contains("has ids outside its range"), "{error}");
    assert_eq!(session.text("select coalesce(keyed.shard(), -1)", &[]).await, "-1");
    for invalid in [-1, 128] {
        let error = session.error(&format!("select keyed.init(shard => {invalid})"), &[]).await;
        assert_eq!(error.codes(), ("22023", "invalid_value"), "{invalid}");
    }
    // The data of a single database can become shard 0, and its ids continue.
    let last = session.text("select max(id) from keyed_state.project", &[]).await;
    session.run("select keyed.init(shard => 0)").await;
    let next = session.text("select keyed.create_project('next')", &[]).await;
    assert!(next.parse::<i32>().expect("an id") > last.parse().expect("an id"));
    let error = session.error("select keyed.init(shard => 1)", &[]).await;
    assert!(error.to_string().contains("is shard 0 and cannot become shard 1"), "{error}");
}

#[tokio::test]
async fn shard_without_free_ids_reports_an_error() {
    let database = shard(2).await;
    let session = database.session().await;
    session.run("select setval('keyed_state.template_id_seq', 393215)").await;
    let error = session.error("select keyed.create_template('crm', 'orders')", &[]).await;
    assert_eq!(error.codes(), ("54000", "payload_too_large"));
    assert!(error.to_string().contains("no id is left"), "{error}");
}

#[tokio::test]
async fn directory_lists_projects_and_ids_of_other_shards() {
    let database = shard(5).await;
    let session = database.session().await;
    let parts = "select coalesce(t, 'null') from unnest(keyed_http.shard($1)) t";
    let directory = async |known: &str| -> Vec<String> {
        session
            .rows(parts, &[known])
            .await
            .into_iter()
            .map(|row| row[0].clone().unwrap_or_default())
            .collect()
    };
    let first = directory("").await;
    let projects: Value = serde_json::from_str(&first[2]).expect("JSON");
    assert_eq!((first[0].as_str(), projects[0]["slug"].as_str()), ("5", Some("crm")));
    let moved: Value = serde_json::from_str(&first[3]).expect("JSON");
    assert_eq!(
        moved,
        json!({"templates": [], "projects": [], "inbound_endpoints": [], "webhook_endpoints": [], "api_keys": []})
    );
    assert_eq!(directory(&first[1]).await, ["5", &first[1], "null", "null"]);
    session.run("select keyed.create_project('shop')").await;
    let next = directory(&first[1]).await;
    assert_ne!(next[1], first[1]);
    assert!(next[2].contains("shop"), "{next:?}");
    let role = database.create_role("analyst").await;
    let error = database.session_as(&role).await.error("select keyed_http.shard()", &[]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"));
}

#[tokio::test]
async fn reference_to_a_record_of_another_shard_is_rejected() {
    let (here, there) = (shard(0).await, shard(9).await);
    let other = customer(&there.session().await, "A-1").await;
    let session = here.session().await;
    let sql = format!("select keyed.upsert_by_key('crm.customers', 'B', '{{\"parent\": \"{other}\"}}')");
    let error = session.error(&sql, &[]).await;
    assert_eq!(error.codes(), ("23503", "reference_not_found"));
    assert!(error.to_string().contains("belongs to shard 9"), "{error}");
}

#[tokio::test]
async fn key_of_another_shard_is_registered_once() {
    let (home, other) = (shard(1).await, shard(2).await);
    let role = home.create_role("clerk").await;
    let (home, session) = (home.session().await, other.session().await);
    let issue = format!("select keyed.issue_api_key('{role}', '{{crm}}', 'clerk')");
    let key = home.text(&issue, &[]).await;
    let id = key.split('_').nth(1).expect("an id").to_owned();
    let register = format!("select keyed.register_api_key($1, '{role}', '{{crm}}', 'clerk')");
    for _ in 0..2 {
        assert_eq!(session.text(&register, &[&key]).await, id);
    }
    let count = "select count(*) from keyed.list_api_keys() where label = 'clerk'";
    assert_eq!(session.text(count, &[]).await, "1");
    let authenticate = "select keyed.authenticate(sha256(convert_to($1, 'UTF8')), 'crm')";
    assert_eq!(session.text(authenticate, &[&key]).await, "t");
    for (sql, expected) in [
        (register.replace("{crm}", "{}"), "22023"),
        (register.replace("'clerk')", "'boss')"), "23505"),
        (register.replace(&role, "keyed_admin"), "23505"),
    ] {
        assert_eq!(session.error(&sql, &[&key]).await.codes().0, expected, "{sql}");
    }
    let own = session.text(&issue, &[]).await;
    let error = session.error(&register, &[&own]).await;
    assert!(error.to_string().contains("is not of another shard"), "{error}");
    let changed = format!("{}x", &key[..key.len() - 1]);
    assert_eq!(session.error(&register, &[&changed]).await.codes(), ("22023", "invalid_value"));
    assert_eq!(session.text(&format!("select keyed.revoke_api_key({id})"), &[]).await, "t");
    assert_eq!(session.error(&register, &[&key]).await.codes(), ("23505", "conflict"));
}
