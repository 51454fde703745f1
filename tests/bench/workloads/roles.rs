//! A thousand roles with scopes of their own must not slow down any of them.

use super::{Run, sql};
use crate::bed::{Commit, filled_database};
use crate::load::median;
use crate::report::Figure;
use crate::rounds::{Claim, Contender, Quantity, WRITES_WITHOUT_DISK, Workload};
use harness::Database;
use std::time::Instant;

const MANY: u32 = 1_000;
const FEW: u32 = 10;
const RECORDS: u32 = 20_000;

/// Each session sees each role for the first time once, and the last use of a key is stored. Most requests must come
/// later, even on a busy machine.
const LOOKUPS_LAST: f64 = 1.5;
const LISTS_LAST: f64 = 4.0;

pub(super) async fn run(run: &mut Run<'_>) {
    let many = filled_database(&run.bed.cluster, RECORDS).await;
    let few = filled_database(&run.bed.cluster, RECORDS).await;
    eprintln!("Granting something to {MANY} roles …");
    // Roles belong to the whole cluster.
    run.bed.cluster.sql(
        many.name(),
        &format!("do $$ begin for n in 1..{MANY} loop execute 'create role caller_' || n; end loop; end $$"),
    );
    run.bed.set_commit(Commit::DoesNotWait);
    let times = grant(&many, MANY).await;
    grant(&few, FEW).await;
    run.bed.set_commit(Commit::Waits);
    report_times(run, &times);

    let one_asks = ["1,000 roles, one reads", "10 roles, one reads"];
    let all_ask = ["1,000 roles take turns", "10 roles take turns"];
    for (name, script, length) in [
        ("lookup with other roles", include_str!("../scripts/caller_lookup.sql"), LOOKUPS_LAST),
        ("list of 50 with other roles", include_str!("../scripts/caller_list.sql"), LISTS_LAST),
    ] {
        let contender = |name, database, callers| {
            Contender::new(name, sql(database, script, 1, &[("callers", callers)])).lasting(length)
        };
        let claim = |[about, against]: [&'static str; 2]| {
            let (gate, aim) = (Some(1.2), Some(1.05));
            Claim { about, against, quantity: Quantity::Latency, gate, aim }
        };
        run.measure(&Workload {
            name,
            commits: WRITES_WITHOUT_DISK,
            contenders: vec![
                contender(one_asks[0], &many, 1),
                contender(one_asks[1], &few, 1),
                contender(all_ask[0], &many, MANY),
                contender(all_ask[1], &few, FEW),
            ],
            claims: vec![claim(one_asks), claim(all_ask)],
        });
    }
}

/// Grants to roles, and issues a key for each; returns the milliseconds of each grant.
async fn grant(database: &Database, roles: u32) -> Vec<f64> {
    let client = database.client().await;
    let mut times = Vec::new();
    for number in 1..=roles {
        // A role that can read all records. A list must not take longer because its reader cannot read the newest ones.
        let scope = format!(r#"{{"field": "score", "operator": "lte", "value": {}}}"#, RECORDS + number);
        let grant =
            format!("select keyed.grant_access('caller_{number}', 'bench.customers', '{{read}}', '{scope}')");
        let began = Instant::now();
        client.batch_execute(&grant).await.expect("a grant");
        times.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    // The lookup of a key must take equally long with many and with few keys.
    let issue = format!(
        "create table plain.callers as select number, \
         sha256(keyed.issue_api_key(('caller_' || number)::name, '{{bench}}')::bytea) as hash \
         from generate_series(1, {roles}) as number; \
         insert into plain.callers select number, sha256(number::text::bytea) \
         from generate_series({roles} + 1, {MANY}) as number; \
         alter table plain.callers add primary key (number); analyze plain.callers"
    );
    client.batch_execute(&issue).await.expect("the keys");
    times
}

fn report_times(run: &mut Run<'_>, times: &[f64]) {
    run.report.begin(format!("grants to {MANY} roles"));
    let mut figure = |name: &str, value, unit| {
        let (name, related, more_is_better) = (name.to_owned(), Vec::new(), false);
        run.report.add_figure(&Figure { name, value, unit, related, more_is_better, gate: None, aim: None });
    };
    figure("the first ten, median", median(times[..10].to_vec()), " ms");
    figure("the last ten, median", median(times[times.len() - 10..].to_vec()), " ms");
    figure("total", times.iter().sum::<f64>() / 1000.0, " s");
}
