//! Invariants of every database: the history explains the state of each record, and the side tables agree with the
//! records.

use harness::{Database, Rows, Session, companies, customers, notes, proxy_program};
use serde_json::Value;

/// A template with its history and documents tables, and the attribute whose text is unique.
struct Tables {
    records: &'static str,
    history: &'static str,
    documents: &'static str,
    name: &'static str,
}

const TABLES: [Tables; 3] = [
    Tables {
        records: "crm.companies",
        history: companies::HISTORY,
        documents: companies::DOCUMENTS,
        name: "name",
    },
    Tables {
        records: "crm.customers",
        history: customers::HISTORY,
        documents: customers::DOCUMENTS,
        name: "name",
    },
    Tables { records: "crm.notes", history: notes::HISTORY, documents: notes::DOCUMENTS, name: "text" },
];

/// Fails with the first ten rows that a query finds.
async fn assert_none(session: &Session, what: &str, query: &str) {
    let found =
        session.text(&format!("select string_agg(f::text, E'\\n') from ({query} limit 10) f"), &[]).await;
    assert_eq!(found, "", "{what}");
}

/// Checks all invariants, without the indexes, which have their own check. After some rounds there are hundreds of
/// thousands of rows, so they are sorted or hashed in memory; a nested loop would take too long.
pub(super) async fn assert_invariants(session: &Session) {
    session
        .run(
            "set enable_indexscan = off; set enable_bitmapscan = off; set enable_indexonlyscan = off; \
             set enable_nestloop = off; set work_mem = '256MB'",
        )
        .await;
    for tables in &TABLES {
        history_replays_to_the_state(session, tables).await;
        documents_agree(session, tables).await;
    }
    vectors_and_queue_agree(session).await;
    quotas_agree(session).await;
    session.run("reset all; set enable_seqscan = off").await;
    for tables in &TABLES {
        every_text_is_found(session, tables).await;
    }
}

async fn history_replays_to_the_state(session: &Session, tables: &Tables) {
    let Tables { records, history, .. } = tables;
    let replayed = format!(
        "with told as (
           select record_id, coalesce(jsonb_object_agg(slug, value) filter (where slug <> 'external_key' and value <> 'null'), '{{}}') as attributes
           from (select distinct on (h.record_id, c.key) h.record_id, c.key as slug, c.value -> 'new' as value
                 from {history} h, jsonb_each(h.changes) c order by h.record_id, c.key, h.version desc) last group by record_id
         ), newest as (select distinct on (record_id) * from {history} order by record_id, version desc)
         select r.id, r.external_key, told.attributes, newest.operation, newest.at, newest.external_key as told_key
         from {records} r left join told on told.record_id = r.id left join newest on newest.record_id = r.id
         where coalesce(told.attributes, '{{}}') is distinct from
             jsonb_strip_nulls(to_jsonb(r) - '{{id, external_key, created_at, updated_at, deleted_at, _released_key}}'::text[])
           or newest.at is distinct from r.updated_at or (newest.operation = 'delete') <> (r.deleted_at is not null)
           or newest.external_key is distinct from coalesce(r.external_key, r._released_key)"
    );
    assert_none(session, &format!("the history of {records} tells of other records"), &replayed).await;
    let gaps = format!(
        "select record_id, count(*), max(version) from {history} group by record_id
         having max(version) <> count(*) or min(version) <> 1 or bool_or((version = 1) <> (operation = 'create'))"
    );
    assert_none(session, &format!("versions of {records} are missing"), &gaps).await;
    let torn = format!(
        "select * from (select record_id, version, c.key, c.value -> 'old' as old,
           lag(c.value -> 'new') over (partition by record_id, c.key order by version) as before
         from {history}, jsonb_each(changes) c) chain where before is not null and before <> old"
    );
    assert_none(session, &format!("a change of {records} begins where none ended"), &torn).await;
    // For many rows, `not in` would compare each row of one table with all of the other.
    let orphans = format!(
        "select h.record_id from {history} h where not exists (select from {records} r where r.id = h.record_id)"
    );
    assert_none(session, &format!("history of records that are not in {records}"), &orphans).await;
    let twice = format!(
        "select external_key from {records} where deleted_at is null group by external_key having count(*) > 1"
    );
    assert_none(session, &format!("keys of {records} have two live holders"), &twice).await;
}

async fn documents_agree(session: &Session, tables: &Tables) {
    let Tables { records, documents, name, .. } = tables;
    let query = format!(
        "select coalesce(r.id, d.record_id), r.{name}, d.document from (select * from {records} where deleted_at is null) r
         full join {documents} d on d.record_id = r.id
         where r.id is null or d.record_id is null or strpos(d.document, lower(r.{name})) = 0
           or strpos(d.document, lower(r.external_key)) = 0"
    );
    assert_none(session, &format!("documents of {records} and their records differ"), &query).await;
}

