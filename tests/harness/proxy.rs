//! The real proxy, started as its users start it.

use crate::shards::setting_of;
use crate::watchdog::Watchdog;
use crate::{Database, Exposition, Request, Wire, log_file, read_mode, status_of, target_folder, until};
use rustls::ClientConfig;
use serde_json::Value;
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The proxy on its own port, connected to one test's database. Dropping the value kills it.
pub struct Proxy {
    address: SocketAddr,
    log: PathBuf,
    child: Child,
    watchdog: Option<Watchdog>,
    client: reqwest::Client,
    key: String,
    project: Option<String>,
    tls: Option<Arc<ClientConfig>>,
}

impl Proxy {
    /// Starts the proxy and waits until it is ready. By default, requests have an administrator's key.
    pub async fn start(database: &Database) -> Self {
        Self::start_with(database, &[]).await
    }

    /// Starts a proxy with these settings, given as environment variables.
    pub async fn start_with(database: &Database, settings: &[(&str, &str)]) -> Self {
        let key = database.api_key("keyed_admin", &[]).await;
        Self::start_with_key(database, settings, &key).await
    }

    /// Starts a proxy with an existing key, for a standby, which cannot issue keys.
    pub async fn start_with_key(database: &Database, settings: &[(&str, &str)], key: &str) -> Self {
        Self::start_until(database, settings, key, "/readyz", None).await
    }

    /// Starts a proxy with the URL of a database that several servers have.
    pub async fn start_at(url: &str, settings: &[(&str, &str)], key: &str) -> Self {
        Self::start_command(serve(), Some(url.to_owned()), settings, key, "/readyz", None).await
    }

    /// Starts a proxy for several shards.
    pub async fn start_sharded(shards: &str, settings: &[(&str, &str)], key: &str) -> Self {
        let all: Vec<(&str, &str)> = settings.iter().copied().chain([("KEYED_SHARDS", shards)]).collect();
        Self::start_with_settings(&all, key).await
    }

    /// Starts a proxy with these settings alone, which name its databases.
    pub async fn start_with_settings(settings: &[(&str, &str)], key: &str) -> Self {
        Self::start_command(serve(), None, settings, key, "/readyz", None).await
    }

    /// Starts a proxy for a database that may be incompatible: waits only until it listens.
    pub async fn start_until_listening(database: &Database) -> Self {
        let key = database.api_key("keyed_admin", &[]).await;
        Self::start_until(database, &[], &key, "/healthz", None).await
    }

    /// Starts a proxy with TLS settings. Only a [`Wire`] can send requests to it.
    pub async fn start_tls(
        database: &Database,
        settings: &[(&str, &str)],
        client: Arc<ClientConfig>,
    ) -> Self {
        let key = database.api_key("keyed_admin", &[]).await;
        Self::start_until(database, settings, &key, "/readyz", Some(client)).await
    }

