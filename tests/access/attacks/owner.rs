//! The impact of a compromised `keyed_owner`, and the objects that keyed accepts as its own.

use crate::sales::Sales;
use harness::{Cluster, Database, Durability, Session};
use std::sync::Arc;

/// Runs any statement as `keyed_owner` within another role's session, as an attacker could.
const BREACH: &str = "
    create function public.breach(statement text) returns void language plpgsql security definer as $$ begin execute statement; end $$;
    alter function public.breach(text) owner to keyed_owner;
    create function public.evil() returns trigger language plpgsql as
      $$ begin raise exception 'evil runs as %', current_user; end $$";

#[tokio::test]
async fn statements_as_the_owner_cannot_define_objects() {
    let sales = Sales::new().await;
    sales.admin.run(BREACH).await;
    let session = sales.european("read").await;
    let plants = [
        "create trigger evil before insert on crm.customers for each row execute function public.evil()",
        "create function crm.evil() returns int language sql as 'select 1'",
        "create or replace function keyed_scope.evil() returns int language sql as 'select 1'",
        "create rule evil as on insert to crm.customers do also select 1",
        "create policy evil on crm.customers using (true)",
        "create view crm.evil as select 1",
        "create table crm.evil (id int)",
        "create temp table evil (id int)",
        "create index on crm.customers ((1))",
        "create domain crm.evil as int",
        "create event trigger evil on ddl_command_start execute function public.evil()",
        "alter table crm.customers alter column name set default 'evil'",
        "alter table crm.customers disable row level security",
        "alter table crm.customers disable trigger keyed_guard",
        "alter table crm.customers owner to current_user",
        "alter event trigger keyed_guard_definition disable",
        "drop event trigger keyed_guard_definition",
        "drop table crm.customers cascade",
        "grant select on crm.customers to public",
        "comment on table crm.customers is 'evil'",
        "do 'begin create schema evil; end'",
        "select set_config('event_triggers', 'off', false)",
        "select set_config('session_replication_role', 'replica', false)",
    ];
    // In the session of a reader, and in that of a superuser.
    for session in [&session, &sales.admin] {
        for plant in plants {
            let error = session.error("select public.breach($1)", &[plant]).await;
            let is_rejected = ["42501", "42704"].contains(&error.state.as_str());
            assert!(is_rejected || error.state == "42P17", "{plant}: {error}");
        }
    }
    sales.admin.run("set role keyed_owner; create index by_hand on crm.customers (name); drop index crm.by_hand; reset role").await;
}

#[tokio::test]
async fn only_slugs_are_stored_as_identifiers() {
    let sales = Sales::new().await;
    sales.admin.run(BREACH).await;
    for (table, column) in [
        ("project", "slug"),
        ("template", "slug"),
        ("attribute", "slug"),
        ("view", "slug"),
        ("inbound_endpoint", "slug"),
        ("webhook_endpoint", "slug"),
    ] {
        let checks = "select count(*) > 0 from pg_constraint where conrelid = ('keyed_state.' || $1)::regclass and contype = 'c'
                      and pg_get_constraintdef(oid) like '%^[a-z][a-z0-9_]{0,62}$%'";
        assert_eq!(sales.admin.text(checks, &[table]).await, "t", "{table}");
        let forge = format!("update keyed_state.{table} set {column} = 'x\"; drop table crm.customers; --'");
        if ["project", "template", "attribute"].contains(&table) {
            let error = sales.admin.error("select public.breach($1)", &[&forge]).await;
            assert_eq!(error.state, "23514", "{forge}: {error}");
        }
    }
}

