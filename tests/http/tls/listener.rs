//! TLS of the listener.

use harness::{Authority, Database, Identity, Proxy, Wire, proxy_program, status_of, until};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// A proxy with TLS, and the files of its certificate.
struct Secure {
    proxy: Proxy,
    authority: Authority,
    folder: TempDir,
    _database: Database,
}

impl Secure {
    async fn start(settings: &[(&str, &str)]) -> Self {
        let database = Database::with_crm().await;
        let folder = tempfile::tempdir().expect("a folder");
        let authority = Authority::new("tests");
        authority.issue(&["localhost"]).write(folder.path(), "server");
        let (certificate, key) = files(folder.path());
        let files = [("KEYED_TLS_CERT", certificate.as_str()), ("KEYED_TLS_KEY", key.as_str())];
        let settings: Vec<_> = files.into_iter().chain(settings.iter().copied()).collect();
        let proxy = Proxy::start_tls(&database, &settings, authority.client()).await;
        Self { proxy, authority, folder, _database: database }
    }

    async fn open(&self) -> Wire {
        Wire::open_tls(self.proxy.address(), self.authority.client()).await.expect("a handshake")
    }

    /// The status of the response to a lookup of a record.
    async fn ask(&self, wire: &mut Wire) -> u16 {
        wire.ask("GET /v1/me", self.proxy.key(), "").await.expect("the connection is open");
        status_of(&wire.response().await)
    }
}

fn files(folder: &Path) -> (String, String) {
    let file = |name: &str| folder.join(name).to_str().expect("letters").to_owned();
    (file("server.crt"), file("server.key"))
}

#[tokio::test]
async fn tls_connection_is_kept_alive() {
    let secure = Secure::start(&[]).await;
    let mut wire = secure.open().await;
    for _ in 0..3 {
        assert_eq!(secure.ask(&mut wire).await, 200);
    }
    let unprivileged = Wire::open_tls(secure.proxy.address(), Authority::new("other").client()).await;
    assert!(unprivileged.is_err(), "a client that does not trust the authority goes away");
}

#[tokio::test]
async fn plain_http_on_a_tls_port_gets_a_hint() {
    let secure = Secure::start(&[]).await;
    let mut wire = Wire::begin(&secure.proxy, "GET /v1/me", secure.proxy.key(), "").await;
    let response = wire.response().await;
    assert_eq!(status_of(&response), 400);
    assert!(response.contains("connection: close") && response.contains("use https"), "{response}");
}

#[tokio::test]
async fn connection_without_a_handshake_times_out() {
    let secure = Secure::start(&[("KEYED_HEADER_TIMEOUT", "0.2")]).await;
    for begin in [b"".as_slice(), b"\x16", b"\x16\x03\x01\x02\x00", b"\x00", b"SSH-2.0-x\r\n"] {
        let mut wire = Wire::open(secure.proxy.address()).await;
        wire.send(begin).await.expect("the buffers have room");
        let response = wire.response().await;
        assert!(!response.contains("200 ok"), "{begin:?}: {response}");
    }
    // After the handshake, the request has the same timeout.
    let mut wire = secure.open().await;
    wire.send(b"GET /healthz HTTP/1.1\r\n").await.expect("the connection is open");
    assert_eq!(wire.response().await, "");
}

#[tokio::test]
async fn stalled_handshakes_delay_no_other_client() {
    let secure =
        Secure::start(&[("KEYED_MAX_CONNECTIONS", "8"), ("KEYED_MAX_CONNECTIONS_PER_ADDRESS", "4")]).await;
    let address = secure.proxy.address();
    let mut silent = Vec::new();
    for _ in 0..4 {
        let mut wire = Wire::open_from([127, 0, 0, 9].into(), address).await;
        wire.send(b"\x16\x03\x01").await.expect("the buffers have room");
        silent.push(wire);
    }
    let mut fifth = Wire::open_from([127, 0, 0, 9].into(), address).await;
    fifth.send(b"GET /healthz HTTP/1.1\r\n\r\n").await.expect("the buffers have room");
    assert_ne!(status_of(&fifth.response().await), 200, "its address has its connections");
    let mut wire = secure.open().await;
    assert_eq!(secure.ask(&mut wire).await, 200);
    let mut many = Vec::new();
    for _ in 0..3 {
        many.push(secure.open().await);
    }
    let mut rejected = secure.open().await;
    rejected.ask("GET /healthz", "", "").await.expect("the handshake is done");
    assert_eq!(
        status_of(&rejected.response().await),
        503,
        "TLS clients get the error about too many connections"
    );
    drop(silent);
}

#[tokio::test]
async fn new_certificate_drops_no_connection() {
    let secure = Secure::start(&[]).await;
    let mut old = secure.open().await;
    assert_eq!(secure.ask(&mut old).await, 200);
    let renewed = secure.authority.issue(&["localhost"]);
    renewed.write(secure.folder.path(), "server");
    secure.proxy.signal("HUP");
    until("new connections see the new certificate", async || {
        secure.open().await.certificate() == renewed.der()
    })
    .await;
    assert_eq!(secure.ask(&mut old).await, 200, "the old connection is still open");
    assert_ne!(old.certificate(), renewed.der());
}

#[tokio::test]
async fn completed_chain_is_reloaded() {
    let secure = Secure::start(&[]).await;
    let (file, _) = files(secure.folder.path());
    let leaf = std::fs::read_to_string(&file).expect("the file is accessible");
    std::fs::write(&file, leaf + &secure.authority.certificate()).expect("the file is accessible");
    secure.proxy.signal("HUP");
    let taken = "reloaded: the certificate of the listener";
    until("the whole chain is read", async || secure.proxy.log().contains(taken)).await;
}

