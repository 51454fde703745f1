//! The primary of three servers fails while eight clients write over HTTP. The configuration is that of the
//! documentation.

use crate::crash::client::Address;
use crate::crash::invariants::assert_invariants;
use crate::crash::load::Writer;
use crate::crash::rounds::{AFTER, settle, write_through};
use crate::crash::service::{Written, settings};
use harness::{Patroni, Proxy, Stopwatch, create_crm, repository_folder, until};
use serde_json::json;

/// The maximum time from the promotion of a new primary until the proxy accepts writes. A request to the old one may
/// wait for half a minute, and so may a connection.
const LONGEST: f64 = 15.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    /// Patroni switches over to another primary.
    Switchover,
    /// The primary does not reach etcd. Its clients and the other servers still reach it.
    CutOff,
    /// The processes of the primary are suspended, and resumed when there is a new primary.
    Suspended,
    /// The primary is killed, with Patroni.
    Killed,
}

/// The servers, the proxy and the clients.
struct Served {
    servers: Patroni,
    proxy: Proxy,
}

impl Served {
    async fn start() -> (Self, Vec<Writer>) {
        let servers = Patroni::start(&configuration()).await;
        let administrator = servers.session("postgres").await;
        administrator.run("create database crm").await;
        let session = servers.session("crm").await;
        session.run("create extension keyed cascade").await;
        session.run("select keyed.init(); alter role keyed_proxy password 'secret'").await;
        create_crm(&session).await;
        let written = Written::prepare(&session).await;
        let issue = "select keyed.issue_api_key('keyed_admin', null, 'issued by a test')";
        let key = session.text(issue, &[]).await;
        let url = servers.url("keyed_proxy", "secret", "crm");
        let proxy = Proxy::start_at(&url, &settings(&key), &key).await.in_project("crm");
        let address = Address::default();
        address.set(proxy.url(""));
        let writers = written.by_clients(&session, &address, &key).await;
        (Self { servers, proxy }, writers)
    }

    /// Causes the failure, and ends it when writes succeed. Returns the seconds until there is a new primary, and from
    /// then until writes succeed.
    async fn fail(&mut self, failure: Failure) -> (f64, f64) {
        self.servers.until_all_follow().await;
        let old = self.servers.primary_except(None).await;
        let failed = Stopwatch::default();
        match failure {
            Failure::Switchover => tokio::task::block_in_place(|| self.servers.switch_over(old)),
            Failure::CutOff => self.servers.cut_off(old),
            Failure::Suspended => self.servers.suspend(old),
            Failure::Killed => self.servers.kill(old),
        }
        self.servers.primary_except(Some(old)).await;
        let (until_new, new) = (failed.seconds(), Stopwatch::default());
        let body = json!({"external_key": "probe", "attributes": {"name": format!("{failure:?}")}});
        until("writes succeed", async || {
            let request = self.proxy.request("PUT", "/v1/entities/template/customers/by-key");
            [200, 201].contains(&request.json(&body).send().await.status)
        })
        .await;
        let until_served = new.seconds();
        match failure {
            Failure::Switchover => {}
            Failure::CutOff => self.servers.reconnect(old),
            Failure::Suspended => self.servers.resume(old),
            Failure::Killed => self.servers.start_again(old),
        }
        (until_new, until_served)
    }
}

/// The configuration of the first server, from its documentation page.
fn configuration() -> String {
    let page = repository_folder().join("docs/how-to/run-with-failover.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let (_, rest) = page.split_once("```yaml\n").expect("a configuration");
    rest.split_once("```").expect("the end").0.to_owned()
}

/// Each of these failures in turn, while all clients write.
async fn survive(failures: [Failure; 2]) {
    let whole = Stopwatch::default();
    let (mut served, mut writers) = Served::start().await;
    println!("started after {:.1} s", whole.seconds());
    for failure in failures {
        let (until_new, until_served) =
            write_through(&mut writers, AFTER, async || served.fail(failure).await).await;
        let session = served.servers.session("crm").await;
        let figures = settle(&session, &mut writers).await;
        println!(
            "{failure:?}: {figures}; a new primary after {until_new:.1} s, served again {until_served:.1} s later"
        );
        assert!(until_served < LONGEST, "{failure:?}: {until_served:.1} s");
    }
    assert_invariants(&served.servers.session("crm").await).await;
    println!("{:.1} s altogether", whole.seconds());
}

// Two tests that run concurrently, because most of their time is the wait for Patroni.

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_requests_survive_the_loss_of_a_primary_exactly_once() {
    survive([Failure::CutOff, Failure::Killed]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_requests_survive_a_primary_that_comes_back_exactly_once() {
    survive([Failure::Switchover, Failure::Suspended]).await;
}
