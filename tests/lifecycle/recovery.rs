//! A base backup and archived WAL can be recovered to any point in time, with the settings of
//! docs/how-to/back-up-and-restore.md.

use crate::crash::invariants::findings;
use harness::{BaseBackup, Cluster, Database, Durability, Proxy, Response, Sender, Service, until};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::task::block_in_place;

/// The settings block of the page that contains this text, with the archive in these folders.
fn settings(contains: &str, archive: &Path) -> String {
    let page = harness::repository_folder().join("docs/how-to/back-up-and-restore.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let blocks = page.split("```conf\n").skip(1).filter_map(|rest| rest.split("```").next());
    let block = blocks.into_iter().find(|block| block.contains(contains)).expect("a block with this text");
    block.replace("/backup/wal", &archive.display().to_string())
}

/// Clients that write records with consecutive numbers.
struct Clients {
    stop: Arc<AtomicBool>,
    sent: Vec<Arc<AtomicU64>>,
    acknowledged: Vec<Arc<AtomicU64>>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Clients {
    fn start(service: &Arc<Service>, count: usize) -> Self {
        let counters = || (0..count).map(|_| Arc::new(AtomicU64::new(0))).collect::<Vec<_>>();
        let (stop, sent, acknowledged) = (Arc::new(AtomicBool::new(false)), counters(), counters());
        let start = |client: usize| {
            let (service, stop) = (Arc::clone(service), Arc::clone(&stop));
            let (sent, acknowledged) = (Arc::clone(&sent[client]), Arc::clone(&acknowledged[client]));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let number = sent.fetch_add(1, Ordering::SeqCst) + 1;
                    let attributes = json!({"name": format!("Somebody {number}"), "visits": number});
                    service.upsert(&format!("K-{client}-{number}"), attributes).await.expect(201);
                    acknowledged.fetch_add(1, Ordering::SeqCst);
                }
            })
        };
        let tasks = (0..count).map(start).collect();
        Self { stop, sent, acknowledged, tasks }
    }

    fn sent(&self) -> Vec<u64> {
        self.sent.iter().map(|it| it.load(Ordering::SeqCst)).collect()
    }

    fn acknowledged(&self) -> Vec<u64> {
        self.acknowledged.iter().map(|it| it.load(Ordering::SeqCst)).collect()
    }

    async fn until_more(&self, count: u64) {
        let before = self.acknowledged();
        let have_more =
            async || self.acknowledged().iter().zip(&before).all(|(now, before)| *now >= before + count);
        until("all clients write", have_more).await;
    }

    async fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.expect("every request was acknowledged");
        }
    }
}

/// Creates a record with an Idempotency-Key.
async fn make_once(proxy: &Proxy, key: &str) -> Response {
    let body = json!({"external_key": key, "attributes": {"name": key}});
    let path = "/v1/entities/template/customers";
    proxy.request("POST", path).header("idempotency-key", key).json(&body).send().await
}

