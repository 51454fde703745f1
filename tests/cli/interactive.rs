//! `import --interactive`, on a terminal.

use crate::{Outcome, run};
use harness::{Service, proxy_path, proxy_program, target_folder};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn file(name: &str, content: &str) -> PathBuf {
    let folder = target_folder().join("test-logs");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let file = folder.join(format!("cli interactive {} {name}", std::process::id()));
    std::fs::write(&file, content).expect("the file can be written");
    file
}

fn path(file: &Path) -> &str {
    file.to_str().expect("the path is UTF-8")
}

/// The folder of the program.
fn programs() -> String {
    let folder = proxy_path().parent().expect("a folder").to_str().expect("UTF-8").to_owned();
    format!("{folder}:/usr/bin:/bin")
}

/// Runs a shell command on a terminal, with these lines as input.
fn type_into(service: &Service, line: &str, typed: &str) -> Outcome {
    let mut script = Command::new("script")
        .args(["--quiet", "--return", "--command", line, "/dev/null"])
        .env_clear()
        .envs([("PATH", programs()), ("SHELL", "/bin/sh".to_owned())])
        .env("KEYED_URL", service.proxy.url(""))
        .env("KEYED_API_KEY", service.proxy.key())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("util-linux is installed");
    let mut terminal = script.stdin.take().expect("a pipe");
    terminal.write_all(typed.as_bytes()).expect("the terminal accepts input");
    drop(terminal);
    let output = script.wait_with_output().expect("the process ends");
    let out = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    Outcome { code: output.status.code(), out, err: String::from_utf8_lossy(&output.stderr).into_owned() }
}

const FILE: &str = "external_key;Comment;visits;born;seen;active\n\
     a;x;1.234,5;01/02/2024;29.02.2024 13:45;ja\n\
     b;y;12;03/04/2024;;nein\n";

