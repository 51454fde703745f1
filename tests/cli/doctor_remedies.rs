//! The remedies that `doctor` suggests, applied as suggested.

use crate::doctor::findings;
use crate::keyed;
use harness::Database;
use harness::companies::DOCUMENTS;
use serde_json::Value;

#[tokio::test]
async fn remedies_fix_their_findings() {
    let database = Database::new_durable().await.add_crm().await;
    let key = "select keyed.issue_api_key('gone', null, 'orphan')";
    let grant = "select keyed.grant_access('gone', 'crm.customers', '{read}')";
    for (problem, check, part) in [
        ("alter table crm.customers disable row level security", "ownership", "crm.customers is off"),
        ("grant create on schema keyed_state to public", "objects of other owners", "lets all roles create"),
        (
            "create rule evil as on insert to keyed_state.project do also select 1",
            "objects of other owners",
            "rule evil on keyed_state.project",
        ),
        (
            "alter event trigger keyed_guard_definition disable",
            "objects of other owners",
            "keyed_guard_definition is off",
        ),
        (
            "alter extension keyed drop event trigger keyed_guard_definition; \
             drop event trigger keyed_guard_definition",
            "objects of other owners",
            "keyed_guard_definition is missing",
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
            "select keyed.alter_attribute('crm.companies', 'name', '{\"indexed\": true}'); \
             update pg_collation set collversion = '1' where collname = 'und-x-icu'",
            "order of texts",
            "may be in another order, and miss rows (1 of them)",
        ),
        (
            "update keyed_state.template set documents_by = 'PostgreSQL 9' where slug = 'customers'",
            "stems",
            "crm.customers were written by PostgreSQL 9",
        ),
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
            "PUBLIC may present credentials",
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
            "orphan) was issued for the role gone, which is gone, and is rejected (its number is now that of late)",
        ),
        (
            &format!(
                "create role before; {}; alter role before rename to after",
                grant.replace("gone", "before")
            ),
            "renamed roles",
            "the role after is still stored under its old name before",
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
            "create role bounded; select keyed.grant_access('bounded', 'crm.customers', '{read}', \
             '{\"not\": {\"field\": \"company.name\", \"operator\": \"like\", \"value\": \"x\"}}'); \
             do $$ begin execute (select format('alter function %s reset gin_fuzzy_search_limit', p.oid::regprocedure) \
               from pg_proc p where p.pronamespace = 'keyed_scope'::regnamespace limit 1); end $$",
            "scope functions",
            "a scope may show what it excludes",
        ),
        (
            "create function public.audit() returns trigger language plpgsql as 'begin return new; end'; \
             create trigger audit before insert on crm.customers for each row execute function public.audit()",
            "triggers of other owners",
            "the trigger audit on table crm.customers calls public.audit()",
        ),
        (
            "create function public.spy(crm.customers) returns boolean language plpgsql as 'begin return true; end'; \
             create trigger zz before insert on crm.customers for each row when (public.spy(new)) execute function keyed.guard_record()",
            "triggers of other owners",
            "the trigger zz on table crm.customers calls public.spy(crm.customers)",
        ),
        (
            "create policy peek on crm.customers for select using (public.spy(customers))",
            "triggers of other owners",
            "the policy peek on table crm.customers calls public.spy(crm.customers)",
        ),
        (
            "create rule quiet as on delete to crm.companies do instead nothing",
            "triggers of other owners",
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
            "migrations 12",
        ),
        (
            "alter role keyed_admin set keyed.max_text_sise = '4MB'",
            "names of settings",
            "no setting keyed.max_text_sise, which is made for role keyed_admin",
        ),
        (
            "alter role keyed_admin set keyed.inbound_room = '1GB'",
            "old names of settings",
            "keyed.inbound_room, which is set for role keyed_admin, is the old name of keyed.max_inbound_log_size",
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
        database.run_in_psql(problem);
        let found = findings(keyed(&database, &["doctor", "--json", "--fail-on", "note"]), check);
        let finding =
            found.iter().find(|finding| finding["message"].as_str().is_some_and(|it| it.contains(part)));
        let finding = finding.unwrap_or_else(|| panic!("{problem}: not found in {found:?}"));
        let is_error = ![
            "API keys",
            "grants",
            "inbound endpoints",
            "names of settings",
            "old names of settings",
            "quota counters",
            "renamed roles",
            "settings",
            "stems",
            "triggers of other owners",
            "wide roles",
        ]
        .contains(&check);
        let outcome = keyed(&database, &["doctor"]);
        assert_eq!(outcome.code, Some(i32::from(is_error)), "{problem}: {}", outcome.out);
        assert!(outcome.out.contains(part) && outcome.out.contains("remedy: "), "{}", outcome.out);
        let remedy = finding["remedy"].as_str().expect("a remedy");
        let remedy = remedy.replace('…', "keyed_admin");
        database.run_in_psql(remedy.split("then: ").last().unwrap_or_default());
        let left = findings(keyed(&database, &["doctor", "--json"]), check);
        assert!(left.is_empty(), "{problem}: {remedy} does not fix it: {left:?}");
    }
}

#[tokio::test]
async fn changed_operating_system_collation_is_found() {
    let options = "template template0 locale_provider icu icu_locale 'und'";
    let database = Database::empty_with(&harness::Cluster::shared(), options).await;
    let check = "order of texts";
    assert!(findings(keyed(&database, &["doctor", "--json"]), check).is_empty());
    database.run_in_psql("update pg_database set datcollversion = '1.1' where datname = current_database()");
    let found = findings(keyed(&database, &["doctor", "--json"]), check);
    assert!(found.len() == 1 && found[0].to_string().contains("had version 1.1"), "{found:?}");
    database.run_in_psql(found[0]["remedy"].as_str().expect("a remedy"));
    assert!(findings(keyed(&database, &["doctor", "--json"]), check).is_empty());
}

#[tokio::test]
async fn remedies_adopt_no_table_of_another_owner() {
    let database = Database::new_durable().await.add_crm().await;
    let dba = database.create_role("dba").await;
    let tables = ["crm.companies", DOCUMENTS];
    for table in tables {
        database.run_in_psql(&format!(
            "alter table {table} owner to {dba}; alter table {table} disable row level security"
        ));
    }
    let report = keyed(&database, &["doctor", "--json"]);
    let report: Value = serde_json::from_str(&report.out).expect("a report");
    let found = report["findings"].as_array().expect("findings");
    for table in tables {
        let of_table: Vec<&Value> =
            found.iter().filter(|it| it["message"].as_str().is_some_and(|it| it.contains(table))).collect();
        assert!(!of_table.is_empty(), "{table}: {found:?}");
        for finding in of_table {
            let remedy = finding["remedy"].as_str().expect("a remedy");
            assert!(!remedy.contains("alter table") && !remedy.ends_with(';'), "{finding}");
        }
    }
}
