//! References that an import matches by an attribute of their target.

use super::{counts, import, number, problems};
use harness::{Database, Session};
use serde_json::{Value, json};
use std::time::Duration;

/// The options of a file of customers that reference companies.
fn by_name() -> Value {
    json!({"match": {"company": "name"}})
}

/// Companies with keys and names. The names are arguments because they may contain any character.
async fn add_companies(session: &Session, companies: &[(&str, &str)]) {
    for (key, name) in companies {
        let attributes = json!({"name": name}).to_string();
        session.rows("select keyed.upsert_by_key('crm.companies', $1, $2)", &[key, &attributes]).await;
    }
}

/// The customers and the keys of their companies.
async fn links(session: &Session) -> String {
    let sql = "select coalesce(string_agg(concat(c.external_key, '=', t.external_key), ' ' order by c.external_key), '') \
               from crm.customers c left join crm.companies t on t.id = c.company where c.deleted_at is null";
    session.text(sql, &[]).await
}

async fn customers(session: &Session, rows: &str) -> Value {
    import(session, "customers", &by_name(), &["external_key", "company"], rows).await
}

/// A database with the project `crm`, with or without an index on the names of companies.
async fn crm(indexed: bool) -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let indexed = json!({"indexed": indexed}).to_string();
    session.rows("select keyed.alter_attribute('crm.companies', 'name', $1)", &[&indexed]).await;
    (database, session)
}

#[tokio::test]
async fn text_identifies_its_record() {
    for indexed in [true, false] {
        let (_database, session) = crm(indexed).await;
        let long = "ä".repeat(199);
        let (one, other) = (format!("{long}1{}", "x".repeat(100)), format!("{long}1{}", "y".repeat(100)));
        let companies = [
            ("C-1", "Acme"),
            ("C-2", "acme"),
            ("C-3", "100%_'\"\\"),
            ("C-4", &one),
            ("C-5", &other),
            ("C-6", "Cafe\u{301}"),
            ("C-7", "Zürich"),
            ("C-8", "C-1"),
            ("C-9", &format!("{long}1")),
        ];
        add_companies(&session, &companies).await;
        let quoted = "\"100%_'\"\"\\\"";
        let rows = format!(
            "a,Acme\nb,acme\nc,{quoted}\nd,{one}\ne,{other}\nf,Café\ng,Zu\u{308}rich\nh,C-1\ni,{long}1\nj,\nk,Acme\n"
        );
        let report = customers(&session, &rows).await;
        assert_eq!((counts(&report), problems(&report)), ([11, 0, 0], vec![]), "{indexed}: {report}");
        let expected = "a=C-1 b=C-2 c=C-3 d=C-4 e=C-5 f=C-6 g=C-7 h=C-8 i=C-9 j= k=C-1";
        assert_eq!(links(&session).await, expected, "{indexed}");
        assert_eq!(counts(&customers(&session, &rows).await), [0, 0, 11], "{indexed}");
    }
}

#[tokio::test]
async fn missing_or_ambiguous_text_rejects_the_row() {
    for indexed in [true, false] {
        let (_database, session) = crm(indexed).await;
        let gone = [("D-1", "Gone"), ("D-2", "Once")];
        add_companies(&session, &gone).await;
        session.run("select keyed.delete_record(id) from crm.companies").await;
        let companies = [
            ("C-1", "Acme"),
            ("C-2", "Twice"),
            ("C-3", "Twice"),
            ("C-4", "é"),
            ("C-5", "e\u{301}"),
            ("C-6", "Once"),
        ];
        add_companies(&session, &companies).await;
        let report =
            customers(&session, "a,Acme\nb,Gone\nc,Twice\nd,é\ne,Acm_\nf,Acme \ng,C-1\nh,Once\n").await;
        assert_eq!(counts(&report), [2, 0, 0], "{report}");
        let company = |row: u64, code: &str| json!([row, "company", code]);
        let expected = [
            company(1, "reference_not_found"),
            company(2, "invalid_value"),
            company(3, "invalid_value"),
            company(4, "reference_not_found"),
            company(5, "reference_not_found"),
            company(6, "reference_not_found"),
        ];
        let mut found = problems(&report);
        found.sort_by_key(|it| it[0].as_u64());
        assert_eq!(found, expected, "{indexed}");
        let message = |row: u64| {
            let errors = report["errors"].as_array().expect("errors");
            errors.iter().find(|it| it["row"] == row).map(|it| it["message"].as_str().unwrap_or_default())
        };
        assert_eq!(
            message(1),
            Some(
                "no record of crm.companies with name = \"Gone\". Correct the value, or create the record first."
            )
        );
        assert_eq!(
            message(2),
            Some(
                "2 records of crm.companies with name = \"Twice\". Make the values unique, or remove match for this \
                 column and use external keys."
            )
        );
        assert_eq!(links(&session).await, "a=C-1 h=C-6", "{indexed}");
    }
}

