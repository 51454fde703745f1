//! The environment of a reader: the service of `make run`, and a folder in which blocks are run.

use crate::page::{Block, Page};
use harness::{Cluster, Database, Durability, Proxy, proxy_path, repository_folder};
use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The address that pages use.
const ADDRESS: &str = "http://127.0.0.1:8080";

/// The address of a proxy that a page starts.
const SECOND_ADDRESS: &str = "127.0.0.1:8081";

/// The folder of the server's socket that pages use.
const SOCKET_FOLDER: &str = "/var/run/postgresql";

/// The separator between the outputs of two blocks.
const SEPARATOR: char = '\u{1e}';

/// The service, which is dropped with its folder.
pub(crate) struct Service {
    database: Database,
    proxy: Option<Proxy>,
    second_address: String,
    folder: PathBuf,
}

impl Service {
    /// The service that a page needs.
    pub(crate) async fn start(page: &Page) -> Self {
        if page.needs("release") {
            let database = Database::of_the_release().await;
            let proxy = Some(Proxy::start_until_listening(&database).await);
            return Self::with_folder(&name_of(page), database, proxy);
        }
        // Roles belong to a whole server.
        let cluster = if page.needs("own server") {
            Arc::new(Cluster::start(Durability::None))
        } else if page.needs("durable server") {
            Arc::new(Cluster::start(Durability::Full))
        } else {
            Cluster::shared()
        };
        let asks = |block: &Block| [ADDRESS, "metrics.url"].iter().any(|it| block.text.contains(it));
        let service = Self::start_in(&name_of(page), &cluster, page.blocks.iter().any(asks)).await;
        service.prepare(page);
        service
    }

    /// The service for all pages that a reader follows in order.
    pub(crate) async fn start_for_all(name: &str) -> Self {
        Self::start_in(name, &Arc::new(Cluster::start(Durability::Full)), true).await
    }

    /// The service of `make run`.
    async fn start_in(name: &str, cluster: &Arc<Cluster>, has_proxy: bool) -> Self {
        let database = Database::new_in(cluster).await;
        run_file(&database, "sql/demo.sql");
        let proxy = if has_proxy {
            let key = database.api_key("keyed_admin", &[]).await;
            let settings = [
                ("KEYED_EMBED_PROVIDER", "hash"),
                ("KEYED_EMBED_API_KEY", key.as_str()),
                ("KEYED_METRICS_LISTEN", "127.0.0.1:0"),
                ("KEYED_WEBHOOK_API_KEY", key.as_str()),
                ("KEYED_WEBHOOK_ALLOW", "127.0.0.1"),
            ];
            Some(Proxy::start_with(&database, &settings).await)
        } else {
            None
        };
        let metrics = proxy.as_ref().map(Proxy::metrics_url);
        let service = Self::with_folder(name, database, proxy);
        service.write(".run/metrics.url", metrics.as_deref().unwrap_or("unused"));
        service
    }

    /// Adds what a page needs in addition to the service.
    pub(crate) fn prepare(&self, page: &Page) {
        for need in page.needs.iter().filter(|need| !need.ends_with(" server")) {
            run_file(&self.database, &format!("tests/docs/needs/{}.sql", need.replace(' ', "_")));
        }
    }

    fn with_folder(name: &str, database: Database, proxy: Option<Proxy>) -> Self {
        let folder = std::env::temp_dir().join(format!("keyed-docs-{}-{name}", std::process::id()));
        let second_address = free_address();
        let service = Self { database, proxy, second_address, folder };
        service.write_folder();
        service
    }

