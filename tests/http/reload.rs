//! The settings that SIGHUP reads again, while requests are processed.

use harness::{Database, EmbeddingServer, Gallery, Relay, Service, until};
use serde_json::json;
use std::fs::File;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::NamedTempFile;

fn file(text: &str) -> NamedTempFile {
    let file = NamedTempFile::new().expect("a file");
    write(&file, text);
    file
}

fn write(file: &NamedTempFile, text: &str) {
    std::fs::write(file.path(), text).expect("the file is accessible");
}

fn path(file: &NamedTempFile) -> &str {
    file.path().to_str().expect("letters")
}

#[tokio::test]
async fn reload_reads_the_log_level_from_the_environment_file() {
    let environment = file("KEYED_LOG=error\nKEYED_POOL_SIZE=8\n");
    let settings = [("KEYED_ENVIRONMENT_FILE", path(&environment)), ("KEYED_LOG", "error")];
    let service = Service::start_with(&settings).await;
    assert_eq!(service.proxy.log(), "", "there is no error");
    write(&environment, "KEYED_LOG=info\nKEYED_POOL_SIZE=9\n");
    service.proxy.signal("HUP");
    until("the level has changed", async || service.proxy.log().contains("reloaded: the log level")).await;
    write(&environment, "KEYED_LOG=infos\n");
    service.proxy.signal("HUP");
    let last = "SIGHUP: could not be reloaded: the log level";
    until("the log has the error", async || service.proxy.log().contains(last)).await;
    let log = service.proxy.log();
    assert!(
        log.contains("the log level is not changed") && log.contains("\"infos\" is not a level"),
        "{log}"
    );
    assert_eq!(log.matches("reloaded after SIGHUP").count(), 1, "the failure is logged as one: {log}");
    assert!(log.contains("need a restart") && log.contains("KEYED_POOL_SIZE"), "{log}");
}

/// The database connections with this application name.
fn connections(application: &str) -> String {
    format!(
        "select count(*) from pg_stat_activity
         where datname = current_database() and application_name = '{application}'"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_database_url_causes_no_failure() {
    let database = Database::with_crm().await;
    let without_name = database.cluster().url("keyed_proxy", database.name());
    let url = |application: &str| format!("{without_name}?application_name={application}");
    let secret = file(&url("first"));
    let service = Arc::new(Service::over(database, &[("KEYED_DATABASE_URL_FILE", path(&secret))]).await);
    let session = service.session().await;
    service.upsert("K-1", json!({"visits": 0})).await.expect(201);
    let ends = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..4)
        .map(|number| {
            let (service, ends) = (Arc::clone(&service), Arc::clone(&ends));
            tokio::spawn(async move {
                while !ends.load(Ordering::Relaxed) {
                    service.by_key("K-1").await.expect(200);
                    service.upsert("K-1", json!({"visits": number})).await.expect(200);
                }
            })
        })
        .collect();
    write(&secret, &url("second"));
    service.proxy.signal("HUP");
    session.until(&connections("first"), "0").await;
    until("the new URL is used", async || session.text(&connections("second"), &[]).await != "0").await;
    let nowhere = url("third").replace("keyed_proxy", "nobody");
    for (wrong, complaint) in [
        ("postgres://keyed_proxy@localhost:port/crm", "is not changed"),
        (&nowhere, "cannot connect with the new URL"),
    ] {
        write(&secret, wrong);
        service.proxy.signal("HUP");
        until("the log has the error", async || {
            service
                .proxy
                .log()
                .lines()
                .any(|line| line.contains("the database URL") && line.contains(complaint))
        })
        .await;
    }
    ends.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.expect("every request got a response");
    }
    service.by_key("K-1").await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opening_connection_of_the_old_url_is_closed() {
    let database = Database::with_crm().await;
    let relay = Relay::before(database.cluster());
    let secret = file(&format!("{}?application_name=first", relay.url("keyed_proxy", database.name())));
    let second =
        format!("{}?application_name=second", database.cluster().url("keyed_proxy", database.name()));
    let service = Arc::new(Service::over(database, &[("KEYED_DATABASE_URL_FILE", path(&secret))]).await);
    let session = service.session().await;
    service.upsert("K-1", json!({"visits": 0})).await.expect(201);
    let blocker = service.session().await;
    blocker.run("begin; update crm.customers set visits = 1").await;
    relay.hold_connections();
    // Each request needs its own connection.
    let callers: Vec<_> = (2..6)
        .map(|visits| {
            let service = Arc::clone(&service);
            tokio::spawn(async move { service.upsert("K-1", json!({"visits": visits})).await.status })
        })
        .collect();
    until("a connection is being opened", async || relay.waiting() > 0).await;
    write(&secret, &second);
    service.proxy.signal("HUP");
    until("the URL is taken", async || service.proxy.log().contains("reloaded: the database URL")).await;
    relay.release_connections();
    blocker.run("commit").await;
    for caller in callers {
        caller.await.expect("a response");
    }
    until("no connection by the old URL is left", async || {
        // The shared connections are replaced when they are used.
        service.by_key("K-1").await.expect(200);
        session.text(&connections("first"), &[]).await == "0"
    })
    .await;
}

