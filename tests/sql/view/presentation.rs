//! Views with presentation: values in a readable form, for BI tools.

use crate::view::saved::{columns, crm, save, view_keys};
use harness::Session;
use serde_json::json;

const PRESENT: &str = "select keyed.save_view('crm.customers', 'bi', $1, presentation => true)";

async fn present(session: &Session, query: &serde_json::Value) {
    session.json(PRESENT, &[&query.to_string()]).await;
}

async fn comment(session: &Session, column: &str) -> String {
    let sql = "select coalesce(col_description(attrelid, attnum), '') from pg_attribute
               where attrelid = 'crm.customers__bi'::regclass and attname = $1";
    session.text(sql, &[column]).await
}

#[tokio::test]
async fn references_show_their_display_and_lists_their_labels() {
    let (_database, session) = crm().await;
    present(&session, &json!({"sort": "visits"})).await;
    assert_eq!(
        columns(&session, "crm.customers__bi").await,
        "id external_key created_at updated_at name visits mood tags tags__values tier tier__values born seen company \
         company__key company__id active"
    );
    session
        .run(
            "update crm.customers set tags = '{new,\"it''s, \\\\ \\\"odd\\\"\"}', tier = '{gold,silver}' where external_key = 'A';
             update crm.customers set tier = null, company = null where external_key = 'B';
             update crm.customers set tier = '{}' where external_key = 'C'",
        )
        .await;
    let rows = session
        .rows(
            "select external_key, company, company__key, tier, tier__values::text, tags from crm.customers__bi",
            &[],
        )
        .await;
    let text = |row: &[Option<String>]| {
        row.iter().map(|it| it.clone().unwrap_or("-".to_owned())).collect::<Vec<_>>()
    };
    let rows: Vec<_> = rows.iter().map(|row| text(row).join("|")).collect();
    assert_eq!(
        rows,
        [
            "A|Acme|C|Gold card, silver|{gold,silver}|new, it's, \\ \"odd\"",
            "B|-|-|-|-|-",
            "C|Acme|C||{}|-",
            "D|Acme|C|silver|{silver}|-"
        ]
    );
}

#[tokio::test]
async fn reference_without_a_display_shows_the_key() {
    let (_database, session) = crm().await;
    session
        .run(
            r#"select keyed.create_template('crm', 'parts', '[{"slug": "weight", "type": "number"}]');
               select keyed.add_attribute('crm.customers', '{"slug": "part", "type": "reference", "template": "parts"}');
               select keyed.upsert_by_key('crm.parts', 'P', '{"weight": 2.50}');
               select keyed.upsert_by_key('crm.customers', 'A', '{"part": {"external_key": "P"}}')"#,
        )
        .await;
    present(&session, &json!({})).await;
    let part = "select part from crm.customers__bi where external_key = 'A'";
    assert_eq!(session.text(part, &[]).await, "P");
    session.run("select keyed.alter_template('crm.parts', '{\"display\": \"weight\"}')").await;
    assert_eq!(session.text(part, &[]).await, "2.50", "the view follows another display");
    session.run("select keyed.drop_attribute('crm.parts', 'weight')").await;
    assert_eq!(session.text(part, &[]).await, "P", "the display attribute of a target can be dropped");
    session.run("select keyed.delete_record((keyed.get_by_key('crm.parts', 'P') ->> 'id')::uuid)").await;
    let gone = "select count(*) from crm.customers__bi where part__key is null and external_key = 'A'";
    assert_eq!(session.text(gone, &[]).await, "1", "deleted targets are hidden from superusers as well");
}

