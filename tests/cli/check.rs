//! `serve --check` validates the settings before a service starts.

use crate::{Outcome, run};
use harness::{Authority, Database, proxy_program};

/// Checks a service with this database.
fn check(url: &str, settings: &[(&str, &str)]) -> Outcome {
    let mut proxy = proxy_program(&["serve", "--check", "--database-url", url, "--listen", "127.0.0.1:0"]);
    run(proxy.envs(settings.iter().copied()))
}

#[tokio::test]
async fn check_passes_for_valid_settings() {
    let database = Database::new().await;
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = Authority::new("tests").issue(&["localhost"]).write(folder.path(), "server");
    let settings = [
        ("KEYED_TLS_CERT", certificate.to_str().expect("letters")),
        ("KEYED_TLS_KEY", key.to_str().expect("letters")),
        ("KEYED_EMBED_PROVIDER", "hash"),
    ];
    let out = check(&database.cluster().url("keyed_proxy", database.name()), &settings).expect();
    for line in [
        "ok       settings\n",
        "ok       settings of embeddings",
        "ok       certificate and key of the listener\n",
        "ok       address 127.0.0.1:0\n",
        "ok       database: it responds",
    ] {
        assert!(out.contains(line), "{out}");
    }
    assert_eq!(out.lines().count(), 5, "{out}");
}

#[tokio::test]
async fn check_prints_a_line_per_error_and_exits_with_1() {
    let database = Database::new().await;
    database.session().await.run("drop extension keyed cascade").await;
    let folder = tempfile::tempdir().expect("a folder");
    let expired = Authority::new("tests").issue_expired(&["localhost"]);
    let (certificate, key) = expired.write(folder.path(), "server");
    let settings = [
        ("KEYED_TLS_CERT", certificate.to_str().expect("letters")),
        ("KEYED_TLS_KEY", key.to_str().expect("letters")),
        ("KEYED_POOL_SIZE", "0"),
    ];
    let outcome = check(&database.cluster().url("keyed_proxy", database.name()), &settings);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    for line in [
        "error    KEYED_POOL_SIZE must be between 1 and 1024.",
        "has expired",
        "ok       address",
        "error    this database has no extension keyed. As a superuser: CREATE EXTENSION",
    ] {
        assert!(outcome.out.contains(line), "{line}: {}", outcome.out);
    }
    assert!(outcome.err.contains("there are 3 errors"), "{}", outcome.err);
}

#[tokio::test]
async fn check_reports_each_error_once() {
    let database = Database::new().await;
    let url = database.cluster().url("keyed_proxy", database.name());
    let settings = [
        ("KEYED_TLS_CERT", "/nope"),
        ("KEYED_LOG", "infos"),
        ("KEYED_EMBED_PROVIDER", "openai"),
        ("KEYED_ENVIRONMENT_FILE", "/nope"),
        ("KEYED_POOL_SIZ", "8"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318"),
        ("OTEL_TRACES_SAMPLER", "traceidration"),
    ];
    let outcome = check(&url, &settings);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    for line in [
        "error    KEYED_TLS_CERT is set and KEYED_TLS_KEY is not",
        "error    KEYED_LOG: \"infos\" is not a level",
        "error    KEYED_EMBED_URL must be",
        "error    OTEL_TRACES_SAMPLER is",
        "warning  KEYED_ENVIRONMENT_FILE /nope",
        "warning  KEYED_POOL_SIZ is not a setting: did you mean KEYED_POOL_SIZE?",
    ] {
        assert_eq!(outcome.out.matches(line).count(), 1, "{line}: {}", outcome.out);
    }
    assert!(outcome.err.contains("there are 4 errors"), "{}", outcome.err);
}

#[tokio::test]
async fn check_rejects_a_superuser_login() {
    let database = Database::new().await;
    let out = check(&database.cluster().url("postgres", database.name()), &[]).expect();
    assert!(out.contains("warning  the login postgres of the database is a superuser"), "{out}");
}

#[test]
fn check_reports_remote_database_and_used_address() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("a bound socket has an address").to_string();
    // An address that is reserved for documentation, so no host has it.
    let url = "postgres://keyed_proxy@192.0.2.1/crm?connect_timeout=1";
    let mut proxy = proxy_program(&["serve", "--check", "--database-url", url, "--listen", &address]);
    let outcome = run(&mut proxy);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.out.contains(&format!("note     address {address} is in use")), "{}", outcome.out);
    assert!(
        outcome.out.contains("warning  the connection to the database may not be encrypted"),
        "{}",
        outcome.out
    );
    assert!(outcome.out.contains("error    the database"), "{}", outcome.out);
    let mut proxy = proxy_program(&["serve", "--check", "--database-url", url, "--listen", "256.0.0.1:1"]);
    let outcome = run(&mut proxy);
    assert!(outcome.out.contains("error    cannot listen on 256.0.0.1:1 (KEYED_LISTEN)"), "{}", outcome.out);
}

