//! `keyed-proxy demo`, whose output psql runs.

use crate::run;
use harness::{Cluster, Database, Durability, proxy_program};
use std::io::Write as _;
use std::process::Stdio;

/// Runs the output of the command with psql, as an administrator does.
fn make_demo(database: &Database) -> (bool, String, String) {
    let sql = run(&mut proxy_program(&["demo"])).expect();
    let mut psql = database.cluster().program("psql");
    psql.args(["--no-psqlrc", "--dbname", database.name()]);
    let mut psql = psql
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("psql is installed");
    // psql stops reading at the first error.
    let _ = psql.stdin.take().expect("a pipe").write_all(sql.as_bytes());
    let output = psql.wait_with_output().expect("psql ends");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

/// The part of `keyed.checksums()` that does not depend on the date and the ids.
async fn counts(database: &Database) -> String {
    let sql = "select string_agg(concat_ws(' ', template, part, rows), E'\\n') from keyed.checksums()";
    database.session().await.text(sql, &[]).await
}

#[tokio::test]
async fn demo_creates_its_project_once() {
    let database = Database::new().await;
    let (is_made, printed, errors) = make_demo(&database);
    assert!(is_made && errors.is_empty(), "{errors}");
    assert!(
        printed.contains("sales_bern.key | keyed_") && printed.contains("web_shop.token | in_"),
        "{printed}"
    );
    let made = counts(&database).await;
    for part in ["crm.companies records 40", "crm.customers records 1200", "crm.orders records 2400"] {
        assert!(made.contains(part), "{part}: {made}");
    }

    let (is_made, printed, errors) = make_demo(&database);
    assert!(!is_made && printed.is_empty(), "{printed}");
    assert!(errors.starts_with("ERROR:  schema \"crm\" already exists"), "{errors}");
    assert!(errors.contains("HINT:  Nothing has changed."), "{errors}");
    assert_eq!(errors.lines().count(), 2, "one sentence and a hint: {errors}");
    assert_eq!(counts(&database).await, made);
}

#[tokio::test]
async fn demo_runs_no_code_of_other_roles_and_logs_no_secret() {
    let database = Database::new().await;
    let session = database.session().await;
    let planted = "create function public.sin(numeric) returns double precision language plpgsql as $$
                   begin raise exception 'planted'; end $$;
                   create function public.overlaps(text[], text[]) returns boolean language plpgsql as $$
                   begin raise exception 'planted'; end $$;
                   create operator public.&& (leftarg = text[], rightarg = text[], function = public.overlaps)";
    session.run(planted).await;
    let name = database.name().to_owned();
    session.run(&format!("alter database \"{name}\" set log_statement = 'all'")).await;
    let (is_made, printed, errors) = make_demo(&database);
    assert!(is_made && errors.is_empty(), "{errors}");
    let secrets: Vec<&str> =
        printed.split(' ').filter(|it| it.starts_with("keyed_") || it.starts_with("in_")).collect();
    assert_eq!(secrets.len(), 2, "{printed}");
    let log = database.cluster().log();
    assert!(log.contains("issue_api_key('sales_bern'"), "the statements are logged");
    assert!(secrets.iter().all(|secret| !log.contains(secret)), "a secret is in the log");
}

#[tokio::test]
async fn demo_rejects_a_role_with_other_privileges() {
    let cluster = std::sync::Arc::new(Cluster::start(Durability::None));
    let database = Database::new_in(&cluster).await;
    let session = database.session().await;
    session.run("create role sales_bern in role keyed_admin").await;
    let (is_made, _, errors) = make_demo(&database);
    assert!(!is_made && errors.contains("has the rights of another role"), "{errors}");
}

#[tokio::test]
async fn demo_without_the_extension_fails_with_a_hint() {
    let database = Database::empty_in(&Cluster::shared()).await;
    let (is_made, _, errors) = make_demo(&database);
    assert!(!is_made && errors.contains("this database has no extension keyed"), "{errors}");
}

#[tokio::test]
async fn every_definition_of_the_demo_has_a_label() {
    let database = Database::new().await;
    let (is_made, _, errors) = make_demo(&database);
    assert!(is_made, "{errors}");
    let session = database.session().await;
    for template in ["companies", "customers", "orders"] {
        let sql = format!("select keyed.alter_template('crm.{template}', '{{}}')");
        let template = session.json(&sql, &[]).await;
        assert!(template["label"].is_string(), "{template}");
        for attribute in template["attributes"].as_array().expect("attributes") {
            assert!(attribute["label"].is_string(), "{attribute}");
            let options = attribute["options"].as_array().into_iter().flatten();
            assert!(options.into_iter().all(|option| option["label"].is_string()), "{attribute}");
        }
    }
}

#[tokio::test]
async fn demo_role_sees_only_bern() {
    let database = Database::new().await;
    let (is_made, _, errors) = make_demo(&database);
    assert!(is_made, "{errors}");
    let session = database.session().await;
    session.run("set role sales_bern").await;
    let seen = "select (select string_agg(distinct city, ' ') from crm.customers) || ' ' || \
                (select count(*) > 100 from crm.orders) || ' ' || (select count(*) from crm.companies)";
    assert_eq!(session.text(seen, &[]).await, "Bern true 40");
}
