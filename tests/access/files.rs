//! Import and export under a scope.

use crate::sales::Sales;
use harness::Proxy;
use serde_json::{Value, json};

#[tokio::test]
async fn denied_rows_do_not_affect_others_of_a_file() {
    let sales = Sales::new().await;
    let (role, _) = sales.clerk("read, create, update", &crate::sales::of_region("EU")).await;
    let proxy = Proxy::start(&sales.database).await.in_project("crm");
    let key = sales.database.api_key(&role, &["crm"]).await;
    let import = |query: &'static str, file: &'static str| {
        let path = format!("/v1/entities/template/customers/import?{query}");
        proxy.request("POST", &path).key(&key).body("text/csv", file).send()
    };
    let file = "external_key,region,name\n\
                EU-1,EU,mine\n\
                US-1,EU,taken\n\
                US-9,US,not mine\n\
                EU-2,US,given away\n\
                EU-9,EU,new\n";
    let report = import("on_error=skip", file).await.expect(200);
    let errors: Vec<Value> = report["errors"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|error| json!([error["line"], error["code"]]))
        .collect();
    assert_eq!(
        errors,
        [json!([3, "external_key_taken"]), json!([4, "forbidden"]), json!([5, "forbidden"])],
        "{report}"
    );
    assert_eq!((&report["created"], &report["updated"]), (&json!(1), &json!(1)));
    let shown = "select string_agg(external_key || ':' || coalesce(name, ''), ' ' order by external_key) from crm.customers \
                 where deleted_at is null and external_key in ('EU-1', 'EU-2', 'EU-9', 'US-1', 'US-9')";
    let shown = sales.admin.text(shown, &[]).await;
    assert_eq!(shown, "EU-1:mine EU-2:Customer EU-2 EU-9:new US-1:Customer US-1");
    import("", file).await.expect_error(409, "external_key_taken");

    let reader = sales.database.create_role("reader").await;
    sales.database.grant(&reader, "crm.customers", "read").await;
    let key = sales.database.api_key(&reader, &["crm"]).await;
    let path = "/v1/entities/template/customers/import";
    let rejected = proxy.request("POST", path).key(&key).body("text/csv", "external_key\nx\n").send().await;
    rejected.expect_error(403, "forbidden");
}

#[tokio::test]
async fn export_contains_only_visible_records_and_targets() {
    let sales = Sales::new().await;
    let (role, _) = sales.clerk("read", &crate::sales::of_region("EU")).await;
    let proxy = Proxy::start(&sales.database).await.in_project("crm");
    let key = sales.database.api_key(&role, &["crm"]).await;
    let export = |query: &'static str| {
        let path = format!("/v1/entities/template/customers/export?{query}");
        proxy.request("GET", &path).key(&key).send()
    };
    for query in ["", "format=ndjson"] {
        let file = export(query).await;
        assert_eq!(file.status, 200, "{}", file.text);
        assert!(file.text.contains("EU-1") && file.text.contains("EU-2"), "{}", file.text);
        assert!(!file.text.contains("US-") && !file.text.contains("EU-0"), "{}", file.text);
        assert!(!file.text.contains("C-EU"), "companies are not this role's to read: {}", file.text);
    }
    let unprivileged = sales.database.create_role("stranger").await;
    let key = sales.database.api_key(&unprivileged, &["crm"]).await;
    let rejected = proxy.request("GET", "/v1/entities/template/customers/export").key(&key).send().await;
    rejected.expect_error(404, "not_found");
}

#[tokio::test]
async fn import_discloses_nothing_without_read() {
    let sales = Sales::new().await;
    let (role, _) = sales.clerk("create, update", &crate::sales::of_region("EU")).await;
    let proxy = Proxy::start(&sales.database).await.in_project("crm");
    let key = sales.database.api_key(&role, &["crm"]).await;
    for amount in ["1", "2"] {
        let path = "/v1/entities/template/customers/import?dry_run=true";
        let file = format!("external_key,amount\nEU-1,{amount}\n");
        let report = proxy.request("POST", path).key(&key).body("text/csv", file).send().await.expect(200);
        assert_eq!((&report["updated"], &report["unchanged"]), (&json!(1), &json!(0)), "{amount}: {report}");
    }
}

#[tokio::test]
async fn export_fails_after_a_revocation() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read", &crate::sales::of_region("EU")).await;
    let other = sales.database.create_role("other").await;
    sales.admin.run(&format!("grant {other} to {role}")).await;
    let us = crate::sales::of_region("US");
    for lost in [false, true] {
        sales.database.grant_within(&other, "crm.customers", "read", &us).await;
        session.run("begin").await;
        session.rows("select keyed_http.export_open('2', 'csv', '{}')", &[]).await;
        let next = "select keyed_http.export_next()";
        let file = session.text(next, &[]).await;
        assert!(file.contains("EU-1") && file.contains("US-1"), "{file}");
        if lost {
            sales.admin.text("select keyed.revoke_access($1, 'crm.customers')", &[&other]).await;
            let error = session.error(next, &[]).await;
            assert_eq!(error.state, "42501", "{error}");
            assert!(error.to_string().contains("changed since the export began"), "{error}");
        } else {
            assert_eq!(session.text(next, &[]).await, "");
        }
        session.run("rollback").await;
    }
}

#[tokio::test]
async fn new_cyclic_records_need_no_update_scope() {
    let sales = Sales::new().await;
    sales
        .admin
        .run("select keyed.add_attribute('crm.customers', '{\"slug\": \"friend\", \"type\": \"reference\", \"template\": \"customers\"}')")
        .await;
    let (role, _) = sales.clerk("update", &crate::sales::of_region("EU")).await;
    sales.database.grant(&role, "crm.customers", "read, create").await;
    let proxy = Proxy::start(&sales.database).await.in_project("crm");
    let key = sales.database.api_key(&role, &["crm"]).await;
    let file = "external_key,region,friend\nA,US,B\nB,US,A\nC,EU,C\nD,US,C\n";
    let path = "/v1/entities/template/customers/import?on_error=skip";
    let report = proxy.request("POST", path).key(&key).body("text/csv", file).send().await.expect(200);
    assert_eq!((&report["created"], &report["errors"]), (&json!(4), &json!([])), "{report}");
    // An existing record is changed only within the scope.
    let file = "external_key,region,friend\nA,US,C\nE,US,F\nF,US,E\n";
    let report = proxy.request("POST", path).key(&key).body("text/csv", file).send().await.expect(200);
    assert_eq!((&report["created"], &report["errors"][0]["line"]), (&json!(2), &json!(2)), "{report}");
    let friends = "select string_agg(c.external_key || f.external_key, ' ' order by c.external_key) \
                   from crm.customers c join crm.customers f on f.id = c.friend";
    assert_eq!(sales.admin.text(friends, &[]).await, "AB BA CC DC EF FE");
}
