//! No argument crashes a session or causes an internal error.

use harness::{Database, Session, quote};

/// A superuser's session, which has all privileges, and every function that SQL can call, with its argument types.
async fn functions() -> (Database, Session, Vec<(String, Vec<String>)>) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("select keyed.upsert_by_key('crm.customers', 'A-1', '{\"mood\": 1}')").await;
    let list = "select p.pronamespace::regnamespace || '.' || p.proname,
                  array_to_string(array(select format_type(t, null) from unnest(p.proargtypes) t), ',')
                from pg_proc p where p.pronamespace in ('keyed'::regnamespace, 'keyed_http'::regnamespace)
                and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype) and not 'internal'::regtype = any (p.proargtypes) order by 1";
    let functions: Vec<(String, Vec<String>)> = session
        .rows(list, &[])
        .await
        .into_iter()
        .map(|mut row| {
            let types = row.pop().flatten().unwrap_or_default();
            let types = types.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
            (row.pop().flatten().unwrap_or_default(), types)
        })
        .collect();
    assert!(functions.len() > 20, "{functions:?}");
    (database, session, functions)
}

/// A value that the function may well accept.
fn plain(kind: &str) -> &'static str {
    match kind {
        "regclass" => "'crm.customers'::regclass",
        "oid" => "'crm.customers'::regclass::oid",
        "uuid" => "(select id from crm.customers limit 1)",
        "jsonb" => "'{}'::jsonb",
        "boolean" => "true",
        "integer" | "bigint" => "2",
        "name" => "'keyed_admin'::name",
        "text[]" => "null::text[]",
        "real[]" => "array_fill(0.5::real, array[768])",
        "bytea" => "'\\x00'::bytea",
        "interval" => "'1 day'::interval",
        "timestamp with time zone" => "null::timestamptz",
        "text" => "'customers'::text",
        other => panic!("{other} is a type that no function took before: add a value"),
    }
}

/// Values at the limits of the type.
fn extremes(kind: &str) -> &'static [&'static str] {
    match kind {
        "oid" => &["0::oid", "4294967295::oid"],
        "regclass" => &[
            "0::regclass",
            "4294967295::oid::regclass",
            "'pg_class'::regclass",
            "'crm.customers_pkey'::regclass",
            "('keyed_state.history_' || (select id from keyed_state.template where slug = 'customers'))::regclass",
        ],
        "uuid" => {
            &["'00000000-0000-0000-0000-000000000000'::uuid", "'ffffffff-ffff-8fff-bfff-ffffffffffff'::uuid"]
        }
        "jsonb" => &[
            "'null'",
            "'[]'",
            "'1'",
            "'\"x\"'",
            "'{\"\": null}'",
            "'{\"external_key\": {}}'",
            "'{\"attributes\": []}'",
            "(repeat('[', 3000) || repeat(']', 3000))::jsonb",
            "('{\"attributes\": ' || repeat('[', 3000) || repeat(']', 3000) || '}')::jsonb",
            "to_jsonb(repeat('x', 2000000))",
            "jsonb_build_object('name', repeat('x', 2000000))",
            "(select jsonb_object_agg('k' || n, n) from generate_series(1, 20000) n)",
        ],
        "boolean" => &["false"],
        "integer" => &["0", "-1", "2147483647", "-2147483648", "16777216"],
        "bigint" => &["0", "-1", "9223372036854775807", "-9223372036854775808"],
        "name" => &["''::name", "repeat('x', 63)::name", "'a\"b'::name"],
        "text[]" => &[
            "'{}'",
            "'{null}'",
            "'{{a,b},{c,d}}'",
            "'[5:6]={a,b}'",
            "array[repeat('x', 1000000)]",
            "array_fill('x'::text, array[100000])",
            "'{\"\"}'",
        ],
        "real[]" => &[
            "'{}'",
            "'{null}'",
            "'{1}'",
            "array_fill(0::real, array[768])",
            "array_fill('NaN'::real, array[768])",
            "array_fill('-Infinity'::real, array[768])",
            "array_fill(3.4e38::real, array[768])",
            "array_fill(1e-45::real, array[768])",
            "array_fill(1::real, array[768, 1])",
            "array_fill(1::real, array[768], array[-5])",
            "array_fill(1::real, array[1000000])",
        ],
        "bytea" => &["''", "sha256('x')", "convert_to(repeat('x', 2000000), 'UTF8')"],
        "interval" => &["'0'", "'-178000000 years'", "'178000000 years'", "'-1 microsecond'"],
        "timestamp with time zone" => &["'infinity'", "'-infinity'", "'4713-01-01 BC'", "'294276-01-01'"],
        "text" => &[
            "''",
            "' '",
            "repeat('x', 2000000)",
            "repeat('[', 100000)",
            "'{'",
            "'{}'",
            "'null'",
            "'[]'",
            "'2'",
            "'-1'",
            "'99999999999999999999'",
            "'crm.customers'",
            "'''; drop table crm.customers; --'",
            "'%s$1{}\\'",
            "E'\\u0001\\U0010FFFF'",
            "'{\"external_key\": \"\\u0000\"}'",
            "'{\"external_key\": \"\\ud800\"}'",
            "'{\"attributes\": {\"name\": \"\\u0000\"}}'",
            "'{\"slug\": 1}'",
            "'{\"a\": 1, \"a\": 2}'",
            "'0192f0c1-2222-8abc-8000-00800000000b'",
            "'infinity'",
        ],
        other => panic!("{other} is a type that no function took before: add extremes"),
    }
}

