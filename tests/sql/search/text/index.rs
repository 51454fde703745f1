//! The index of documents finds exactly what a sequential comparison finds.

use crate::model::random::Random;
use harness::companies::DOCUMENTS;
use harness::{Database, Session, major_version};

/// Characters of every class that index keys distinguish, document separators, and pattern characters.
const LETTERS: [&str; 24] = [
    "a", "a", "b", "b", "c", "A", "B", "1", "2", "-", ".", "@", "%", "_", "\\", " ", " ", "\u{1d}",
    "\u{1e} ", "ä", "Ä", "Ж", "ж", "京",
];

fn random_text(random: &mut Random) -> String {
    (0..1 + random.below(40)).map(|_| LETTERS[random.below(LETTERS.len())]).collect()
}

/// A substring of a text, with wildcards and escapes.
fn random_pattern(random: &mut Random, strings: &[String]) -> String {
    let text: Vec<char> = strings[random.below(strings.len())].chars().collect();
    let (from, length) = (random.below(text.len()), 1 + random.below(7));
    let mut pattern = String::from(if random.below(8) > 0 { "%" } else { "" });
    for character in text.iter().skip(from).take(length) {
        match random.below(12) {
            0 => pattern.push('%'),
            1 => pattern.push('_'),
            2 => pattern.push_str("\\\u{1d}"),
            _ if matches!(character, '%' | '_' | '\\') => pattern.extend(['\\', *character]),
            _ => pattern.push(*character),
        }
    }
    if random.below(8) > 0 {
        pattern.push('%');
    }
    pattern
}

/// The operator classes for documents: that of this version, and that of the first release.
const CLASSES: [&str; 2] = ["document_words", "document_trigrams"];

async fn found(session: &Session, operator: &str, pattern: &str) -> String {
    let sql = format!("select string_agg(n::text, ' ' order by n) from texts where document {operator} $1");
    session.text(&sql, &[pattern]).await
}

#[tokio::test]
async fn index_agrees_with_sequential_comparison() {
    let database = Database::new().await;
    let session = database.session().await;
    let mut random = Random::new(20_260);
    let strings: Vec<String> = (0..1500).map(|_| random_text(&mut random)).collect();
    session.run("create table texts (n serial, document text collate \"C\")").await;
    let rows = serde_json::to_string(&strings).expect("texts are JSON");
    session.rows("insert into texts (document) select jsonb_array_elements_text($1::jsonb)", &[&rows]).await;
    session.run("analyze texts; set jit = off").await;
    let (mut compared, mut non_empty) = (0, 0);
    let operators = ["like", "ilike", "not like", "not ilike"];
    for (class, operator) in CLASSES.into_iter().flat_map(|class| operators.map(|operator| (class, operator)))
    {
        session
            .run(&format!(
                "drop index if exists i; create index i on texts using gin (document keyed.{class})"
            ))
            .await;
        // Some entries first go into the pending list.
        session.run("insert into texts (document) select document from texts limit 30").await;
        for _ in 0..180 {
            let pattern = random_pattern(&mut random, &strings);
            session.run("set enable_seqscan = on; set enable_bitmapscan = off").await;
            let expected = found(&session, operator, &pattern).await;
            session.run("set enable_seqscan = off; set enable_bitmapscan = on").await;
            assert_eq!(found(&session, operator, &pattern).await, expected, "{class} {operator} {pattern:?}");
            compared += 1;
            non_empty += u32::from(!expected.is_empty());
        }
    }
    assert!(non_empty * 2 > compared, "most patterns must find something: {non_empty} of {compared}");
    let plan =
        session.text("explain (format json) select from texts where document ilike '%abc%'", &[]).await;
    assert!(plan.contains("Bitmap Index Scan"), "{plan}");
}

#[tokio::test]
async fn index_rechecks_case() {
    let database = Database::new().await;
    let session = database.session().await;
    session
        .run(
            "create table texts (n serial, document text collate \"und-x-icu\");
             insert into texts (document) values ('STRASSE İZMİR'), ('strasse izmir'), ('ÉCOLE');
             create index on texts using gin (document keyed.document_words); set enable_seqscan = off",
        )
        .await;
    let plan =
        session.text("explain (format json) select from texts where document ilike '%ÉCO%'", &[]).await;
    assert!(plan.contains("Bitmap Index Scan"), "{plan}");
    assert_eq!(found(&session, "ilike", "%ÉCO%").await, "3");
    assert_eq!(found(&session, "ilike", "%éco%").await, "3");
    assert_eq!(found(&session, "ilike", "%strasse%").await, "1 2");
    assert_eq!(found(&session, "like", "%STR%").await, "1");
}

