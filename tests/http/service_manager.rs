//! What a service manager such as systemd is told, over the socket that it names.

use harness::{Database, Proxy, until};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

/// The socket of a service manager, and what arrived there.
struct Manager {
    socket: UnixDatagram,
    path: PathBuf,
    told: Vec<String>,
}

impl Manager {
    fn listen(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("keyed-notify-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let socket = UnixDatagram::bind(&path).expect("a socket can be made");
        socket.set_nonblocking(true).expect("it is a socket");
        Self { socket, path, told: Vec::new() }
    }

    fn address(&self) -> &str {
        self.path.to_str().expect("a name of letters")
    }

    async fn until_told(&mut self, state: &str) {
        until(&format!("the proxy tells {state}"), async || {
            let mut message = [0; 256];
            while let Ok(length) = self.socket.recv(&mut message) {
                self.told.extend(String::from_utf8_lossy(&message[..length]).lines().map(str::to_owned));
            }
            self.told.iter().any(|told| told == state)
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
async fn the_service_manager_hears_when_the_proxy_is_ready_and_when_it_stops() {
    let database = Database::new().await;
    let mut manager = Manager::listen("ready");
    let proxy = Proxy::start_with(&database, &[("NOTIFY_SOCKET", manager.address())]).await;
    manager.until_told("READY=1").await;
    assert!(!manager.told.iter().any(|told| told == "STOPPING=1"), "{:?}", manager.told);
    assert!(proxy.terminate().await.success());
    manager.until_told("STOPPING=1").await;
    assert_eq!(manager.told, ["READY=1", "STOPPING=1"], "nobody asked for signs of life");
}

#[tokio::test]
async fn a_service_manager_that_watches_gets_signs_of_life() {
    let database = Database::new().await;
    let mut manager = Manager::listen("watch");
    let settings = [("NOTIFY_SOCKET", manager.address()), ("WATCHDOG_USEC", "20000")];
    let _proxy = Proxy::start_with(&database, &settings).await;
    for _ in 0..3 {
        manager.told.clear();
        manager.until_told("WATCHDOG=1").await;
    }
}