/// SQLSTATEs of internal errors.
fn is_problem(state: &str) -> bool {
    ["XX", "58", "57"].iter().any(|class| state.starts_with(class))
        || ["42804", "42883", "22P03", "0A000", "39"].contains(&state)
}

async fn call(session: &Session, function: &str, arguments: &[&str]) {
    let statement = format!("begin; select {function}({}); rollback", arguments.join(", "));
    if let Err(error) = session.attempt(&statement, &[]).await {
        assert!(!is_problem(&error.state), "{statement}: {error}");
    }
    session.attempt("rollback", &[]).await.expect("the session is open");
}

#[tokio::test]
async fn null_arguments_are_accepted_or_rejected() {
    let (database, session, functions) = functions().await;
    for (function, kinds) in &functions {
        let nulls: Vec<String> = kinds.iter().map(|kind| format!("null::{kind}")).collect();
        call(&session, function, &nulls.iter().map(String::as_str).collect::<Vec<_>>()).await;
        for position in 0..kinds.len() {
            let mut arguments: Vec<&str> = kinds.iter().map(|kind| plain(kind)).collect();
            arguments[position] = &nulls[position];
            call(&session, function, &arguments).await;
        }
    }
    database.cluster().assert_no_crash();
}

#[tokio::test]
async fn extreme_arguments_are_accepted_or_rejected() {
    let (database, session, functions) = functions().await;
    session.run("set statement_timeout = '20s'").await;
    for (function, kinds) in &functions {
        for position in 0..kinds.len() {
            for extreme in extremes(&kinds[position]) {
                let mut arguments: Vec<&str> = kinds.iter().map(|kind| plain(kind)).collect();
                arguments[position] = extreme;
                call(&session, function, &arguments).await;
            }
        }
    }
    database.cluster().assert_no_crash();
}

#[tokio::test]
async fn deep_nesting_is_rejected() {
    let (database, session, _) = functions().await;
    let started = session.text("select pg_postmaster_start_time()", &[]).await;
    for text in [
        "[".repeat(100_000),
        "{\"a\":".repeat(100_000),
        format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
    ] {
        for body in [
            text.clone(),
            format!("{{\"attributes\": {text}"),
            format!("{{\"attributes\": {{\"name\": {text}"),
        ] {
            let error = session.error("select keyed_http.create_record('2', $1)", &[&body]).await;
            assert!(["22032", "22023"].contains(&error.state.as_str()), "{error}");
        }
        let jsonb = session.error("select keyed.create_record('crm.customers', $1)", &[&text]).await;
        assert!(["54001", "22P02"].contains(&jsonb.state.as_str()), "{jsonb}");
    }
    assert_eq!(session.text("select pg_postmaster_start_time()", &[]).await, started);
    database.cluster().assert_no_crash();
}

#[tokio::test]
async fn sql_in_a_value_is_not_executed() {
    let (_database, session, _) = functions().await;
    for text in [
        "'; drop table crm.customers; --",
        "\" or 1=1 --",
        "$1",
        "%",
        "_",
        "\\",
        "\\\\%",
        "{}",
        "' || pg_sleep(1) || '",
        "$$x$$",
    ] {
        let created = session.text("select id from keyed.upsert_by_key('crm.customers', $1, jsonb_build_object('name', $1::text)) where created", &[text]).await;
        let found = session.json("select keyed.get_by_key('crm.customers', $1)", &[text]).await;
        assert_eq!(
            (&found["id"], &found["external_key"], &found["attributes"]["name"]),
            (&created.into(), &text.into(), &text.into())
        );
        for statement in [
            "select keyed.create_project($1)",
            "select keyed.create_template($1, 'x')",
            "select keyed.create_template('crm', $1)",
            "select keyed.get_by_key('crm.customers', 'A-1', array[$1])",
            "select keyed.issue_api_key($1)",
            "select keyed.issue_api_key('keyed_admin', array[$1])",
            "select keyed.history_page((select id from crm.customers limit 1), 1, $1)",
            "select keyed.metric_page((select id from crm.customers limit 1), $1)",
            "select keyed.metric_page((select id from crm.customers limit 1), 'mood', bucket => $1)",
            "select keyed.metric_page((select id from crm.customers limit 1), 'mood', bucket => '1h', aggregate => $1)",
            "select keyed.delete_metric_points((select id from crm.customers limit 1), $1, '2024-01-01T00:00:00Z')",
            "select keyed.delete_metric_points((select id from crm.customers limit 1), 'mood', $1)",
            "select keyed_http.create_template(format('{\"slug\": \"x\", \"language\": %s}', to_json($1::text)))",
        ] {
            let error = session.error(statement, &[text]).await;
            assert!(
                ["22023", "P0002", "3F000"].contains(&error.state.as_str()),
                "{statement} with {}: {error}",
                quote(text)
            );
        }
    }
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "11");
}
