//! The views `keyed.stat_*`: visibility and contents.

use harness::customers::{DOCUMENTS, HISTORY, SERIES};
use harness::{Database, Session, major_version};
use std::time::Duration;

const VIEWS: [&str; 5] =
    ["stat_templates", "stat_indexes", "stat_searches", "stat_activity", "stat_api_keys"];

fn cells(row: &[Option<String>]) -> Vec<&str> {
    row.iter().map(|cell| cell.as_deref().unwrap_or("null")).collect()
}

#[tokio::test]
async fn every_role_can_read_the_documented_views() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let without = "select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
                   where c.relnamespace = 'keyed'::regnamespace and c.relkind = 'v' and col_description(c.oid, a.attnum) is null";
    assert_eq!(session.rows(without, &[]).await, Vec::<Vec<Option<String>>>::new());
    let views = "select array_agg(relname order by relname) from pg_class where relnamespace = 'keyed'::regnamespace and relkind = 'v'
                 and has_table_privilege('public', oid, 'select')";
    let mut expected = VIEWS;
    expected.sort_unstable();
    assert_eq!(session.text(views, &[]).await, format!("{{{}}}", expected.join(",")));
    for view in VIEWS {
        session.rows(&format!("select * from keyed.{view}"), &[]).await;
    }
}

#[tokio::test]
async fn role_sees_only_granted_templates() {
    let database = Database::with_crm().await;
    let (clerk, unprivileged) = (database.create_role("clerk").await, database.create_role("stranger").await);
    database.grant(&clerk, "crm.companies", "read").await;
    let (clerk, unprivileged) = (database.session_as(&clerk).await, database.session_as(&unprivileged).await);
    // A leaky function that the planner considers free.
    unprivileged
        .run("create function pg_temp.leak(text) returns boolean language plpgsql cost 0.0001 as 'begin raise notice ''%'', $1; return true; end'")
        .await;
    for view in ["stat_templates", "stat_indexes"] {
        let templates = format!("select string_agg(distinct template, ',') from keyed.{view}");
        assert_eq!(clerk.text(&templates, &[]).await, "companies", "{view}");
        let leaked = format!("select count(*) from keyed.{view} where pg_temp.leak(template)");
        assert_eq!(unprivileged.text(&leaked, &[]).await, "0", "{view}");
    }
    for view in ["stat_searches", "stat_api_keys"] {
        let error = clerk.error(&format!("select * from keyed.{view}"), &[]).await;
        assert_eq!(error.codes(), ("42501", "forbidden"), "{view}");
        assert!(error.hint.contains("keyed_admin"), "{error}");
    }
}

#[tokio::test]
async fn template_statistics_agree_with_the_catalog() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run("insert into crm.customers (external_key, name, mood) select 'K' || n, 'name ' || n, n from generate_series(1, 500) n")
        .await;
    session.run("update crm.customers set name = name || ' of a longer name'").await;
    // The session's counts are not added to those that VACUUM reports later.
    session.run("select pg_stat_force_next_flush()").await;
    for table in ["crm.customers", HISTORY, DOCUMENTS, SERIES] {
        session.run(&format!("vacuum (analyze) {table}")).await;
    }
    let numbers =
        "select estimated_rows, live_rows, dead_rows, table_bytes = pg_relation_size('crm.customers'),
          index_bytes = pg_indexes_size('crm.customers'), last_vacuum is not null, last_analyze is not null
        from keyed.stat_templates where project = 'crm' and template = 'customers'";
    session.until(&format!("select live_rows = 500 and dead_rows = 0 from ({numbers}) s"), "t").await;
    assert_eq!(cells(&session.rows(numbers, &[]).await[0]), ["500", "500", "0", "t", "t", "t", "t"]);
    let parts = "select series_bytes > 0, history_bytes > 0, documents_bytes > 0
        from keyed.stat_templates where template = 'customers'";
    assert_eq!(cells(&session.rows(parts, &[]).await[0]), ["t", "t", "t"]);
    let writes = "select inserts, updates, deletes from keyed.stat_templates where template = 'customers'";
    session.until(&format!("select updates >= 500 from ({writes}) s"), "t").await;
    assert_eq!(cells(&session.rows(writes, &[]).await[0]), ["500", "500", "0"]);
}

