//! Policies that the last release has created.

use super::UPDATE;
use harness::Database;

const OBEDIENT: &str = "select count(*) from pg_proc where pronamespace = 'keyed_scope'::regnamespace
    and not coalesce(proconfig, '{}') @> array['gin_fuzzy_search_limit=0']";

#[tokio::test]
async fn migrate_makes_scope_functions_ignore_the_fuzzy_search_limit() {
    let database = Database::of_the_release().await;
    let session = database.session().await;
    session.run(UPDATE).await;
    drop(session);
    let session = database.session().await;
    assert_ne!(session.text(OBEDIENT, &[]).await, "0", "the release has such functions");
    let definitions = "select string_agg(pg_get_functiondef(oid), E'\n' order by oid) from pg_proc where pronamespace = 'keyed_scope'::regnamespace";
    let before = session.text(definitions, &[]).await;
    session.run("select keyed.migrate()").await;
    assert_eq!(session.text(OBEDIENT, &[]).await, "0");
    // Nothing else in them changes.
    let after = session.text(definitions, &[]).await;
    assert_eq!(after.replace(" SET gin_fuzzy_search_limit TO '0'\n", ""), before);
}
