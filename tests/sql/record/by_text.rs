//! References that are matched by an attribute of their target.

use crate::import::{counts, import, problems};
use harness::Database;
use serde_json::json;

#[tokio::test]
async fn attribute_index_is_used_to_match_the_references_of_a_file() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.rows("select keyed.alter_attribute('crm.companies', 'name', '{\"indexed\": true}')", &[]).await;
    session
        .run(
            "insert into crm.companies (external_key, name) \
             select 'C-' || n, 'Acme ' || n from generate_series(1, 5000) n; analyze crm.companies",
        )
        .await;
    let scans = async || {
        session.run("select pg_stat_force_next_flush()").await;
        let of_name = "select sum(s.idx_scan) from pg_stat_user_indexes s join pg_index i using (indexrelid) \
                       where s.schemaname = 'crm' and s.relname = 'companies' and i.indexprs is not null";
        session.text(of_name, &[]).await.parse::<i64>().expect("a number")
    };
    let (before, by_name) = (scans().await, json!({"match": {"company": "name"}}));
    let header = ["external_key", "company"];
    let report = import(&session, "customers", &by_name, &header, "a,Acme 17\nb,Acme 4711\n").await;
    assert_eq!((counts(&report), problems(&report)), ([2, 0, 0], vec![]), "{report}");
    assert!(scans().await > before, "each text is searched in the whole table");
}
