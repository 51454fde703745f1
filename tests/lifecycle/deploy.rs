//! A rolling deployment of a new proxy version under load loses no request.

use harness::{Database, Proxy, Service, until};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// Much longer than the load balancer's probe interval.
const DRAIN: &[(&str, &str)] = &[("KEYED_DRAIN", "2")];

/// How often each instance is replaced.
const ROUNDS: usize = 2;

/// A load balancer: each new connection goes to an instance whose `/readyz` returns 200.
#[derive(Clone, Default)]
struct Balancer {
    instances: Arc<Mutex<Vec<SocketAddr>>>,
    ready: Arc<Mutex<Vec<SocketAddr>>>,
    next: Arc<AtomicUsize>,
}

impl Balancer {
    async fn start(instances: &[SocketAddr]) -> (Self, SocketAddr) {
        let balancer = Self::default();
        balancer.instances.lock().expect("no panic").extend(instances);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("a bound socket has an address");
        tokio::spawn(balancer.clone().probe());
        tokio::spawn(balancer.clone().accept(listener));
        balancer.until_ready(instances).await;
        (balancer, address)
    }

    /// Probes over a new connection each time, as load balancers do.
    async fn probe(self) {
        loop {
            let instances = self.instances.lock().expect("no panic").clone();
            let mut ready = Vec::new();
            for instance in instances {
                let client = reqwest::Client::builder().no_proxy().build().expect("no TLS");
                let response = client.get(format!("http://{instance}/readyz")).send().await;
                if response.is_ok_and(|response| response.status().is_success()) {
                    ready.push(instance);
                }
            }
            *self.ready.lock().expect("no panic") = ready;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn accept(self, listener: TcpListener) {
        while let Ok((mut client, _)) = listener.accept().await {
            let ready = self.ready.lock().expect("no panic").clone();
            let turn = self.next.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                let Some(instance) = ready.get(turn % ready.len().max(1)) else { return };
                if let Ok(mut server) = TcpStream::connect(instance).await {
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                }
            });
        }
    }

    fn replace(&self, old: SocketAddr, new: SocketAddr) {
        let mut instances = self.instances.lock().expect("no panic");
        instances.retain(|instance| *instance != old);
        instances.push(new);
    }

    async fn until_ready(&self, instances: &[SocketAddr]) {
        until("the balancer finds the instances", async || {
            let ready = self.ready.lock().expect("no panic");
            instances.iter().all(|instance| ready.contains(instance))
        })
        .await;
    }
}

/// The results of the clients.
#[derive(Default)]
struct Seen {
    responses: AtomicUsize,
    /// Connections that ended without a response, for requests that can be sent again.
    repeated: AtomicUsize,
    lost: Mutex<Vec<String>>,
}

/// A client with keep-alive connections.
struct Caller {
    number: usize,
    http: reqwest::Client,
    address: SocketAddr,
    key: String,
    seen: Arc<Seen>,
}

impl Caller {
    /// Sends all kinds of requests in turn, and returns the number of created records.
    async fn run(self, ends: Arc<AtomicBool>) -> usize {
        let mut rounds = 0;
        while !ends.load(Ordering::Relaxed) {
            let name = format!("{}-{rounds}", self.number);
            let attributes = json!({"visits": rounds});
            let customers = "/v1/entities/template/customers";
            let created = json!({"external_key": format!("C-{name}"), "attributes": attributes});
            let upserted = json!({"external_key": format!("U-{}", self.number), "attributes": attributes});
            let operation = json!({"op": "upsert", "template": "customers", "external_key": format!("B-{name}"), "attributes": attributes});
            self.send("POST", customers, Some(("idempotency-key", &name)), Some(&created)).await;
            self.send("PUT", &format!("{customers}/by-key"), None, Some(&upserted)).await;
            self.send("GET", &format!("{customers}/by-key?key=C-{name}"), None, None).await;
            self.send(
                "POST",
                "/v1/entities/batch",
                Some(("idempotency-key", &format!("b-{name}"))),
                Some(&json!({"atomic": true, "operations": [operation]})),
            )
            .await;
            rounds += 1;
        }
        rounds
    }

