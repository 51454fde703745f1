//! What is wrong with a database, and how to repair it.

use crate::{Outcome, keyed, keyed_as};
use harness::Database;
use harness::companies::DOCUMENTS;
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

/// Runs statements as a person would paste them.
fn paste(database: &Database, statements: &str) {
    let mut psql = database.cluster().program("psql");
    psql.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--dbname", database.name()]);
    let mut psql = psql.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("psql runs");
    psql.stdin.take().expect("piped").write_all(statements.as_bytes()).expect("psql reads");
    assert!(psql.wait().is_ok_and(|status| status.success()), "{statements}");
}

/// The findings of a check.
fn findings(outcome: Outcome, check: &str) -> Vec<Value> {
    let report: Value =
        serde_json::from_str(&outcome.out).unwrap_or_else(|_| panic!("no report: {}", outcome.err));
    let all = report["findings"].as_array().expect("findings").iter();
    all.filter(|finding| finding["check"] == check).cloned().collect()
}

#[tokio::test]
async fn a_database_as_it_is_set_up_is_healthy() {
    let database = Database::new_durable().await.add_crm().await;
    let report = keyed(&database, &["doctor", "--json"]).json();
    assert_eq!(report["healthy"], true, "{report:#}");
    assert_eq!(report["extension_version"], report["proxy_version"]);
    for finding in report["findings"].as_array().expect("findings") {
        assert_eq!(finding["severity"], "note", "{finding}");
    }
    let text = keyed(&database, &["doctor"]).expect();
    assert!(text.contains("ok       ownership:") && !text.contains("skipped"), "{text}");

    let dba = database.create_role("dba").await;
    database.session().await.run(&format!("grant keyed_admin to {dba}")).await;
    assert_eq!(keyed_as(&database, &dba, &["doctor", "--json"]).json()["healthy"], true);
}

