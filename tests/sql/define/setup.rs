//! Setup of a database, and creation of projects.

use harness::Database;

#[tokio::test]
async fn init_is_idempotent() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let state = "select md5(string_agg(c.oid::text || c.relname || coalesce(c.relacl::text, '') || r.rolname, ',' order by c.oid))
                 from pg_class c join pg_roles r on r.oid = c.relowner
                 where c.relnamespace in ('keyed_state'::regnamespace, 'crm'::regnamespace)";
    let before = session.text(state, &[]).await;
    let version = session.text("select keyed.init()", &[]).await;
    for _ in 0..2 {
        assert_eq!(session.text("select keyed.init()", &[]).await, version);
        assert_eq!(session.text("select keyed.migrate()", &[]).await, version);
    }
    assert_eq!(session.text(state, &[]).await, before);
    assert_eq!(session.text("select max(number) from keyed_state.version", &[]).await, version);
    session.run("select keyed.upsert_by_key('crm.customers', 'A-1')").await;
}

#[tokio::test]
async fn concurrent_init_sets_up_once() {
    let database = Database::empty_in(&harness::Cluster::shared()).await;
    database.session().await.run("create extension keyed cascade").await;
    let mut sessions = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let session = database.session().await;
        sessions.spawn(async move { session.attempt("select keyed.init()", &[]).await });
    }
    for outcome in sessions.join_all().await {
        assert_eq!(outcome.err().map(|error| error.to_string()), None);
    }
    database.session().await.run("select keyed.create_project('crm')").await;
}

#[tokio::test]
async fn init_with_preload_loads_the_library_at_session_start() {
    let database = Database::new().await;
    let session = database.session().await;
    let is_preloaded = "select keyed.is_preloaded()";
    assert_eq!(session.text(is_preloaded, &[]).await, "f");
    let libraries = "select coalesce(string_agg(c, '|'), '') from pg_db_role_setting s, unnest(s.setconfig) c
                     where s.setdatabase = (select oid from pg_database where datname = current_database())";
    session.run("select keyed.init()").await;
    assert_eq!(session.text(libraries, &[]).await, "");
    // A preloaded library stays in the setting.
    let alter = format!("alter database {} set session_preload_libraries", database.name());
    session.run(&format!("{alter} = auto_explain")).await;
    let session = database.session().await;
    session.run("select keyed.init(preload => true)").await;
    assert_eq!(session.text(libraries, &[]).await, "session_preload_libraries=auto_explain, keyed");
    let session = database.session().await;
    assert_eq!(session.text(is_preloaded, &[]).await, "t");
    session.run("select keyed.init(preload => true)").await;
    assert_eq!(session.text(libraries, &[]).await, "session_preload_libraries=auto_explain, keyed");
    let role = database.create_role("analyst").await;
    let session = database.session_as(&role).await;
    assert_eq!(session.text(is_preloaded, &[]).await, "t", "a login cannot read the setting, and need not");
    // Values set for a session or role are not copied to the database, and names may contain commas.
    let session = database.session().await;
    session
        .run(&format!(
            "{alter} = '$libdir/auto,explain', auto_explain; set session_preload_libraries = 'keyed'"
        ))
        .await;
    session.run("select keyed.init(preload => true)").await;
    let listed = r#"session_preload_libraries="$libdir/auto,explain", auto_explain, keyed"#;
    assert_eq!(session.text(libraries, &[]).await, listed);
}

#[tokio::test]
async fn fixed_roles_cannot_escalate_or_log_in() {
    let database = Database::new().await;
    let session = database.session().await;
    let roles = "select rolname, rolcanlogin, rolinherit from pg_roles
                 where rolname like 'keyed\\_%' and rolname in ('keyed_owner', 'keyed_admin', 'keyed_proxy')
                 and not rolsuper and not rolcreaterole and not rolcreatedb and not rolbypassrls and not rolreplication
                 order by 1";
    let expected = [["keyed_admin", "f", "t"], ["keyed_owner", "f", "t"], ["keyed_proxy", "t", "f"]];
    let expected = expected.map(|row| row.map(|value| Some(value.to_owned())).to_vec());
    assert_eq!(session.rows(roles, &[]).await, expected);
}

