//! Random records: every value that a caller reads can be written back without a change, by every way to write.

use crate::model::{Random, World, seed};
use harness::{Database, Session};
use serde_json::{Value, json};

/// The statements that write back a record ($1), by name. Those by key apply to records with a key.
const WRITES: [(&str, &str); 8] = [
    ("PATCH", "select keyed_http.patch_record($1, jsonb_build_object('attributes', {read})::text)"),
    (
        "PATCH with the key",
        "select keyed_http.patch_record($1, jsonb_build_object('attributes', {read}, 'external_key', {key})::text)",
    ),
    ("PUT", "select keyed_http.replace_attributes($1, jsonb_build_object('attributes', {read})::text)"),
    (
        "PATCH of the history",
        "select keyed_http.patch_record($1, jsonb_build_object('attributes', {history})::text)",
    ),
    (
        "batch, update by id",
        "select keyed.batch(jsonb_build_array(jsonb_build_object('op', 'update', 'id', $1, 'attributes', {read})), true)",
    ),
    (
        "batch, update by key",
        "select keyed.batch(jsonb_build_array(jsonb_build_object('op', 'update', 'template', 'p.things', \
           'external_key', {key}, 'attributes', {read})), true) where {key} is not null",
    ),
    (
        "batch, upsert",
        "select keyed.batch(jsonb_build_array(jsonb_build_object('op', 'upsert', 'template', 'p.things', \
           'external_key', {key}, 'attributes', {read})), true) where {key} is not null",
    ),
    ("upsert", "select keyed.upsert_by_key('p.things', {key}, {read}) where {key} is not null"),
];

fn statement(write: &str) -> String {
    let newest = "(select jsonb_object_agg(e.slug, e.new) from (select distinct on (c.key) c.key as slug, c.value -> 'new' as new \
                   from keyed.history($1) h, jsonb_each(h.changes) c order by c.key, h.version desc) e \
                   where keyed.get_record($1) -> 'attributes' ? e.slug)";
    write
        .replace("{read}", "(keyed.get_record($1) -> 'attributes')")
        .replace("{key}", "(keyed.get_record($1) ->> 'external_key')")
        .replace("{history}", newest)
}

/// Records with values that cannot be written newly: references to deleted records, removed options, metrics with a
/// future point, metric values written by SQL, and history of dropped attributes.
async fn make(session: &Session, random: &mut Random) -> World {
    let world = World::create(session, random).await;
    let points = json!({"attributes": {"mood": [
        {"value": 2.5, "at": "2999-01-01T00:00:00Z"}, {"value": 3, "at": "2001-01-01T00:00:00Z"}
    ]}});
    let live: Vec<String> = ids(session, "true").await;
    for id in live.iter().filter(|_| random.one_in(4)) {
        session.rows("select keyed.patch_record($1, $2)", &[id, &points.to_string()]).await;
    }
    for id in live.iter().filter(|_| random.one_in(4)) {
        session.rows("update p.things set level = 42 where id = $1", &[id]).await;
    }
    let removed = ids(session, "tier && array['silver', 'b,c']").await;
    assert!(removed.len() > 3, "almost no record has a removed option");
    for id in &removed {
        session.rows("select keyed.delete_record($1)", &[id]).await;
    }
    session.run("select keyed.alter_attribute('p.things', 'tier', '{\"options\": [\"gold\"]}')").await;
    for id in &removed {
        session.rows("select keyed.restore_record($1)", &[id]).await;
    }
    session.run("select keyed.drop_attribute('p.things', 'price')").await;
    world
}

async fn ids(session: &Session, condition: &str) -> Vec<String> {
    let sql = format!("select id from p.things where deleted_at is null and {condition} order by id");
    let rows = session.rows(&sql, &[]).await;
    rows.into_iter().filter_map(|mut row| row.pop()?).collect()
}

/// The version of each record, and the number of its history entries.
async fn state(administrator: &Session, world: &World) -> Vec<String> {
    let number = world.number(crate::model::world::Template::Things, "template_id").expect("a number");
    let sql = format!(
        "select concat_ws(' ', t.id, t.updated_at, keyed.record_version(t.id), \
           (select count(*) from keyed_state.history_{number} h where h.record_id = t.id)) from p.things t order by t.id"
    );
    administrator.rows(&sql, &[]).await.into_iter().filter_map(|mut row| row.pop()?).collect()
}

