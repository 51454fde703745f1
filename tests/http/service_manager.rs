//! Notifications to a service manager such as systemd over its socket.

use harness::{Database, Proxy, Wire, status_of, until};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

/// The socket of a service manager, and the notifications received.
struct Manager {
    socket: UnixDatagram,
    path: PathBuf,
    reported: Vec<String>,
}

impl Manager {
    fn listen(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("keyed-notify-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let socket = UnixDatagram::bind(&path).expect("a socket can be made");
        socket.set_nonblocking(true).expect("it is a socket");
        Self { socket, path, reported: Vec::new() }
    }

    fn address(&self) -> &str {
        self.path.to_str().expect("a name of letters")
    }

    async fn until_notified(&mut self, state: &str) {
        until(&format!("the proxy tells {state}"), async || {
            let mut message = [0; 256];
            while let Ok(length) = self.socket.recv(&mut message) {
                self.reported.extend(String::from_utf8_lossy(&message[..length]).lines().map(str::to_owned));
            }
            self.reported.iter().any(|reported| reported == state)
        })
        .await;
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[tokio::test]
async fn service_manager_is_notified_of_start_and_stop() {
    let database = Database::new().await;
    let mut manager = Manager::listen("ready");
    let proxy = Proxy::start_with(&database, &[("NOTIFY_SOCKET", manager.address())]).await;
    manager.until_notified("READY=1").await;
    assert!(!manager.reported.iter().any(|reported| reported == "STOPPING=1"), "{:?}", manager.reported);
    assert!(proxy.terminate().await.success());
    manager.until_notified("STOPPING=1").await;
    let others: Vec<&String> =
        manager.reported.iter().filter(|reported| !reported.starts_with("EXTEND_")).collect();
    assert_eq!(others, ["READY=1", "STOPPING=1"], "the manager asked for no watchdog messages");
    // Whatever its own timeout, the manager waits as long as the service may take, and a little longer.
    let extension =
        manager.reported.iter().find_map(|reported| reported.strip_prefix("EXTEND_TIMEOUT_USEC="));
    assert_eq!(extension, Some("45000000"), "requests have a timeout of 35 seconds");
}

#[tokio::test]
async fn service_manager_is_notified_of_reloads() {
    let database = Database::new().await;
    let mut manager = Manager::listen("reload");
    let proxy = Proxy::start_with(&database, &[("NOTIFY_SOCKET", manager.address())]).await;
    manager.until_notified("READY=1").await;
    manager.reported.clear();
    proxy.signal("HUP");
    manager.until_notified("READY=1").await;
    assert_eq!(manager.reported[0], "RELOADING=1");
    let moment = manager.reported[1].strip_prefix("MONOTONIC_USEC=").expect("the time of the reload");
    assert!(moment.parse::<u64>().is_ok_and(|moment| moment > 0), "{moment}");
    assert_eq!(&manager.reported[2..], ["READY=1"]);
}

/// Clients that open connections while the service restarts wait in the socket's backlog.
#[tokio::test]
async fn socket_activation_keeps_connections_during_a_restart() {
    let database = Database::new().await;
    let key = database.api_key("keyed_admin", &[]).await;
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = socket.local_addr().expect("a bound socket has an address");
    let first = Proxy::start_on_socket(&database, &socket, &key).await;
    assert_eq!(first.address(), address);
    let me = || async move {
        // Each request uses a new connection.
        let mut wire = Wire::open(address).await;
        wire.ask("GET /healthz", "", "Connection: close").await.expect("the request is accepted or waits");
        status_of(&wire.response().await)
    };
    assert_eq!(me().await, 200);
    assert!(first.terminate().await.success());
    let waiting = tokio::spawn(me());
    let second = Proxy::start_on_socket(&database, &socket, &key).await;
    assert_eq!(waiting.await.expect("the request ends"), 200);
    assert!(second.terminate().await.success());
}

#[tokio::test]
async fn watchdog_is_notified() {
    let database = Database::new().await;
    let mut manager = Manager::listen("watch");
    let settings = [("NOTIFY_SOCKET", manager.address()), ("WATCHDOG_USEC", "20000")];
    let _proxy = Proxy::start_with(&database, &settings).await;
    for _ in 0..3 {
        manager.reported.clear();
        manager.until_notified("WATCHDOG=1").await;
    }
}
