//! pg_dump and pg_restore carry everything over.

use harness::customers::VECTORS;
use harness::{Cluster, Database, Durability, Sender, Service, Session, array, similar};
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
fn definitions(database: &Database) -> String {
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
async fn restored() -> (Database, Database, String) {
    let source = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
    let role = source.create_role("clerk").await;
    let session = source.session().await;
    source.grant(&role, "crm.customers", "read, create, update").await;
    session.run(
        r#"select keyed.upsert_by_key('crm.companies', 'C-' || n, '{"name": "ACME"}') from generate_series(1, 3) n;
           select keyed.upsert_by_key('crm.customers', 'é:/ ' || n, jsonb_build_object('name', 'it''s \ "' || n, 'visits', n * 1.10,
             'mood', n, 'tags', array['x', 'y,{}'], 'tier', 'gold', 'born', '2024-02-29', 'seen', '2024-02-29T12:00:00.123456Z', 'active', n % 2 = 0,
             'company', jsonb_build_object('external_key', 'C-' || (n % 3 + 1)))) from generate_series(1, 50) n;
           select keyed.patch_record(id, '{"attributes": {"visits": {"$inc": 1}}}') from crm.customers where visits > 30;
           select keyed.delete_record(id) from crm.customers where visits > 50;
           select keyed.alter_template('crm.customers', '{"embed": ["name", "tier"]}');
           select keyed_http.claim_embeddings('m', 7, 3600);
           select keyed.create_template('crm', 'tree', '[{"slug": "up", "type": "reference", "template": "tree"}]');
           select keyed.upsert_by_key('crm.tree', 'a'); select keyed.upsert_by_key('crm.tree', 'a', '{"up": {"external_key": "a"}}');
           select keyed.create_project('empty', 'Nothing in it'); select keyed.issue_api_key('keyed_admin', null, 'unused');
           select keyed.set_quota('crm', 'live_records', 1000); select keyed.set_quota('crm', 'writes_per_day', 1000);
           insert into keyed_state.idempotent_request values (1, 'once', sha256('x'), '{201,NULL,"{}"}')"#,
    ).await;
    for (key, similarity) in [("é:/ 1", 0.9), ("é:/ 2", 0.5)] {
        let set = "select keyed.set_embedding(id, $2) from crm.customers where external_key = $1";
        session.rows(set, &[key, &array(&similar(similarity))]).await;
    }
    let key = source.api_key(&role, &["crm"]).await;
    let partner = source.create_role("partner").await;
    let of_one = json!({"or": [
        {"field": "company.external_key", "operator": "eq", "value": "C-1"},
        {"field": "company.name", "operator": "eq", "value": "It's \\ nobody's"}
    ]});
    source.grant_within(&partner, "crm.customers", "read, update, delete", &of_one).await;
    let golden = json!({"filters": [{"field": "tier", "operator": "in", "value": "gold"}, {"field": "company.name", "operator": "eq", "value": "ACME"}],
                        "sort": "-visits"});
    session
        .rows("select keyed.save_view('crm.customers', 'golden', $1, 'It''s gold')", &[&golden.to_string()])
        .await;
    let endpoint = json!({"slug": "shop", "external_key": "$.id", "key_prefix": "shop:", "mapping": {"name": "$.name"}, "role": role,
                          "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"});
    session.rows("select keyed.create_inbound_endpoint('crm.customers', $1)", &[&endpoint.to_string()]).await;
    // A token that the test knows, and a delivery that was refused.
    session
        .run(
            r#"update keyed_state.inbound_endpoint set token_hash = sha256('keyed.inbound_token:'::bytea || sha256('in_11111111111111111111111111111111'));
               insert into keyed_state.inbound_delivery (endpoint_id, webhook_id, status, error, payload)
               values (1, 'msg_0', 'failed', '{"code": "forbidden"}', '{"id": 0, "name": "late"}')"#,
        )
        .await;
    let standard = json!({"field": "external_key", "operator": "like", "value": "C-"});
    source.grant_within(&partner, "crm", "read", &standard).await;

    let target = Arc::new(Cluster::start(Durability::None));
    let globals = output(source.cluster().program("pg_dumpall").arg("--globals-only"), b"");
    // The superuser exists already, which is no reason to stop.
    output(target.program("psql").args(["--no-psqlrc", "--quiet", "--dbname", "postgres"]), &globals);
    let copy = Database::empty_in(&target).await;
    let archive = dump(&source, &["--format=custom"]);
    output(copy.cluster().program("pg_restore").args(["--exit-on-error", "--dbname", copy.name()]), &archive);
    (source, copy, key)
}

#[tokio::test]
async fn a_restored_database_is_the_same_and_works_on() {
    let (source, copy, key) = restored().await;
    assert_eq!(definitions(&copy), definitions(&source));
    let session = copy.session().await;
    assert_eq!(contents(&session).await, contents(&source.session().await).await);
    let versions = "select string_agg(keyed.record_version(id), ' ' order by id) from crm.customers";
    assert_eq!(session.text(versions, &[]).await, source.session().await.text(versions, &[]).await);

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
    assert_eq!(session.text(waiting, &[]).await, "{name,tier} 39 5 1");
    session
        .run("select keyed.create_template('crm', 'orders', '[{\"slug\": \"n\", \"type\": \"metric\"}]')")
        .await;
    session.run("select keyed.upsert_by_key('crm.orders', 'O-1', '{\"n\": 1}')").await;

    let service = Service::over(copy, &[]).await;
    let answer = service
        .proxy
        .request("GET", "/v1/entities/template/customers/by-key?key=%C3%A9:/%2099")
        .key(&key)
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

    let sender = Sender {
        id: "1".to_owned(),
        token: "in_11111111111111111111111111111111".to_owned(),
        secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned(),
    };
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

/// What a role reads and may write in a database: by SQL, and by functions.
async fn rights(database: &Database, role: &str) -> Vec<String> {
    let session = database.session_as(role).await;
    let mut answers = Vec::new();
    for statement in [
        "select string_agg(external_key, ' ' order by external_key) from crm.customers",
        "select string_agg(external_key, ' ' order by external_key) from crm.companies",
        "select keyed.search('crm.customers', '{\"count\": \"exact\", \"limit\": 1}') ->> 'total'",
        "select string_agg(external_key, ' ') from crm.customers__golden",
        "select keyed.search('crm.customers', '{\"view\": \"golden\", \"count\": \"exact\"}') ->> 'total'",
        "select string_agg(policyname || ' ' || cmd || ' ' || coalesce(qual, '') || coalesce(with_check, ''), E'\n' order by policyname, tablename)
         from pg_policies where schemaname in ('crm', 'keyed_state')",
    ] {
        let answer = session.attempt(statement, &[]).await;
        answers.push(answer.map_or_else(|refusal| refusal.state, |rows| rows[0][0].clone().unwrap_or_default()));
    }
    for statement in [
        "update crm.customers set name = 'x'",
        "update crm.customers set company = null",
        "update crm.customers set deleted_at = now()",
        "update crm.companies set name = 'x'",
        "select keyed.upsert_by_key('crm.customers', 'é:/ 2', '{\"name\": \"x\"}')",
        "select keyed.upsert_by_key('crm.customers', 'é:/ 3', '{\"name\": \"x\"}')",
        "select * from keyed_state.access_grant",
    ] {
        session.run("begin").await;
        let outcome = session.count(statement, &[]).await.map_err(|refusal| refusal.state);
        answers.push(format!("{outcome:?}"));
        session.run("rollback").await;
    }
    answers
}

#[tokio::test]
async fn a_restored_database_keeps_every_scope() {
    let (source, copy, _) = restored().await;
    for name in ["partner", "clerk"] {
        let role = format!("{name}_{}", source.name());
        let before = rights(&source, &role).await;
        assert_eq!(rights(&copy, &role).await, before, "{name}");
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
    let (_source, copy, _) = restored().await;
    copy.session()
        .await
        .run("select keyed.create_project('shop'); select keyed.create_template('shop', 'goods')")
        .await;
}
