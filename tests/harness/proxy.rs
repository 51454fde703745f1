//! The real proxy, as its users start it.

use crate::watchdog::Watchdog;
use crate::{Database, Request, log_file, target_folder};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// The proxy's release build on a port of its own, logged in to one test's database. Dropping it kills it.
pub struct Proxy {
    address: SocketAddr,
    log: PathBuf,
    child: Child,
    watchdog: Option<Watchdog>,
    client: reqwest::Client,
    key: String,
    project: Option<String>,
}

impl Proxy {
    /// Starts the proxy and waits until it is ready. Requests carry an administrator's key unless told otherwise.
    pub async fn start(database: &Database) -> Self {
        Self::start_with(database, &[]).await
    }

    /// The same with settings of its own, given as environment variables.
    pub async fn start_with(database: &Database, settings: &[(&str, &str)]) -> Self {
        let key = database.api_key("keyed_admin", &[]).await;
        Self::start_with_key(database, settings, &key).await
    }

    /// The same with a key that was issued before: a standby issues none.
    pub async fn start_with_key(database: &Database, settings: &[(&str, &str)], key: &str) -> Self {
        // The port is free when we look, but not reserved: another program may be quicker once in a while.
        for _ in 0..4 {
            if let Ok(proxy) = Self::try_start(database, settings, key).await {
                return proxy;
            }
        }
        Self::try_start(database, settings, key).await.unwrap_or_else(|log| {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            panic!("the proxy did not become ready; its log {} says:\n{said}", log.display())
        })
    }

    async fn try_start(database: &Database, settings: &[(&str, &str)], key: &str) -> Result<Self, PathBuf> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("some port is free");
        let address = free.local_addr().expect("a bound socket has an address");
        drop(free);
        let log = log_file("proxy");
        let output = std::fs::File::create(&log).expect("the log was made before");
        let child = Command::new(program())
            .arg("serve")
            // What stands in the developer's environment must not decide a test.
            .env_clear()
            .env("KEYED_DATABASE_URL", database.cluster().url("keyed_proxy", database.name()))
            .env("KEYED_LISTEN", address.to_string())
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("an open file can be opened again"))
            .stderr(output)
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}; `make build` makes it", program().display()));
        let watchdog = Some(Watchdog::new(r#"kill -KILL "$1""#, child.id().to_string()));
        // A proxy of the developer's machine has no business between the tests and ours.
        let client =
            reqwest::Client::builder().no_proxy().build().expect("no TLS, so nothing can be missing");
        let mut proxy = Self { address, log, child, watchdog, client, key: key.to_owned(), project: None };
        if proxy.becomes_ready().await { Ok(proxy) } else { Err(proxy.log.clone()) }
    }

    async fn becomes_ready(&mut self) -> bool {
        for _ in 0..600 {
            if self.child.try_wait().expect("the proxy is our child").is_some() {
                return false;
            }
            let answer = self.client.get(self.url("/readyz")).send().await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        false
    }

    /// Names the project that requests carry unless told otherwise.
    #[must_use]
    pub fn in_project(mut self, project: &str) -> Self {
        self.project = Some(project.to_owned());
        self
    }

    /// Begins a request: `proxy.request("GET", "/v1/me").send().await`.
    pub fn request(&self, method: &str, path: &str) -> Request {
        let method = method.parse().expect("the method is a word");
        Request {
            builder: self.client.request(method, self.url(path)),
            key: Some(self.key.clone()),
            project: self.project.clone(),
        }
    }

    /// The number of its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of a path on this proxy.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The administrator's key that requests carry unless told otherwise.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What the proxy wrote to its log so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Asks the proxy to end (SIGTERM), waits for that, and tells how it ended.
    pub async fn terminate(mut self) -> ExitStatus {
        let asked = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(asked.is_ok_and(|status| status.success()), "the proxy had ended before it was asked to");
        // Waiting must not stop the test's runtime, which may have requests under way.
        for _ in 0..3000 {
            if let Some(status) = self.child.try_wait().expect("the proxy is our child") {
                if let Some(watchdog) = self.watchdog.take() {
                    watchdog.disarm();
                }
                return status;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the proxy did not end within a minute; its log is {}", self.log.display());
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.watchdog.take());
        // Dead already: this only tells the kernel that we know.
        let _ = self.child.wait();
    }
}

/// The release build, to be run with other arguments than those of a server, and an empty environment.
pub fn proxy_program(arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

/// The release build, for the tests prove what users run.
fn program() -> PathBuf {
    std::env::var_os("KEYED_PROXY_BIN")
        .map_or_else(|| target_folder().join("release").join("keyed-proxy"), PathBuf::from)
}
