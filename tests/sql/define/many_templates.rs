//! More templates than PostgreSQL's lock table has capacity for.

use harness::{Cluster, Database, Session, major_version};
use std::sync::Arc;

/// The number of templates; the cluster's lock table has capacity for about 500.
const TEMPLATES: usize = 150;

async fn many() -> (Database, Session) {
    const SETTINGS: [&str; 3] =
        ["max_connections=30", "max_locks_per_transaction=10", "autovacuum_worker_slots=3"];
    // The last setting exists since PostgreSQL 18; its default adds capacity for the locks of thirteen more processes.
    let settings = if major_version() < 18 { &SETTINGS[..2] } else { &SETTINGS };
    let cluster = Arc::new(Cluster::start_with(settings));
    let database = Database::new_in(&cluster).await;
    let session = database.session().await;
    session.run("select keyed.create_project('crm')").await;
    let create =
        "select keyed.create_template('crm', 't' || $1, '[{\"slug\": \"n\", \"type\": \"number\"}]')";
    for number in 1..=TEMPLATES {
        session.rows(create, &[&number.to_string()]).await;
    }
    (database, session)
}

/// Takes so many locks that the remaining capacity is less than one lock for each template.
async fn fill(session: &Session) {
    // Since PostgreSQL 18, REVOKE locks each table until the end of the transaction.
    let room = if major_version() < 18 { 60 } else { 110 };
    session
        .run(&format!(
            "do $$ declare taken integer := 0; begin
               loop
                 begin perform pg_advisory_lock(taken); exception when out_of_memory then exit; end;
                 taken := taken + 1;
               end loop;
               for number in 1..{room} loop perform pg_advisory_unlock(taken - number); end loop;
             end $$"
        ))
        .await;
}

#[tokio::test]
async fn listing_and_revoking_lock_few_templates() {
    let (database, administrator) = many().await;
    let (role, unprivileged) = (database.create_role("clerk").await, database.create_role("stranger").await);
    database.grant(&role, "crm", "read").await;
    while administrator.text("select keyed.enforce_grants()", &[]).await != "0" {}
    let clerk = database.session_as(&role).await;
    let unprivileged = database.session_as(&unprivileged).await;
    let filler = database.session().await;
    fill(&filler).await;
    let count = "select jsonb_array_length(keyed.me() -> 'templates')";
    for (session, expected) in [(&administrator, TEMPLATES), (&clerk, TEMPLATES), (&unprivileged, 0)] {
        session.run("begin").await;
        assert_eq!(session.text(count, &[]).await, expected.to_string());
        let listed = "select jsonb_array_length(keyed_http.list_templates()::jsonb -> 'templates')";
        assert_eq!(session.text(listed, &[]).await, expected.to_string());
        session.rows("select keyed_http.list_projects()", &[]).await;
        session.run("commit").await;
    }
    administrator.rows("select keyed.quota_report('crm')", &[]).await;
    assert_eq!(administrator.text(&format!("select keyed.revoke_access('{role}', 'crm')"), &[]).await, "1");
    assert_eq!(clerk.text(count, &[]).await, "0");
    assert_eq!(clerk.error(&format!("select from crm.t{TEMPLATES}"), &[]).await.state, "42501");
    filler.run("select pg_advisory_unlock_all()").await;
    while administrator.text("select keyed.enforce_grants()", &[]).await != "0" {}
    let left = "select count(*) from pg_policies where policyname ~ '^keyed_read'";
    assert_eq!(administrator.text(left, &[]).await, "0");
    assert_eq!(privileges(&administrator, &role).await, 0);
}

#[tokio::test]
async fn checksums_lock_one_table_at_a_time() {
    let (database, administrator) = many().await;
    let filler = database.session().await;
    fill(&filler).await;
    administrator.run("begin").await;
    let templates = "select count(distinct template) from keyed.checksums()";
    assert_eq!(administrator.text(templates, &[]).await, TEMPLATES.to_string());
    let held = "select count(*) from pg_locks l where l.pid = pg_backend_pid() and l.relation = any (
                  select c.oid from pg_class c where c.relnamespace = 'crm'::regnamespace)";
    assert_eq!(administrator.text(held, &[]).await, "0");
    administrator.run("commit").await;
}

