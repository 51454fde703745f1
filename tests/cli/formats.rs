//! Files of other programs on the command line.

use crate::run;
use harness::{Service, proxy_program, target_folder};
use std::path::{Path, PathBuf};

fn command(service: &Service, arguments: &[&str]) -> std::process::Command {
    let mut command = proxy_program(arguments);
    command.env("KEYED_URL", service.proxy.url("")).env("KEYED_API_KEY", service.proxy.key());
    command
}

fn file(name: &str, content: &str) -> PathBuf {
    let folder = target_folder().join("test-logs");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let file = folder.join(format!("cli-formats-{}-{name}", std::process::id()));
    std::fs::write(&file, content).expect("the file can be written");
    file
}

fn path(file: &Path) -> &str {
    file.to_str().expect("the path is UTF-8")
}

const GERMAN: &str = r#"{"decimal": ",", "thousands": ".", "date": "DD.MM.YYYY"}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suggested_format_is_accepted_in_both_directions() {
    let service = Service::start().await;
    let rows = "external_key;visits;born\na;1.234,5;29.02.2024\n";
    let input = file("german.csv", rows);
    let import = ["import", path(&input), "--template", "crm.customers"];
    let dry = run(&mut command(&service, &[&import[..], &["--dry-run"]].concat()));
    assert!(
        dry.err.contains(r#"--format '{"date":"DD.MM.YYYY","decimal":",","thousands":"."}'"#),
        "{}",
        dry.err
    );
    let done = run(&mut command(&service, &[&import[..], &["--format", GERMAN]].concat())).expect();
    assert!(done.starts_with("rows 1, created 1"), "{done}");

    let fields = r#"{"fields": ["visits", "born"]}"#;
    let export = ["export", "--template", "crm.customers", "--search", fields, "--format", GERMAN];
    let lines = run(&mut command(&service, &[&export[..], &["--delimiter", ";", "--bom"]].concat())).expect();
    assert!(lines.starts_with("\u{feff}id;external_key;visits;born\r\n"), "{lines}");
    assert!(lines.ends_with(";a;1234,5;29.02.2024\r\n"), "{lines}");
    let rejected = run(&mut command(&service, &["export", "--template", "crm.customers", "--format", "xml"]));
    assert!(rejected.err.contains("csv, ndjson, xlsx"), "{}", rejected.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spreadsheet_is_detected_by_its_name() {
    let service = Service::start().await;
    service.upsert("a", serde_json::json!({"visits": 1.5, "born": "2024-02-29"})).await.expect(201);
    let sheet = file("customers.xlsx", "");
    let export = ["export", "--template", "crm.customers", "-o", path(&sheet)];
    run(&mut command(&service, &export)).expect();
    let import = ["import", path(&sheet), "--template", "crm.customers", "--mapping", r#"{"mood": null}"#];
    let done = run(&mut command(&service, &import)).expect();
    assert_eq!(done, "rows 1, created 0, updated 0, unchanged 1, failed 0\n");
    let other = run(&mut command(&service, &[&import[..], &["--sheet", "Other"]].concat()));
    assert!(other.err.contains("Its sheets are: customers."), "{}", other.err);
    // A spreadsheet with the extension .csv is not read as CSV.
    let misnamed = [&import[..], &["--format", "csv"]].concat();
    let rejected = run(&mut command(&service, &misnamed));
    assert!(rejected.err.contains("Send a spreadsheet with --format xlsx"), "{}", rejected.err);
}
