//! Compares the results of two equivalent queries.

use super::Run;
use serde_json::Value;
use tokio_postgres::Client;

/// The number of sets of values that are compared.
const SAMPLES: u64 = 12;

/// Runs both with the same values, the other one as a role if one is given. They must find the same records in the same
/// order with the same values, and most of the time there must be some.
pub(super) async fn compare(run: &mut Run<'_>, ours: &str, theirs: &str, role: Option<&str>) {
    let template = run.bed.works().await.template;
    let client = run.bed.database.client().await;
    let other = run.bed.database.client_as(role.unwrap_or("postgres")).await;
    for client in [&client, &other] {
        client.batch_execute("set timezone = 'UTC'").await.expect("a time zone");
    }
    let mut answered = 0;
    for sample in 0..SAMPLES {
        let ours = records(ask(&client, &statement(ours, template, sample)).await);
        let theirs = records(ask(&other, &statement(theirs, template, sample)).await);
        answered += u64::from(!ours.is_empty());
        if ours != theirs {
            let first = ours.iter().zip(&theirs).find(|(one, other)| one != other);
            let (found, expected) = (ours.len(), theirs.len());
            run.report.fail(&format!("{found} records are found, not the {expected} expected: {first:?}"));
            return;
        }
    }
    if answered * 2 <= SAMPLES {
        run.report.fail(&format!("of {SAMPLES} answers only {answered} have records"));
    }
}

/// The records of a result: of a search, of a lookup, or a plain list.
fn records(mut response: Value) -> Vec<Value> {
    let records = response.get_mut("records").map(Value::take);
    match records.unwrap_or(response) {
        Value::Array(records) => records,
        Value::Null => Vec::new(),
        record => vec![record],
    }
}

async fn ask(client: &Client, statement: &str) -> Value {
    let row =
        client.query_one(&format!("select to_jsonb(({statement}))::text"), &[]).await.expect("a response");
    let text: &str = row.try_get(0).unwrap_or("null");
    // JSON that PostgreSQL formats itself has a numeric time zone.
    let parse =
        |text: &str| serde_json::from_str(&text.replace("+00:00", "Z")).expect("the response is JSON");
    match parse(text) {
        Value::String(body) => parse(&body),
        // The proxy's statement returns the entity tag, then the body.
        Value::Array(parts) => match parts.as_slice() {
            [Value::String(_), Value::String(body)] => parse(body),
            _ => Value::Array(parts),
        },
        response => response,
    }
}

/// The statement of a script for pgbench, with its variables replaced by values from their whole ranges.
fn statement(script: &str, template: u32, sample: u64) -> String {
    let mut statement = String::new();
    let mut values = vec![("template", u64::from(template))];
    for line in script.lines() {
        let Some(setting) = line.strip_prefix("\\set ") else {
            statement.push_str(line);
            statement.push('\n');
            continue;
        };
        let (name, range) = setting.split_once(" random(").expect("all are drawn at random");
        let (from, to) = range.trim_end_matches(')').split_once(", ").expect("a range has two ends");
        let bound = |text: &str| text.parse::<u64>().expect("an end is a number");
        let (from, to) = (bound(from), bound(to));
        // Another step for each variable, so that they are not correlated.
        let drawn = (sample + 1) * 7919 * (values.len() as u64 + 3) % (to - from + 1);
        values.push((name, from + drawn));
    }
    for (name, value) in values {
        statement = statement.replace(&format!(":{name}"), &value.to_string());
    }
    statement.trim_end().trim_end_matches(';').to_owned()
}
