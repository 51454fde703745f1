//! `keyed-proxy changes`: lines, cursor files, exit codes.

use crate::{Outcome, run};
use harness::{Service, proxy_program, until};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn command(service: &Service, arguments: &[&str]) -> Command {
    let mut command = proxy_program(&[&["changes"], arguments].concat());
    command.env("KEYED_URL", service.proxy.url("")).env("KEYED_API_KEY", service.proxy.key());
    command
}

/// Changes of the project `crm`.
fn changes(service: &Service, arguments: &[&str]) -> Outcome {
    run(&mut command(service, &[&["--project", "crm"], arguments].concat()))
}

/// A file that does not exist yet.
fn file(name: &str) -> PathBuf {
    let folder = harness::target_folder().join("test-logs");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let file = folder.join(format!("cli-changes-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&file);
    file
}

/// The operation and the key of each line.
fn lines(out: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let read = |line: &str| serde_json::from_str::<Value>(line).expect("a line is JSON");
    out.lines().map(read).map(|entry| (text(&entry["operation"]), text(&entry["external_key"]))).collect()
}

fn of(operation: &str, key: &str) -> (String, String) {
    (operation.to_owned(), key.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_after_the_stored_cursor_are_printed() {
    let service = Service::start().await;
    let cursor = file("cursor");
    let arguments = ["--cursor-file", cursor.to_str().expect("UTF-8")];
    service.upsert("C-1", json!({"visits": 1.1})).await.expect(201);
    assert_eq!(changes(&service, &arguments).expect(), "", "without a cursor, from now on");
    service.upsert("C-2", json!({"visits": 2.2})).await.expect(201);
    let record = [&arguments[..], &["--include-record"]].concat();
    let printed = changes(&service, &record).expect();
    assert_eq!(lines(&printed), [of("create", "C-2")]);
    assert!(printed.contains("2.2,"), "{printed}");
    assert_eq!(changes(&service, &arguments).expect(), "");
    let whole = changes(&service, &[&arguments[..], &["--from-start"]].concat()).expect();
    assert_eq!(lines(&whole), [of("create", "C-1"), of("create", "C-2")]);
    assert_eq!(changes(&service, &arguments).expect(), "", "the cursor was replaced");
    let companies = run(&mut command(&service, &["--template", "crm.companies", "--from-start"])).expect();
    assert_eq!(companies, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_pages_are_printed() {
    let service = Service::start().await;
    let operations: Vec<Value> = (0..1000)
        .map(|number| {
            json!({"op": "upsert", "template": "customers", "external_key": format!("C-{number}"), "attributes": {}})
        })
        .collect();
    for visits in [1, 2, 3] {
        let mut operations = operations.clone();
        operations.iter_mut().for_each(|it| it["attributes"]["visits"] = json!(visits));
        service.post("/entities/batch", json!({"operations": operations})).await.expect(200);
    }
    assert_eq!(lines(&changes(&service, &["--from-start"]).expect()).len(), 3000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn follow_prints_new_changes_and_stores_the_cursor() {
    let service = Service::start_with(&[("KEYED_METRICS_LISTEN", "127.0.0.1:0")]).await;
    let cursor = file("followed");
    let path = cursor.to_str().expect("UTF-8").to_owned();
    let arguments = ["--template", "crm.customers", "--follow", "--from-start", "--cursor-file", &path];
    let mut follower = command(&service, &arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program");
    let mut out = BufReader::new(follower.stdout.take().expect("it is piped"));
    for number in 0..3 {
        service.upsert(&format!("C-{number}"), json!({"name": "Ada"})).await.expect(201);
        let mut line = String::new();
        out.read_line(&mut line).expect("a line");
        assert_eq!(lines(&line), [of("create", &format!("C-{number}"))]);
    }
    // The cursor is the one after the last line.
    until("it waits", async || service.proxy.metrics().await.sum("keyed_http_listeners", &[]) == 1.0).await;
    follower.kill().expect("the program runs");
    follower.wait().expect("the process ends");
    service.upsert("C-3", json!({"name": "Ada"})).await.expect(201);
    let rest = run(&mut command(&service, &["--template", "crm.customers", "--cursor-file", &path])).expect();
    assert_eq!(lines(&rest), [of("create", "C-3")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expired_cursor_has_its_own_exit_code() {
    let service = Service::start().await;
    let cursor = file("restored");
    let arguments = ["--cursor-file", cursor.to_str().expect("UTF-8")];
    changes(&service, &arguments).expect();
    // As in a restored database.
    service.session().await.run("update keyed_state.change_generation set written_by = 1").await;
    let before = std::fs::read_to_string(&cursor).expect("it was written");
    for more in [&[][..], &["--follow"]] {
        let outcome = changes(&service, &[&arguments[..], more].concat());
        assert_eq!(outcome.code, Some(3), "{outcome:?}");
        assert!(outcome.err.contains("start again with --from-start"), "{}", outcome.err);
    }
    assert_eq!(std::fs::read_to_string(&cursor).expect("it exists"), before);
    changes(&service, &[&arguments[..], &["--from-start"]].concat()).expect();
    changes(&service, &arguments).expect();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_arguments_and_addresses_are_reported_immediately() {
    let service = Service::start().await;
    let empty = file("empty");
    std::fs::write(&empty, "\n").expect("written");
    let outcome = changes(&service, &["--cursor-file", empty.to_str().expect("UTF-8")]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    let outcome = run(&mut command(&service, &["--template", "crm.none", "--follow"]));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.err.contains("template crm.none does not exist"), "{}", outcome.err);
    let outcome = run(command(&service, &["--follow"]).env("KEYED_URL", "http://127.0.0.1:1"));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.err.contains("cannot reach http://127.0.0.1:1"), "{}", outcome.err);
    let outcome = run(command(&service, &[]).env_remove("KEYED_API_KEY"));
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.err.contains("See keyed-proxy changes --help."), "{}", outcome.err);
}