#[tokio::test]
async fn forged_template_cannot_reach_tables_of_other_owners() {
    let sales = Sales::new().await;
    sales.admin.run(BREACH).await;
    let session = sales.european("read").await;
    session
        .run(
            "create function pg_temp.evil() returns boolean language plpgsql as $$ begin
               perform pg_catalog.set_config('keyed_test.ran_as', current_user, false); return true; end $$;
             create temp table base (id uuid, external_key text, created_at timestamptz, updated_at timestamptz,
               deleted_at timestamptz, _released_key text, tags text[]);
             create view pg_temp.v as select * from base where pg_temp.evil();
             grant all on v, base to public",
        )
        .await;
    let schema = session.text("select nspname from pg_namespace where oid = pg_my_temp_schema()", &[]).await;
    let forge = format!("insert into keyed_state.project (slug, name) values ('{schema}', 'x')");
    assert_eq!(session.error("select public.breach($1)", &[&forge]).await.state, "23514");
    // A schema and a view of the attacker's own do not help either.
    let mallory = sales.database.create_role("mallory").await;
    sales
        .admin
        .run(&format!("create schema mal authorization {mallory}; grant usage on schema mal to public"))
        .await;
    sales
        .database
        .session_as(&mallory)
        .await
        .run(
            "create function mal.evil() returns boolean language plpgsql as $$ begin
               perform pg_catalog.set_config('keyed_test.ran_as', current_user, false); return true; end $$;
             create view mal.v as select gen_random_uuid() as id, null::text as external_key, now() as created_at,
               now() as updated_at, null::timestamptz as deleted_at, 'x'::text as name where mal.evil(); grant all on mal.v to public",
        )
        .await;
    for forge in [
        "insert into keyed_state.project (slug, name) values ('mal', 'x')",
        "insert into keyed_state.template (project_id, slug) select id, 'v' from keyed_state.project where slug = 'mal'",
        "insert into keyed_state.attribute (template_id, slug, type, position) select id, 'name', 'string', 1 from keyed_state.template where slug = 'v'",
        "update keyed_state.attribute set target_id = (select id from keyed_state.template where slug = 'v') where slug = 'company'",
    ] {
        session.rows("select public.breach($1)", &[forge]).await;
    }
    for statement in [
        "select keyed.search('crm.customers', '{\"sort\": \"company\"}')",
        "select keyed.get_record(id, verbose => true) from crm.customers where deleted_at is null limit 1",
        "update crm.customers set company = company",
        "select keyed.add_attribute('mal.v', '{\"slug\": \"x\", \"type\": \"string\"}')",
        "select keyed.drop_template('mal.v')",
        "select keyed.migrate()",
    ] {
        let _ = sales.admin.attempt(statement, &[]).await;
        let ran_as = sales.admin.text("select current_setting('keyed_test.ran_as', true)", &[]).await;
        assert_eq!(ran_as, "", "{statement}");
    }
}

#[tokio::test]
async fn setting_changed_within_a_function_is_restored() {
    let sales = Sales::new().await;
    // A trigger of the administrator runs as the owner within keyed's statement.
    sales
        .admin
        .run(
            "create function public.leave() returns trigger language plpgsql as $$ begin
               perform pg_catalog.set_config('search_path', 'mal, pg_catalog', false);
               perform pg_catalog.set_config('work_mem', '65kB', false);
               perform pg_catalog.set_config('app.actor', 'somebody', false); return new; end $$;
             create trigger zz_leave before insert on crm.customers for each row execute function public.leave()",
        )
        .await;
    // Whatever the search path and the caller, including the pinned path of the proxy's sessions.
    let login = sales.european("read, create").await;
    for session in [&sales.admin, &login] {
        for path in ["public", "pg_catalog, pg_temp", "pg_catalog,pg_temp"] {
            session.rows("select set_config('search_path', $1, false)", &[path]).await;
            session.run("select keyed.create_record('crm.customers', '{\"region\": \"EU\"}')").await;
            assert_eq!(session.text("show search_path", &[]).await, path);
            assert_ne!(session.text("show work_mem", &[]).await, "65kB");
            assert_eq!(
                session.text("select coalesce(current_setting('app.actor', true), '')", &[]).await,
                ""
            );
        }
    }
}

/// A database without keyed in which `mallory` may create schemas.
async fn not_set_up() -> (Database, Session, String) {
    let database = Database::empty_in(&Cluster::shared()).await;
    let admin = database.session().await;
    admin.run("create extension keyed cascade").await;
    let mallory = database.create_role("mallory").await;
    admin.run(&format!("grant create on database {} to {mallory}", database.name())).await;
    (database, admin, mallory)
}

#[tokio::test]
async fn init_does_not_adopt_an_existing_schema_of_another_owner() {
    for schema in ["keyed_state", "keyed_scope"] {
        let (database, admin, mallory) = not_set_up().await;
        let attacker = database.session_as(&mallory).await;
        attacker.run(&format!("create schema {schema}; create table {schema}.api_key (id int)")).await;
        let error = admin.error("select keyed.init()", &[]).await;
        assert_eq!(error.state, "23505", "{schema}: {error}");
        assert!(error.to_string().contains(&format!("schema {schema} belongs to {mallory}")), "{error}");
        let remedy = "select remedy from keyed.foreign_objects() where object like 'schema%'";
        let remedy = admin.text(remedy, &[]).await;
        admin.run(remedy.split(": ").last().expect("a statement")).await;
        admin.run("select keyed.init()").await;
        admin.run("select keyed.create_project('crm')").await;
    }
}