#[tokio::test]
async fn unresponsive_file_blocks_neither_requests_nor_shutdown() {
    let database = Database::with_crm().await;
    let url = database.cluster().url("keyed_proxy", database.name());
    let folder = tempfile::tempdir().expect("a folder");
    let secret = folder.path().join("url");
    std::fs::write(&secret, url).expect("the folder is accessible");
    let settings = [("KEYED_DATABASE_URL_FILE", secret.to_str().expect("letters")), ("KEYED_WORKERS", "1")];
    let mut service = Service::over(database, &settings).await;
    std::fs::remove_file(&secret).expect("the file is accessible");
    assert!(Command::new("mkfifo").arg(&secret).status().expect("a program of the system").success());
    service.proxy.signal("HUP");
    // Opening a FIFO for writing blocks until it has a reader.
    let reached = File::options().write(true).open(&secret).expect("the proxy has opened the file");
    service.get("/me").await.expect(200);
    service.proxy.request_shutdown();
    assert!(service.proxy.ended().await.success());
    drop(reached);
}

#[tokio::test]
async fn reload_applies_a_new_embedding_api_key() {
    let gallery = Gallery::new().await;
    let first = gallery.database.api_key("keyed_admin", &[]).await;
    let key = file(&first);
    let settings = [
        ("KEYED_EMBED_PROVIDER", "hash"),
        ("KEYED_EMBED_API_KEY_FILE", path(&key)),
        ("KEYED_EMBED_POLL", "0.05"),
    ];
    let proxy = harness::Proxy::start_with(&gallery.database, &settings).await;
    gallery.paint("K-0", "Girl").await;
    gallery.until_done(1).await;
    write(&key, &gallery.database.api_key("keyed_admin", &[]).await);
    gallery.session.run("select keyed.revoke_api_key(min(id)) from keyed_state.api_key").await;
    proxy.signal("HUP");
    until("the key is taken", async || proxy.log().contains("reloaded: the API key that embeds records"))
        .await;
    gallery.paint("K-1", "Woman").await;
    gallery.until_done(2).await;
}

#[tokio::test]
async fn reload_applies_a_new_provider_key() {
    let gallery = Gallery::new().await;
    let server = EmbeddingServer::start().await;
    let key = file("first");
    let proxy = gallery.asking(&server, &[("KEYED_EMBED_KEY_FILE", path(&key))]).await;
    gallery.paint("K-0", "Girl").await;
    gallery.until_done(1).await;
    write(&key, "second");
    proxy.signal("HUP");
    until("the key is taken", async || proxy.log().contains("reloaded: the API key of the embedding server"))
        .await;
    gallery.paint("K-1", "Woman").await;
    gallery.until_done(2).await;
    let questions = server.requests();
    let keys: Vec<&str> = questions.iter().map(|question| question.authorization.as_str()).collect();
    assert_eq!(keys, ["Bearer first", "Bearer second"]);
}
