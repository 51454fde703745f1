//! The format of attributes in a database of the last release.

use super::UPDATE;
use harness::Database;

const SET: &str =
    r#"select keyed.alter_attribute('crm.customers', 'visits', '{"format": {"unit": "calls"}}')"#;
const SHOWN: &str = r#"select jsonb_path_query_first(keyed.alter_template('crm.customers', '{}'), '$.attributes[*] ? (@.slug == "visits").format') #>> '{}'"#;

#[tokio::test]
async fn formats_need_a_migration() {
    let database = Database::of_the_release().await;
    let session = database.session().await;
    session.run(UPDATE).await;
    let refusal = session.refusal(SET, &[]).await;
    assert!(refusal.hint.contains("keyed.migrate()"), "{refusal}: {}", refusal.hint);
    let new = r#"select keyed.add_attribute('crm.customers', '{"slug": "size", "type": "number", "format": {"unit": "m"}}')"#;
    let refusal = session.refusal(new, &[]).await;
    assert!(refusal.hint.contains("keyed.migrate()"), "{refusal}: {}", refusal.hint);
    // What has no format is defined as before.
    session.run(r#"select keyed.alter_attribute('crm.customers', 'visits', '{"format": null}')"#).await;
    session.run("select keyed.migrate()").await;
    session.run(SET).await;
    assert_eq!(session.text(SHOWN, &[]).await, r#"{"unit": "calls"}"#);
}
