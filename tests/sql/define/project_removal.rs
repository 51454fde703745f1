//! Removal of a project.

use harness::{Database, Session};

/// Two projects with objects of every kind, and templates with cyclic references.
async fn projects() -> (Database, Session, String) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let role = database.create_role("clerk").await;
    session
        .run(
            r#"select keyed.create_project('shop');
               select keyed.create_template('shop', 'goods', '[{"slug": "name", "type": "string"}, {"slug": "level", "type": "metric"}]', embed => '{name}');
               select keyed.create_template('shop', 'orders', '[{"slug": "of", "type": "reference", "template": "goods"}]');
               select keyed.add_attribute('shop.goods', '{"slug": "latest", "type": "reference", "template": "orders"}');
               select keyed.save_view('shop.goods', 'named', '{"filters": [{"field": "name", "operator": "not-empty"}]}');
               select keyed.create_inbound_endpoint('shop.goods', '{"slug": "in", "external_key": "$.id"}');
               select keyed.create_webhook_endpoint('shop', '{"slug": "out", "url": "https://example.com"}');
               select keyed.test_webhook_endpoint(1);
               select keyed.set_quota('shop', 'live_records', 10);
               select keyed.upsert_by_key('shop.goods', 'G', '{"name": "bolt", "level": 1}');
               select keyed.upsert_by_key('shop.orders', 'O', '{"of": {"external_key": "G"}}')"#,
        )
        .await;
    let scope = serde_json::json!({"field": "of.name", "operator": "eq", "value": "bolt"});
    database.grant_within(&role, "shop.orders", "read", &scope).await;
    database.grant(&role, "shop", "create").await;
    (database, session, role)
}

/// The number of rows and objects of projects, in `keyed_state` and the catalogs.
async fn extent(session: &Session) -> String {
    let tables = [
        "access_grant",
        "attribute",
        "embedding_job",
        "inbound_endpoint",
        "project",
        "quota",
        "quota_slot",
        "template",
        "view",
        "webhook_delivery",
        "webhook_endpoint",
    ];
    let relations = "select count(*) from pg_class where relnamespace = 'keyed_state'::regnamespace";
    let functions = "select count(*) from pg_proc where pronamespace = 'keyed_scope'::regnamespace";
    let mut out = String::new();
    for table in tables {
        let count = session.text(&format!("select count(*) from keyed_state.{table}"), &[]).await;
        out += &format!("{table} {count}, ");
    }
    for statement in [relations, functions] {
        out += &format!("{}, ", session.text(statement, &[]).await);
    }
    out
}

#[tokio::test]
async fn dropped_project_loses_exactly_its_objects() {
    let untouched = Database::with_crm().await;
    let expected = extent(&untouched.session().await).await;
    let (database, session, role) = projects().await;
    let clerk = database.session_as(&role).await;
    assert_eq!(clerk.text("select count(*) from shop.orders", &[]).await, "1");
    let error = session.error("select keyed.drop_project('shop')", &[]).await;
    assert_eq!(error.codes(), ("23505", "conflict"));
    assert!(error.message.contains("shop.goods") && error.hint.contains("with_records"), "{error}");
    session.run("select keyed.drop_project('shop', with_records => true)").await;
    assert_eq!(extent(&session).await, expected);
    assert_eq!(session.text("select to_regnamespace('shop') is null", &[]).await, "t");
    assert_eq!(session.text("select count(*) from keyed.list_access()", &[]).await, "0");
    assert_eq!(session.error("select keyed.drop_project('shop')", &[]).await.codes(), ("P0002", "not_found"));
    session.run("select keyed.upsert_by_key('crm.customers', 'A-1')").await;
    // The name can be reused, and the new project inherits nothing. A project without records is dropped without
    // confirmation.
    session.run("select keyed.create_project('shop'); select keyed.create_template('shop', 'goods')").await;
    let error = clerk.error("select keyed.search('shop.goods')", &[]).await;
    assert_eq!(error.state, "42501");
    session.run("select keyed.drop_project('shop'); select keyed.drop_project('crm', true)").await;
    assert_eq!(session.text("select count(*) from keyed_state.template", &[]).await, "0");
}

#[tokio::test]
async fn key_limited_to_a_dropped_project_has_no_access() {
    let (database, session, _) = projects().await;
    let only = database.api_key("keyed_admin", &["shop"]).await;
    let both = database.api_key("keyed_admin", &["crm", "shop"]).await;
    let proxy = database.session_as("keyed_proxy").await;
    let me = "select keyed_http.me() from keyed.authenticate(sha256($1::bytea))";
    for key in [&only, &both] {
        proxy.rows(me, &[key]).await;
    }
    session.run("select keyed.drop_project('shop', true)").await;
    assert_eq!(proxy.error(me, &[&only]).await.codes(), ("28000", "unauthorized"));
    assert_eq!(proxy.json(me, &[&both]).await["projects"], serde_json::json!(["crm"]));
    let listed = "select string_agg(projects::text || ' ' || (revoked_at is not null), ', ' order by id) from keyed.list_api_keys()";
    assert_eq!(session.text(listed, &[]).await, "{} true, {crm} false");
    // Even if the key is re-enabled by hand, it has no access.
    session.run("update keyed_state.api_key set revoked_at = null").await;
    assert_eq!(proxy.json(me, &[&only]).await["projects"], serde_json::json!([]));
    let by_number = "select keyed_http.get_template('2') from keyed.authenticate(sha256($1::bytea))";
    assert_eq!(proxy.error(by_number, &[&only]).await.codes(), ("P0002", "not_found"));
}

#[tokio::test]
async fn project_with_objects_of_other_owners_is_not_dropped() {
    let (database, session, role) = projects().await;
    let before = extent(&session).await;
    let drop = "select keyed.drop_project('shop', true)";
    for (make, name, unmake) in [
        ("create table shop.notes (a int)", "table shop.notes of postgres", "drop table shop.notes"),
        (
            "create function shop.f() returns int language sql return 1",
            "function shop.f() of postgres",
            "drop function shop.f()",
        ),
        (
            "create view public.report as select external_key from shop.goods",
            "view public.report of postgres",
            "drop view report",
        ),
    ] {
        session.run(make).await;
        let error = session.error(drop, &[]).await;
        assert_eq!(error.codes(), ("23505", "conflict"), "{make}: {error}");
        assert!(error.message.contains(name), "{make}: {error}");
        assert_eq!(extent(&session).await, before, "{make}");
        session.run(unmake).await;
    }
    let clerk = database.session_as(&role).await;
    assert_eq!(clerk.error(drop, &[]).await.codes(), ("42501", "forbidden"));
    session.run(drop).await;
}
