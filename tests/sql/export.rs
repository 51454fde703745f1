//! Exports by SQL.

use harness::Database;

#[tokio::test]
async fn chunk_of_an_export_of_long_text_is_short() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let insert = "insert into crm.customers (external_key, name) \
                  select 'k' || i, repeat('abcd ', 20000) from generate_series(1, 300) i";
    session.run(insert).await;
    session.run("begin isolation level repeatable read read only").await;
    let open = "select keyed_http.export_open(t.id::text, 'csv', '{\"fields\": [\"name\"]}') \
                from keyed_state.template t where t.slug = 'customers'";
    session.run(open).await;
    let mut lengths = Vec::new();
    loop {
        let length = session.text("select length(keyed_http.export_next())", &[]).await;
        if length.is_empty() {
            break;
        }
        lengths.push(length.parse::<usize>().expect("a number"));
    }
    assert!(lengths.iter().sum::<usize>() > 30_000_000, "{lengths:?}");
    // All 64 records of one read are returned.
    assert!(lengths.iter().all(|length| *length < 64 * 101_000), "{lengths:?}");
}

#[tokio::test]
async fn new_export_closes_the_earlier_one() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("insert into crm.customers (external_key) values ('K')").await;
    // With a sort, an export has two cursors: for the records with a value and for those without.
    let open = "select count(keyed_http.export_open(t.id::text, 'csv', '{\"fields\": [\"external_key\"], \"sort\": \"name\"}')) \
                from keyed_state.template t, generate_series(1, $1::integer) where t.slug = 'customers'";
    let portals = "select count(*) from pg_backend_memory_contexts where name = 'PortalContext'";
    session.run("begin").await;
    session.rows(open, &["1"]).await;
    let one = session.text(portals, &[]).await;
    session.rows(open, &["100"]).await;
    assert_eq!(session.text(portals, &[]).await, one);
    // The last chunk is whole.
    let chunk = session.text("select keyed_http.export_next()", &[]).await;
    assert!(chunk.contains(",K"), "{chunk}");
    // An export that fails midway is closed by the next one.
    session.run("savepoint s").await;
    session.run("set local role pg_monitor").await;
    session.error("select keyed_http.export_next()", &[]).await;
    session.run("rollback to s").await;
    session.rows(open, &["1"]).await;
    assert_eq!(session.text(portals, &[]).await, one);
}