#[tokio::test]
async fn index_statistics_have_purpose_and_use() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            "select keyed.create_template('crm', 'orders', '[{\"slug\": \"title\", \"type\": \"string\", \"indexed\": true},
               {\"slug\": \"size\", \"type\": \"number\", \"indexed\": true}, {\"slug\": \"tags\", \"type\": \"list\", \"indexed\": true},
               {\"slug\": \"mood\", \"type\": \"metric\"}, {\"slug\": \"buyer\", \"type\": \"reference\", \"template\": \"customers\"}]')",
        )
        .await;
    let purposes = "select attribute, purpose, method, is_unique, is_valid from keyed.stat_indexes
        where template = 'orders' and \"table\" = 'crm.orders'::regclass order by attribute, purpose";
    let expected = [
        ["buyer", "values and order", "btree", "f"],
        ["deleted_at", "deleted records", "btree", "f"],
        ["external_key", "external keys", "btree", "t"],
        ["id", "records by id", "btree", "t"],
        ["size", "values and order", "btree", "f"],
        ["tags", "values of a list", "gin", "f"],
        ["title", "substrings", "gin", "f"],
        ["title", "values and order", "btree", "f"],
    ];
    let found = session.rows(purposes, &[]).await;
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (row, expected) in found.iter().zip(expected) {
        assert_eq!((&cells(row)[..4], cells(row)[4]), (&expected[..], "t"));
    }
    let beside = "select array_agg(distinct purpose order by purpose) from keyed.stat_indexes where template = 'orders' and \"table\" <> 'crm.orders'::regclass";
    assert_eq!(session.text(beside, &[]).await, "{global_search,history,\"semantic search\",series}");
    let used = "select scans, last_scan is not null from keyed.stat_indexes where template = 'orders' and attribute = 'external_key'";
    session.run("set enable_seqscan = off; select * from crm.orders where external_key = 'K'").await;
    session.until(&format!("select scans > 0 from ({used}) s"), "t").await;
    assert_eq!(cells(&session.rows(used, &[]).await[0])[1] == "t", major_version() >= 16);
}

#[tokio::test]
async fn missing_index_is_reported_with_its_statement() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            "update keyed_state.attribute_use u set filters = 7, sorts = 2, last_at = now() from keyed_state.attribute a
             where a.id = u.attribute_id and a.slug in ('company', 'tier') and a.template_id = 2",
        )
        .await;
    let seen = "select attribute, filters, sorts, is_indexed, suggestion from keyed.stat_searches where project = 'crm' and template = 'customers' order by attribute";
    let rows = session.rows(seen, &[]).await;
    assert_eq!((rows.len(), cells(&rows[0])[0]), (2, "company"), "{rows:?}");
    for row in rows {
        let cells = cells(&row);
        assert_eq!(cells[1..3], ["7", "2"]);
        assert_eq!(cells[3] == "t", cells[4] == "null", "{cells:?}");
        if cells[3] == "f" {
            session.run(cells[4]).await;
        }
    }
    assert_eq!(session.text("select bool_and(is_indexed) from keyed.stat_searches", &[]).await, "t");
}

#[tokio::test]
async fn key_view_has_validity_and_no_secret() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    for label in ["valid", "expired", "revoked"] {
        session.rows("select keyed.issue_api_key('keyed_admin', array['crm'], $1)", &[label]).await;
    }
    session
        .run("update keyed_state.api_key set expires_at = now() where label = 'expired'; select keyed.revoke_api_key(id) from keyed_state.api_key where label = 'revoked'")
        .await;
    let states = "select label, state, projects::text from keyed.stat_api_keys order by id";
    let rows = session.rows(states, &[]).await;
    for (row, label) in rows.iter().zip(["valid", "expired", "revoked"]) {
        assert_eq!(cells(row), [label, label, "{crm}"]);
    }
    let whole = session.text("select string_agg(k::text, ' ') from keyed.stat_api_keys k", &[]).await;
    let hash = session.text("select encode(hash, 'hex') from keyed_state.api_key limit 1", &[]).await;
    assert!(!whole.contains(&hash), "{whole}");
}

