//! Scaling tests: the cost of an operation on rows is linear in their number.
//!
//! Cost is measured in pages that a statement reads, including the statements of its functions. Each operation runs for
//! this many rows and for four times as many, in a session that has planned its statements on an empty table, on a
//! table whose statistics say that it is tiny, and next to many other records.

mod errors;
mod maintenance;
mod writes;

use harness::{Database, Session};
use serde_json::json;

/// The number of rows, which is also multiplied by four.
const FEW: usize = 1000;
/// The factor by which four times as many rows may cost more, because indexes get deeper.
const MAX_FACTOR: f64 = 4.5;

/// The rows that an operation processes in one call: a chunk of a file, a batch.
const CHUNK: usize = 500;

const HELPERS: &str = "
    create function public.number(template text) returns text language sql as
      'select t.id::text from keyed_state.template t where t.slug = template';
    create function public.run(statement text) returns void language plpgsql as $f$
    begin
      execute statement;
    end $f$;
    create function public.export_all(template text, format text) returns bigint language plpgsql as $f$
    declare
      part text;
      size bigint := length(keyed_http.export_open(public.number(template), format, '{}'));
    begin
      loop
        part := keyed_http.export_next();
        exit when part is null;
        size := size + length(part);
      end loop;
      return size;
    end $f$;
    create table public.tokens (slug text, token text)";

/// An operation: the statements that process this many rows of a template, starting at an id.
type Statements = fn(template: &str, from: usize, count: usize) -> Vec<String>;

struct Operation {
    name: &'static str,
    /// The preparation of the operation.
    before: Statements,
    run: Statements,
}

/// A template with nine attributes.
async fn template(session: &Session, slug: &str) {
    let attributes = json!([
        {"slug": "name", "type": "string"}, {"slug": "city", "type": "string", "indexed": true},
        {"slug": "note", "type": "string"}, {"slug": "size", "type": "number", "indexed": true},
        {"slug": "price", "type": "number"}, {"slug": "born", "type": "date"},
        {"slug": "seen", "type": "datetime"},
        {"slug": "kind", "type": "list", "options": ["a", "b", "c"]}
    ]);
    session.rows("select keyed.create_template('crm', $1, $2)", &[slug, &attributes.to_string()]).await;
    let within = json!({"slug": "within", "type": "reference", "template": slug});
    let add = "select keyed.add_attribute(('crm.' || $1)::regclass, $2)";
    session.rows(add, &[slug, &within.to_string()]).await;
    let endpoint =
        json!({"slug": slug, "external_key": "$.id", "signed": false, "mapping": {"name": "$.name"}});
    let create = "select keyed.create_inbound_endpoint(('crm.' || $1)::regclass, $2)";
    session.rows(create, &[slug, &endpoint.to_string()]).await;
}

/// The pages that a statement and its functions read.
async fn pages(session: &Session, statement: &str) -> u64 {
    let explain = format!("explain (analyze, buffers, timing off, format json) {statement}");
    let explained = session.json(&explain, &[]).await;
    let plan = &explained[0]["Plan"];
    ["Shared Hit Blocks", "Shared Read Blocks", "Local Hit Blocks", "Temp Read Blocks", "Temp Written Blocks"]
        .iter()
        .map(|name| plan[*name].as_u64().unwrap_or_default())
        .sum()
}

/// The cost of an operation on this many rows, in pages.
async fn cost(database: &Database, state: State, slug: &str, operation: &Operation, count: usize) -> u64 {
    let session = database.session().await;
    template(&session, slug).await;
    match state {
        State::Empty => {}
        State::Tiny => {
            // Caches the session's plans for the current state.
            for statement in (operation.before)(slug, 1, 3).into_iter().chain((operation.run)(slug, 1, 3)) {
                session.run(&statement).await;
            }
            session.run("vacuum analyze").await;
            for statement in (operation.before)(slug, 4, 3).into_iter().chain((operation.run)(slug, 4, 3)) {
                session.run(&statement).await;
            }
        }
        State::Full => {
            let fill =
                "insert into crm.{t} (external_key, name, city, size) select 'other' || i, 'n' || i, 'c', i
                        from generate_series(1, 8000) i";
            session.run(&fill.replace("{t}", slug)).await;
            session.run("vacuum analyze").await;
        }
    }
    for statement in (operation.before)(slug, 10, count) {
        session.run(&statement).await;
    }
    let mut sum = 0;
    for statement in (operation.run)(slug, 10, count) {
        sum += pages(&session, &statement).await;
    }
    sum
}

