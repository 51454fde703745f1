//! Writes of records and files.

use harness::Database;

use super::State::{Empty, Full, Tiny};
use super::{
    Operation, batches, import, import_again, import_chain, in_proportion, inserts, lookups, nothing, upserts,
};

#[tokio::test]
async fn creates_and_updates_scale_linearly() {
    in_proportion(
        &[Empty, Tiny],
        &[
            Operation { name: "a bare INSERT", before: nothing, run: inserts },
            Operation { name: "upserts in one statement", before: nothing, run: upserts },
            Operation { name: "upserts of records that are there", before: inserts, run: upserts },
            Operation { name: "lookups by key", before: inserts, run: lookups },
            Operation { name: "batches", before: nothing, run: batches },
            Operation { name: "batches of records that are there", before: inserts, run: batches },
        ],
    )
    .await;
}

#[tokio::test]
async fn unplannable_statement_is_rejected() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    for _ in 0..2 {
        assert_eq!(session.error("select 1 / 0", &[]).await.state, "22012");
        session.run("select keyed.upsert_by_key('crm.customers', 'A', '{}')").await;
    }
    database.cluster().assert_no_crash();
}

#[tokio::test]
async fn imports_scale_linearly() {
    in_proportion(
        &[Empty, Tiny, Full],
        &[
            Operation { name: "an import", before: nothing, run: import },
            Operation { name: "an import of rows that are there", before: import, run: import },
            Operation { name: "an import that changes each row", before: import, run: import_again },
            Operation {
                name: "an import of rows that refer to the row before",
                before: nothing,
                run: import_chain,
            },
            Operation {
                name: "an export as CSV",
                before: inserts,
                run: |template, _, _| vec![format!("select public.export_all('{template}', 'csv')")],
            },
            Operation {
                name: "an export as NDJSON",
                before: inserts,
                run: |template, _, _| vec![format!("select public.export_all('{template}', 'ndjson')")],
            },
        ],
    )
    .await;
}