#[tokio::test]
async fn only_the_proxy_shows_the_id_of_a_request() {
    let database = Database::with_crm().await;
    let clerk = database.create_role("clerk").await;
    database.grant(&clerk, "crm.customers", "read").await;
    let watcher = database.session().await;
    for (login, is_shown) in [("keyed_proxy", true), (&*clerk, false)] {
        let session = database.session_as(login).await;
        let name = "select keyed_http.name_request('4f1c-8')";
        if is_shown {
            session.run("begin").await;
            session.rows(name, &[]).await;
        } else {
            assert_eq!(session.error(name, &[]).await.codes(), ("42501", "forbidden"));
            session.run("set application_name = 'keyed 4f1c-8'").await;
            session.run("begin; select from crm.customers").await;
        }
        let seen = "select application_name, request_id from keyed.stat_activity where login = $1";
        let rows = watcher.rows(seen, &[login]).await;
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(cells(&rows[0]), ["keyed 4f1c-8", if is_shown { "4f1c-8" } else { "null" }]);
    }
}

/// Two sessions, one of which waits for the other; the application name of the waiting session starts like the proxy's.
async fn blocked(database: &Database) -> (Session, Session, tokio::task::JoinHandle<()>) {
    let (holder, waiter, watcher) =
        (database.session().await, database.session().await, database.session().await);
    holder.run("begin; lock table crm.customers").await;
    waiter.run("set application_name = 'keyed 4f1c-7'").await;
    let waiting = tokio::spawn(async move {
        waiter.run("select count(*) from crm.customers where name = 'x'").await;
    });
    watcher.until_blocked(1).await;
    (holder, watcher, waiting)
}

#[tokio::test]
async fn activity_shows_blocking_sessions() {
    let database = Database::with_crm().await;
    let (holder, watcher, waiting) = blocked(&database).await;
    let seen = "select request_id, project, template, waits_for, lock_mode, blocked_by::text, waiting_since is not null, query from keyed.stat_activity where waits_for is not null";
    let rows = watcher.rows(seen, &[]).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    let process = holder.process().await;
    assert_eq!(
        cells(&rows[0]),
        [
            "4f1c-7",
            "crm",
            "customers",
            "table crm.customers",
            "AccessShareLock",
            &format!("{{{process}}}"),
            "t",
            "select count(*) from crm.customers where name = 'x'"
        ]
    );
    // A side table of a record table belongs to its template.
    let reader = database.session().await;
    reader.run(&format!("begin; lock table {HISTORY} in access share mode")).await;
    let position = format!("select template from keyed.stat_activity where pid = {}", reader.process().await);
    assert_eq!(watcher.text(&position, &[]).await, "customers");
    reader.run("rollback").await;
    let blocker = "select state, template from keyed.stat_activity where waits_for is null";
    assert_eq!(cells(&watcher.rows(blocker, &[]).await[0]), ["idle in transaction", "customers"]);
    // A role sees sessions that use its templates, but not the statements of other roles' sessions.
    let (clerk, unprivileged) = (database.create_role("clerk").await, database.create_role("stranger").await);
    database.grant(&clerk, "crm.companies", "read").await;
    for role in [&clerk, &unprivileged] {
        let session = database.session_as(role).await;
        assert_eq!(session.text("select count(*) from keyed.stat_activity", &[]).await, "0", "{role}");
    }
    holder.run("rollback").await;
    tokio::time::timeout(Duration::from_secs(60), waiting)
        .await
        .expect("the operation continues")
        .expect("the request gets a response");
    watcher.until("select count(*) from keyed.stat_activity", "0").await;
}
