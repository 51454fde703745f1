//! Exports by SQL.

use harness::Database;

#[tokio::test]
async fn a_portion_of_an_export_of_long_texts_stays_short() {
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
    // All that is read at once is written: 64 records.
    assert!(lengths.iter().all(|length| *length < 64 * 101_000), "{lengths:?}");
}