    /// Starts a proxy on a socket that this process opened, as systemd passes one (`LISTEN_FDS`).
    pub async fn start_on_socket(database: &Database, socket: &TcpListener, key: &str) -> Self {
        let mut shell = Command::new("sh");
        // The process id must be that of the proxy, and the socket its file descriptor 3.
        shell.args(["-c", r#"exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve"#]);
        shell.arg(proxy_path()).stdin(OwnedFd::from(socket.try_clone().expect("an open socket")));
        Self::start_command(shell, Some(url_of(database)), &[("PATH", "/usr/bin:/bin")], key, "/readyz", None)
            .await
    }

    /// Starts the proxy and waits until a request for this path succeeds.
    async fn start_until(
        database: &Database,
        settings: &[(&str, &str)],
        key: &str,
        path: &str,
        tls: Option<Arc<ClientConfig>>,
    ) -> Self {
        let is_in_file = settings.iter().any(|(name, _)| *name == "KEYED_DATABASE_URL_FILE");
        let url = (!is_in_file).then(|| url_of(database));
        let reads = read_mode::settings(database);
        let all: Vec<_> = reads
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .chain(settings.iter().copied())
            .collect();
        let proxy = Self::start_command(serve(), url, &all, key, path, tls).await;
        if !reads.is_empty() && path == "/readyz" && proxy.tls.is_none() {
            until("the replica answers reads", async || {
                let answer = proxy.client.get(proxy.url(path)).send().await.expect("the proxy answers");
                answer.text().await.is_ok_and(|text| text.contains(r#""state":"usable""#))
            })
            .await;
        }
        proxy
    }

    async fn start_command(
        mut command: Command,
        url: Option<String>,
        settings: &[(&str, &str)],
        key: &str,
        path: &str,
        tls: Option<Arc<ClientConfig>>,
    ) -> Self {
        // A test may name the database itself.
        let is_named = settings.iter().any(|(name, _)| *name == "KEYED_DATABASE_URL");
        let database = match url.filter(|_| !is_named) {
            Some(url) => Some(setting_of(&url).await),
            None => None,
        };
        let log = log_file("proxy");
        let output = std::fs::File::create(&log).expect("the log was made before");
        let child = command
            // The developer's environment must not affect a test.
            .env_clear()
            .envs(database)
            .env("KEYED_LISTEN", "127.0.0.1:0")
            .envs(settings.iter().copied())
            .stdout(output.try_clone().expect("an open file can be opened again"))
            .stderr(output)
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| {
                panic!("{}: {error}; `.dev/build --quick` makes it", proxy_path().display())
            });
        let watchdog = Some(Watchdog::new(r#"kill -KILL "$1""#, child.id().to_string()));
        // An HTTP proxy of the developer's machine must not be used.
        let client =
            reqwest::Client::builder().no_proxy().build().expect("a client without TLS can be built");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut proxy =
            Self { address, log, child, watchdog, client, key: key.to_owned(), project: None, tls };
        proxy.wait_for_success(path).await;
        proxy
    }

    async fn wait_for_success(&mut self, path: &str) {
        until("the proxy is ready", async || {
            if let Some(status) = self.child.try_wait().expect("the proxy is our child") {
                panic!("the proxy ended with {status}; its log {} says:\n{}", self.log.display(), self.log());
            }
            // The operating system chooses the port, so no other program can take it first.
            let Some(port) = listening_ports(self.child.id()).first().copied() else { return false };
            self.address.set_port(port);
            if let Some(client) = self.tls.clone() {
                let Ok(mut wire) = Wire::open_tls(self.address, client).await else { return false };
                let asked = wire.ask(&format!("GET {path}"), "", "Connection: close").await;
                return asked.is_ok() && status_of(&wire.response().await) == 200;
            }
            let response = self.client.get(self.url(path)).send().await;
            response.is_ok_and(|response| response.status().is_success())
        })
        .await;
    }

    /// Sets the default project of requests.
    #[must_use]
    pub fn in_project(mut self, project: &str) -> Self {
        self.project = Some(project.to_owned());
        self
    }

    /// Starts a request: `proxy.request("GET", "/v1/me").send().await`.
    pub fn request(&self, method: &str, path: &str) -> Request {
        let method = method.parse().expect("the method is a word");
        Request {
            builder: self.client.request(method, self.url(path)),
            key: Some(self.key.clone()),
            project: self.project.clone(),
        }
    }

    /// The process id.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// The address on which the proxy listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path on this proxy.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The administrator's key, which requests have by default.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The URL of the metrics of a proxy started with `KEYED_METRICS_LISTEN=127.0.0.1:0`.
    pub fn metrics_url(&self) -> String {
        let port = listening_ports(self.child.id()).get(1).copied().expect("a second listener");
        format!("http://127.0.0.1:{port}/metrics")
    }

    /// The metrics of the proxy.
    pub async fn metrics(&self) -> Exposition {
        let response = self.client.get(self.metrics_url()).send().await.expect("metrics are served");
        assert_eq!(response.status().as_u16(), 200);
        assert_eq!(response.headers()["content-type"], "text/plain; version=0.0.4");
        Exposition::read(&response.text().await.expect("all of them"))
    }

    /// The whole log. It is written after the requests, so this waits until all lines so far are there. Needs the
    /// access log.
    pub async fn whole_log(&self) -> String {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let id = format!("end-of-log-{}", ASKED.fetch_add(1, Ordering::Relaxed));
        self.request("GET", "/healthz").without_key().header("x-request-id", &id).send().await.expect(200);
        until("the log is written", async || self.log().contains(&format!("{id}\""))).await;
        self.log()
    }

    /// The access log lines of requests with this id, as JSON. The proxy needs `KEYED_LOG_FORMAT=json`.
    pub async fn access_log(&self, id: &str) -> Vec<Value> {
        let log = self.whole_log().await;
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let is_selected = |line: &Value| line["target"] == "access" && line["fields"]["request_id"] == id;
        lines.filter(is_selected).map(|line| line["fields"].clone()).collect()
    }

    /// The proxy's log so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Sends SIGTERM, waits until the proxy exits, and returns its exit status.
    pub async fn terminate(mut self) -> ExitStatus {
        self.request_shutdown();
        self.ended().await
    }

    /// Sends SIGTERM.
    pub fn request_shutdown(&self) {
        self.signal("TERM");
    }

    /// Sends a signal, such as `HUP` or `INT`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
        assert!(sent.is_ok_and(|status| status.success()), "the proxy had ended before it got {name}");
    }

    /// Waits until the proxy exits, and returns its exit status.
    pub async fn ended(&mut self) -> ExitStatus {
        let mut ended = None;
        // The wait must not block the test's runtime, which may have requests in flight.
        until("the proxy ended", async || {
            ended = self.child.try_wait().expect("the proxy is our child");
            ended.is_some()
        })
        .await;
        if let Some(watchdog) = self.watchdog.take() {
            watchdog.disarm();
        }
        ended.expect("it has ended")
    }

    /// The CPU time that the proxy has used.
    pub fn processor_time(&self) -> std::time::Duration {
        crate::processor_time(self.child.id())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.watchdog.take());
        // The process is dead. This call only reaps it.
        let _ = self.child.wait();
    }
}

/// The command that starts the service.
fn serve() -> Command {
    let mut command = Command::new(proxy_path());
    command.arg("serve").stdin(Stdio::null());
    command
}

fn url_of(database: &Database) -> String {
    database.cluster().url("keyed_proxy", database.name())
}

/// The ports on which a process listens, from /proc, in the order in which it opened them.
fn listening_ports(process: u32) -> Vec<u16> {
    let Ok(files) = std::fs::read_dir(format!("/proc/{process}/fd")) else { return Vec::new() };
    let mut numbers: Vec<u32> =
        files.filter_map(|file| file.ok()?.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    let connections = std::fs::read_to_string("/proc/net/tcp").expect("this is Linux");
    let listening: HashMap<&str, u16> = connections
        .lines()
        .skip(1)
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // The local address, the state and the inode of the socket.
            let (address, state, socket) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
            let port = u16::from_str_radix(address.rsplit_once(':')?.1, 16).ok()?;
            (*state == "0A").then_some((*socket, port))
        })
        .collect();
    let port = |number: u32| {
        let file = std::fs::read_link(format!("/proc/{process}/fd/{number}")).ok()?;
        listening.get(file.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?).copied()
    };
    numbers.into_iter().filter_map(port).collect()
}

/// The proxy's program with arguments other than `serve`, and an empty environment.
pub fn proxy_program(arguments: &[&str]) -> Command {
    let mut command = Command::new(proxy_path());
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

/// The path of the proxy's program that `.dev/test` or `.dev/bench` has built. Otherwise, tests use the `quick` build
/// and benchmarks the release build.
pub fn proxy_path() -> PathBuf {
    let profile = if cfg!(debug_assertions) { "quick" } else { "release" };
    std::env::var_os("KEYED_PROXY_BIN")
        .map_or_else(|| target_folder().join(profile).join("keyed-proxy"), PathBuf::from)
}
