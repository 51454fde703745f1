//! The quickstart works when pasted: as psql and as a shell would run it.

use crate::page::{assert_shows, block, blocks, file};
use crate::reader::{Folder, Reader, demo};
use harness::{Database, Proxy};

#[tokio::test]
async fn the_sql_way_works_when_pasted() {
    let page = blocks(&file("docs/tutorial/first-records.md"));
    let database = Database::new().await;
    let folder = Folder::new(&database, "unused");
    let psql = block(&page, "In SQL", "sh").trim();
    // What a person would type is fed on standard input; nothing else of theirs shall have a say.
    let script = format!(
        "{psql} -X -q -v ON_ERROR_STOP=1 -P footer=off <<'BLOCK'\n{}BLOCK\n",
        block(&page, "In SQL", "sql")
    );
    let answer = folder.shell(&script);
    let tables: Vec<&str> = answer.split("\n\n").collect();
    assert_shows(block(&page, "In SQL", "text"), &tables[tables.len() - 3..].join("\n"));
    assert!(answer.contains(" t\n") && answer.contains(" f\n"), "created, then not: {answer}");
}

#[tokio::test]
async fn the_statements_on_tables_work_after_the_sql_way() {
    let page = blocks(&file("docs/tutorial/first-records.md"));
    let database = Database::new().await;
    let session = database.session().await;
    session.run(block(&page, "In SQL", "sql")).await;
    session.run(block(&blocks(&file("docs/reference/sql.md")), "Statements on tables", "sql")).await;
    let record = session.json("select keyed.get_by_key('crm.customers', 'erp:4711')", &[]).await;
    assert_eq!(record["attributes"]["credit"], 90.5);
    let operations = "select string_agg(operation, ' ' order by version) from keyed.history($1)";
    let operations = session.text(operations, &[harness::id_of(&record)]).await;
    assert_eq!(operations, "create update update delete restore");
}

#[tokio::test]
async fn the_curl_way_works_when_pasted_twice() {
    let reader = Reader::new("docs/tutorial/first-records.md").await;
    let script = reader.script("Over HTTP");
    // curl ends its output without a line break.
    let script = script.replace("curl -s ", "curl -s -w '\\n' ");
    let shown = reader.block("Over HTTP", "json");
    assert_shows(shown, &reader.shell(&script));
    assert_shows(&shown.replace("\"created\":true", "\"created\":false"), &reader.shell(&script));
}

#[tokio::test]
async fn the_request_shown_is_sent_twice_and_run_once() {
    let reader = Reader::new("docs/reference/idempotency.md").await;
    let script = reader.script("Idempotency");
    let answers = [reader.shell(&script), reader.shell(&script)];
    let [first, again] = answers.map(|answer| answer.replace('\r', ""));
    assert!(first.starts_with("HTTP/1.1 201") && !first.contains("idempotency-replayed"), "{first}");
    assert!(again.contains("\nidempotency-replayed: true\n"), "{again}");
    let body = |answer: &str| answer.split("\n\n").nth(1).map(str::to_owned);
    assert!(body(&first).is_some_and(|body| body.contains("Clara Peeters")));
    assert_eq!(body(&again), body(&first));
}

#[tokio::test]
async fn a_write_to_a_version_works_as_shown() {
    let reader = Reader::new("docs/reference/versions.md").await;
    reader.shell(&reader.script("Over HTTP"));
    let answer = reader.shell(&reader.script("Versions and ETags"));
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"created\":false"), "{answer}");
    let session = reader.database.session().await;
    let name = "select name from demo.artists where external_key = 'museum:leyster'";
    assert_eq!(session.text(name, &[]).await, "Judith Jansdochter Leyster");
    assert_eq!(session.text(reader.block("Versions and ETags", "sql"), &[]).await, "\"museum:leyster\"");
}

#[tokio::test]
async fn the_file_shown_goes_in_and_comes_out() {
    let reader = Reader::new("docs/how-to/import-and-export.md").await;
    let script = reader.script("Import and export files");
    let answer =
        reader.shell(&script.replace("import?on_error=skip' \\\n", "import?on_error=skip' -w '\\n' \\\n"));
    let (report, exported) = answer.split_once('\n').expect("two answers");
    assert_eq!(report, reader.block("Import and export files", "json").trim());
    let exported: Vec<&str> = exported.lines().collect();
    assert_eq!(exported[0], "id,external_key,name,born");
    assert!(
        exported.len() == 2 && exported[1].ends_with(",museum:leyster,Judith Leyster,1609-07-28"),
        "{exported:?}"
    );
}