#[tokio::test]
async fn former_name_of_a_setting_works_with_a_notice_and_the_current_one_overrides_it() {
    let database = Database::new().await;
    let url = database.cluster().url("keyed_proxy", database.name());
    let is_rejected = "error    KEYED_MINIMUM_RATE must be between 1 and 1024MiB.";
    let former = check(&url, &[("KEYED_LEAST_RATE", "0")]);
    assert_eq!(former.code, Some(1), "{former:?}");
    let notice = "warning  KEYED_LEAST_RATE is now KEYED_MINIMUM_RATE.";
    assert!(former.out.contains(is_rejected) && former.out.contains(notice), "{}", former.out);
    assert!(!former.out.contains("is not a setting"), "{}", former.out);

    let both = check(&url, &[("KEYED_LEAST_RATE", "0"), ("KEYED_MINIMUM_RATE", "8KiB")]).expect();
    let notice = "warning  KEYED_LEAST_RATE has no effect, because KEYED_MINIMUM_RATE is set.";
    assert!(both.contains(notice), "{both}");

    let flags = ["serve", "--check", "--database-url", &url, "--listen", "127.0.0.1:0", "--least-rate", "0"];
    let flag = run(&mut proxy_program(&flags));
    let notice = "warning  --least-rate is now --minimum-rate.";
    assert!(flag.out.contains(is_rejected) && flag.out.contains(notice), "{}", flag.out);
}

#[tokio::test]
async fn service_that_starts_with_a_former_name_logs_the_notice() {
    // Without a command, the settings come from the environment. The address cannot be used, so the service exits.
    let mut proxy = proxy_program(&[]);
    let settings = [
        ("KEYED_DATABASE_URL", "host=/nonexistent user=keyed_proxy dbname=crm"),
        ("KEYED_LISTEN", "nowhere"),
        ("KEYED_FILES", "2"),
    ];
    let outcome = run(proxy.envs(settings));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.err.contains("KEYED_FILES is now KEYED_MAX_TRANSFERS."), "{}", outcome.err);
}

#[tokio::test]
async fn check_reports_each_shard() {
    let shards = harness::Shards::new(&[0, 3]).await;
    let mut proxy = proxy_program(&["serve", "--check", "--listen", "127.0.0.1:0"]);
    let outcome = run(proxy.env("KEYED_SHARDS", shards.setting()));
    let out = outcome.expect();
    for line in ["ok       shard 0: it responds", "ok       shard 3: it responds"] {
        assert!(out.contains(line), "{out}");
    }
    let mut proxy = proxy_program(&["serve", "--check", "--listen", "127.0.0.1:0"]);
    let outcome = run(proxy.env("KEYED_SHARDS", shards.setting().replace("\n3=", "\n5=")));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let line = "error    shard 5: KEYED_SHARDS has this database as shard 5, and it is shard 3.";
    assert!(outcome.out.contains(line), "{}", outcome.out);
    let mut proxy = proxy_program(&["serve", "--check", "--listen", "127.0.0.1:0"]);
    let outcome =
        run(proxy.env("KEYED_SHARDS", "0=postgres://h/x").env("KEYED_DATABASE_URL", "host=/run dbname=x"));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.out.contains("are both set: set one of them"), "{}", outcome.out);
}
