//! Definitions under REPEATABLE READ and SERIALIZABLE, with concurrent definitions.

use harness::Database;

/// Statements that each claim a name, and whether a second attempt, which sees the first claim, succeeds.
const CLAIMS: [(&str, bool); 7] = [
    ("select keyed.save_view('crm.customers', 'mine', '{}')", true),
    ("select keyed.grant_access('$role', 'crm', array['read'])", true),
    ("select keyed.create_template('crm', 'orders')", false),
    ("select keyed.create_project('shop')", false),
    ("select keyed.add_attribute('crm.customers', '{\"slug\": \"nickname\", \"type\": \"string\"}')", false),
    (
        "select keyed.create_inbound_endpoint('crm.customers', \
         '{\"slug\": \"shop\", \"external_key\": \"$.id\", \"signed\": false}')",
        false,
    ),
    (
        "select keyed.patch_record((select max(id::text)::uuid from crm.customers), '{\"external_key\": \"K\"}')",
        false,
    ),
];

#[tokio::test]
async fn name_claimed_after_the_snapshot_is_a_serialization_failure() {
    for level in ["repeatable read", "serializable"] {
        let database = Database::with_crm().await;
        let (late, first) = (database.session().await, database.session().await);
        let role = database.create_role("reader").await;
        first.run("insert into crm.customers select from generate_series(1, 2)").await;
        for (claim, is_repeatable) in CLAIMS {
            let claim = &claim.replace("$role", &role);
            late.run(&format!("begin isolation level {level}; select 1")).await;
            first.rows(&claim.replace("max", "min"), &[]).await;
            let error = late.error(claim, &[]).await;
            assert_eq!(error.state, "40001", "{level}: {claim}: {error}");
            late.run(&format!("rollback; begin isolation level {level}")).await;
            match late.attempt(claim, &[]).await {
                Ok(_) => assert!(is_repeatable, "{level}: {claim}"),
                Err(error) => {
                    assert_eq!((is_repeatable, &*error.state), (false, "23505"), "{level}: {claim}: {error}");
                }
            }
            late.run("rollback").await;
        }
    }
}
