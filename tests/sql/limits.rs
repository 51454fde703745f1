//! Size limits, which a superuser can set.

use harness::{Database, Session};
use serde_json::{Value, json};

async fn crm_with(setting: &str, value: &str) -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run(&format!("set {setting} = '{value}'")).await;
    (database, session)
}

fn operations(count: usize) -> String {
    let operation = json!({"op": "create", "template": "crm.customers", "attributes": {}});
    Value::Array(vec![operation; count]).to_string()
}

#[tokio::test]
async fn setting_limits_operations_of_a_batch() {
    let (_database, session) = crm_with("keyed.max_operations_per_batch", "1001").await;
    let run = "select keyed.batch($1::jsonb)";
    let result = session.json(run, &[&operations(1001)]).await;
    assert_eq!(result["errors"], false, "{}", result["results"][0]);
    let error = session.error(run, &[&operations(1002)]).await;
    assert_eq!(error.codes(), ("54000", "payload_too_large"));
    session.run("reset keyed.max_operations_per_batch").await;
    let error = session.error(run, &[&operations(1001)]).await;
    assert_eq!(error.codes(), ("54000", "payload_too_large"));
}

#[tokio::test]
async fn setting_limits_attributes_of_a_template() {
    let (_database, session) = crm_with("keyed.max_attributes_per_template", "2").await;
    let create = "select keyed.create_template('crm', 'small', $1::jsonb, 'Small')";
    let attributes = |slugs: &[&str]| {
        Value::from_iter(slugs.iter().map(|slug| json!({"slug": slug, "type": "string"}))).to_string()
    };
    let error = session.error(create, &[&attributes(&["a", "b", "c"])]).await;
    assert_eq!(error.codes(), ("54000", "payload_too_large"));
    session.json(create, &[&attributes(&["a", "b"])]).await;
    let add = "select keyed.add_attribute('crm.small', '{\"slug\": \"c\", \"type\": \"string\"}')";
    assert_eq!(session.error(add, &[]).await.codes(), ("54000", "payload_too_large"));
    session.run("set keyed.max_attributes_per_template = 3").await;
    session.json(add, &[]).await;
}

#[tokio::test]
async fn setting_limits_the_length_of_new_text() {
    let (_database, session) = crm_with("keyed.max_text_size", "16MB").await;
    let long = json!({"name": "x ".repeat(2 << 20), "visits": 1});
    let create = "select keyed.create_record('crm.customers', $1::jsonb, 'long')";
    let record = session.json(create, &[&long.to_string()]).await;
    assert_eq!(record["attributes"]["name"], long["name"]);
    session.run("set keyed.max_text_size = '1kB'").await;
    let id = harness::id_of(&record);
    session.json("select keyed.patch_record($1, '{\"attributes\": {\"visits\": 2}}')", &[id]).await;
    session.run("update crm.customers set visits = 3 where external_key = 'long'").await;
    for write in [
        "select keyed.patch_record(id, jsonb_build_object('attributes', jsonb_build_object('name', name || 'x'))) \
         from crm.customers where external_key = 'long'",
        "update crm.customers set name = name || 'x' where external_key = 'long'",
    ] {
        assert_eq!(session.error(write, &[]).await.codes(), ("22023", "invalid_value"), "{write}");
    }
}

#[tokio::test]
async fn only_a_superuser_sets_limits() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("set session authorization keyed_admin").await;
    // Before the library is loaded, PostgreSQL accepts any value. Loading the library discards invalid ones.
    session.run("set keyed.max_text_size = '16MB'").await;
    let long = json!({"name": "x".repeat(2 << 20)}).to_string();
    let error = session.error("select keyed.create_record('crm.customers', $1::jsonb)", &[&long]).await;
    assert_eq!(error.codes(), ("22023", "invalid_value"));
    for name in [
        "max_text_size",
        "max_operations_per_batch",
        "max_attributes_per_template",
        "inbound_room",
        "direct_access",
    ] {
        assert_eq!(session.error(&format!("set keyed.{name} = 1"), &[]).await.state, "42501", "{name}");
    }
}

#[tokio::test]
async fn old_setting_name_causes_a_warning() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run(&format!("alter database \"{}\" set keyed.inbound_room = '2GB'", database.name())).await;
    let mut psql = database.cluster().program("psql");
    psql.args(["--no-psqlrc", "--dbname", database.name()]);
    for command in ["load 'keyed'", "select keyed.pending_migrations()", "set keyed.idempotency_room = '2GB'"]
    {
        psql.args(["--command", command]);
    }
    let output = psql.output().expect("psql runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    for (old, new) in [
        ("keyed.inbound_room", "keyed.max_inbound_log_size"),
        ("keyed.idempotency_room", "keyed.max_idempotency_size"),
    ] {
        let warning = format!("WARNING:  {old} is the old name of {new}\n");
        assert_eq!(said.matches(&warning).count(), 1, "{old}: {said}");
        assert!(said.contains(&format!("HINT:  Set {new} and reset {old}: ")), "{said}");
    }
}