/// The number of template tables on which a role has PostgreSQL privileges.
async fn privileges(session: &Session, role: &str) -> usize {
    let tables =
        "select count(distinct c.oid) from pg_class c, aclexplode(c.relacl) a where a.grantee = $1::regrole";
    session.text(tables, &[role]).await.parse().expect("a number")
}

#[tokio::test]
async fn revocation_on_a_large_project_changes_few_tables() {
    let (database, administrator) = many().await;
    let role = database.create_role("clerk").await;
    let last = format!("t{TEMPLATES}");
    for template in ["t1", &last] {
        administrator
            .rows(&format!("select keyed.create_record('crm.{template}', '{{\"n\": 1}}')"), &[])
            .await;
    }
    database.grant(&role, "crm", "read").await;
    while administrator.text("select keyed.enforce_grants()", &[]).await != "0" {}
    database.grant(&role, "crm.t2", "update").await;
    let clerk = database.session_as(&role).await;
    let count = format!("select count(*) from crm.{last}");
    clerk.run(&format!("prepare count as {count}")).await;
    for statement in [count.as_str(), "execute count"] {
        assert_eq!(clerk.text(statement, &[]).await, "1");
    }
    let revoke = format!("select keyed.revoke_access('{role}', 'crm')");
    assert_eq!(administrator.text(&revoke, &[]).await, "1");
    let left = privileges(&administrator, &role).await;
    assert!(TEMPLATES / 2 < left && left < TEMPLATES, "{left}");
    for statement in [count.as_str(), "execute count"] {
        assert_eq!(clerk.text(statement, &[]).await, "0", "the remaining privilege has no effect");
    }
    let search = format!("select keyed.search('crm.{last}')");
    assert_eq!(clerk.error(&search, &[]).await.state, "42501");
    while administrator.text("select keyed.enforce_grants()", &[]).await != "0" {}
    assert_eq!(clerk.error(&count, &[]).await.state, "42501");
    assert_eq!(privileges(&administrator, &role).await, 1, "the lock on t2");
    administrator.text(&format!("select keyed.revoke_access('{role}', 'crm.t2')"), &[]).await;
    // An incomplete grant, which did not reach all tables, is removed completely, too.
    database.grant(&role, "crm", "read, update, delete").await;
    assert_eq!(administrator.text(&revoke, &[]).await, "3");
    while administrator.text("select keyed.enforce_grants()", &[]).await != "0" {}
    drop(clerk);
    administrator.run(&format!("drop role {role}; create role {role}")).await;
}

#[tokio::test]
async fn grant_on_a_large_project_is_enforced_in_chunks() {
    let (database, administrator) = many().await;
    let role = database.create_role("clerk").await;
    for number in [1, TEMPLATES] {
        let create = format!("select keyed.create_record('crm.t{number}', '{{\"n\": 1}}')");
        administrator.rows(&create, &[]).await;
    }
    database.grant(&role, "crm", "read").await;
    let clerk = database.session_as(&role).await;
    for number in [1, TEMPLATES] {
        let found = format!("select keyed.search('crm.t{number}', '{{\"count\": \"exact\"}}') ->> 'total'");
        assert_eq!(clerk.text(&found, &[]).await, "1", "functions follow at once");
    }
    assert_eq!(
        clerk.text(&format!("select count(*) from crm.t{TEMPLATES}"), &[]).await,
        "0",
        "too few grants rather than too many"
    );
    let mut waiting = TEMPLATES;
    while waiting > 0 {
        let left = administrator.text("select keyed.enforce_grants()", &[]).await.parse().expect("a number");
        assert!(left < waiting, "{left} of {waiting} still wait");
        waiting = left;
    }
    for number in [1, TEMPLATES] {
        assert_eq!(clerk.text(&format!("select count(*) from crm.t{number}"), &[]).await, "1");
    }
}