#[derive(Clone, Copy, Debug)]
enum State {
    Empty,
    Tiny,
    Full,
}

/// Asserts that the operations scale linearly.
async fn in_proportion(states: &[State], operations: &[Operation]) {
    let database = Database::with_crm().await;
    database.session().await.run(HELPERS).await;
    let (mut excesses, mut number) = (Vec::new(), 0);
    for operation in operations {
        for state in states {
            let Operation { name, .. } = operation;
            number += 1;
            let slug = |size| format!("{size}_{number}");
            let few = cost(&database, *state, &slug("few"), operation, FEW).await;
            let many = cost(&database, *state, &slug("many"), operation, 4 * FEW).await;
            let reported =
                format!("{name}, {state:?}: {few} pages for {FEW} rows, {many} for four times as many");
            println!("{reported}");
            if many as f64 > MAX_FACTOR * few as f64 {
                excesses.push(reported);
            }
        }
    }
    assert!(excesses.is_empty(), "{excesses:#?}");
}

fn nothing(_: &str, _: usize, _: usize) -> Vec<String> {
    Vec::new()
}

/// The attributes of the record `i` as an SQL expression of JSON, with a reference by a key expression.
fn attributes(within: &str) -> String {
    format!(
        "jsonb_build_object('name', 'Name ' || i, 'city', 'City ' || i % 50, 'note', md5(i::text), 'size', i, \
         'price', i % 97, 'born', date '2000-01-01' + i % 9000, 'seen', '2024-02-29T12:00:00Z', \
         'kind', 'a', 'within', case when {within} is null then 'null'::jsonb \
         else jsonb_build_object('external_key', {within}) end)"
    )
}

fn inserts(template: &str, from: usize, count: usize) -> Vec<String> {
    vec![format!(
        "select public.run($f$insert into crm.{template} (external_key, name, city, note, size, price, kind) \
         select 'k' || i, 'Name ' || i, 'City ' || i % 50, md5(i::text), i, i % 97, '{{a}}' \
         from generate_series({from}, {}) i$f$)",
        from + count - 1
    )]
}

/// Splits this many rows into parts.
fn chunks(from: usize, count: usize, statement: impl Fn(usize, usize) -> String) -> Vec<String> {
    let end = from + count;
    (from..end).step_by(CHUNK).map(|begin| statement(begin, (begin + CHUNK).min(end) - 1)).collect()
}

/// A file in chunks; each row references the one before, if any.
fn file(template: &str, from: usize, count: usize, name: &str, within: &str) -> Vec<String> {
    let header = ["external_key", "name", "city", "note", "size", "price", "born", "seen", "kind", "within"];
    let options = json!({"format": "csv", "header": header, "delimiter": ","});
    chunks(from, count, |begin, end| {
        format!(
            "select keyed_http.import_rows(public.number('{template}'), '{options}', string_agg(concat_ws(',', 'k' || i, '{name} ' || i, \
             'City ' || i % 50, md5(i::text), i, i % 97, '2000-01-01', '2024-02-29T12:00:00Z', 'b', {within}), E'\\n')) \
             from generate_series({begin}, {end}) i"
        )
    })
}

fn import(template: &str, from: usize, count: usize) -> Vec<String> {
    file(template, from, count, "Name", "''")
}

fn import_again(template: &str, from: usize, count: usize) -> Vec<String> {
    file(template, from, count, "Other", "''")
}

fn import_chain(template: &str, from: usize, count: usize) -> Vec<String> {
    file(template, from, count, "Name", &format!("case when i > {from} then 'k' || i - 1 else '' end"))
}

fn upserts(template: &str, from: usize, count: usize) -> Vec<String> {
    vec![format!(
        "select count(u) from generate_series({from}, {}) i, \
         lateral keyed.upsert_by_key('crm.{template}', 'k' || i, {}) u",
        from + count - 1,
        attributes(&format!("case when i > {from} then 'k' || i - 1 end"))
    )]
}

fn lookups(template: &str, from: usize, count: usize) -> Vec<String> {
    vec![format!(
        "select count(keyed.get_by_key('crm.{template}', 'k' || i)) from generate_series({from}, {}) i",
        from + count - 1
    )]
}

fn batches(template: &str, from: usize, count: usize) -> Vec<String> {
    chunks(from, count, |begin, end| {
        format!(
            "select keyed.batch(jsonb_agg(jsonb_build_object('op', 'upsert', 'template', 'crm.{template}', \
             'external_key', 'k' || i, 'attributes', {} - 'within')), true) from generate_series({begin}, {end}) i",
            attributes("null::text")
        )
    })
}
