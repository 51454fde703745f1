//! Deliveries, quotas and purges.

use super::State::{Empty, Full, Tiny};
use super::{Operation, batches, import, in_proportion, inserts, upserts};

#[tokio::test]
async fn statements_scale_linearly() {
    in_proportion(
        &[Tiny],
        &[
            Operation {
                name: "a bare UPDATE",
                before: inserts,
                run: |template, _, _| {
                    vec![format!("select public.run($f$update crm.{template} set name = name || '!'$f$)")]
                },
            },
            Operation { name: "deletions", before: inserts, run: deletions },
            Operation {
                name: "restorations",
                before: |template, from, count| {
                    [inserts(template, from, count), deletions(template, from, count)].concat()
                },
                run: |template, from, count| {
                    let ids = ids(template, from, count);
                    vec![format!("select count(keyed.restore_record(id)) from {ids}")]
                },
            },
            Operation {
                name: "documents rebuilt",
                // Enough rows that the index is rebuilt, too.
                before: |template, from, count| inserts(template, 6 * from, 6 * count),
                run: |template, _, count| {
                    let language = if count > 3 { "german" } else { "simple" };
                    let change = format!("{{\"language\": \"{language}\"}}");
                    vec![format!("select keyed.alter_template('crm.{template}', '{change}')")]
                },
            },
        ],
    )
    .await;
}

/// The ids of records, in order.
fn ids(template: &str, from: usize, count: usize) -> String {
    let last = from + count - 1;
    format!(
        "(select t.id from generate_series({from}, {last}) i \
         join crm.{template} t on t.external_key = 'k' || i or t._released_key = 'k' || i order by i offset 0) these"
    )
}

fn deletions(template: &str, from: usize, count: usize) -> Vec<String> {
    let ids = ids(template, from, count);
    vec![format!("select count(keyed.delete_record(id)::text) from {ids}")]
}

/// An endpoint token for a template, in a table, and a log so long that no index gets deeper.
fn token(template: &str, from: usize, _: usize) -> Vec<String> {
    let token = format!(
        "delete from public.tokens where slug = '{template}';
         insert into public.tokens
         select e.slug, keyed.alter_inbound_endpoint(e.id, '{{\"rotate_token\": true}}') ->> 'token'
         from keyed_state.inbound_endpoint e where e.slug = '{template}'"
    );
    let mut statements = log(template, from, 8000, "done");
    statements.push("update keyed_state.inbound_delivery set payload = null".to_owned());
    statements.push(token);
    statements
}

/// A quarter of the rows, each in its own delivery.
fn deliveries(template: &str, from: usize, count: usize, payload: impl Fn(usize) -> String) -> Vec<String> {
    let token =
        format!("(select sha256(convert_to(token, 'UTF8')) from public.tokens where slug = '{template}')");
    let deliver = |number| {
        let payload = payload(number);
        format!("select keyed_http.deliver({token}, '{template} {number}', null, null, '{payload}')")
    };
    (from..from + count.div_ceil(4)).map(deliver).collect()
}

#[tokio::test]
async fn deliveries_scale_linearly() {
    in_proportion(
        &[Full],
        &[
            Operation {
                name: "deliveries",
                before: token,
                run: |template, from, count| {
                    let payload = |number| format!("{{\"id\": {number}, \"name\": \"n\"}}");
                    deliveries(template, from, count, payload)
                },
            },
            Operation {
                name: "failed deliveries",
                before: token,
                run: |template, from, count| {
                    deliveries(template, from, count, |_| "{\"id\": null}".to_owned())
                },
            },
        ],
    )
    .await;
}

/// As many lines in the log of deliveries.
fn log(template: &str, from: usize, count: usize, status: &str) -> Vec<String> {
    let last = from + count - 1;
    vec![format!(
        "insert into keyed_state.inbound_delivery (endpoint_id, status, payload, webhook_id, received_at)
         select e.id, '{status}', 'payload', 'log ' || i, now() - interval '1 day'
         from keyed_state.inbound_endpoint e, generate_series({from}, {last}) i where e.slug = '{template}'"
    )]
}

fn purge(status: &str) -> Vec<String> {
    vec![format!("select keyed.purge_deliveries(now() - interval '1 hour', '{status}')")]
}

fn results(_: &str, from: usize, count: usize) -> Vec<String> {
    let last = from + count - 1;
    vec![format!(
        "insert into keyed_state.idempotent_request (key_id, idempotency_key, fingerprint, answer, created_at)
         select 1, 'key ' || i, sha256(''), '{{200}}', now() - interval '2 days'
         from generate_series({from}, {last}) i"
    )]
}

#[tokio::test]
async fn purge_scales_linearly() {
    in_proportion(
        &[Empty, Tiny],
        &[
            Operation {
                name: "purged payloads",
                before: |template, from, count| log(template, from, count, "done"),
                run: |_, _, _| purge("done"),
            },
            Operation {
                name: "purged refusals",
                before: |template, from, count| log(template, from, count, "failed"),
                run: |_, _, _| purge("failed"),
            },
            Operation {
                name: "purged answers",
                before: results,
                run: |_, _, _| vec!["select keyed.purge_idempotency_keys()".to_owned()],
            },
            Operation {
                name: "answers that are forgotten some at a time",
                before: results,
                run: |_, _, count| {
                    vec!["select keyed_http.forget_expired_answers()".to_owned(); count.div_ceil(250)]
                },
            },
        ],
    )
    .await;
}

/// Capacity for exactly this many records.
fn quota(_: &str, _: usize, count: usize) -> Vec<String> {
    let set = |name| {
        format!(
            "select keyed.set_quota('crm', '{name}', {count} + \
             (select coalesce(used, 0) from keyed.quota_usage('crm') where name = '{name}'))"
        )
    };
    vec![set("live_records"), set("writes_per_day")]
}

#[tokio::test]
async fn writes_within_a_quota_scale_linearly() {
    in_proportion(
        &[Empty, Tiny],
        &[
            Operation { name: "an import within a quota", before: quota, run: import },
            Operation { name: "batches within a quota", before: quota, run: batches },
            Operation { name: "upserts one by one within a quota", before: quota, run: upserts },
        ],
    )
    .await;
}
