//! Many writers of one key: those that it is already there for, and those that race to be its first.

use super::{Keys, Run, sql, upsert_over_http};
use crate::bed::Commit;
use crate::report::Figure;
use crate::rounds::{Claim, Contender, Quantity, WRITES, Workload};
use serde_json::json;
use std::time::Instant;
use tokio::task::JoinSet;

const CLIENTS: u32 = 32;

/// For how many keys there is a race.
const RACES: u32 = 1_000;

pub(super) async fn run(run: &mut Run<'_>) {
    let bed = run.bed;
    let one_key = Keys { fresh: 0, records: 1 };
    let by_script = |script| sql(&bed.database, script, CLIENTS, &one_key.variables());
    let claim =
        |against, gate, aim| Claim { about: "keyed over HTTP", against, quantity: Quantity::Rate, gate, aim };
    run.measure(&Workload {
        name: "upsert of one key",
        commits: WRITES,
        contenders: vec![
            Contender::new("keyed over HTTP", upsert_over_http(bed, CLIENTS, one_key))
                .creating_in("bench.customers"),
            Contender::new(
                "hand-written SQL, same writes",
                by_script(include_str!("../scripts/upsert_same.sql")),
            ),
            Contender::new(
                "hand-written SQL, no history",
                by_script(include_str!("../scripts/upsert_bare.sql")),
            ),
        ],
        claims: vec![
            claim("hand-written SQL, same writes", Some(0.5), Some(0.8)),
            claim("hand-written SQL, no history", None, None),
        ],
    });
    race(run).await;
}

/// All clients at once want to create the same key, one key after the other.
async fn race(run: &mut Run<'_>) {
    run.report.begin(format!("race to create {RACES} keys, {CLIENTS} clients each"));
    // The faster they are, the more of them meet.
    run.bed.set_commit(Commit::DoesNotWait);
    let began = Instant::now();
    for number in 1..=RACES {
        let mut answers = JoinSet::new();
        for client in 1..=CLIENTS {
            let body = json!({ "external_key": format!("race-{number}"), "attributes": { "score": client } });
            let request = run.bed.proxy.request("PUT", "/v1/entities/template/customers/by-key").json(&body);
            answers.spawn(request.send());
        }
        let answers = answers.join_all().await;
        let created = answers.iter().filter(|answer| answer.status == 201 && answer.body["created"] == true);
        let found = answers.iter().filter(|answer| answer.status == 200 && answer.body["created"] == false);
        let (created, found) = (created.count(), found.count());
        let one_id = answers.iter().all(|answer| answer.body["id"] == answers[0].body["id"]);
        if (created, found, one_id) != (1, CLIENTS as usize - 1, true) {
            let said = answers.iter().find(|answer| answer.status > 201).map(|answer| &answer.text);
            run.report.fail(&format!("race-{number}: {created} created it, {found} found it {said:?}"));
        }
    }
    run.bed.set_commit(Commit::Waits);
    let rate = f64::from(RACES * CLIENTS) / began.elapsed().as_secs_f64();
    let count =
        "select count(*) from bench.customers where external_key like 'race-%' and deleted_at is null";
    let rows = run.bed.cluster.sql(run.bed.database.name(), count);
    if rows != RACES.to_string() {
        run.report.fail(&format!("{rows} records hold {RACES} keys"));
    }
    run.report.add_figure(&Figure {
        name: "upserts per second".to_owned(),
        value: rate,
        beside: Vec::new(),
        more_is_better: true,
        unit: "",
        gate: None,
        aim: None,
    });
}