async fn vectors_and_queue_agree(session: &Session) {
    for (records, vectors) in [("crm.customers", customers::VECTORS), ("crm.notes", notes::VECTORS)] {
        let query = format!(
            "select v.record_id, v.live, r.deleted_at from {vectors} v left join {records} r on r.id = v.record_id
             where r.id is null or v.live <> (r.deleted_at is null)"
        );
        assert_none(session, &format!("vectors of {records} and their records differ"), &query).await;
    }
    let query = format!(
        "select r.id, r.text, j.state, j.by_hand, v.record_id from crm.notes r
         left join keyed_state.embedding_job j on j.record_id = r.id left join {} v on v.record_id = r.id
         where r.deleted_at is null and (j.state in ('pending', 'running')
           or j.state = 'done' and v.record_id is not null and j.text_hash = sha256(convert_to(r.text, 'UTF8'))) is not true",
        notes::VECTORS
    );
    assert_none(session, "texts have neither a vector nor a queue entry", &query).await;
    let twice =
        "select endpoint_id, webhook_id from keyed_state.inbound_delivery group by 1, 2 having count(*) > 1";
    assert_none(session, "deliveries are there twice", twice).await;
}

async fn quotas_agree(session: &Session) {
    let counted = TABLES.iter().map(|tables| {
        let Tables { records, history, .. } = tables;
        format!(
            "select (select count(*) from {records} where deleted_at is null) as live,
               (select count(*) from {history} where at >= date_trunc('day', now(), 'UTC')) as written"
        )
    });
    let counted: Vec<String> = counted.collect();
    let query = format!(
        "select u.name, u.used, c.live, c.written from keyed.quota_usage('crm') u,
           (select sum(live) as live, sum(written) as written from ({}) c) c
         where u.used <> case u.name when 'live_records' then c.live when 'writes_per_day' then c.written else u.used end",
        counted.join(" union all ")
    );
    assert_none(session, "quotas count missing rows", &query).await;
}

/// By the index of documents. The searches cover the newest records and a random sample.
async fn every_text_is_found(session: &Session, tables: &Tables) {
    let Tables { records, name, .. } = tables;
    let query = format!(
        "select r.id, r.{name} from ((select * from {records} where deleted_at is null order by updated_at desc limit 150)
           union (select * from {records} where deleted_at is null order by md5(id::text) limit 150)) r
         where not keyed.search('{records}', jsonb_build_object('global_search', '\"' || r.{name} || '\"', 'limit', 200)) -> 'records'
           @> jsonb_build_array(jsonb_build_object('id', r.id))"
    );
    assert_none(session, &format!("records of {records} are not found by their text"), &query).await;
}

/// The recall of the vector index for the ten closest customers, relative to a comparison with all. A search compares
/// all vectors while there are few.
pub(super) async fn recall(session: &Session, asked: &[Vec<f64>]) -> f64 {
    let table = customers::VECTORS;
    let by_comparison =
        |from: &str| format!("select record_id from {from} order by embedding <=> $1::vector limit 10");
    // The index stores vectors in half precision, so a search compares some more candidates in full precision.
    let by_index = by_comparison(&format!(
        "(select * from {table} where live order by embedding::halfvec(768) <=> $1::vector::halfvec(768) limit 40) close"
    ));
    let by_comparison = by_comparison(&format!("(select * from {table} where live) v"));
    let ids = |rows: Rows| rows.into_iter().filter_map(|mut row| row.pop().flatten()).collect::<Vec<_>>();
    let (mut found, mut expected) = (0, 0);
    for vector in asked {
        let vector = Value::from(vector.clone()).to_string();
        session.run("set enable_seqscan = off; set enable_indexscan = on; set hnsw.ef_search = 200").await;
        let plan = session.rows(&format!("explain {by_index}"), &[&vector]).await;
        assert!(plan.iter().flatten().flatten().any(|line| line.contains("_hnsw")), "{plan:?}");
        let close = ids(session.rows(&by_index, &[&vector]).await);
        session.run("set enable_seqscan = on; set enable_indexscan = off").await;
        let closest = ids(session.rows(&by_comparison, &[&vector]).await);
        found += closest.iter().filter(|id| close.contains(id)).count();
        expected += closest.len();
    }
    found as f64 / expected as f64
}

/// The newest vectors of customers. A search for each of them must find it by the index.
pub(super) async fn newest_vectors(session: &Session, count: usize) -> Vec<Vec<f64>> {
    let newest = format!(
        "select jsonb_agg(embedding::real[]) from (select v.embedding from {} v join crm.customers c on c.id = v.record_id
         where v.live order by c.created_at desc, c.id limit {count}) newest",
        customers::VECTORS
    );
    serde_json::from_value(session.json(&newest, &[]).await).expect("vectors")
}

/// Checks for temporary leftovers of load.
const OF_LOAD: [&str; 5] = ["dead rows", "unused indexes", "missing indexes", "memory", "transactions"];

/// The findings of `keyed-proxy doctor`.
pub(crate) fn findings(database: &Database) -> Vec<String> {
    let url = database.cluster().url("postgres", database.name());
    let output = proxy_program(&["doctor", "--json"]).env("KEYED_ADMIN_DATABASE_URL", url).output();
    let report: Value = serde_json::from_slice(&output.expect("the program runs").stdout).expect("JSON");
    let findings = report["findings"].as_array().expect("findings").iter();
    let lasting = findings.filter(|finding| !OF_LOAD.iter().any(|check| finding["check"] == *check));
    lasting.map(|finding| format!("{}: {}", finding["check"], finding["message"])).collect()
}
