//! The update script, with changes that this version may not have.

use crate::dump::definitions;
use harness::release::RELEASE;
use harness::{Cluster, Database, Session, repository_folder};
use keyed_update_script::update_script;

/// Cuts a statement out of a script, from this text to the next semicolon at the end of a line.
fn without(script: &str, begin: &str) -> String {
    let start = script.find(begin).unwrap_or_else(|| panic!("the script has {begin:?}"));
    let end = start + script[start..].find(";\n").expect("the statement ends");
    format!("{}{}", &script[..start], &script[end + 1..])
}

const CHANGES: [(&str, &str); 5] = [
    (
        "returns uuid\n  language c volatile strict parallel restricted",
        "returns uuid\n  language c stable strict parallel safe cost 7",
    ),
    (
        "comment on function keyed.me() is\n  '",
        "comment on function keyed.me() is\n  'Says; and drops ''nothing''. ",
    ),
    // keyed.jobs() depends on it.
    (
        "create function keyed.job_report() returns",
        "create function keyed.job_report(most integer default 1) returns",
    ),
    ("comment on function keyed.job_report() is", "comment on function keyed.job_report(integer) is"),
    ("order by job.id;\n  end;", "order by job.id desc;\n  end;"),
];

const ADDED: &str = "
    create function keyed.added(a text default 'x;y') returns text language sql
      begin atomic select case when a = ';' then a end; end;
    comment on function keyed.added(text) is 'Added.';
    revoke execute on function keyed.added(text) from public;";

/// The SQL of the release, and the same with changes of every kind.
fn versions() -> (String, String) {
    let path = repository_folder().join("sql/released").join(format!("keyed--{RELEASE}.sql"));
    let old =
        std::fs::read_to_string(path).expect("it is released").replace("MODULE_PATHNAME", "$libdir/keyed");
    let mut new = old.clone();
    for (before, after) in CHANGES {
        assert!(new.contains(before), "the script has {before:?}");
        new = new.replacen(before, after, 1);
    }
    new = without(&new, "create function keyed_http.run_jobs()");
    new = without(&new, "comment on function keyed_http.run_jobs()");
    (old, new + ADDED)
}

async fn install(script: &str) -> (Database, Session) {
    let database = Database::empty_in(&Cluster::shared()).await;
    let session = database.session().await;
    session.run("create schema keyed").await;
    session.run(script).await;
    (database, session)
}

/// The script without the line for psql.
fn script(old: &str, version: &str, new: &str) -> String {
    let script = update_script(RELEASE, old, version, new).expect("a script");
    let lines = script.lines().filter(|line| !line.starts_with('\\'));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[tokio::test]
async fn update_script_replaces_old_declarations() {
    let (old, new) = versions();
    let (updated, session) = install(&old).await;
    let version = session.text("select keyed.library_version()", &[]).await;
    let numbers = "select 'keyed.new_id'::regproc::oid || ' ' || 'keyed.me'::regproc::oid";
    let before = session.text(numbers, &[]).await;
    session.run(&script(&old, &version, &new)).await;
    let (fresh, _session) = install(&new).await;
    assert_eq!(definitions(&updated), definitions(&fresh));
    assert_eq!(session.text(numbers, &[]).await, before, "replaced functions keep their OIDs");
}

#[tokio::test]
async fn session_with_another_library_gets_a_hint_to_reconnect() {
    let (old, new) = versions();
    let (_database, session) = install(&old).await;
    let error = session.error(&script(&old, "99.0.0", &new), &[]).await;
    assert_eq!(error.state, "55000", "{error}");
    assert!(error.message.contains("has loaded the library of keyed"), "{error}");
    assert!(error.hint.contains("Connect again"), "{}", error.hint);
}
