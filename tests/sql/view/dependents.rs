//! Saved views during changes of definitions: which are adjusted, which stay, and which block the change.

use crate::view::saved::{columns, crm, found, of_tier, save, view_keys};
use serde_json::json;

#[tokio::test]
async fn view_follows_renames_and_new_attributes() {
    let (_database, session) = crm().await;
    let query = json!({"filters": [{"field": "company.name", "operator": "eq", "value": "name"}, {"field": "name", "operator": "neq", "value": "name"}],
                       "filter_groups": [[{"or": [{"field": "name", "operator": "empty"}, of_tier("gold")]}]],
                       "sort": "-company.name,name", "fields": ["name", "visits"], "facets": ["name", "tier"]});
    save(&session, "odd", &query).await;
    session.run("select keyed.alter_attribute('crm.customers', 'name', '{\"slug\": \"title\"}')").await;
    session.run("select keyed.alter_attribute('crm.companies', 'name', '{\"slug\": \"firm\"}')").await;
    session.run("select keyed.add_attribute('crm.customers', '{\"slug\": \"note\", \"type\": \"string\", \"indexed\": true}')").await;
    let view = session.json("select keyed.get_view('crm.customers', 'odd')", &[]).await;
    assert_eq!(
        view["query"],
        json!({"filters": [{"field": "company.firm", "operator": "eq", "value": "name"}, {"field": "title", "operator": "neq", "value": "name"}],
               "filter_groups": [[{"or": [{"field": "title", "operator": "empty"}, of_tier("gold")]}]],
               "sort": "-company.firm,title", "fields": ["title", "visits"], "facets": ["title", "tier"]})
    );
    assert_eq!(
        columns(&session, "crm.customers__odd").await,
        "id external_key created_at updated_at title visits mood tags tier born seen company active note"
    );
    session.run("update crm.companies set firm = 'name'").await;
    assert_eq!(found(&session, &json!({"view": "odd"})).await, "A B");
    assert_eq!(view_keys(&session, "crm.customers__odd").await, "A B");
    // Two attributes can swap slugs in one change.
    session
        .run("select keyed.alter_template('crm.customers', '{\"rename\": {\"note\": \"spared\", \"title\": \"note\", \"spared\": \"title\"}}')")
        .await;
    let view = session.json("select keyed.get_view('crm.customers', 'odd')", &[]).await;
    assert_eq!(view["query"]["fields"], json!(["note", "visits"]));
    assert_eq!(view_keys(&session, "crm.customers__odd").await, "A B");
}

#[tokio::test]
async fn attribute_used_by_a_view_cannot_be_dropped() {
    let (_database, session) = crm().await;
    for (slug, query) in [
        ("by_filter", json!({"filters": [{"field": "visits", "operator": "gt", "value": 1}]})),
        ("by_sort", json!({"sort": "born"})),
        ("by_field", json!({"fields": ["seen"]})),
        ("by_facet", json!({"facets": ["tags"]})),
        ("by_reference", json!({"filters": [{"field": "company.name", "operator": "eq", "value": "Acme"}]})),
    ] {
        save(&session, slug, &query).await;
    }
    for (template, attribute, view) in [
        ("customers", "visits", "by_filter"),
        ("customers", "born", "by_sort"),
        ("customers", "seen", "by_field"),
        ("customers", "tags", "by_facet"),
        ("customers", "company", "by_reference"),
        ("companies", "name", "by_reference"),
    ] {
        let drop = "select keyed.drop_attribute('crm.' || $1, $2)";
        let error = session.error(drop, &[template, attribute]).await;
        assert_eq!(error.codes().1, "conflict", "{error}");
        assert!(error.message.contains(&format!("{view:?}")), "{error}");
    }
    session.run("select keyed.drop_attribute('crm.customers', 'mood')").await;
    assert_eq!(
        columns(&session, "crm.customers__by_filter").await,
        "id external_key created_at updated_at name visits tags tier born seen company active"
    );
    assert_eq!(view_keys(&session, "crm.customers__by_filter").await.len(), 5);
    // A user's view on keyed's view is not dropped.
    session.run("create view crm.report as select name from crm.customers__by_filter").await;
    for statement in [
        "select keyed.drop_attribute('crm.customers', 'name')",
        "select keyed.drop_view('crm.customers', 'by_filter')",
        "select keyed.save_view('crm.customers', 'by_filter', '{\"global_search\": \"x\"}')",
        "select keyed.drop_template('crm.customers', true)",
    ] {
        let error = session.error(statement, &[]).await;
        assert_eq!(error.codes().1, "conflict", "{statement}: {error}");
        assert!(error.message.contains("in use"), "{error}");
    }
    assert_eq!(session.text("select count(*) from crm.report", &[]).await, "3");
    session.run("drop view crm.report; select keyed.drop_template('crm.customers', true)").await;
    assert_eq!(session.text("select count(*) from keyed_state.view", &[]).await, "0");
    assert_eq!(session.text("select count(*) from pg_views where schemaname = 'crm'", &[]).await, "0");
}

#[tokio::test]
async fn change_that_breaks_a_view_is_rejected() {
    let (_database, session) = crm().await;
    save(&session, "gold", &json!({"filters": [of_tier("gold")]})).await;
    let relist =
        "select keyed.alter_attribute('crm.customers', 'tier', '{\"options\": [\"silver\", \"basic\"]}')";
    session.run("update crm.customers set tier = '{silver}'").await;
    let error = session.error(relist, &[]).await;
    assert_eq!(error.codes().1, "conflict");
    assert!(error.message.contains("\"gold\""), "{error}");
    session.run("select keyed.drop_view('crm.customers', 'gold')").await;
    session.run(relist).await;
}

#[tokio::test]
async fn view_uses_the_time_zone_of_its_project() {
    let (_database, session) = crm().await;
    // Kiritimati is 14 hours ahead of UTC and Pago Pago 11 hours behind, so they never have the same day.
    session.run("update crm.customers set born = (now() at time zone 'Pacific/Kiritimati')::date where external_key = 'A'").await;
    session.run("update crm.customers set born = (now() at time zone 'Pacific/Pago_Pago')::date where external_key = 'B'").await;
    save(&session, "today", &json!({"filters": [{"field": "born", "operator": "today"}]})).await;
    for (zone, expected) in [("Pacific/Kiritimati", "A"), ("Pacific/Pago_Pago", "B")] {
        session.rows("select keyed.set_time_zone('crm', $1)", &[zone]).await;
        assert_eq!(view_keys(&session, "crm.customers__today").await, expected, "{zone}");
        assert_eq!(found(&session, &json!({"view": "today"})).await, expected, "{zone}");
    }
    // The current day is evaluated when the view is read.
    let definition = session.text("select pg_get_viewdef('crm.customers__today'::regclass)", &[]).await;
    assert!(definition.contains("now()"), "{definition}");
}
