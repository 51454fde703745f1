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
    let error = session.error(SET, &[]).await;
    assert!(error.hint.contains("keyed.migrate()"), "{error}: {}", error.hint);
    let new = r#"select keyed.add_attribute('crm.customers', '{"slug": "size", "type": "number", "format": {"unit": "m"}}')"#;
    let error = session.error(new, &[]).await;
    assert!(error.hint.contains("keyed.migrate()"), "{error}: {}", error.hint);
    // An attribute without a format is defined as before.
    session.run(r#"select keyed.alter_attribute('crm.customers', 'visits', '{"format": null}')"#).await;
    session.run("select keyed.migrate()").await;
    session.run(SET).await;
    assert_eq!(session.text(SHOWN, &[]).await, r#"{"unit": "calls"}"#);
}
