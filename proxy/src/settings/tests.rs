//! Tests of settings.

use super::*;

fn settings(arguments: &[&str]) -> Settings {
    Settings::of_arguments(arguments)
}

#[test]
fn defaults_need_only_a_database() {
    let defaults = settings(&["--database-url", "postgres://localhost/crm"]);
    assert_eq!(defaults.validate(), Ok(()));
    assert_eq!(defaults.body_limit, 16 << 20);
    assert!(defaults.prepared_statements);
}

#[test]
fn sessions_get_timeouts_and_a_fixed_search_path() {
    let url = "postgres://localhost/crm?options=-c%20work_mem%3D8MB";
    let config =
        settings(&["--database-url", url, "--statement-timeout", "0.5"]).database().expect("a good URL");
    assert_eq!(
        config.config.get_options(),
        Some(
            "-c work_mem=8MB -c statement_timeout=500 -c lock_timeout=250 \
             -c idle_in_transaction_session_timeout=500 -c search_path=pg_catalog,pg_temp"
        )
    );
    assert_eq!(config.config.get_application_name(), Some("keyed-proxy"));
}

#[test]
fn pgbouncer_receives_no_startup_options() {
    let url = "postgres://localhost/crm";
    let config = settings(&["--database-url", url, "--prepared-statements", "false"]).database();
    assert_eq!(config.expect("a good URL").config.get_options(), None);
}

#[test]
fn invalid_url_is_rejected_and_not_disclosed() {
    for url in ["postgres://u:secret@localhost:port/crm", "host=localhost sslmode=secret", "user=secret"] {
        let message = settings(&["--database-url", url]).validate().expect_err(url);
        assert!(!message.contains("secret"), "{message}");
    }
}

#[test]
fn metrics_need_a_separate_address() {
    let given = ["--database-url", "host=/run", "--listen", "127.0.0.1:8080", "--metrics-listen"];
    let with = |address| settings(&[&given[..], &[address]].concat()).validate();
    assert_eq!(with("127.0.0.1:9464"), Ok(()));
    assert!(with("127.0.0.1:8080").is_err_and(|message| message.contains("KEYED_METRICS_LISTEN")));
}

#[test]
fn statement_timeout_is_below_the_request_timeout() {
    let url = "postgres://localhost/crm";
    let message = settings(&["--database-url", url, "--request-timeout", "30"]).validate();
    assert!(message.is_err_and(|message| message.contains("KEYED_STATEMENT_TIMEOUT")));
}

#[test]
fn shards_replace_the_database_url() {
    let shards = ["--shards", "0=postgres://h/x 5=postgres://h/y"];
    let settings = Settings::of_arguments(&shards);
    assert_eq!(settings.validate(), Ok(()));
    let databases = settings.databases().expect("two shards");
    let numbers: Vec<Option<Shard>> = databases.iter().map(|it| it.shard).collect();
    assert_eq!(numbers, [Shard::new(0), Shard::new(5)]);
    let both = [&shards[..], &["--database-url", "postgres://h/z"]].concat();
    let message = Settings::of_arguments(&both).validate().expect_err("both are set");
    assert!(message.contains("set one of them"), "{message}");
}

#[test]
fn invalid_url_is_reported_with_its_shard() {
    let settings = Settings::of_arguments(&["--shards", "7=postgres://u:secret@h:port/x"]);
    let message = settings.validate().expect_err("the port is no number");
    assert!(message.contains("KEYED_SHARDS (shard 7)") && !message.contains("secret"), "{message}");
}

#[test]
fn shards_divide_the_limits_of_the_process() {
    let shards: Vec<String> = (0..8).map(|shard| format!("{shard}=postgres://h/x")).collect();
    let settings = Settings::of_arguments(&["--shards", &shards.join(" "), "--max-requests", "100"]);
    for shard in settings.databases().expect("eight shards") {
        assert_eq!((shard.bounds.max_requests, shard.pool_size), (13, settings.pool_size));
        assert_eq!(shard.bounds.body_budget, settings.body_limit, "one body, although an eighth is less");
        assert_eq!(shard.validate(), Ok(()));
    }
}

#[test]
fn empty_file_of_shards_means_one_database() {
    let (empty, shards) = (tempfile::NamedTempFile::new(), tempfile::NamedTempFile::new());
    let (empty, shards) = (empty.expect("a file"), shards.expect("a file"));
    std::fs::write(shards.path(), "3=postgres://h/x\n").expect("it is our file");
    let path = |file: &tempfile::NamedTempFile| file.path().to_str().expect("letters").to_owned();
    let (empty, shards) = (path(&empty), path(&shards));
    let one = settings(&["--shards-file", &empty, "--database-url", "postgres://h/x"]).databases();
    assert_eq!(one.map(|all| all[0].shard), Ok(None));
    let sharded = settings(&["--shards-file", &shards, "--database-url-file", &empty]).databases();
    assert_eq!(sharded.map(|all| all[0].shard), Ok(Shard::new(3)));
    assert!(settings(&["--shards-file", &empty, "--database-url-file", &empty]).validate().is_err());
}
