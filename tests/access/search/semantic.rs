//! Semantic search finds all records that its caller can read, and no others.

use crate::sales::{Sales, of_region};
use harness::customers::VECTORS;
use harness::{SYNTHETIC, Session, array, companies, similar};
use serde_json::{Value, json};

/// Every statement that takes the id of a record, `$1`, and a vector, `$2`.
const BY_ID: [&str; 6] = [
    "select keyed.set_embedding($1, $2)",
    "select keyed.set_embedding($1, null)",
    "select keyed_http.set_embedding($1, jsonb_build_object('vector', $2::real[])::text)",
    "select keyed_http.delete_embedding($1)",
    "select keyed.patch_record($1, jsonb_build_object('embedding', $2::real[]))",
    "select keyed.patch_record($1, '{\"embedding\": null}')",
];

/// Gives every customer and company a vector, including deleted ones.
async fn embed_all(sales: &Sales) {
    sales.admin.run(SYNTHETIC).await;
    sales
        .admin
        .run(&format!(
            "insert into {VECTORS} select id, synthetic(), deleted_at is null from crm.customers;
             insert into {} select id, synthetic(), deleted_at is null from crm.companies",
            companies::VECTORS
        ))
        .await;
}

/// The vectors of all records, regardless of scopes.
async fn vectors(sales: &Sales) -> String {
    let all = &format!("select string_agg(v::text, E'\n' order by v.record_id) from {VECTORS} v");
    sales.admin.text(all, &[]).await
}

/// The keys found near a vector.
async fn found(session: &Session, query: Value) -> String {
    let mut body = json!({"query_vector": similar(1.0), "limit": 200});
    for (name, value) in query.as_object().expect("members") {
        body[name] = value.clone();
    }
    let keys = "select coalesce(string_agg(key, ' ' order by key), '') from (
                  select e #>> '{entity,external_key}' as key from jsonb_array_elements(keyed.semantic_search($1)) e) e";
    session.text(keys, &[&body.to_string()]).await
}

#[tokio::test]
async fn vector_of_an_invisible_record_is_reported_as_missing() {
    let sales = Sales::new().await;
    embed_all(&sales).await;
    let session = sales.european("read, create, update, delete").await;
    let missing = sales.admin.text("select keyed.new_id(2)", &[]).await;
    let (before, vector) = (vectors(&sales).await, array(&similar(0.5)));
    for statement in BY_ID {
        let expected = session.error(statement, &[&missing, &vector]).await;
        assert_eq!(expected.codes(), ("P0002", "not_found"), "{statement}");
        for key in ["US-1", "US-0", "EU-0"] {
            let id = sales.id(key).await;
            assert_eq!(session.error(statement, &[&id, &vector]).await, expected, "{statement} {key}");
        }
    }
    assert_eq!(vectors(&sales).await, before);
}

#[tokio::test]
async fn vector_needs_the_update_privilege() {
    let sales = Sales::new().await;
    embed_all(&sales).await;
    let (role, session) = sales.member().await;
    sales.database.grant(&role, "crm.customers", "read, delete").await;
    sales.database.grant_within(&role, "crm.customers", "update", &of_region("EU")).await;
    let (before, vector) = (vectors(&sales).await, array(&similar(0.5)));
    let (european, american) = (sales.id("EU-1").await, sales.id("US-1").await);
    for statement in BY_ID {
        assert_eq!(
            session.error(statement, &[&american, &vector]).await.codes(),
            ("42501", "forbidden"),
            "{statement}"
        );
    }
    let batch = json!([{"op": "update", "id": american, "embedding": similar(0.5)}]).to_string();
    let report = session.json("select keyed.batch($1)", &[&batch]).await;
    assert_eq!(report["results"][0]["status"], 403, "{report}");
    assert_eq!(vectors(&sales).await, before);
    for statement in BY_ID {
        session.rows(statement, &[&european, &vector]).await;
    }
    let (_, reader) = sales.clerk("read", &of_region("EU")).await;
    for statement in BY_ID {
        assert_eq!(
            reader.error(statement, &[&european, &vector]).await.codes(),
            ("42501", "forbidden"),
            "{statement}"
        );
    }
}

