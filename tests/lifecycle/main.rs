//! Rules that must hold over the life of an installation: crash, dump, restore, upgrade.

use harness::Database;

#[tokio::test]
async fn what_was_acknowledged_survives_kill_9() {
    let database = Database::new_durable().await;
    let client = database.client().await;
    let setup = "select keyed.create_project('crm', 'CRM');
                 select keyed.create_template('crm', 'customers', '[{\"slug\": \"name\", \"type\": \"string\"}]');
                 select keyed.upsert_by_key('crm.customers', 'A-1', '{\"name\": \"Ada\"}')";
    client.batch_execute(setup).await.expect("a record");

    database.cluster().kill();
    database.cluster().start_again();

    let client = database.client().await;
    let row = client.query_one("select name from crm.customers where external_key = 'A-1'", &[]).await;
    assert_eq!(row.expect("the record").get::<_, &str>(0), "Ada");
}