fn differences(before: &[String], after: &[String]) -> Vec<String> {
    before
        .iter()
        .zip(after)
        .filter(|(one, other)| one != other)
        .map(|(one, other)| format!("{one} → {other}"))
        .collect()
}

/// A file with all records that the caller reads.
async fn export(session: &Session, template: &str, format: &str) -> String {
    session.run("begin").await;
    let mut file = session.text("select keyed_http.export_open($1, $2, '{}')", &[template, format]).await;
    loop {
        let chunk = session.text("select keyed_http.export_next()", &[]).await;
        if chunk.is_empty() {
            break;
        }
        file += &chunk;
    }
    session.run("commit").await;
    file
}

async fn import(session: &Session, template: &str, format: &str, file: &str) -> Value {
    let (header, rows) = match format {
        "csv" => file.split_once("\r\n").expect("a header"),
        _ => ("", file),
    };
    let header: Vec<&str> = header.split(',').filter(|name| !name.is_empty()).collect();
    let options = json!({"format": format, "header": header, "delimiter": ",", "is_last": true}).to_string();
    session.json("select keyed_http.import_rows($1, $2, $3)", &[template, &options, rows]).await
}

/// Has a caller write back everything that it reads.
async fn check(who: &str, session: &Session, administrator: &Session, world: &World) {
    let things =
        world.number(crate::model::world::Template::Things, "template_id").expect("a number").to_owned();
    let before = state(administrator, world).await;
    let seen = ids(session, "true").await;
    assert!(seen.len() > 5, "{who} can read almost nothing");
    for id in &seen {
        for (name, write) in WRITES {
            if let Err(error) = session.attempt(&statement(write), &[id]).await {
                let record = session.text("select keyed.get_record($1)", &[id]).await;
                panic!("{who}: {name} of {record}: {error}");
            }
        }
    }
    let after = state(administrator, world).await;
    assert_eq!(differences(&before, &after), Vec::<String>::new(), "{who}, one by one");

    let all = "select keyed.batch(jsonb_agg(jsonb_build_object('op', 'upsert', 'template', 'p.things', 'external_key', \
                 external_key, 'attributes', keyed.get_record(id) -> 'attributes'))) from p.things where external_key is not null";
    let report = session.json(all, &[]).await;
    assert_eq!(report["errors"], false, "{who}: {report}");
    assert_eq!(
        differences(&before, &state(administrator, world).await),
        Vec::<String>::new(),
        "{who}, in a batch"
    );

    let records = "select string_agg(keyed.get_record(id, verbose => true)::text, E'\\n') from p.things where deleted_at is null";
    let results = session.text(records, &[]).await;
    for (what, format, file) in [
        ("answers", "ndjson", results),
        ("an export", "ndjson", export(session, &things, "ndjson").await),
        ("an export", "csv", export(session, &things, "csv").await),
    ] {
        let report = import(session, &things, format, &file).await;
        assert_eq!(report["errors"], json!([]), "{who}: {format} of {what}: {file}");
        assert_eq!((&report["created"], &report["waiting"]), (&json!(0), &json!([])), "{who}: {report}");
        let after = state(administrator, world).await;
        assert_eq!(differences(&before, &after), Vec::<String>::new(), "{who}, by {format} of {what}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_record_can_be_written_back_unchanged() {
    let mut random = Random::new(seed());
    for _ in 0..2 {
        let database = Database::new().await;
        let administrator = database.session().await;
        let world = make(&administrator, &mut random).await;
        let deleted = "select count(*) from p.things t join p.places p on p.id = t.place \
                       where t.deleted_at is null and p.deleted_at is not null";
        assert_ne!(administrator.text(deleted, &[]).await, "0", "no reference to a deleted record");
        check("an administrator", &administrator, &administrator, &world).await;

        let role = database.create_role("steward").await;
        let scopes = [
            json!({"not": {"field": "done", "operator": "eq", "value": true}}),
            json!({"field": "parent", "operator": "not-empty"}),
            json!({"field": "amount", "operator": "neq", "value": 1}),
            json!({"field": "place.size", "operator": "neq", "value": 1}),
        ];
        let scope = random.pick(&scopes);
        database.grant_within(&role, "p.things", "read, create, update", scope).await;
        if !random.one_in(3) {
            let positions = json!({"field": "size", "operator": "gte", "value": 1});
            database.grant_within(&role, "p.places", "read", &positions).await;
        }
        let steward = database.session_as(&role).await;
        check(&format!("a role within {scope}"), &steward, &administrator, &world).await;
        database.cluster().assert_no_crash();
    }
}