#[tokio::test]
async fn semantic_search_finds_only_visible_records() {
    let sales = Sales::new().await;
    embed_all(&sales).await;
    assert_eq!(found(&sales.admin, json!({})).await, "C-EU C-US EU-1 EU-2 US-1 US-2");
    let european = sales.european("read").await;
    assert_eq!(found(&european, json!({})).await, "C-EU C-US EU-1 EU-2");
    assert_eq!(found(&european, json!({"template_id": "crm.customers"})).await, "EU-1 EU-2");
    let (_, clerk) = sales.clerk("read", &of_region("US")).await;
    assert_eq!(found(&clerk, json!({})).await, "US-1 US-2");
    let (_, writer) = sales.clerk("update", &of_region("US")).await;
    assert_eq!(found(&writer, json!({})).await, "");
    let body = json!({"query_vector": similar(1.0), "template_id": "crm.customers"}).to_string();
    let error = writer.error("select keyed.semantic_search($1)", &[&body]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"));
    let (_, unprivileged) = sales.member().await;
    assert_eq!(found(&unprivileged, json!({})).await, "");
}

#[tokio::test]
async fn key_finds_nothing_in_other_projects() {
    let sales = Sales::new().await;
    embed_all(&sales).await;
    sales
        .admin
        .run("select keyed.create_project('other'); select keyed.create_template('other', 'things')")
        .await;
    let thing =
        sales.admin.text("select keyed.create_record('other.things', '{}', 'thing') ->> 'id'", &[]).await;
    sales.admin.rows("select keyed.set_embedding($1, $2)", &[&thing, &array(&similar(0.9))]).await;
    let key = sales.database.api_key("keyed_admin", &["crm"]).await;
    let find = "select jsonb_path_query_array((keyed_http.semantic_search($1))[3]::jsonb, '$[*].entity.external_key')
                from keyed.authenticate(sha256(convert_to($2, 'UTF8')), null)";
    let keys = sales.admin.json(find, &[&json!({"query_vector": similar(1.0)}).to_string(), &key]).await;
    assert_eq!(keys.as_array().map(Vec::len), Some(6), "{keys}");
    assert!(!keys.to_string().contains("thing"));
}

#[tokio::test]
async fn vectors_are_not_readable() {
    let sales = Sales::new().await;
    embed_all(&sales).await;
    let session = sales.european("read").await;
    assert_eq!(session.error(&format!("select from {VECTORS}"), &[]).await.state, "42501");
    // A role with a direct GRANT on the table can read the rows of visible records.
    let role = session.text("select current_user", &[]).await;
    sales
        .admin
        .run(&format!("grant usage on schema keyed_state to {role}; grant select on {VECTORS} to {role}"))
        .await;
    let keys = &format!(
        "select string_agg(c.external_key, ' ' order by 1) from {VECTORS} v join crm.customers c on c.id = v.record_id"
    );
    assert_eq!(session.text(keys, &[]).await, "EU-1 EU-2");
    assert_eq!(session.text(&format!("select count(*) from {VECTORS}"), &[]).await, "2");
    sales
        .admin
        .run(&format!("revoke all on {VECTORS} from {role}; revoke all on schema keyed_state from {role}"))
        .await;
}

/// Twenty thousand customers with vectors: 100 of region `few`, 3 of region `three`, half of region `half`; and equally
/// many deleted ones of each region but the last.
async fn crowd() -> Sales {
    let sales = Sales::new().await;
    sales.admin.run(SYNTHETIC).await;
    sales
        .admin
        .run(
            &format!("set session_replication_role = replica;
             insert into crm.customers (external_key, region, deleted_at)
               select n, case when n % 200 = 0 then 'few' when n in (1, 7777, 19999) then 'three' when n % 2 = 0 then 'half' end
               , null from generate_series(1, 20000) n;
             insert into crm.customers (external_key, region, deleted_at)
               select 'gone ' || n, case when n > 3 then 'few' else 'three' end, now() from generate_series(1, 103) n;
             set session_replication_role = origin;
             drop index {VECTORS}_hnsw;
             -- All but a few share some vectors, which are many times faster made.
             create table pool as select n, synthetic() as v from generate_series(1, 2000) n;
             insert into {VECTORS} (record_id, embedding, live)
               select c.id, l2_normalize(p.v + q.v * array_fill(0.3::real, array[768])::vector), true
               from (select *, row_number() over (order by id) as n from crm.customers) c
               join pool p on p.n = c.n % 2000 + 1 join pool q on q.n = c.n / 7 % 1999 + 1;
             set maintenance_work_mem = '256MB'; select keyed.migrate(); analyze"),
        )
        .await;
    sales
}

#[tokio::test]
async fn few_visible_records_among_many_are_all_found() {
    let sales = crowd().await;
    for (region, count) in [("few", 10), ("three", 3), ("half", 10)] {
        let (_, session) = sales.clerk("read", &of_region(region)).await;
        let scope = format!("c.region = '{region}'");
        for _ in 0..5 {
            let asked = sales.admin.json("select synthetic()", &[]).await;
            let body = json!({"query_vector": asked, "template_id": "crm.customers"}).to_string();
            let ids = "select array_agg(e #>> '{entity,id}') from jsonb_array_elements(keyed.semantic_search($1)) e";
            let found = session.text(ids, &[&body]).await;
            let truth = &format!("select array_agg(id) from (select c.id from {VECTORS} v join crm.customers c on c.id = v.record_id
                           where c.deleted_at is null and ");
            let truth = format!("{truth}{scope} order by v.embedding <=> $1::vector, c.id limit 10) c");
            let truth = sales.admin.text(&truth, &[&asked.to_string()]).await;
            let ids =
                |text: &str| text.trim_matches(['{', '}']).split(',').map(str::to_owned).collect::<Vec<_>>();
            let (found, truth) = (ids(&found), ids(&truth));
            assert_eq!((found.len(), truth.len()), (count, count), "{region}");
            if region == "half" {
                let hits = truth.iter().filter(|id| found.contains(id)).count();
                assert!(hits >= 8, "{hits} of 10");
                let inside = "select count(*) from crm.customers where id = any ($1::uuid[])";
                let inside = session.text(inside, &[&format!("{{{}}}", found.join(","))]).await;
                assert_eq!(inside, "10", "all are visible");
            } else {
                assert_eq!(found, truth, "{region}");
            }
        }
    }
}