    /// Sends a request until it gets a response. All of them can be sent again: reads, upserts, and writes with an
    /// Idempotency-Key.
    async fn send(
        &self,
        method: &str,
        path: &str,
        header: Option<(&str, &str)>,
        body: Option<&serde_json::Value>,
    ) {
        loop {
            let method = method.parse().expect("a word");
            let mut request = self.http.request(method, format!("http://{}{path}", self.address));
            request = request.bearer_auth(&self.key).header("x-service-project-id", "crm");
            if let Some((name, value)) = header {
                request = request.header(name, value);
            }
            if let Some(body) = body {
                request = request.json(body);
            }
            let response = match request.send().await {
                Ok(response) => (response.status(), response.text().await),
                Err(error) => {
                    eprintln!("{path}: {error:?}");
                    self.seen.repeated.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    continue;
                }
            };
            match response {
                (status, Ok(_)) if status.is_success() => {
                    self.seen.responses.fetch_add(1, Ordering::Relaxed);
                }
                lost => self.seen.lost.lock().expect("no panic").push(format!("{path}: {lost:?}")),
            }
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rolling_replacement_loses_no_request() {
    let Service { proxy: first, database } = Service::start_with(DRAIN).await;
    let key = first.key().to_owned();
    let second = Proxy::start_with_key(&database, DRAIN, &key).await;
    let mut instances = vec![first, second];
    let addresses: Vec<SocketAddr> = instances.iter().map(Proxy::address).collect();
    let (balancer, address) = Balancer::start(&addresses).await;
    let (seen, ends) = (Arc::new(Seen::default()), Arc::new(AtomicBool::new(false)));
    let callers: Vec<_> = (0..8)
        .map(|number| {
            let http = reqwest::Client::builder().no_proxy().build().expect("no TLS");
            let caller = Caller { number, http, address, key: key.clone(), seen: Arc::clone(&seen) };
            tokio::spawn(caller.run(Arc::clone(&ends)))
        })
        .collect();
    until("requests get responses", async || seen.responses.load(Ordering::Relaxed) > 100).await;
    for _ in 0..ROUNDS {
        for instance in &mut instances {
            replace(instance, &balancer, &database, &key).await;
        }
    }
    ends.store(true, Ordering::Relaxed);
    let mut rounds = 0;
    for caller in callers {
        rounds += caller.await.expect("the caller continues");
    }
    let (responses, repeated) =
        (seen.responses.load(Ordering::Relaxed), seen.repeated.load(Ordering::Relaxed));
    println!("{responses} answers, {repeated} requests sent again");
    let lost = seen.lost.lock().expect("no panic").clone();
    assert!(lost.is_empty(), "{} of {responses} requests failed: {:?}", lost.len(), lost.first());
    assert_eq!(repeated, 0, "a drain leaves no connection without an answer");
    assert_eq!(responses, rounds * 4);
    let session = database.session().await;
    for kind in ["C", "B"] {
        let stored = format!("select count(*) from crm.customers where external_key like '{kind}-%'");
        assert_eq!(session.text(&stored, &[]).await, rounds.to_string(), "each was written once");
    }
}

/// Stops an instance and starts another in its place.
async fn replace(instance: &mut Proxy, balancer: &Balancer, database: &Database, key: &str) {
    let old = instance.address();
    instance.request_shutdown();
    assert!(instance.ended().await.success());
    let log = instance.log();
    assert!(!log.contains("interrupted"), "{log}");
    *instance = Proxy::start_with_key(database, DRAIN, key).await;
    balancer.replace(old, instance.address());
    balancer.until_ready(&[instance.address()]).await;
}