/// The database on a recovered server.
async fn recovered(database: &Database, backup: &BaseBackup, settings: &str) -> Database {
    let copy = database.in_cluster(block_in_place(|| database.cluster().recover(backup, settings)));
    copy.session().await.until("select pg_is_in_recovery()", "f").await;
    copy
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn point_in_time_recovery_restores_exactly_the_acknowledged_writes() {
    let database = Database::new_in(&Arc::new(Cluster::start(Durability::None))).await.add_crm().await;
    let cluster = Arc::clone(database.cluster());
    let archive = cluster.make_folder("archive");
    block_in_place(|| cluster.configure(&settings("archive_mode", &archive)));
    cluster.make_folder("archive-2");

    let service = Arc::new(Service::over(database, &[]).await);
    let endpoint = json!({"template": "customers", "slug": "shop", "external_key": "$.id", "mapping": {"mood": "$.mood"}});
    let sender = Sender::of(&service.post("/inbound-endpoints", endpoint).await.expect(201));
    make_once(&service.proxy, "before").await.expect(201);
    service.deliver_signed(&sender, "msg-before", r#"{"id": "before", "mood": 1}"#).await.expect(200);

    let tag = service.by_key("before").await.header("etag").to_owned();

    let clients = Clients::start(&service, 4);
    clients.until_more(10).await;
    let backup = block_in_place(|| cluster.base_backup());
    clients.until_more(10).await;
    let session = service.session().await;
    let least = clients.acknowledged();
    session.run("select pg_create_restore_point('before_release')").await;
    let max = clients.sent();
    clients.until_more(10).await;
    clients.stop().await;
    make_once(&service.proxy, "after").await.expect(201);
    service.deliver_signed(&sender, "msg-after", r#"{"id": "after", "mood": 1}"#).await.expect(200);
    let late_key = service.database.api_key("keyed_admin", &[]).await;

    let found = findings(&service.database);
    let before = service.database.checksums().await;
    let time = session.text("select clock_timestamp()", &[]).await;
    // A mistake.
    session.run("select keyed.drop_template('crm.customers', with_records => true)").await;
    let last = session.text("select pg_walfile_name(pg_switch_wal())", &[]).await;
    session.until(&format!("select last_archived_wal >= '{last}' from pg_stat_archiver"), "t").await;

    let by_name = settings("recovery_target_name", &archive);
    let copy = recovered(&service.database, &backup, &by_name).await;
    let on_copy = copy.session().await;
    for (client, (least, max)) in least.iter().zip(&max).enumerate() {
        let numbers = format!(
            "select coalesce(max(visits), 0), count(*) from crm.customers where external_key like 'K-{client}-%'"
        );
        let row = on_copy.rows(&numbers, &[]).await.remove(0);
        let [Some(last), Some(count)] = row.as_slice() else { panic!("{row:?}") };
        assert_eq!(last, count, "client {client}: records before the last one are missing");
        let count: u64 = count.parse().expect("a number");
        assert!((*least..=*max).contains(&count), "client {client}: {count}, not {least} to {max}");
    }
    assert_eq!(findings(&copy), found);

    // A proxy works with a key from before the backup.
    let proxy = Proxy::start_with_key(&copy, &[], service.proxy.key()).await.in_project("crm");
    let restored = Service { proxy, database: copy };
    let read = restored.by_key("before").await;
    assert_eq!(read.header("etag"), tag);
    assert_eq!(read.expect(200)["attributes"]["mood"], 1);
    restored.proxy.request("GET", "/v1/me").key(&late_key).send().await.expect_error(401, "unauthorized");
    restored.by_key("after").await.expect_error(404, "not_found");
    // Requests in the backup have no second effect. Lost ones run when they are sent again.
    for (key, is_replayed) in [("before", "true"), ("after", ""), ("after", "true")] {
        let response = make_once(&restored.proxy, key).await;
        assert_eq!(response.header("idempotency-replayed"), is_replayed, "{key}");
        response.expect(201);
    }
    for id in ["before", "after", "after"] {
        let body = json!({"id": id, "mood": 1}).to_string();
        restored.deliver_signed(&sender, &format!("msg-{id}"), &body).await.expect(200);
    }
    let points = "select string_agg(points::text, ' ') from (select external_key, count(m) as points from crm.customers c
        left join keyed.metric_series(c.id, 'mood') m on true where external_key in ('before', 'after') group by 1) p";
    assert_eq!(restored.session().await.text(points, &[]).await, "1 1");

    let by_time = by_name
        .replace("recovery_target_name = 'before_release'", &format!("recovery_target_time = '{time}'"));
    assert_ne!(by_time, by_name);
    let copy = recovered(&service.database, &backup, &by_time).await;
    assert_eq!(copy.checksums().await, before);
    assert_eq!(findings(&copy), found);
}