#[tokio::test]
async fn each_fault_is_found_and_mended_as_it_says() {
    let database = Database::new_durable().await.add_crm().await;
    let key = "select keyed.issue_api_key('gone', null, 'orphan')";
    let grant = "select keyed.grant_access('gone', 'crm.customers', '{read}')";
    for (fault, check, part) in [
        ("alter table crm.customers disable row level security", "ownership", "crm.customers is off"),
        ("grant create on schema keyed_state to public", "foreign objects", "lets everybody create"),
        (
            "create rule evil as on insert to keyed_state.project do also select 1",
            "foreign objects",
            "rule evil on keyed_state.project",
        ),
        (
            "alter event trigger keyed_guard_definition disable",
            "foreign objects",
            "keyed_guard_definition is off",
        ),
        (
            "alter table crm.customers disable trigger keyed_note_history",
            "templates",
            "keyed_note_history of crm.customers is off",
        ),
        (
            "set allow_system_table_mods = on; update pg_index set indisvalid = false where indexrelid = 'crm.companies_pkey'::regclass",
            "indexes",
            "companies_pkey",
        ),
        ("drop index crm.companies_external_key_idx", "indexes", "nothing keeps the keys"),
        (
            "do $$ begin execute (select 'drop index ' || i.indexrelid::regclass from pg_index i where i.indrelid = 'crm.customers'::regclass and pg_get_indexdef(i.indexrelid) like '%(company%'); end $$",
            "indexes",
            "the attribute company",
        ),
        (
            "select keyed.set_quota('crm', 'writes_per_day', 1000000); \
             do $$ begin for n in 1..400 loop update keyed_state.quota_slot set used = used; end loop; end $$",
            "quota counters",
            "the counters of quotas take",
        ),
        ("grant keyed_owner to keyed_proxy", "roles", "a member of keyed_owner"),
        ("alter role keyed_admin createrole", "roles", "make roles"),
        ("alter role keyed_proxy nologin", "proxy login", "cannot log in"),
        ("grant select on crm.customers to keyed_proxy", "proxy login", "SELECT on crm.customers"),
        ("revoke usage on schema keyed_http from public", "proxy login", "schema keyed_http"),
        (
            "revoke execute on function keyed.authenticate from keyed_proxy",
            "proxy login",
            "keyed.authenticate",
        ),
        (
            "grant execute on function keyed_http.deliver to public",
            "proxy login",
            "everybody may present credentials",
        ),
        (&format!("create role gone; {key}; drop role gone"), "API keys", "orphan"),
        ("select keyed.issue_api_key('postgres', null, 'mighty')", "API keys", "superuser postgres"),
        (
            &format!("create role gone; {grant}; drop owned by gone; drop role gone"),
            "grants",
            "a role that is gone",
        ),
        (
            &format!(
                "create role gone; {grant}; drop owned by gone; drop role gone; create role late; \
                 update keyed_state.access_grant set role = 'late', bound_in = 'elsewhere' where role_name = 'gone'"
            ),
            "grants",
            "its number is now that of late",
        ),
        (
            &format!(
                "create role gone; {key}; drop role gone; \
                 update keyed_state.api_key set role = 'late', bound_in = 'elsewhere' where role_name = 'gone'"
            ),
            "API keys",
            "orphan) was issued for the role gone, which is gone, and is refused (its number is now that of late)",
        ),
        (
            &format!(
                "create role before; {}; alter role before rename to after",
                grant.replace("gone", "before")
            ),
            "renamed roles",
            "the role after was called before",
        ),
        (
            "create role wide_reader; grant pg_read_all_data to wide_reader",
            "wide roles",
            "wide_reader is a member",
        ),
        (
            "create role before; select keyed.create_inbound_endpoint('crm.customers', \
             '{\"slug\": \"shop\", \"external_key\": \"$.id\", \"role\": \"before\"}'); drop role before",
            "inbound endpoints",
            "the role before, which is gone",
        ),
        (
            "create role mighty; select keyed.grant_access('mighty', 'crm', '{read}'), \
             keyed.grant_access('mighty', 'crm.customers', '{read}'); alter role mighty superuser",
            "grants",
            "it is a superuser",
        ),
        (
            "create function public.audit() returns trigger language plpgsql as 'begin return new; end'; \
             create trigger audit before insert on crm.customers for each row execute function public.audit()",
            "code of others",
            "the trigger audit on table crm.customers calls public.audit()",
        ),
        (
            "create function public.spy(crm.customers) returns boolean language plpgsql as 'begin return true; end'; \
             create trigger zz before insert on crm.customers for each row when (public.spy(new)) execute function keyed.guard_record()",
            "code of others",
            "the trigger zz on table crm.customers calls public.spy(crm.customers)",
        ),
        (
            "create policy peek on crm.customers for select using (public.spy(customers))",
            "code of others",
            "the policy peek on table crm.customers calls public.spy(crm.customers)",
        ),
        (
            "create rule quiet as on delete to crm.companies do instead nothing",
            "code of others",
            "the rule quiet on crm.companies",
        ),
        (
            "create role wide bypassrls; select keyed.grant_access('wide', 'crm.customers', '{read}')",
            "grants",
            "bypasses",
        ),
        (
            "drop table keyed_state.idempotent_request; delete from keyed_state.version where number = 12",
            "state",
            "steps 12",
        ),
        (
            "alter role keyed_admin set keyed.max_text_sise = '4MB'",
            "names of settings",
            "no setting keyed.max_text_sise, which is made for role keyed_admin",
        ),
        (
            "alter system set synchronous_commit = off; select pg_reload_conf()",
            "settings",
            "synchronous_commit is off",
        ),
        (
            "alter system set full_page_writes = off; select pg_reload_conf()",
            "durability",
            "full_page_writes",
        ),
    ] {
        paste(&database, fault);
        let found = findings(keyed(&database, &["doctor", "--json", "--fail-on", "note"]), check);
        let finding =
            found.iter().find(|finding| finding["message"].as_str().is_some_and(|it| it.contains(part)));
        let finding = finding.unwrap_or_else(|| panic!("{fault}: not found in {found:?}"));
        let is_error = ![
            "API keys",
            "grants",
            "inbound endpoints",
            "names of settings",
            "quota counters",
            "renamed roles",
            "settings",
            "code of others",
            "wide roles",
        ]
        .contains(&check);
        let outcome = keyed(&database, &["doctor"]);
        assert_eq!(outcome.code, Some(i32::from(is_error)), "{fault}: {}", outcome.out);
        assert!(outcome.out.contains(part) && outcome.out.contains("remedy: "), "{}", outcome.out);
        let mend = finding["remedy"].as_str().expect("a remedy");
        let mend = mend.replace('…', "keyed_admin");
        paste(&database, mend.split("then: ").last().unwrap_or_default());
        let left = findings(keyed(&database, &["doctor", "--json"]), check);
        assert!(left.is_empty(), "{fault}: mended by {mend}, but: {left:?}");
    }
}