#[tokio::test]
async fn invisible_record_is_reported_as_missing() {
    let (database, session) = crm(true).await;
    add_companies(&session, &[("C-1", "Seen"), ("C-2", "Hidden"), ("C-3", "Both"), ("C-4", "Both")]).await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm.customers", "read, create, update").await;
    let scope = json!({"field": "external_key", "operator": "in", "value": ["C-1", "C-3"]});
    database.grant_within(&role, "crm.companies", "read", &scope).await;
    let clerk = database.session_as(&role).await;
    let template = number(&session, "customers").await;
    let import = async |rows: &str| {
        let options = json!({"format": "csv", "header": ["external_key", "company"], "match": {"company": "name"}, "is_last": true});
        clerk
            .json("select keyed_http.import_rows($1, $2, $3)", &[&template, &options.to_string(), rows])
            .await
    };
    let report = import("a,Seen\nb,Hidden\nc,Both\nd,Nowhere\n").await;
    assert_eq!(counts(&report), [2, 0, 0], "{report}");
    assert_eq!(links(&session).await, "a=C-1 c=C-3");
    let error = |row: usize, name: &str| {
        report["errors"][row]["message"].as_str().unwrap_or_default().replace(name, "…")
    };
    assert_eq!(error(0, "Hidden"), error(1, "Nowhere"), "{report}");
    // Without the read privilege, no text is looked up.
    database.revoke(&role, "crm.companies").await;
    let options =
        json!({"format": "csv", "header": ["external_key", "company"], "match": {"company": "name"}});
    let sql = "select keyed_http.import_rows($1, $2, $3)";
    let error = clerk.error(sql, &[&template, &options.to_string(), "a,Seen\n"]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"), "{error}");
}

#[tokio::test]
async fn match_accepts_references_and_string_attributes() {
    let (_database, session) = crm(true).await;
    session
        .run("select keyed.add_attribute('crm.companies', '{\"slug\": \"tags\", \"type\": \"list\"}')")
        .await;
    let template = number(&session, "customers").await;
    for (matching, header, code, position, says) in [
        (
            json!({"compani": "name"}),
            "company",
            "unknown_attribute",
            "/match/compani",
            "one of its references: company.",
        ),
        (json!({"name": "name"}), "name", "invalid_value", "/match/name", "one of its references: company."),
        (
            json!({"company": "title"}),
            "company",
            "unknown_attribute",
            "/match/company",
            "of its target: name",
        ),
        (json!({"company": "tags"}), "company", "invalid_value", "/match/company", "of its target: name"),
        (
            json!({"company": "external_key"}),
            "company",
            "unknown_attribute",
            "/match/company",
            "of its target: name",
        ),
        (
            json!({"company": "name"}),
            "name",
            "invalid_value",
            "/match/company",
            "one of its columns: external_key, name.",
        ),
        (json!({"company": 1}), "company", "invalid_value", "/match/company", ""),
        (json!(["company"]), "company", "invalid_value", "/match", ""),
    ] {
        let options =
            json!({"format": "csv", "header": ["external_key", header], "match": matching}).to_string();
        let error = session.error("select keyed_http.import_rows($1, $2, '')", &[&template, &options]).await;
        assert_eq!(error.codes(), ("22023", code), "{options}: {error}");
        assert_eq!(error.detail["errors"][0]["pointer"], position, "{options}: {error}");
        assert!(error.hint.contains(says), "{options}: {error}");
    }
    // Targets are looked up again for each chunk.
    add_companies(&session, &[("C-1", "Acme")]).await;
    session.run("select keyed.alter_attribute('crm.companies', 'name', '{\"slug\": \"title\"}')").await;
    let options =
        json!({"format": "csv", "header": ["external_key", "company"], "match": {"company": "name"}});
    let error = session
        .error("select keyed_http.import_rows($1, $2, E'a,Acme\\n')", &[&template, &options.to_string()])
        .await;
    assert_eq!(error.codes(), ("22023", "unknown_attribute"), "{error}");
}

#[tokio::test]
async fn ndjson_identifies_targets_by_text_or_key() {
    let (_database, session) = crm(true).await;
    add_companies(&session, &[("C-1", "Acme"), ("C-2", "0198c7a2-0000-8000-8000-000000000000")]).await;
    let row = |key: &str, company: Value| json!({"external_key": key, "attributes": {"company": company}});
    let rows = [
        row("a", json!("Acme")),
        row("b", json!("0198c7a2-0000-8000-8000-000000000000")),
        row("c", json!({"external_key": "C-1"})),
        row("d", json!(null)),
        row("e", json!("Nowhere")),
        row("f", json!(1)),
    ];
    let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let options = json!({"format": "ndjson", "match": {"company": "name"}, "is_last": true}).to_string();
    let template = number(&session, "customers").await;
    let report =
        session.json("select keyed_http.import_rows($1, $2, $3)", &[&template, &options, &rows]).await;
    let mut found = problems(&report);
    found.sort_by_key(|it| it[0].as_u64());
    let expected = [json!([4, "company", "reference_not_found"]), json!([5, "company", "invalid_value"])];
    assert_eq!((counts(&report), found), ([4, 0, 0], expected.to_vec()), "{report}");
    assert_eq!(links(&session).await, "a=C-1 b=C-2 c=C-1 d=");
}

#[tokio::test]
async fn required_reference_by_text_needs_one_record() {
    let (_database, session) = crm(true).await;
    session
        .run(
            "select keyed.create_template('crm', 'visits', '[{\"slug\": \"at\", \"type\": \"reference\", \
             \"template\": \"companies\", \"required\": true}]')",
        )
        .await;
    add_companies(&session, &[("C-1", "Acme")]).await;
    let options = json!({"match": {"at": "name"}});
    let report =
        import(&session, "visits", &options, &["external_key", "at"], "a,Acme\nb,\nc,Nowhere\n").await;
    let mut found = problems(&report);
    found.sort_by_key(|it| it[0].as_u64());
    let expected = [json!([1, "at", "required_attribute"]), json!([2, "at", "reference_not_found"])];
    assert_eq!((counts(&report), found), ([1, 0, 0], expected.to_vec()), "{report}");
}

#[tokio::test]
async fn chunk_of_rows_needs_one_statement() {
    for indexed in [true, false] {
        let (_database, session) = crm(indexed).await;
        session
            .run(
                "insert into crm.companies (external_key, name) select 'C-' || i, 'Company ' || i from generate_series(1, 8000) i; \
                 insert into crm.companies (external_key, name) select 'D-' || i, 'Same' from generate_series(1, 8000) i; \
                 analyze crm.companies",
            )
            .await;
        let rows = |count: usize| -> String {
            (1..=count)
                .map(|row| {
                    format!(
                        "k{row},{}\n",
                        if row % 2 == 0 { "Same".to_owned() } else { format!("Company {row}") }
                    )
                })
                .collect()
        };
        let time = async |count: usize| {
            let before = session.processor_time().await;
            let report = customers(&session, &rows(count)).await;
            assert_eq!(counts(&report).iter().sum::<u64>(), count.div_ceil(2) as u64, "{indexed}");
            assert_eq!(report["errors"].as_array().map(Vec::len), Some(count / 2), "{indexed}");
            session.processor_time().await - before
        };
        // After five executions, PostgreSQL caches a generic plan.
        for _ in 0..7 {
            time(10).await;
        }
        // Measured together, because the process clock ticks in hundredths of a second.
        let mut few = Duration::ZERO;
        for _ in 0..16 {
            few += time(500).await;
        }
        let many = time(8000).await;
        assert!(many < few * 4, "{indexed}: 16 times 500 rows take {few:?}, 8000 take {many:?}");
    }
}