#[tokio::test]
async fn the_search_shown_finds_the_painting_of_the_demo() {
    let page = blocks(&file("docs/reference/search.md"));
    let database = demo().await;
    let shown = block(&page, "Search", "sql").trim().trim_end_matches(';').to_owned();
    let session = database.session().await;
    let answer = session.json(&shown, &[]).await;
    assert_eq!((&answer["records"][0]["external_key"], &answer["total"]), (&"museum:670".into(), &1.into()));
    assert_eq!(answer["facets"]["medium"][0]["value"], "oil");
}

#[tokio::test]
async fn the_view_shown_shows_the_painting_of_the_demo() {
    let page = blocks(&file("docs/reference/search.md"));
    let database = demo().await;
    let session = database.session().await;
    let rows = session.rows(block(&page, "Saved views", "sql"), &[]).await;
    let found = rows[1][0].as_deref().unwrap_or_default();
    assert!(found.contains("museum:670"), "{found}");
    let shown: Vec<_> = rows[2].iter().map(Option::as_deref).collect();
    assert_eq!(shown, [Some("Girl with a Pearl Earring"), Some("1665")]);
}

#[tokio::test]
async fn the_delivery_shown_becomes_a_painting() {
    let reader = Reader::new("docs/how-to/receive-webhooks.md").await;
    let script = reader.script("Receive webhooks");
    assert_shows(reader.block("Receive webhooks", "json"), &reader.shell(&script));
    let session = reader.database.session().await;
    let painting = "select p.title || ' by ' || a.name from demo.paintings p join demo.artists a on a.id = p.artist where p.external_key = 'museum:564'";
    assert_eq!(session.text(painting, &[]).await, "The Milkmaid by Johannes Vermeer");
}

#[tokio::test]
async fn the_grants_shown_let_a_member_see_what_the_text_says() {
    let page = blocks(&file("docs/how-to/grant-access.md"));
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            "select keyed.add_attribute('crm.customers', '{\"slug\": \"city\", \"type\": \"string\"}');
             select keyed.upsert_by_key('crm.customers', 'z', '{\"name\": \"Ada\", \"city\": \"Zurich\"}');
             select keyed.upsert_by_key('crm.customers', 'b', '{\"name\": \"Bea\", \"city\": \"Bern\"}')",
        )
        .await;
    // Roles belong to the whole cluster, which other tests share.
    let unique = |text: &str| {
        let names = ["bern", "anna"].into_iter();
        names.fold(text.to_owned(), |text, name| {
            text.replace(&format!("role {name}"), &format!("role {name}_{}", database.name()))
                .replace(&format!("'{name}'"), &format!("'{name}_{}'", database.name()))
        })
    };
    session.run(&unique(block(&page, "Grant and revoke access", "sql"))).await;
    let anna = database.session_as(&format!("anna_{}", database.name())).await;
    assert_eq!(anna.text("select string_agg(name, ' ') from crm.customers", &[]).await, "Bea");
    let found = anna.json("select keyed.search('crm.customers')", &[]).await;
    assert_eq!(found["records"].as_array().map(Vec::len), Some(1));
    let roles = format!("bern_{0}, anna_{0}", database.name());
    session.run(&format!("drop owned by {roles}; drop role {roles}")).await;
}

#[tokio::test]
async fn texts_are_embedded_and_found_as_shown() {
    let page = blocks(&file("docs/how-to/embed-texts.md"));
    let database = demo().await;
    let status = database.cluster().sql(database.name(), block(&page, "Embed texts", "sql"));
    assert_eq!(status, "[\"title\", \"medium\"]\ndemo.paintings|1|0|0|0|0");
    let key = database.api_key("keyed_admin", &[]).await;
    let settings = [("KEYED_EMBED_PROVIDER", "hash"), ("KEYED_EMBED_API_KEY", key.as_str())];
    let proxy = Proxy::start_with(&database, &settings).await;
    let session = database.session().await;
    while session.text("select done from keyed.embedding_status()", &[]).await != "1" {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let folder = Folder::new(&database, proxy.key());
    let script = block(&page, "Embed texts", "sh").replace("http://127.0.0.1:8080", &proxy.url(""));
    let answer = folder.shell(&script);
    assert!(
        answer.contains("\"similarity_score\":0.") && answer.contains("Girl with a Pearl Earring"),
        "{answer}"
    );
}
