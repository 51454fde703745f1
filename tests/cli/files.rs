//! Import and export on the command line.

use crate::run;
use harness::{Service, proxy_program, target_folder};
use serde_json::json;
use std::path::PathBuf;
use std::process::Stdio;

fn file(name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let folder = target_folder().join("test-logs");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let file = folder.join(format!("cli-files-{}-{name}", std::process::id()));
    std::fs::write(&file, content).expect("the file can be written");
    file
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

fn command(service: &Service, arguments: &[&str]) -> std::process::Command {
    let mut command = proxy_program(arguments);
    command.env("KEYED_URL", service.proxy.url("")).env("KEYED_API_KEY", service.proxy.key());
    command
}

fn path(file: &std::path::Path) -> &str {
    file.to_str().expect("the path is UTF-8")
}

/// The arguments that import a file row by row, and write the rejected rows to another file.
fn skipping<'a>(input: &'a str, failed: &'a str) -> [&'a str; 8] {
    ["import", input, "--template", "crm.customers", "--on-error", "skip", "--failed", failed]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_is_imported_and_exported() {
    let service = Service::start().await;
    let input = file("in.csv", "No;Full name;visits\nA-1;Ada;1\nA-2;Grace;2\n");
    let import = |further: &[&str]| {
        let mut arguments = vec![
            "import",
            path(&input),
            "--template",
            "crm.customers",
            "--key-column",
            "No",
            "--mapping",
            r#"{"Full name": "name"}"#,
        ];
        arguments.extend(further);
        run(&mut command(&service, &arguments))
    };
    assert_eq!(
        import(&["--dry-run"]).expect(),
        "rows 2, created 2, updated 0, unchanged 0, failed 0 (dry run: nothing was written)\n"
    );
    assert_eq!(
        import(&["--key-prefix", "erp:"]).expect(),
        "rows 2, created 2, updated 0, unchanged 0, failed 0\n"
    );
    assert_eq!(
        import(&["--key-prefix", "erp:"]).expect(),
        "rows 2, created 0, updated 0, unchanged 2, failed 0\n"
    );

    let output = file("out.csv", "");
    let export = [
        "export",
        "--template",
        "crm.customers",
        "-o",
        path(&output),
        "--search",
        r#"{"fields": ["name"], "sort": "name"}"#,
    ];
    run(&mut command(&service, &export)).expect();
    let exported = std::fs::read_to_string(&output).expect("the file is there");
    let names: Vec<&str> =
        exported.lines().map(|line| line.split_once(',').map_or(line, |(_, rest)| rest)).collect();
    assert_eq!(names, ["external_key,name", "erp:A-1,Ada", "erp:A-2,Grace"]);
    let lines = run(&mut command(&service, &["export", "--template", "crm.customers", "--format", "ndjson"]))
        .expect();
    assert_eq!(lines.lines().count(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gzip_file_is_imported_by_name_and_from_standard_input() {
    let service = Service::start().await;
    let input = file("packed.csv.gz", packed("external_key,name\na,Ada\n"));
    let outcome = run(&mut command(&service, &["import", path(&input), "--template", "crm.customers"]));
    assert_eq!(outcome.expect(), "rows 1, created 1, updated 0, unchanged 0, failed 0\n");
    let lines =
        file("packed.ndjson.gz", packed("{\"external_key\": \"a\", \"attributes\": {\"name\": \"Ada\"}}\n"));
    let outcome = run(&mut command(&service, &["import", path(&lines), "--template", "crm.customers"]));
    assert_eq!(outcome.expect(), "rows 1, created 0, updated 0, unchanged 1, failed 0\n");
    let input = std::fs::File::open(&input).expect("the file is there");
    let outcome = run(command(&service, &["import", "-", "--template", "crm.customers"]).stdin(input));
    assert_eq!(outcome.expect(), "rows 1, created 0, updated 0, unchanged 1, failed 0\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejected_rows_are_printed_and_saved() {
    let service = Service::start().await;
    let failed = file("failed.csv", "");
    let content = "external_key,visits\na,1\nb,x\nc,y\n";
    let input = file("bad.csv", content);
    let outcome = run(&mut command(&service, &skipping(path(&input), path(&failed))));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert_eq!(outcome.out, "rows 3, created 1, updated 0, unchanged 0, failed 2\n");
    assert!(outcome.err.contains("line 3: visits: \"x\" is not a number"), "{}", outcome.err);
    let fixed = std::fs::read_to_string(&failed)
        .expect("the file is there")
        .replace("b,x,", "b,2,")
        .replace("c,y,", "c,3,");
    // Standard input works as well.
    let mut again = command(&service, &["import", "-", "--template", "crm.customers"]);
    let mut child = again.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), fixed.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("the process ends");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "rows 2, created 2, updated 0, unchanged 0, failed 0\n"
    );

    let whole = run(&mut command(&service, &["import", path(&input), "--template", "crm.customers"]));
    assert!(whole.code == Some(1) && whole.err.contains("nothing was imported"), "{whole:?}");
    let unknown = run(&mut command(&service, &["export", "--template", "crm.nothing"]));
    assert!(
        unknown.code == Some(1) && unknown.err.contains("template crm.nothing does not exist"),
        "{unknown:?}"
    );
    let keyless = run(&mut proxy_program(&["export", "--template", "crm.customers"]));
    assert!(keyless.code == Some(2) && keyless.err.contains("KEYED_API_KEY is not set"), "{keyless:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_of_rejected_rows_is_replaced_only_if_rows_are_rejected() {
    let service = Service::start().await;
    let input = file("kept-in.csv", "external_key,visits\na,1\nb,x\n");
    let failed = file("kept-failed.csv", "of an earlier import\n");
    let import = |input: &std::path::Path, failed: &std::path::Path, further: &[&str]| {
        let mut arguments =
            vec!["import", path(input), "--template", "crm.customers", "--failed", path(failed)];
        arguments.extend(further);
        run(&mut command(&service, &arguments))
    };
    // Without the privilege, and without rejected rows, the file is unchanged.
    let rejected = import(&input, &failed, &["--api-key", "keyed_1_wrong"]);
    assert_eq!(rejected.code, Some(1), "{rejected:?}");
    let good = file("kept-good.csv", "external_key,visits\na,1\n");
    import(&good, &failed, &[]).expect();
    assert_eq!(std::fs::read_to_string(&failed).expect("it exists"), "of an earlier import\n");

    // The rejected rows cannot be written to the input file itself, under any name.
    let link = input.with_extension("link");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(&input, &link).expect("a link");
    for failed in [&input, &link] {
        let outcome = import(&input, failed, &["--on-error", "skip"]);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.err.contains("is the imported file itself"), "{}", outcome.err);
    }
    assert_eq!(std::fs::read_to_string(&input).expect("it exists"), "external_key,visits\na,1\nb,x\n");

    let outcome = import(&input, &failed, &["--on-error", "skip"]);
    assert!(outcome.err.contains("1 row was rejected"), "{}", outcome.err);
    let kept = std::fs::read_to_string(&failed).expect("it exists");
    assert!(kept.starts_with("external_key,visits,import_error\nb,x,"), "{kept}");

    let folder = target_folder();
    let outcome = import(&folder, &failed, &[]);
    assert!(outcome.code == Some(1) && outcome.err.contains("is a directory"), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupted_import_reports_written_rows_and_errors() {
    let service = Service::start().await;
    let rows: String = (0..20_000).map(|number| format!("k{number},é\n")).collect();
    let broken = file("broken.csv", "");
    std::fs::write(&broken, [b"external_key,name\n", rows.as_bytes(), b"bad,\xe9\n"].concat())
        .expect("written");
    let arguments = ["import", path(&broken), "--template", "crm.customers", "--on-error", "skip"];
    let outcome = run(&mut command(&service, &arguments));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.err.contains("line 20002 has bytes that are not valid utf-8"), "{}", outcome.err);
    assert!(
        outcome.err.contains("Before the error: rows ") && !outcome.err.contains("created 0,"),
        "{}",
        outcome.err
    );

    let lines: String = (0..30)
        .map(|n| format!("{{\"external_key\":\"j{n}\",\"attributes\":{{\"visits\":\"x\"}}}}\n"))
        .collect();
    let (lines, failed) = (file("bad.ndjson", &lines), file("failed.ndjson", ""));
    let outcome = run(&mut command(&service, &skipping(path(&lines), path(&failed))));
    assert_eq!(outcome.err.matches("visits: ").count(), 30, "{}", outcome.err);
    assert_eq!(std::fs::read_to_string(&failed).expect("it exists").lines().count(), 30);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hint_names_flags_and_a_warning_is_printed() {
    let service = Service::start().await;
    let import = |name: &str, content: &str| {
        let input = file(name, content);
        run(&mut command(&service, &["import", path(&input), "--template", "crm.customers"]))
    };
    let bad = import("hint.csv", "external_key,visits\na,x\n");
    assert!(bad.err.contains("--on-error skip") && !bad.err.contains("on_error"), "{bad:?}");
    let keyless = import("key.csv", "No,name\n1,Ada\n");
    assert!(keyless.err.contains("--key-column Column"), "{keyless:?}");
    let warned = import("warning.csv", "name\nAda\n");
    assert_eq!(warned.out, "rows 1, created 1, updated 0, unchanged 0, failed 0\n");
    assert!(warned.err.contains("Warning: 1 record was created without an external key"), "{warned:?}");
    let repeated = import("repeated.csv", "external_key\na\nb\na\nb\n");
    assert!(repeated.err.contains("changes its record (lines 4, 5)\n"), "{repeated:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_row_is_saved_unchanged() {
    let service = Service::start().await;
    let (input, failed) =
        (file("quotes.csv", "external_key,name\na,\"A\"x\nb,B\n"), file("quotes-failed.csv", ""));
    let outcome = run(&mut command(&service, &skipping(path(&input), path(&failed))));
    assert_eq!(outcome.out, "rows 2, created 1, updated 0, unchanged 0, failed 1\n");
    assert!(outcome.err.contains("line 2: text follows a closing quote"), "{outcome:?}");
    let saved = std::fs::read_to_string(&failed).expect("the file is there");
    assert!(saved.starts_with("external_key,name,import_error\na,\"A\"x,\"line 2: "), "{saved}");
    let array = file("array.json", "[\n  {\"external_key\": \"c\"},\n  {\"external_key\": \"d\"}\n]\n");
    let outcome = run(&mut command(&service, &["import", path(&array), "--template", "crm.customers"]));
    assert_eq!(outcome.out, "rows 2, created 2, updated 0, unchanged 0, failed 0\n", "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejected_rows_can_be_imported_by_the_same_command() {
    let service = Service::start().await;
    for (name, content) in [
        ("encoded.csv", b"external_key,name,visits\nz,Z\xfcrich,x\n".as_slice()),
        (
            "encoded.ndjson",
            b"{\"external_key\":\"z\",\"attributes\":{\"name\":\"Z\xfcrich\",\"visits\":\"x\"}}\n",
        ),
    ] {
        let (input, failed) = (file(name, content), file(&format!("refused-{name}"), ""));
        let import = || {
            let mut arguments = skipping(path(&input), path(&failed)).to_vec();
            arguments.extend(["--encoding", "windows-1252"]);
            run(&mut command(&service, &arguments))
        };
        assert!(import().err.contains("1 row was rejected"), "{name}");
        let rejected = std::fs::read_to_string(&failed).expect("the rejected row");
        std::fs::write(&input, rejected.replace(",x,", ",2,").replace(":\"x\"", ":2"))
            .expect("it is corrected");
        import().expect();
        assert_eq!(service.by_key("z").await.expect(200)["attributes"]["name"], "Zürich", "{name}");
        service.delete("/entities/template/customers/by-key?key=z").await.expect(204);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn references_are_matched_by_text_and_update_creates_no_record() {
    let service = Service::start().await;
    for name in ["Acme", "Globex"] {
        let body = serde_json::json!({"external_key": name.to_uppercase(), "attributes": {"name": name}});
        service.post("/entities/template/companies", body).await.expect(201);
    }
    let import = |content: &str, further: &[&str]| {
        let input = file("matched.csv", content);
        let mut arguments = vec!["import", path(&input), "--template", "crm.customers"];
        arguments.extend(further);
        run(&mut command(&service, &arguments))
    };
    let file = "external_key,company\na,Acme\nb,Globex\n";
    let outcome = import(file, &["--match", "company=name"]);
    assert_eq!(outcome.expect(), "rows 2, created 2, updated 0, unchanged 0, failed 0\n");
    let outcome = import(
        "external_key,company\na,Globex\nc,Acme\n",
        &["--match=company=name", "--mode", "update", "--on-error", "skip"],
    );
    assert_eq!(outcome.out, "rows 2, created 0, updated 1, unchanged 0, failed 1\n");
    assert!(outcome.err.contains("no record of crm.customers has the key \"c\""), "{outcome:?}");
    for (further, says) in [
        (&["--match", "company"][..], "write REFERENCE=ATTRIBUTE"),
        (&["--match", "company=nope"], "has no attribute \"nope\""),
        (&["--mode", "create"], "possible values: upsert, update"),
    ] {
        let outcome = import(file, further);
        assert!(outcome.code != Some(0) && outcome.err.contains(says), "{further:?}: {outcome:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mirror_dry_run_prints_the_records_to_delete() {
    let service = Service::start().await;
    for (key, visits) in [("a", 1), ("b", 2), ("c", 9)] {
        service.upsert(key, json!({"visits": visits})).await.expect(201);
    }
    let file = file("mirror.csv", "external_key,visits\na,1\nn,1\n");
    let import = |further: &[&str]| {
        let mut arguments = vec!["import", path(&file), "--template", "crm.customers"];
        arguments.extend([
            "--mode",
            "mirror",
            "--filter",
            r#"[{"field": "visits", "operator": "lt", "value": 5}]"#,
        ]);
        arguments.extend(further);
        run(&mut command(&service, &arguments))
    };
    let dry = import(&["--dry-run"]);
    assert_eq!(dry.err, "Deleted: b\n");
    assert_eq!(
        dry.expect(),
        "rows 2, created 1, updated 0, unchanged 1, failed 0, deleted 1 of 2 (dry run: nothing was written)\n"
    );
    let unnamed = import(&[]);
    assert!(unnamed.code == Some(2) && unnamed.err.contains("needs --max-deleted-share"), "{unnamed:?}");
    let failed = import(&["--max-deleted-share", "1", "--failed", "failed.csv"]);
    assert!(
        failed.code == Some(2) && failed.err.contains("--failed cannot be combined with --mode mirror"),
        "{failed:?}"
    );
    let larger = import(&["--max-deleted-share", "0.4"]);
    assert!(larger.code == Some(1) && larger.err.contains("delete 1 of 2 records"), "{larger:?}");
    service.by_key("b").await.expect(200);

    let allowed = import(&["--max-deleted-share", "0.5"]).expect();
    assert_eq!(allowed, "rows 2, created 1, updated 0, unchanged 1, failed 0, deleted 1 of 2\n");
    service.by_key("b").await.expect_error(404, "not_found");
    service.by_key("c").await.expect(200);
    let again = import(&["--max-deleted-share", "0"]).expect();
    assert_eq!(again, "rows 2, created 0, updated 0, unchanged 2, failed 0, deleted 0 of 2\n");
}