fn import(input: &Path) -> String {
    format!("keyed-proxy import '{}' --template crm.customers --mapping '{{\"Comment\": null}}'", path(input))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_build_the_format_of_a_file() {
    let service = Service::start().await;
    let input = file("doubtful.csv", FILE);
    // The answers: words for booleans, the second date format, the times, the numbers, the time zone (first an invalid
    // one) and the import.
    let typed = "y\n7\n2\n\nyes\nZurich\nEurope/Zurich\ny\n";
    let done = type_into(&service, &format!("{} --interactive", import(&input)), typed);
    assert_eq!(done.code, Some(0), "{}", done.out);
    for words in [
        "\"external_key\" → external_key (string)",
        "\"Comment\" is not imported",
        "\"born\" → born (date)",
        "The cells of column \"born\" match 2 formats:",
        "1: {\"date\":\"DD/MM/YYYY\"}\n     \"01/02/2024\" is \"2024-02-01\"\n     \"03/04/2024\" is \"2024-04-03\"",
        "2: {\"date\":\"MM/DD/YYYY\"}\n     \"01/02/2024\" is \"2024-01-02\"\n     \"03/04/2024\" is \"2024-03-04\"",
        "Enter a number from 1 to 2.",
        "{\"decimal\":\",\",\"thousands\":\".\"}\n     \"1.234,5\" is \"1234.5\"",
        "The times have no time zone.",
        "\"Zurich\" is not a time zone",
        "rows 2, created 2, updated 0, unchanged 0, failed 0 (dry run: nothing was written)",
        "Import 2 rows? [y/N]",
        "rows 2, created 2, updated 0, unchanged 0, failed 0\n",
    ] {
        assert!(done.out.contains(words), "{words}\n{}", done.out);
    }
    let record = service.by_key("a").await.expect(200)["attributes"].clone();
    assert_eq!(
        json!([record["visits"], record["born"], record["seen"], record["active"]]),
        json!([1234.5, "2024-01-02", "2024-02-29T12:45:00Z", true])
    );
    // The command line for the next import asks nothing, and finds the same values.
    let (_, line) = done.out.split_once("For the next import:\n").expect("a command line");
    assert!(line.starts_with("keyed-proxy import '") && line.contains(" --format '{"), "{line}");
    assert!(!line.contains(service.proxy.key()) && !line.contains("--interactive"), "{line}");
    let mut again = Command::new("/bin/sh");
    again.args(["-c", line.trim()]).stdin(Stdio::null()).env_clear().env("PATH", programs());
    again.env("KEYED_URL", service.proxy.url("")).env("KEYED_API_KEY", service.proxy.key());
    assert_eq!(run(&mut again).expect(), "rows 2, created 0, updated 0, unchanged 2, failed 0\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ambiguous_points_are_asked_about() {
    let service = Service::start().await;
    let input = file("points.csv", "external_key,visits\na,1.234\nb,12.500\n");
    let line = format!("keyed-proxy import '{}' --template crm.customers --interactive", path(&input));
    for (response, visits) in [("y", json!([1234, 12500])), ("n", json!([1.234, 12.5]))] {
        let done = type_into(&service, &line, &format!("{response}\ny\n"));
        assert_eq!(done.code, Some(0), "{}", done.out);
        assert!(done.out.contains("so that 1.234 is more than a thousand? [y/N]"), "{}", done.out);
        let read = async |key: &str| service.by_key(key).await.expect(200)["attributes"]["visits"].clone();
        assert_eq!(json!([read("a").await, read("b").await]), visits);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_imported_without_consent() {
    let service = Service::start().await;
    let input = file("plain.csv", "external_key,visits\na,1\n");
    let line =
        |input: &Path| format!("keyed-proxy import '{}' --template crm.customers --interactive", path(input));
    // The default is no; a closed terminal has the same effect.
    for (typed, code, words) in [
        ("\n", 0, "Nothing was imported."),
        ("n\n", 0, "Nothing was imported."),
        ("", 1, "standard input ended"),
    ] {
        let rejected = type_into(&service, &line(&input), typed);
        assert_eq!(rejected.code, Some(code), "{}", rejected.out);
        assert!(rejected.out.contains(words), "{}", rejected.out);
    }
    // A format is not suggested if it does not fit.
    let input = file("comma.csv", "external_key;visits\na;1,5\n");
    let rejected = type_into(&service, &line(&input), "n\n");
    assert_eq!(rejected.code, Some(1), "{}", rejected.out);
    assert!(rejected.out.contains("set the format of the file's values with --format"), "{}", rejected.out);
    // Rows that no format can read are reported, and end an atomic import.
    let input = file("bad.csv", "external_key,visits\na,1\nb,many\n");
    let rejected = type_into(&service, &line(&input), "y\n");
    assert_eq!(rejected.code, Some(1), "{}", rejected.out);
    assert!(rejected.out.contains("line 3: visits: "), "{}", rejected.out);
    assert_eq!(service.session().await.text("select count(*) from crm.customers", &[]).await, "0");
    let some = type_into(&service, &format!("{} --on-error skip", line(&input)), "y\n");
    assert_eq!(some.code, Some(1), "{}", some.out);
    assert!(some.out.contains("Import 1 row? [y/N]"), "{}", some.out);
    assert_eq!(service.session().await.text("select count(*) from crm.customers", &[]).await, "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_need_a_terminal() {
    let service = Service::start().await;
    let input = file("pipe.csv", FILE);
    let arguments = ["import", path(&input), "--template", "crm.customers", "--interactive"];
    let mut command = proxy_program(&arguments);
    command.env("KEYED_URL", service.proxy.url("")).env("KEYED_API_KEY", service.proxy.key());
    let rejected = run(&mut command);
    assert_eq!(rejected.code, Some(2));
    assert!(rejected.err.contains("--dry-run") && rejected.err.contains("--format"), "{}", rejected.err);
    // The file cannot be read from the terminal that asks the questions.
    let line = "keyed-proxy import - --template crm.customers --interactive";
    assert_eq!(type_into(&service, line, "").code, Some(2));
    let both = run(&mut proxy_program(&[&arguments[..], &["--dry-run"]].concat()));
    assert_eq!(both.code, Some(2), "{}", both.err);
}