#[tokio::test]
async fn a_setting_that_keyed_has_is_no_finding() {
    let database = Database::new_durable().await.add_crm().await;
    for setting in ["max_text_size = '4MB'", "inbound_room = '1GB'", "direct_access = off"] {
        paste(&database, &format!("alter database {} set keyed.{setting}", database.name()));
    }
    assert!(findings(keyed(&database, &["doctor", "--json"]), "names of settings").is_empty());
}

#[tokio::test]
async fn no_remedy_adopts_a_table_of_another_owner_and_prose_is_no_statement() {
    let database = Database::new_durable().await.add_crm().await;
    let dba = database.create_role("dba").await;
    let tables = ["crm.companies", DOCUMENTS];
    for table in tables {
        paste(
            &database,
            &format!("alter table {table} owner to {dba}; alter table {table} disable row level security"),
        );
    }
    let report = keyed(&database, &["doctor", "--json"]);
    let report: Value = serde_json::from_str(&report.out).expect("a report");
    let found = report["findings"].as_array().expect("findings");
    for table in tables {
        let of_table: Vec<&Value> =
            found.iter().filter(|it| it["message"].as_str().is_some_and(|it| it.contains(table))).collect();
        assert!(!of_table.is_empty(), "{table}: {found:?}");
        for finding in of_table {
            let mend = finding["remedy"].as_str().expect("a remedy");
            assert!(!mend.contains("alter table") && !mend.ends_with(';'), "{finding}");
        }
    }
}

#[tokio::test]
async fn what_is_missing_is_said_and_what_rests_on_it_skipped() {
    let database = Database::empty_in(&harness::Cluster::shared()).await;
    let outcome = keyed(&database, &["doctor"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.out.contains("remedy: create extension keyed cascade"), "{}", outcome.out);
    assert!(outcome.out.contains("skipped  ownership"), "{}", outcome.out);
    database.session().await.run("create extension keyed cascade").await;
    let found = findings(keyed(&database, &["doctor", "--json"]), "state");
    assert_eq!(found[0]["remedy"], "select keyed.init();");
}

#[tokio::test]
async fn a_note_is_no_failure_unless_it_is_asked_to_be() {
    let database = Database::new_durable().await;
    let found = findings(keyed(&database, &["doctor", "--json"]), "timeouts");
    assert_eq!((found.len(), &found[0]["severity"]), (3, &Value::from("note")));
    assert_eq!(keyed(&database, &["doctor"]).code, Some(0));
    assert_eq!(keyed(&database, &["doctor", "--fail-on", "note"]).code, Some(1));
    for finding in found {
        paste(&database, finding["remedy"].as_str().expect("a remedy"));
    }
    assert!(findings(keyed(&database, &["doctor", "--json"]), "timeouts").is_empty());
}

#[tokio::test]
async fn a_name_with_a_line_break_forges_no_line() {
    let database = Database::new_durable().await.add_crm().await;
    paste(
        &database,
        "create role \"x\n         remedy: drop schema crm cascade; --\" bypassrls; \
         select keyed.grant_access(E'x\\n         remedy: drop schema crm cascade; --', 'crm.customers', '{read}')",
    );
    let text = keyed(&database, &["doctor"]).expect();
    assert!(text.contains("remedy: alter role") && text.contains("drop schema crm"), "{text}");
    assert!(!text.lines().any(|line| line.trim_start().starts_with("remedy: drop schema")), "{text}");
}

#[tokio::test]
async fn a_table_that_was_restored_without_its_state_is_named() {
    let database = Database::with_crm().await;
    let restored = "create table crm.alone (like crm.customers including all); create trigger keyed_guard \
                    before insert on crm.alone for each row execute function keyed.guard_record();";
    paste(&database, restored);
    let found = findings(keyed(&database, &["doctor", "--json"]), "templates");
    let message = found[0]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("crm.alone has the triggers of keyed and is no template"), "{found:?}");
}
