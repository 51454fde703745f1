//! Databases that move to a newer PostgreSQL, by pg_upgrade or by dump and restore.

mod locales;
mod moves;

use harness::{Database, proxy_program};
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

/// What `keyed-proxy doctor` finds: the check, what is wrong, and the remedy. The servers of these tests run without fsync,
/// which it says too.
fn findings(database: &Database) -> Vec<[String; 3]> {
    let url = database.cluster().url("postgres", database.name());
    let mut doctor = proxy_program(&["doctor", "--json"]);
    let output = doctor.env("KEYED_ADMIN_DATABASE_URL", url).output().expect("the program was built");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("no report: {}", String::from_utf8_lossy(&output.stderr)));
    let text = |finding: &Value, member: &str| finding[member].as_str().unwrap_or_default().to_owned();
    let all = report["findings"].as_array().expect("findings").iter();
    all.filter(|finding| finding["check"] != "durability")
        .map(|finding| ["check", "message", "remedy"].map(|member| text(finding, member)))
        .collect()
}

/// Runs statements as a person would paste them.
fn paste(database: &Database, statements: &str) {
    let mut psql = database.cluster().program("psql");
    psql.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--dbname", database.name()]);
    output(&mut psql, statements.as_bytes());
}

/// What a program prints; a failure panics with what it said.
fn output(command: &mut Command, input: &[u8]) -> Vec<u8> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A program that ends early says why on standard error.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    let said = [&*output.stderr, &*output.stdout].map(String::from_utf8_lossy).concat();
    assert!(output.status.success(), "{command:?}: {said}");
    output.stdout
}

/// Every index holds what its table holds, and every unique one is so.
async fn assert_sound_indexes(database: &Database) {
    let mut check = database.cluster().program("pg_amcheck");
    check.args(["--install-missing", "--heapallindexed", "--parent-check", "--database", database.name()]);
    output(&mut check, b"");
    // Since 18 it can check the indexes of texts.
    let can_check_gin = "select to_regprocedure('gin_index_check(regclass)') is not null";
    let session = database.session().await;
    if session.text(can_check_gin, &[]).await == "t" {
        let check = "select gin_index_check(c.oid) from pg_class c join pg_am a on a.oid = c.relam where a.amname = 'gin'";
        assert!(session.rows(check, &[]).await.len() > 3);
    }
}

/// The major version of the server.
async fn version(database: &Database) -> u32 {
    let version = "select current_setting('server_version_num')::int / 10000";
    database.session().await.text(version, &[]).await.parse().expect("a number")
}