#[tokio::test]
async fn init_needs_a_superuser() {
    let database = Database::new().await;
    let role = database.create_role("dba").await;
    database.session().await.run(&format!("grant keyed_admin to {role}")).await;
    let error = database.session_as(&role).await.error("select keyed.init()", &[]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"));
}

#[tokio::test]
async fn project_is_a_schema_with_an_id_and_a_name() {
    let database = Database::new().await;
    let session = database.session().await;
    let number = session.text("select keyed.create_project('crm', 'Our customers''')", &[]).await;
    let project = "select p.id, p.name, obj_description(n.oid), r.rolname from keyed_state.project p
                   join pg_namespace n on n.nspname = p.slug join pg_roles r on r.oid = n.nspowner";
    let row = [number.as_str(), "Our customers'", "Our customers'", "keyed_owner"]
        .map(|value| Some(value.to_owned()));
    assert_eq!(session.rows(project, &[]).await, [row.to_vec()]);
}

#[tokio::test]
async fn project_cannot_use_an_existing_schema() {
    let database = Database::new().await;
    let session = database.session().await;
    session
        .run("create schema payroll; create table payroll.salaries (); select keyed.create_project('crm')")
        .await;
    for taken in ["payroll", "crm"] {
        let error = session.error("select keyed.create_project($1)", &[taken]).await;
        assert_eq!((error.codes(), error.pointers()), (("23505", "conflict"), vec!["/slug"]));
    }
    assert_eq!(session.text("select count(*) from keyed_state.project", &[]).await, "1");
}

#[tokio::test]
async fn reserved_project_name_is_rejected() {
    let database = Database::new().await;
    let session = database.session().await;
    for reserved in [
        "public",
        "information_schema",
        "keyed",
        "keyed_http",
        "keyed_state",
        "pg_catalog",
        "pg_toast",
        "pg_temp",
        "pg_temp_3",
        "pg_anything",
    ] {
        let error = session.error("select keyed.create_project($1)", &[reserved]).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "reserved_slug"), vec!["/slug"]),
            "{reserved}"
        );
    }
}

#[tokio::test]
async fn only_administrators_create_projects_and_templates() {
    let database = Database::with_crm().await;
    let (clerk, admin) = (database.create_role("clerk").await, database.create_role("admin").await);
    database
        .session()
        .await
        .run(&format!("grant keyed_admin to {admin}; grant usage on schema crm to {clerk}"))
        .await;
    let (clerk, admin) = (database.session_as(&clerk).await, database.session_as(&admin).await);
    for statement in [
        "select keyed.create_project('shop')",
        "select keyed.create_template('crm', 'orders')",
        "select keyed.migrate()",
        "select keyed.set_time_zone('crm', 'Europe/Zurich')",
    ] {
        assert_eq!(clerk.error(statement, &[]).await.codes(), ("42501", "forbidden"), "{statement}");
        admin.run(statement).await;
    }
    let owners = "select string_agg(distinct tableowner::text, ',') from pg_tables where schemaname in ('crm', 'keyed_state')";
    assert_eq!(admin.text(owners, &[]).await, "keyed_owner");
}

#[tokio::test]
async fn every_function_has_a_comment() {
    let database = Database::new().await;
    let silent = "select coalesce(string_agg(p.oid::regprocedure::text, ', '), '') from pg_proc p
                  where p.pronamespace in ('keyed'::regnamespace, 'keyed_http'::regnamespace)
                  and obj_description(p.oid, 'pg_proc') is null";
    assert_eq!(database.session().await.text(silent, &[]).await, "");
}

#[tokio::test]
async fn every_table_and_column_has_a_comment() {
    let database = Database::with_crm().await;
    let silent = "select coalesce(string_agg(format('%s.%s', c.oid::regclass, a.attname), ', '), '')
                  from pg_class c left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
                  where c.relkind = 'r' and (obj_description(c.oid, 'pg_class') is null
                    or c.relnamespace = 'keyed_state'::regnamespace and c.relname !~ '_[0-9]+$'
                    and col_description(c.oid, a.attnum) is null)
                  and c.relnamespace in ('keyed_state'::regnamespace, 'crm'::regnamespace)";
    assert_eq!(database.session().await.text(silent, &[]).await, "");
}

#[tokio::test]
async fn new_type_needs_a_migration() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    // The state before migration 26.
    session
        .run(
            "delete from keyed_state.version where number = 26;
             alter table keyed_state.attribute add constraint attribute_type_check check
               (type in ('string', 'number', 'metric', 'list', 'date', 'datetime', 'reference')) not valid",
        )
        .await;
    for statement in [
        "select keyed.add_attribute('crm.companies', '{\"slug\": \"checked\", \"type\": \"boolean\"}')",
        "select keyed.create_template('crm', 'orders', '[{\"slug\": \"paid\", \"type\": \"boolean\"}]')",
    ] {
        let error = session.error(statement, &[]).await;
        assert_eq!(error.codes(), ("XX000", "internal"), "{error}");
        assert_eq!(error.hint, "Run SELECT keyed.migrate().");
    }
    session.run("select keyed.migrate()").await;
    session
        .run("select keyed.create_template('crm', 'orders', '[{\"slug\": \"paid\", \"type\": \"boolean\"}]')")
        .await;
}

#[tokio::test]
async fn unknown_attribute_type_is_an_error() {
    let database = Database::with_crm().await;
    let administrator = database.session().await;
    administrator
        .run(
            "update keyed_state.attribute set type = 'colour' where id =
               (select min(a.id) from keyed_state.attribute a where a.template_id = (select id from keyed_state.template where slug = 'companies'))",
        )
        .await;
    let session = database.session().await;
    for statement in [
        "select keyed.create_record('crm.companies', '{\"name\": \"Ada\"}')",
        "select keyed.search('crm.companies')",
    ] {
        let error = session.error(statement, &[]).await;
        assert_eq!(error.codes(), ("XX000", "internal"), "{error}");
        assert!(error.message.contains("attributes of type colour"), "{error}");
        assert!(error.hint.contains("Install the version of the extension"), "{error}");
    }
    session.rows("select keyed.search('crm.customers')", &[]).await;
}
