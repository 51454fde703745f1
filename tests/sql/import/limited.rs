//! Columns with constraints that an administrator has added.

use super::{counts, import, problems};
use harness::Database;
use serde_json::json;

#[tokio::test]
async fn value_beyond_a_column_limit_is_reported_with_its_column() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            "alter table crm.customers alter column name type varchar(5); \
             alter table crm.customers add constraint many check (visits < 100); \
             alter table crm.customers add constraint both_of check (visits <> 7 or name <> 'seven')",
        )
        .await;
    let rows = "a,Ada,1\nb,Babette,2\nc,Cé ö,100\nd,seven,7\ne,Égéria,3\n";
    let header = ["external_key", "Full name", "visits"];
    let options = json!({"mapping": {"Full name": "name"}});
    let report = import(&session, "customers", &options, &header, rows).await;
    let expected = [
        json!([1, "Full name", "invalid_value"]),
        json!([2, "visits", "invalid_value"]),
        json!([3, null, "invalid_value"]),
        json!([4, "Full name", "invalid_value"]),
    ];
    assert_eq!((counts(&report), problems(&report)), ([1, 0, 0], expected.to_vec()), "{report}");
    assert_eq!(
        report["errors"][0]["message"],
        "the text has 7 characters: its column takes at most 5. Correct the value."
    );
    let message = report["errors"][1]["message"].as_str().unwrap_or_default();
    assert!(message.contains("violates check constraint \"many\""), "{message}");
}
