//! pg_dump of one project, and of a database whose roles were dropped.

use harness::{Cluster, Database, Durability};
use std::sync::Arc;

#[tokio::test]
async fn grants_of_a_role_dropped_before_a_dump_have_no_effect_after_the_restore() {
    let source = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
    let session = source.session().await;
    session.run("create role leaver; create role mover").await;
    for role in ["leaver", "mover"] {
        source.grant(role, "crm.customers", "read, create").await;
    }
    let keys = [source.api_key("leaver", &["crm"]).await, source.api_key("mover", &["crm"]).await];
    let number = session.text("select 'leaver'::regrole::oid", &[]).await;
    session.run("drop owned by leaver; drop role leaver; alter role mover rename to moved").await;
    let archive = source.dump(&["--format=custom"]);

    let target = Arc::new(Cluster::start(Durability::None));
    source.cluster().copy_roles_to(&target);
    let copy = Database::empty_in(&target).await;
    let session = copy.session().await;
    // Another role has its OID there.
    session.run("create role bystander login; set allow_system_table_mods = on").await;
    session.rows("update pg_authid set oid = $1::oid where rolname = 'bystander'", &[&number]).await;
    copy.restore(&archive);

    let proxy = copy.session_as("keyed_proxy").await;
    let authenticate = "select keyed.authenticate(sha256(convert_to($1, 'UTF8')))";
    assert_eq!(proxy.error(authenticate, &[&keys[0]]).await.codes(), ("28000", "unauthorized"));
    let bystander = copy.session_as("bystander").await;
    assert_eq!(bystander.error("select keyed.search('crm.customers')", &[]).await.state, "42501");
    // The role was renamed after its key was issued. The dump contains only the new name, so the key is not valid.
    assert_eq!(proxy.error(authenticate, &[&keys[1]]).await.codes(), ("28000", "unauthorized"));
    let orphans = "select string_agg(role, ' ' order by id) from keyed.list_api_keys() where orphaned";
    assert_eq!(session.text(orphans, &[]).await, "leaver mover");
}

#[tokio::test]
async fn single_project_can_be_restored() {
    let source = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
    let session = source.session().await;
    session
        .run(
            r#"select keyed.create_project('shop'); select keyed.create_template('shop', 'goods', '[{"slug": "name", "type": "string"}]');
               select keyed.create_template('shop', 'parts', '[{"slug": "good", "type": "reference", "template": "goods"}]');
               select keyed.upsert_by_key('shop.goods', 'G', '{"name": "kept elsewhere"}');
               select keyed.upsert_by_key('shop.parts', 'P', '{"good": {"external_key": "G"}}');
               select keyed.upsert_by_key('crm.customers', 'A', '{"name": "Ada"}');
               select keyed.upsert_by_key('crm.customers', 'A', '{"name": "Ada Lovelace"}')"#,
        )
        .await;
    let id = session.text("select id from crm.customers", &[]).await;
    let archive = source.dump(&["--format=custom", "--exclude-table-data=shop.*"]);
    let copy = Database::empty_in(source.cluster()).await;
    copy.restore(&archive);
    let session = copy.session().await;
    session.run("select keyed.drop_project('shop', with_records => true)").await;
    assert_eq!(session.text("select to_regnamespace('shop')", &[]).await, "");
    assert_eq!(session.text("select keyed.get_by_key('crm.customers', 'A') ->> 'id'", &[]).await, id);
    assert_eq!(session.text("select count(*) from keyed.history($1::uuid)", &[&id]).await, "2");
    session.run("select keyed.upsert_by_key('crm.customers', 'B')").await;

    // The schema of the project is not enough, and the error reports this.
    let part = source.dump(&["--format=custom", "--schema=crm"]);
    let alone = Database::new_in(source.cluster()).await;
    alone.restore(&part);
    let session = alone.session().await;
    let error = session.error("select keyed.create_project('crm')", &[]).await;
    assert!(error.hint.contains("restore the whole database"), "{error}");
    let write = session.error("insert into crm.customers (external_key) values ('C')", &[]).await;
    assert!(write.hint.contains("restore the whole database"), "{write}");
}
