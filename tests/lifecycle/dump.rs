//! pg_dump and pg_restore carry everything over.

use harness::customers::VECTORS;
use harness::everything::{KEY, SECRET, TOKEN};
use harness::{Cluster, Database, Durability, Sender, Service, Session, similar};
use serde_json::json;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// What a program prints; a failure panics with what it said.
pub(crate) fn output(command: &mut Command, input: &[u8]) -> Vec<u8> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A program that ends early says why on standard error.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

pub(crate) fn dump(database: &Database, arguments: &[&str]) -> Vec<u8> {
    output(database.cluster().program("pg_dump").args(arguments).args(["--dbname", database.name()]), b"")
}

/// The definition of everything as SQL, without the lines that differ from run to run.
pub(crate) fn definitions(database: &Database) -> String {
    let dump = String::from_utf8(dump(database, &["--schema-only"])).expect("a text");
    dump.lines()
        .filter(|line| !line.starts_with("\\") && !line.starts_with("--"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Count and checksum of every table, and the value of every sequence.
async fn contents(session: &Session) -> String {
    let tables = "select format('select %L || count(*) || '' '' || coalesce(md5(string_agg(t::text, E''\\n'' order by t::text)), '''') from %s t',
                    c.oid::regclass || ': ', c.oid::regclass)
                  from pg_class c where c.relkind = 'r' and c.relnamespace in ('crm'::regnamespace, 'keyed_state'::regnamespace)
                  order by c.oid::regclass::text";
    let mut lines = Vec::new();
    for row in session.rows(tables, &[]).await {
        lines.push(session.text(row[0].as_deref().unwrap_or_default(), &[]).await);
    }
    let sequences = "select string_agg(schemaname || '.' || sequencename || ' ' || coalesce(last_value, 0), E'\\n' order by 1)
                     from (select * from pg_sequences order by schemaname, sequencename) s";
    lines.push(session.text(sequences, &[]).await);
    lines.join("\n")
}

/// A database with something of everything, and its restored copy in a cluster of its own.
async fn restored() -> (Database, Database) {
    let source = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
    let (clerk, partner) = (source.create_role("clerk").await, source.create_role("partner").await);
    source.add_everything(&clerk, &partner).await;

    let target = Arc::new(Cluster::start(Durability::None));
    let globals = output(source.cluster().program("pg_dumpall").arg("--globals-only"), b"");
    // The superuser exists already, which is no reason to stop.
    output(target.program("psql").args(["--no-psqlrc", "--quiet", "--dbname", "postgres"]), &globals);
    let copy = Database::empty_in(&target).await;
    let archive = dump(&source, &["--format=custom"]);
    output(copy.cluster().program("pg_restore").args(["--exit-on-error", "--dbname", copy.name()]), &archive);
    (source, copy)
}

#[tokio::test]
async fn a_restored_database_is_the_same_and_works_on() {
    let (source, copy) = restored().await;
    assert_eq!(definitions(&copy), definitions(&source));
    let session = copy.session().await;
    assert_eq!(contents(&session).await, contents(&source.session().await).await);
    assert_eq!(copy.answers(&[]).await, source.answers(&[]).await);

    let upsert =
        "select created from keyed.upsert_by_key('crm.customers', $1, '{\"name\": \"new\", \"mood\": 2}')";
    assert_eq!(session.text(upsert, &["é:/ 1"]).await, "f");
    assert_eq!(session.text(upsert, &["é:/ 99"]).await, "t");
    let versions =
        "select max(version) from keyed.history((keyed.get_by_key('crm.customers', $1) ->> 'id')::uuid)";
    assert_eq!(session.text(versions, &["é:/ 1"]).await, "2");
    let words = "select jsonb_array_length(keyed.search('crm.customers', $1) -> 'records')";
    assert_eq!(session.text(words, &[r#"{"global_search": "acme new"}"#]).await, "1");
    assert_eq!(session.text(words, &[r#"{"global_search": "cme gold"}"#]).await, "44");
    assert_eq!(session.text(words, &[r#"{"global_search": "cards"}"#]).await, "44");
    let closest = "select keyed.semantic_search($1) #>> '{0,entity,external_key}'";
    let body = json!({"query_vector": similar(0.8), "template_id": "crm.customers"}).to_string();
    assert_eq!(session.text(closest, &[&body]).await, "é:/ 1");
    session.run(&format!("drop index {VECTORS}_hnsw; select keyed.migrate()")).await;
    // What waited to be embedded still does, with what was written since.
    let waiting =
        "select concat_ws(' ', attributes, pending, running, by_hand) from keyed.embedding_status()";
    assert_eq!(session.text(waiting, &[]).await, "{name,tier} 43 5 1");
    session
        .run("select keyed.create_template('crm', 'orders', '[{\"slug\": \"n\", \"type\": \"metric\"}]')")
        .await;
    session.run("select keyed.upsert_by_key('crm.orders', 'O-1', '{\"n\": 1}')").await;

    let service = Service::over(copy, &[]).await;
    let answer = service
        .proxy
        .request("GET", "/v1/entities/template/customers/by-key?key=%C3%A9:/%2099")
        .key(KEY)
        .send()
        .await;
    assert_eq!(answer.expect(200)["attributes"]["name"], json!("new"));
    service
        .create(json!({"external_key": "é:/ 100", "attributes": {"company": {"external_key": "C-1"}}}))
        .await;
    service
        .post("/entities/template/customers", json!({"external_key": "é:/ 2"}))
        .await
        .refused(409, "external_key_taken");

    let sender = Sender { id: "1".to_owned(), token: TOKEN.to_owned(), secret: SECRET.to_owned() };
    let body = r#"{"id": 1, "name": "delivered"}"#;
    service.deliver_signed(&sender, "msg_1", body).await.expect(200);
    assert_eq!(
        service.deliver_signed(&sender, "msg_0", body).await.status,
        202,
        "it was refused before the dump"
    );
    service.post("/inbound-endpoints/shop/deliveries/1/replay", json!({})).await.expect(200);
    assert_eq!(service.by_key("shop:0").await.expect(200)["attributes"]["name"], "late");
}

#[tokio::test]
async fn a_restored_database_keeps_every_scope() {
    let (source, copy) = restored().await;
    for name in ["partner", "clerk"] {
        let role = format!("{name}_{}", source.name());
        let before = source.rights(&role).await;
        assert_eq!(copy.rights(&role).await, before, "{name}");
        if name == "partner" {
            assert_eq!(
                (before[0].split(':').count(), before[1].as_str(), before[2].as_str()),
                (15, "C-1 C-2 C-3", "14")
            );
        }
    }
    // And they go on to follow what changes.
    let (session, role) = (copy.session().await, format!("partner_{}", source.name()));
    session.run("select keyed.alter_attribute('crm.companies', 'name', '{\"slug\": \"title\"}')").await;
    assert_eq!(copy.session_as(&role).await.text("select count(*) from crm.customers", &[]).await, "14");
    let golden = "select count(*) from crm.customers__golden";
    assert_eq!(copy.session_as(&role).await.text(golden, &[]).await, "14");
    session.run("select keyed.drop_attribute('crm.customers', 'seen')").await;
    assert_eq!(copy.session_as(&role).await.text(golden, &[]).await, "14");
    session.run(&format!("select keyed.revoke_access('{role}', 'crm.customers')")).await;
    assert_eq!(copy.session_as(&role).await.text("select count(*) from crm.customers", &[]).await, "0");
    session.run(&format!("select keyed.revoke_access('{role}', 'crm')")).await;
    let refusal = copy.session_as(&role).await.refusal("select from crm.customers", &[]).await;
    assert_eq!(refusal.state, "42501");
    assert_eq!(copy.session_as(&role).await.refusal(golden, &[]).await.state, "42501");
}

#[tokio::test]
async fn a_restored_database_takes_new_projects() {
    let (_source, copy) = restored().await;
    copy.session()
        .await
        .run("select keyed.create_project('shop'); select keyed.create_template('shop', 'goods')")
        .await;
}