#[tokio::test]
async fn nondeterministic_collation_is_rechecked() {
    let database = Database::new().await;
    let session = database.session().await;
    session
        .run(
            "create collation bare (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
             create table texts (n serial, document text collate bare);
             insert into texts (document) values ('école'), ('ECOLE'), ('lycée');
             create index on texts using gin (document keyed.document_words); set enable_seqscan = off",
        )
        .await;
    let like = "select string_agg(n::text, ' ' order by n) from texts where document like '%ecole%'";
    if major_version() < 18 {
        assert_eq!(session.error(like, &[]).await.state, "0A000"); // PostgreSQL supports LIKE with nondeterministic collations since version 18.
        return;
    }
    let plan = session.text(&format!("explain (format json) {like}"), &[]).await;
    assert!(plan.contains("Bitmap Index Scan"), "{plan}");
    assert_eq!(session.text(like, &[]).await, "1 2");
}

#[tokio::test]
async fn operator_class_is_valid() {
    let database = Database::new().await;
    let session = database.session().await;
    for class in CLASSES {
        let sound = format!("select amvalidate(oid) from pg_opclass where opcname = '{class}'");
        assert_eq!(session.text(&sound, &[]).await, "t", "{class}");
    }
    // Only an index can call the function. Up to 15.18, PostgreSQL finds the function, but no value for its second
    // argument.
    for number in ["null", "'1'", "1"] {
        let call = format!("select keyed.trigrams_of_document('x', {number})");
        let error = session.error(&call, &[]).await;
        assert!(["42883", "0A000"].contains(&error.state.as_str()), "{number}: {error}");
    }
    let error = session.error("select keyed.trigrams_of_document('x', '1'::internal)", &[]).await;
    assert!(error.message.contains("internal"), "{error}");
}

#[tokio::test]
async fn null_short_and_huge_text_is_indexed() {
    let database = Database::new().await;
    let session = database.session().await;
    session
        .run(
            "create table texts (n serial, document text collate \"C\");
             create index on texts using gin (document keyed.document_words);
             insert into texts (document) values (null), (''), ('-'), ((select string_agg(md5(n::text), ' ') from generate_series(1, 100000) n));
             set enable_seqscan = off",
        )
        .await;
    assert_eq!(found(&session, "like", "%").await, "2 3 4");
    assert_eq!(found(&session, "like", "%-%").await, "3");
    assert_eq!(found(&session, "like", "% c4ca4238a0b923820dcc509a6f75849b%").await, "");
    assert_eq!(found(&session, "ilike", "%C4CA4238a0b923820dcc509a6f75849b%").await, "4");
}

const CLASS: &str = "select string_agg(c.opcname, ' ' order by i.indexrelid::regclass::text) from pg_index i
  join pg_opclass c on c.oid = i.indclass[0] where i.indexrelid::regclass::text like '%\\_trigram'";

#[tokio::test]
async fn newer_library_works_with_older_sql() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("insert into crm.customers (external_key, name) values ('AB-12-X', 'Ada')").await;
    let functions = "keyed.trigrams_of_document(text, internal),
      keyed.trigrams_of_pattern(text, internal, smallint, internal, internal, internal, internal),
      keyed.trigrams_match(internal, smallint, text, integer, internal, internal, internal),
      keyed.words_of_document(text, internal),
      keyed.words_of_pattern(text, internal, smallint, internal, internal, internal, internal),
      keyed.words_match(internal, smallint, text, integer, internal, internal, internal)";
    let definition =
        include_str!("../../../../sql/functions/text_index.sql").replace("MODULE_PATHNAME", "$libdir/keyed");
    session.run(&format!("drop index {DOCUMENTS}_trigram")).await;
    for class in CLASSES {
        session
            .run(&format!(
                "alter extension keyed drop operator class keyed.{class} using gin;
                 alter extension keyed drop operator family keyed.{class} using gin;
                 drop operator family keyed.{class} using gin cascade"
            ))
            .await;
    }
    session.run("begin").await;
    let functions: Vec<String> =
        functions.split("),").map(|function| format!("{})", function.trim_end_matches(')'))).collect();
    for function in &functions {
        session
            .run(&format!("alter extension keyed drop function {function}; drop function {function}"))
            .await;
    }
    session.run("commit; select keyed.migrate(); select keyed.create_template('crm', 'later', '[]')").await;
    assert_eq!(session.text(CLASS, &[]).await, "gin_trgm_ops");
    let query = "select keyed.search('crm.customers', '{\"global_search\": \"2-x\"}') -> 'records' -> 0 ->> 'external_key'";
    assert_eq!(session.text(query, &[]).await, "AB-12-X");
    session.run(&definition).await;
    for function in &functions {
        session.run(&format!("alter extension keyed add function {function}")).await;
    }
    session.run("select keyed.migrate()").await;
    assert_eq!(session.text(CLASS, &[]).await, "document_words document_words document_words");
    assert_eq!(session.text(query, &[]).await, "AB-12-X");
}