#[tokio::test]
async fn presentation_follows_definitions() {
    let (_database, session) = crm().await;
    present(&session, &json!({})).await;
    session
        .run(
            r#"select keyed.alter_attribute('crm.customers', 'company', '{"slug": "firm", "label": "Firm"}');
               select keyed.alter_attribute('crm.customers', 'tier', '{"slug": "level", "options": [{"value": "gold", "label": "Gold"}, "silver"]}');
               select keyed.alter_attribute('crm.customers', 'visits', '{"label": "Visits", "format": {"unit": "days"}}');
               select keyed.alter_attribute('crm.companies', 'name', '{"slug": "called"}');
               select keyed.drop_attribute('crm.customers', 'tags');
               select keyed.add_attribute('crm.customers', '{"slug": "note", "type": "string"}')"#,
        )
        .await;
    assert_eq!(
        columns(&session, "crm.customers__bi").await,
        "id external_key created_at updated_at name visits mood level level__values born seen firm firm__key firm__id \
         active note"
    );
    let first = "select firm || ' ' || level from crm.customers__bi where external_key = 'A'";
    assert_eq!(session.text(first, &[]).await, "Acme Gold");
    for (column, expected) in
        [("visits", "Visits (days)"), ("firm", "Firm"), ("firm__key", "Firm: external key"), ("note", "note")]
    {
        assert_eq!(comment(&session, column).await, expected, "{column}");
    }
    session.run("select keyed.alter_attribute('crm.customers', 'visits', '{\"format\": null}')").await;
    assert_eq!(comment(&session, "visits").await, "Visits");
}

#[tokio::test]
async fn presentation_has_the_fields_of_the_query() {
    let (_database, session) = crm().await;
    present(&session, &json!({"fields": ["tier", "name", "tier", "external_key"]})).await;
    assert_eq!(
        columns(&session, "crm.customers__bi").await,
        "id external_key created_at updated_at tier tier__values name"
    );
    let error = session.error("select keyed.drop_attribute('crm.customers', 'tier')", &[]).await;
    assert_eq!(error.codes().1, "conflict");
    session
        .run(
            r#"select keyed.alter_attribute('crm.customers', 'company', '{"slug": "firm"}');
               select keyed.alter_attribute('crm.customers', 'tier', '{"slug": "level"}');
               select keyed.add_attribute('crm.customers', '{"slug": "note", "type": "string"}')"#,
        )
        .await;
    assert_eq!(
        columns(&session, "crm.customers__bi").await,
        "id external_key created_at updated_at level level__values name"
    );
}

#[tokio::test]
async fn presentation_is_kept_until_switched_off() {
    let (_database, session) = crm().await;
    present(&session, &json!({})).await;
    let saved = save(&session, "bi", &json!({"sort": "-name"})).await;
    assert_eq!((&saved["presentation"], &saved["sql_view"]), (&json!(true), &json!("crm.customers__bi")));
    assert_eq!(view_keys(&session, "crm.customers__bi").await, "D C B A");
    let plain = "select keyed.save_view('crm.customers', 'bi', '{}', presentation => false)";
    assert_eq!(session.json(plain, &[]).await["presentation"], serde_json::Value::Null);
    assert_eq!(
        columns(&session, "crm.customers__bi").await,
        "id external_key created_at updated_at name visits mood tags tier born seen company active"
    );
}

#[tokio::test]
async fn unsupported_presentation_is_rejected() {
    let (_database, session) = crm().await;
    for (query, code, pointer) in [
        (json!({"global_search": "x"}), "invalid_value", "/query/global_search"),
        (json!({"fields": ["nothing"]}), "unknown_field", "/query/fields/0"),
    ] {
        let error = session.error(PRESENT, &[&query.to_string()]).await;
        assert_eq!((error.codes().1, error.pointers()), (code, vec![pointer]), "{query}");
    }
    session
        .run("select keyed.add_attribute('crm.customers', '{\"slug\": \"company__key\", \"type\": \"string\"}')")
        .await;
    let error = session.error(PRESENT, &["{}"]).await;
    assert_eq!((error.codes().1, error.pointers()), ("conflict", vec!["/presentation"]));
    present(&session, &json!({"fields": ["company"]})).await;
    // A view in another schema depends on this view, so it can be neither replaced nor dropped.
    session
        .run("create schema reports; create view reports.firms as select company from crm.customers__bi")
        .await;
    let error = session.error(PRESENT, &["{}"]).await;
    assert_eq!(error.codes().1, "conflict");
    let error = session.error("select keyed.drop_attribute('crm.companies', 'name')", &[]).await;
    assert_eq!(error.codes().1, "conflict", "the display of a target that a view of another schema reads");
    assert_eq!(session.text("select count(*) from reports.firms", &[]).await, "4");
}