#[tokio::test]
async fn idle_connections_do_not_delay_shutdown() {
    let settings = [("KEYED_HEADER_TIMEOUT", "600"), ("KEYED_SHUTDOWN_TIMEOUT", "600")];
    let mut secure = Secure::start(&settings).await;
    let silent = Wire::open(secure.proxy.address()).await;
    let begun = Wire::open(secure.proxy.address()).await;
    assert_eq!(secure.ask(&mut secure.open().await).await, 200);
    secure.proxy.request_shutdown();
    assert!(secure.proxy.ended().await.success());
    assert!(!secure.proxy.log().contains("interrupted"), "{}", secure.proxy.log());
    drop((silent, begun));
}

#[tokio::test]
async fn certificate_expiry_is_a_metric() {
    let secure = Secure::start(&[("KEYED_METRICS_LISTEN", "127.0.0.1:0")]).await;
    secure.authority.issue_until(&["localhost"], 2100).write(secure.folder.path(), "server");
    secure.proxy.signal("HUP");
    until("the value is that of the new certificate", async || {
        let metrics = secure.proxy.metrics().await;
        metrics.sum("keyed_certificate_expiry_timestamp_seconds", &[]) == 4_102_444_800.0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificate_renewal_under_load_interrupts_no_request() {
    let secure = Arc::new(Secure::start(&[]).await);
    let ends = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..8)
        .map(|_| {
            let (secure, ends) = (Arc::clone(&secure), Arc::clone(&ends));
            tokio::spawn(async move {
                let mut kept = secure.open().await;
                while !ends.load(Ordering::Relaxed) {
                    assert_eq!(secure.ask(&mut kept).await, 200, "a single connection");
                    assert_eq!(secure.ask(&mut secure.open().await).await, 200, "and new ones");
                }
            })
        })
        .collect();
    for _ in 0..5 {
        let renewed = secure.authority.issue(&["localhost"]);
        renewed.write(secure.folder.path(), "server");
        secure.proxy.signal("HUP");
        until("new connections see it", async || secure.open().await.certificate() == renewed.der()).await;
    }
    ends.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.expect("no request failed");
    }
}

#[tokio::test]
async fn broken_certificate_files_are_logged_and_ignored() {
    let secure = Secure::start(&[]).await;
    let before = secure.open().await.certificate().to_vec();
    let write = |name: &str, text: &str| std::fs::write(secure.folder.path().join(name), text).expect("ours");
    let other = secure.authority.issue(&["localhost"]);
    let expired = secure.authority.issue_expired(&["localhost"]);
    let broken: [(&Identity, &str, &str); 3] = [
        (&other, "", "contains no private key"),
        (&expired, &expired.key, "has expired"),
        (&expired, &other.key, "does not belong"),
    ];
    for (certificate, key, complaint) in broken {
        write("server.crt", &certificate.certificate);
        write("server.key", key);
        secure.proxy.signal("HUP");
        until("the log has the error", async || secure.proxy.log().contains(complaint)).await;
        assert_eq!(secure.open().await.certificate(), before, "{complaint}");
    }
    other.write(secure.folder.path(), "server");
    secure.proxy.signal("HUP");
    until("valid files are loaded", async || secure.open().await.certificate() == other.der()).await;
}

#[tokio::test]
async fn unusable_certificate_prevents_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new("tests");
    authority.issue(&["localhost"]).write(folder.path(), "server");
    authority.issue(&["localhost"]).write(folder.path(), "other");
    let (certificate, key) = files(folder.path());
    let other = folder.path().join("other.key");
    let other = other.to_str().expect("letters");
    for (certificate, key, complaint) in [
        (certificate.as_str(), other, "does not belong to the first certificate"),
        (&key, &key, "contains no certificate"),
        (&certificate, &certificate, "contains no private key"),
        ("/nowhere/server.crt", &key, "KEYED_TLS_CERT /nowhere/server.crt: No such file"),
        (&certificate, "", "set both or neither"),
    ] {
        let mut proxy =
            proxy_program(&["serve", "--database-url", "host=/nowhere", "--listen", "127.0.0.1:0"]);
        let files = [("KEYED_TLS_CERT", certificate), ("KEYED_TLS_KEY", key)];
        proxy.envs(files.into_iter().filter(|(_, file)| !file.is_empty()));
        let output = proxy.output().expect("the proxy is built");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(complaint), "{said}");
    }
}

#[tokio::test]
async fn large_response_ends_before_its_connection_is_closed() {
    // A response that did not end would be cut off after this time.
    let secure = Secure::start(&[("KEYED_LOG_FORMAT", "json"), ("KEYED_STALL_TIMEOUT", "1")]).await;
    let mut wire = secure.open().await;
    let headers = "Connection: close\nX-Request-Id: last";
    wire.ask("GET /openapi.json", secure.proxy.key(), headers).await.expect("the connection is open");
    assert_eq!(status_of(&wire.response().await), 200);
    while let Ok(1..) = wire.read().await {}
    let line = || secure.proxy.log().lines().find(|line| line.contains(r#""last""#)).map(str::to_owned);
    until("the response has ended", async || line().is_some()).await;
    let line: serde_json::Value = serde_json::from_str(&line().expect("it exists")).expect("JSON");
    let line = &line["fields"];
    assert!(line["bytes_out"].as_u64() > Some(64 << 10), "large enough to count until its end: {line}");
    assert_eq!(line["ended"], serde_json::json!(null), "{line}");
}