#[tokio::test]
async fn argument_size_is_checked_before_allocation() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let record = session.json("select keyed.create_record('crm.customers', '{}')", &[]).await;
    let id = harness::id_of(&record);
    let import = |options: &str, rows: &str| {
        format!(
            "select keyed_http.import_rows(t.id::text, '{options}', {rows}) from keyed_state.template t \
             where t.slug = 'customers'"
        )
    };
    let csv = "{\"format\": \"csv\", \"header\": [\"external_key\"]}";
    for statement in [
        import(csv, "repeat(E'a\\n', 50001)"),
        import(csv, "repeat('x', (16 << 20) + 1)"),
        import("{}", "repeat(E'{}\\n', 50001)"),
        format!("select keyed.get_record('{id}', array_fill('name'::text, array[100001]))"),
        format!("select keyed.set_embedding('{id}', array_fill(1::real, array[100001]))"),
        "select keyed.alter_template('crm.customers', \
         jsonb_build_object('drop', to_jsonb(array_fill('name'::text, array[100001]))))"
            .to_owned(),
    ] {
        assert_eq!(
            session.error(&statement, &[]).await.codes(),
            ("54000", "payload_too_large"),
            "{statement}"
        );
    }
    let members = "select keyed.patch_record($1, (select jsonb_build_object('attributes', \
                   jsonb_object_agg('k' || n, n)) from generate_series(1, 100001) n))";
    assert_eq!(session.error(members, &[id]).await.codes(), ("22032", "malformed_request"));
    let list = "update crm.customers set tags = array_fill('x'::text, array[10001])";
    let error = session.error(list, &[]).await;
    assert!(error.message.contains("at most 10000 elements, not 10001"), "{error}");
}

#[tokio::test]
async fn long_argument_is_rejected_before_it_is_read() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    // Compressed to less than a megabyte, so only reading the value takes memory.
    session
        .run(
            "create table long as select repeat('x', n)::text as text, to_jsonb(repeat('x', n)) as json, \
             convert_to(repeat('x', n), 'UTF8') as bytes, array[repeat('x', n)] as texts \
             from (values ((64 << 20) + 1), (1000)) v (n)",
        )
        .await;
    for call in [
        "keyed_http.create_record('2', text)",
        "keyed_http.batch(text)",
        "keyed_http.search('2', text)",
        "keyed_http.import_rows('2', '{}', text)",
        "keyed.normalize_key(text)",
        "keyed.create_record('crm.customers', json)",
        "keyed.batch(json)",
        "keyed.save_view('crm.customers', 'mine', json)",
        "keyed.authenticate(bytes, null)",
        "keyed_http.deliver(bytes, null, null, null, '{}')",
        "keyed.get_record(keyed.new_id(2), texts)",
    ] {
        let of = |order: &str| {
            format!("select {call} from (select * from long order by length(text) {order} limit 1) l")
        };
        let error = session.error(&of("desc"), &[]).await;
        assert_eq!(error.codes(), ("54000", "payload_too_large"), "{call}: {error}");
        assert!(error.message.contains("an argument has more than 64 MiB"), "{call}: {error}");
        // A shorter argument is read.
        if let Err(error) = session.attempt(&of("asc"), &[]).await {
            assert!(!error.message.contains("an argument"), "{call}: {error}");
        }
    }
}

#[tokio::test]
async fn json_with_a_long_text_form_is_rejected() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    // Each number has 131,072 digits, of which jsonb stores only a few.
    let filters =
        "jsonb_build_object('filters', (select jsonb_agg(1e131071::numeric) from generate_series(1, 600)))";
    let error = session.error(&format!("select keyed.search('crm.customers', {filters})"), &[]).await;
    assert_eq!(error.codes(), ("54000", "payload_too_large"), "{error}");
}

#[tokio::test]
async fn long_argument_is_not_read_after_a_cancellation() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    // The argument is prepared first. The signal arrives before the next function runs, which would raise its own
    // error.
    session.run("select keyed.normalize_key('the first call of a session reads more')").await;
    for call in ["keyed.normalize_key(text)", "keyed_http.batch(text)"] {
        let statement = format!(
            "with long as materialized (select repeat('x', 2 << 20) as text) \
             select pg_cancel_backend(pg_backend_pid()), {call} from long"
        );
        let error = session.error(&statement, &[]).await;
        assert_eq!(error.state, "57014", "{call}: {error}");
    }
}
