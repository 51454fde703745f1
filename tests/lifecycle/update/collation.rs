//! The collation of text in a database of the last release.

use super::UPDATE;
use harness::Database;

/// The collations of the B-tree indexes on text.
const INDEXES: &str = "select string_agg(distinct l.collname, ' ') from keyed_state.attribute a
    join keyed_state.template t on t.id = a.template_id join keyed_state.project p on p.id = t.project_id
    join pg_index i on i.indrelid = format('%I.%I', p.slug, t.slug)::regclass
    join pg_collation l on l.oid = i.indcollation[0]
    where a.type = 'string' and a.indexed and pg_get_indexdef(i.indexrelid) ~ format('btree .*left.*[(]\"?%s\"?,', a.slug)";

#[tokio::test]
async fn indexes_of_the_release_have_the_unicode_collation() {
    let database = Database::of_the_release().await;
    let session = database.session().await;
    session.run(UPDATE).await;
    for slug in ["street_of_before", "town_of_before"] {
        let new = format!(r#"{{"slug": "{slug}", "type": "string", "indexed": true}}"#);
        session.rows("select keyed.add_attribute('crm.companies', $1::text::jsonb)", &[&new]).await;
    }
    assert_eq!(session.text(INDEXES, &[]).await, "default");
    let sorted = "select count(*) from jsonb_path_query(keyed.search('crm.companies', '{\"sort\": \"street_of_before\"}'), '$.records[*]')";
    assert_ne!(session.text(sorted, &[]).await, "0");
    // A collation that a DBA chose stays.
    session.run("alter table crm.companies alter town_of_before type text collate \"sv-x-icu\"").await;
    session.run("select keyed.migrate()").await;
    session.until("select count(*) from keyed.jobs()", "0").await;
    assert_eq!(session.text(INDEXES, &[]).await, "sv-x-icu und-x-icu");
    let own = r#"select jsonb_path_query_first(keyed.alter_template('crm.companies', '{}'), '$.attributes[*] ? (@.slug == "town_of_before").collation') #>> '{}'"#;
    assert_eq!(session.text(own, &[]).await, "sv");
}