#[tokio::test]
async fn presentation_reads_only_requested_targets() {
    let (_database, session) = crm().await;
    present(&session, &json!({})).await;
    let plan = async |sql: &str| {
        let rows = session.rows(&format!("explain (costs off) {sql}"), &[]).await;
        rows.into_iter().filter_map(|row| row[0].clone()).collect::<Vec<_>>().join("\n")
    };
    let counted = plan("select tier, count(*) from crm.customers__bi where visits > 1 group by 1").await;
    assert!(!counted.contains("companies"), "{counted}");
    assert!(plan("select company from crm.customers__bi").await.contains("companies"));
}

#[tokio::test]
async fn presentation_supports_every_display_type() {
    let (_database, session) = crm().await;
    session
        .run(
            r#"select keyed.create_template('crm', 'parts', '[{"slug": "weight", "type": "number"}, {"slug": "kinds", "type": "list"},
                 {"slug": "maker", "type": "reference", "template": "companies"}, {"slug": "price", "type": "metric"},
                 {"slug": "spare", "type": "boolean"}]');
               select keyed.add_attribute('crm.customers', '{"slug": "part", "type": "reference", "template": "parts"}');
               select keyed.upsert_by_key('crm.parts', 'P', '{"weight": 2, "kinds": ["a", "b"], "spare": true}');
               select keyed.upsert_by_key('crm.customers', 'A', '{"part": {"external_key": "P"}}')"#,
        )
        .await;
    present(&session, &json!({})).await;
    let part = "select part from crm.customers__bi where external_key = 'A'";
    assert_eq!(session.text(part, &[]).await, "P");
    for (display, shown) in [
        ("weight", "2"),
        ("kinds", "a, b"),
        ("maker", "P"),
        ("price", "P"),
        ("spare", "true"),
        ("weight", "2"),
    ] {
        session
            .run(&format!("select keyed.alter_template('crm.parts', '{{\"display\": \"{display}\"}}')"))
            .await;
        assert_eq!(session.text(part, &[]).await, shown, "{display}");
    }
    session.run("select keyed.alter_template('crm.parts', '{\"display\": null}')").await;
    session
        .run("select keyed.add_attribute('crm.parts', '{\"slug\": \"name\", \"type\": \"string\"}')")
        .await;
    session.run("update crm.parts set name = 'Bolt'").await;
    assert_eq!(session.text(part, &[]).await, "Bolt", "the first text is the display");
}

#[tokio::test]
async fn many_references_cost_little_planning() {
    let (_database, session) = crm().await;
    session
        .run(
            "select keyed.create_template('crm', 'wide', (select jsonb_agg(jsonb_build_object('slug', 'r' || n, 'type', 'reference',
               'template', 'companies')) from generate_series(1, 200) n));
             select keyed.save_view('crm.wide', 'bi', '{}', presentation => true);
             select keyed.upsert_by_key('crm.wide', 'W', '{\"r1\": {\"external_key\": \"C\"}, \"r200\": {\"external_key\": \"C\"}}')",
        )
        .await;
    let definition = session.text("select pg_get_viewdef('crm.wide__bi'::regclass)", &[]).await;
    assert_eq!(definition.matches("LEFT JOIN").count(), 20);
    // The planner would need minutes for joins of all of them.
    session.run("set statement_timeout = '20s'").await;
    let read = "select r1 || r200 || r1__key || r200__key || (r2 is null)::text from crm.wide__bi";
    assert_eq!(session.text(read, &[]).await, "AcmeAcmeCCtrue");
}

#[tokio::test]
async fn view_two_references_away_is_not_locked() {
    let (database, session) = crm().await;
    session
        .run(
            r#"select keyed.create_template('crm', 'visits', '[{"slug": "customer", "type": "reference", "template": "customers"}]');
               select keyed.save_view('crm.visits', 'bi', '{}', presentation => true)"#,
        )
        .await;
    let reader = database.session().await;
    reader.run("begin; select from crm.visits__bi").await;
    session.run("set lock_timeout = '1s'").await;
    // Customers are displayed by their name, so the view of visits reads no company.
    let error = session
        .error("select keyed.add_attribute('crm.customers', '{\"slug\": \"x\", \"type\": \"string\"}')", &[])
        .await;
    assert_eq!(error.state, "55P03", "it reads customers");
    session
        .run("select keyed.add_attribute('crm.companies', '{\"slug\": \"x\", \"type\": \"string\"}')")
        .await;
    session.run("select keyed.drop_attribute('crm.companies', 'x')").await;
    reader.run("commit").await;
}