    /// The files that `make run` creates in a clone, and settings of the programs.
    fn write_folder(&self) {
        let url = self.database.cluster().url("postgres", self.database.name());
        self.write(".run/database.url", &url);
        self.write(".run/admin.key", self.proxy.as_ref().map_or("unused", Proxy::key));
        // An HTTP error status is a failure.
        self.write(".curlrc", "fail-with-body\nnoproxy = \"*\"\n");
        self.write(".psqlrc", "\\set QUIET 1\n\\set ON_ERROR_STOP 1\n\\pset footer off\n");
        // The files that `make run` and `make build` create.
        for profile in ["quick", "release"] {
            let program = self.folder.join("target").join(profile).join("keyed-proxy");
            std::fs::create_dir_all(program.parent().expect("a folder")).expect("a folder can be made");
            std::os::unix::fs::symlink(proxy_path(), program).expect("a link can be made");
        }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().expect("it is within the folder"))
            .expect("a folder can be made");
        std::fs::write(path, text).expect("the folder can be written");
    }

    /// Runs the blocks in order in one shell. Returns the output of each, or the error.
    pub(crate) fn run(&self, blocks: &[Block]) -> Result<Vec<String>, String> {
        // A page may start a program in the background, and fail before it ends that program.
        let mut script = String::from("set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n");
        for (number, block) in blocks.iter().enumerate() {
            let file = format!(".blocks/{number}.{}", block.language);
            self.write(&file, &self.adapt(&block.text));
            let _ = writeln!(script, "printf '{SEPARATOR}'; printf 'line {} of the page\\n' >&2", block.line);
            let _ = match block.language.as_str() {
                // As in psql, an error does not end the session, and is part of the output.
                "sql" if block.has_errors() => {
                    writeln!(
                        script,
                        "psql --no-psqlrc --quiet --pset=footer=off \"$(cat .run/database.url)\" <{file} 2>&1"
                    )
                }
                "sql" => writeln!(script, "psql \"$(cat .run/database.url)\" --file={file}"),
                _ => writeln!(script, "source {file} </dev/null"),
            };
        }
        self.write(".blocks/all", &script);
        let output = self.shell().arg(".blocks/all").output().expect("bash is installed");
        let (printed, complaints) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let mut outputs: Vec<String> = printed.split(SEPARATOR).map(str::to_owned).collect();
        if !output.status.success() {
            return Err(format!("{complaints}{}", outputs.pop().unwrap_or_default()));
        }
        outputs.remove(0);
        for (block, output) in blocks.iter().zip(&outputs) {
            if !output.is_empty() && !output.ends_with('\n') {
                return Err(format!("{}: the answer does not end its line: {output}", block.line));
            }
        }
        Ok(outputs)
    }

    /// The text of a block with the addresses of this service.
    fn adapt(&self, text: &str) -> String {
        let text = text.replace(SOCKET_FOLDER, &self.socket_folder());
        let text = text.replace(SECOND_ADDRESS, &self.second_address);
        self.proxy.as_ref().map_or_else(|| text.clone(), |proxy| text.replace(ADDRESS, &proxy.url("")))
    }

    fn socket_folder(&self) -> String {
        let folder = self.database.cluster().data_folder();
        folder.parent().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// A shell in the folder. No environment variable leads to the server: pages use `.run/database.url`, as readers
    /// do.
    fn shell(&self) -> Command {
        let psql = self.database.cluster().program("psql");
        let mut shell = Command::new("bash");
        shell.env_clear();
        let programs = psql.get_program().to_string_lossy().into_owned();
        let programs = programs.rsplit_once('/').map_or("/usr/lib/postgresql/15/bin", |(folder, _)| folder);
        let path = std::env::var("PATH").unwrap_or_default();
        shell
            .env("PATH", format!("{programs}:{}:{path}", proxy_path().parent().expect("a folder").display()));
        shell.env("HOME", &self.folder).env("LANG", "C.UTF-8");
        shell.env("PGOPTIONS", "-c client_min_messages=warning");
        shell.current_dir(&self.folder).stdin(Stdio::null());
        shell
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// An address at which no program listens.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("a bound listener has an address").to_string()
}

/// Runs a file of the repository with psql, as superuser.
fn run_file(database: &Database, path: &str) {
    let statements = std::fs::read_to_string(repository_folder().join(path));
    database.run_in_psql(&statements.unwrap_or_else(|error| panic!("what a page needs: {path}: {error}")));
}

fn name_of(page: &Page) -> String {
    page.path.replace(['/', '.'], "-")
}
