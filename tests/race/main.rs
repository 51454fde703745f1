//! Rules that must hold when several callers act at once, over real concurrent connections.

use harness::Database;

#[tokio::test]
async fn concurrent_upserts_of_one_key_create_one_record() {
    let database = Database::new().await;
    let client = database.client().await;
    let setup = "select keyed.create_project('crm', 'CRM');
                 select keyed.create_template('crm', 'customers', '[{\"slug\": \"name\", \"type\": \"string\"}]')";
    client.batch_execute(setup).await.expect("a project and a template");

    let mut sessions = tokio::task::JoinSet::new();
    for number in 0..8 {
        let client = database.client().await;
        sessions.spawn(async move {
            let attributes = format!("{{\"name\": \"{number}\"}}");
            let upsert = "select created from keyed.upsert_by_key('crm.customers', 'A-1', $1::text::jsonb)";
            client.query_one(upsert, &[&attributes]).await.expect("an upsert").get::<_, bool>(0)
        });
    }
    let created = sessions.join_all().await.into_iter().filter(|created| *created).count();
    assert_eq!(created, 1, "exactly one of the sessions is told that it created the record");

    let count = client.query_one("select count(*) from crm.customers", &[]).await.expect("a count");
    assert_eq!(count.get::<_, i64>(0), 1);
    database.cluster().assert_no_crash();
}
