//! Databases that move to a newer PostgreSQL, by pg_upgrade or by dump and restore.

mod locales;
mod moves;

use harness::{Database, proxy_program};
use serde_json::Value;

/// The findings of `keyed-proxy doctor`: check, message and remedy. The servers of these tests run without fsync, which
/// is a finding as well.
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

/// The major version of the server.
async fn version(database: &Database) -> u32 {
    let version = "select current_setting('server_version_num')::int / 10000";
    database.session().await.text(version, &[]).await.parse().expect("a number")
}