#[tokio::test]
async fn init_does_not_adopt_roles_that_others_can_grant() {
    let database = Database::empty_in(&Arc::new(Cluster::start(Durability::None))).await;
    let admin = database.session().await;
    admin.run("create extension keyed cascade; create role maker createrole; set role maker").await;
    admin.run("create role keyed_admin; create role keyed_proxy login; reset role").await;
    // Before PostgreSQL 16, memberships do not show who created a role: a role with CREATEROLE can grant every role.
    let made = "select count(*) from pg_auth_members where member = 'maker'::regrole";
    if admin.text(made, &[]).await == "2" {
        admin.run("set role maker; grant keyed_admin to maker; reset role").await;
        let error = admin.error("select keyed.init()", &[]).await;
        assert_eq!(error.state, "23505", "{error}");
        for row in admin.rows("select remedy from keyed.foreign_objects()", &[]).await {
            admin.run(row[0].as_deref().expect("a statement")).await;
        }
        assert_eq!(admin.text(made, &[]).await, "0");
    }
    admin.run("select keyed.init()").await;
    // A superuser who grants it with admin option intends this.
    admin.run("create role lead; grant keyed_admin to lead with admin option; select keyed.init()").await;
}

#[tokio::test]
async fn init_and_migrate_reject_objects_of_other_owners() {
    let sales = Sales::new().await;
    let mallory = sales.database.create_role("mallory").await;
    sales.admin.run("create function public.evil() returns trigger language plpgsql as $$ begin return new; end $$;
                     create function public.yes(text) returns boolean language sql immutable as 'select true'").await;
    for (plant, object, undo) in [
        ("alter table keyed_state.api_key owner to MALLORY".to_owned(), "table keyed_state.api_key", "alter table keyed_state.api_key owner to keyed_owner"),
        ("create constraint trigger evil after insert on keyed_state.access_grant deferrable initially deferred for each row execute function public.evil()".to_owned(),
         "trigger evil on keyed_state.access_grant", "drop trigger evil on keyed_state.access_grant"),
        ("create rule evil as on insert to keyed_state.project do also select 1".to_owned(), "rule evil on keyed_state.project", "drop rule evil on keyed_state.project"),
        ("grant create on schema keyed_state to MALLORY".to_owned(), "schema keyed_state", "revoke create on schema keyed_state from MALLORY"),
        ("grant create on schema keyed to public".to_owned(), "schema keyed", "revoke create on schema keyed from public"),
        ("alter schema keyed_http owner to MALLORY".to_owned(), "schema keyed_http", "alter schema keyed_http owner to postgres"),
        ("create function keyed.authenticate(bytea, text) returns boolean language sql as 'select true'".to_owned(), "function keyed.authenticate(bytea,text)", "drop function keyed.authenticate(bytea, text)"),
        ("alter table keyed_state.project add constraint evil check (public.yes(name))".to_owned(), "constraint evil on table keyed_state.project", "alter table keyed_state.project drop constraint evil"),
        ("create index evil on keyed_state.project ((public.yes(name)))".to_owned(), "index keyed_state.evil", "drop index keyed_state.evil"),
    ] {
        sales.admin.run(&plant.replace("MALLORY", &mallory)).await;
        let found = sales.admin.text("select string_agg(object, ', ') from keyed.foreign_objects()", &[]).await;
        assert!(found.contains(object), "{plant}: {found}");
        for function in ["init", "migrate"] {
            let error = sales.admin.error(&format!("select keyed.{function}()"), &[]).await;
            assert_eq!(error.state, "23505", "{plant}: {error}");
            assert!(error.to_string().contains("objects of other owners"), "{plant}: {error}");
        }
        sales.admin.run(&undo.replace("MALLORY", &mallory)).await;
        sales.admin.run("select keyed.init(), keyed.migrate()").await;
    }
}

#[tokio::test]
async fn init_rejects_an_owner_with_memberships() {
    // Roles belong to the cluster. In the shared cluster, the other tests would be rejected as well.
    let database = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await;
    let admin = database.session().await;
    admin.run("create role team; grant team to keyed_owner").await;
    let found = "select string_agg(object || ' ' || finding, ', ') from keyed.foreign_objects()";
    assert_eq!(admin.text(found, &[]).await, "role keyed_owner is a member of team");
    assert_eq!(admin.error("select keyed.init()", &[]).await.codes(), ("23505", "conflict"));
    let remedy = admin.text("select remedy from keyed.foreign_objects()", &[]).await;
    admin.run(&remedy).await;
    admin.run("select keyed.init()").await;
}

#[tokio::test]
async fn user_advisory_lock_does_not_block_migrate() {
    let sales = Sales::new().await;
    let session = sales.european("read").await;
    session.run("begin; select pg_advisory_lock(hashtextextended('keyed.init', 0))").await;
    sales.admin.run("set lock_timeout = '5s'; select keyed.migrate()").await;
    session.run("commit").await;
}
