//! Migrations while transactions are open.

use harness::Database;

/// A migration that alters a table which every session reads.
const UNDO: &str = "delete from keyed_state.version where number = 26; \
    alter table keyed_state.attribute add constraint attribute_type_check check (type <> '')";

#[tokio::test]
async fn migration_times_out_on_a_table_in_use_with_a_hint() {
    let database = Database::new().await;
    let administrator = database.session().await;
    administrator.run(UNDO).await;
    let idle = database.session().await;
    idle.run("begin; select count(*) from keyed_state.attribute").await;
    let error = administrator.error("select keyed.migrate()", &[]).await;
    assert_eq!(error.codes(), ("55P03", "unavailable"), "{error}");
    assert!(error.hint.contains("pg_stat_activity"), "{error}");
    let steps = "select count(*) from keyed_state.version where number = 26";
    assert_eq!(administrator.text(steps, &[]).await, "0", "nothing was changed");
    idle.run("commit").await;
    administrator.rows("select keyed.migrate()", &[]).await;
    assert_eq!(administrator.text(steps, &[]).await, "1");
}
