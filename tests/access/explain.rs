//! `keyed.explain_access` names the condition of a grant that shows or hides a record.

use crate::sales::{Sales, of_region};
use serde_json::{Value, json};

async fn explain(sales: &Sales, key: &str, role: &str) -> Value {
    let id = sales.id(key).await;
    sales.admin.json("select keyed.explain_access($1, $2)", &[&id, role]).await
}

fn because(explained: &Value) -> &str {
    explained["because"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn explain_names_the_failed_condition() {
    let sales = Sales::new().await;
    let scope = json!([
        {"field": "tier", "operator": "in", "value": "gold"},
        {"field": "company.region", "operator": "eq", "value": "EU"}
    ]);
    let (role, session) = sales.clerk("read, update", &scope).await;
    let login = session.text("select current_user", &[]).await;
    for asked in [&role, &login] {
        let seen = explain(&sales, "EU-1", asked).await;
        assert_eq!(
            (&seen["sees"], &seen["record"], &seen["may"]),
            (&json!(true), &json!("live"), &json!(["read", "update"]))
        );
        assert!(because(&seen).contains(&role), "{seen}");
        let hidden = explain(&sales, "US-1", asked).await;
        assert_eq!((&hidden["sees"], &hidden["may"]), (&json!(false), &json!([])));
        let read = &hidden["grants"][0];
        assert_eq!(
            (&read["privilege"], &read["role"], &read["holds"]),
            (&json!("read"), &json!(role), &json!(false))
        );
        assert_eq!(read["scope"], scope);
        let holds: Vec<&Value> =
            read["conditions"].as_array().into_iter().flatten().map(|it| &it["holds"]).collect();
        assert_eq!(holds, [true, false]);
        let failed = &read["conditions"][1];
        assert_eq!((&failed["pointer"], &failed["field"]), (&json!("/1"), &json!("company.region")));
        assert!(
            because(&hidden).contains("company.region") && !because(&hidden).contains("tier"),
            "{hidden}"
        );
    }
}

#[tokio::test]
async fn explain_names_the_failed_negation() {
    let sales = Sales::new().await;
    let (role, _) = sales.clerk("read", &json!({"not": of_region("US")})).await;
    let hidden = explain(&sales, "US-1", &role).await;
    assert_eq!(hidden["sees"], json!(false));
    assert!(because(&hidden).contains("region"), "{hidden}");
}

#[tokio::test]
async fn scope_of_one_condition_has_no_pointer() {
    let sales = Sales::new().await;
    let (role, _) = sales.clerk("read", &of_region("EU")).await;
    let hidden = explain(&sales, "US-1", &role).await;
    assert!(because(&hidden).contains("region") && !because(&hidden).contains("pointer"), "{hidden}");
}

#[tokio::test]
async fn explain_agrees_with_visibility() {
    let sales = Sales::new().await;
    let (role, session) = sales.clerk("read, update", &of_region("EU")).await;
    let one = json!({"field": "external_key", "operator": "eq", "value": "US-2"});
    sales.database.grant_within(&role, "crm", "read", &one).await;
    for key in ["EU-0", "EU-1", "EU-2", "US-0", "US-1", "US-2"] {
        let explained = explain(&sales, key, &role).await;
        let sees = session.attempt("select keyed.get_record($1)", &[&sales.id(key).await]).await.is_ok();
        assert_eq!(explained["sees"], json!(sees), "{key}: {explained}");
    }
    assert_eq!(explain(&sales, "EU-0", &role).await["record"], "deleted");
    let missing = sales.admin.json("select keyed.explain_access(keyed.new_id(2), $1)", &[&role]).await;
    assert_eq!((&missing["record"], &missing["sees"]), (&json!("missing"), &json!(false)));
}

#[tokio::test]
async fn missing_and_revoked_grants_are_explained() {
    let sales = Sales::new().await;
    let (role, _) = sales.member().await;
    assert!(because(&explain(&sales, "EU-1", &role).await).contains("not granted"));
    sales.database.grant(&role, "crm.customers", "read").await;
    assert_eq!(explain(&sales, "EU-1", &role).await["sees"], true);
    sales.admin.run(&format!("revoke select on crm.customers from {role}")).await;
    let revoked = explain(&sales, "EU-1", &role).await;
    assert_eq!(revoked["sees"], false);
    assert!(because(&revoked).contains("revoked directly"), "{revoked}");
    sales.admin.run(&format!("grant keyed_admin to {role}")).await;
    assert_eq!(explain(&sales, "US-1", &role).await["sees"], true);
    assert_eq!(
        sales.admin.error("select keyed.explain_access(keyed.new_id(2), 'nobody')", &[]).await.state,
        "22023"
    );
}
