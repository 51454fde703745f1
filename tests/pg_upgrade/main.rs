//! Databases that move to a newer PostgreSQL, by pg_upgrade or by dump and restore.

mod locales;
mod moves;

use harness::{Database, output, proxy_program};
use serde_json::Value;

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
