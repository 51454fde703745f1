//! Many writers of one key: of an existing key, and of a key that they race to create.

use super::{Keys, Run, sql, upsert_over_http};
use crate::bed::Commit;
use crate::load::{Http, Load};
use crate::rounds::{Claim, Contender, Quantity, WRITES, Workload};
use serde_json::json;
use tokio::task::JoinSet;

const CLIENTS: u32 = 32;

/// The number of keys in the race.
const RACES: u32 = 1_000;

pub(super) async fn run(run: &mut Run<'_>) {
    let one_key = Keys { fresh: 0, records: 1 };
    let over_http = upsert_over_http(run.bed, CLIENTS, one_key);
    let scripts = [include_str!("../scripts/upsert_same.sql"), include_str!("../scripts/upsert_bare.sql")];
    measure(run, "upsert of one key", over_http, scripts, &one_key.variables(), Some(0.5));

    let mut over_http = upsert_over_http(run.bed, CLIENTS, one_key);
    // A single thread, because only its own clients can share a key.
    over_http.threads = 1;
    over_http.environment.push(("RACERS", CLIENTS.to_string()));
    let scripts = [include_str!("../scripts/race_same.sql"), include_str!("../scripts/race_bare.sql")];
    measure(run, "upsert of the same new keys", over_http, scripts, &[("racers", CLIENTS)], None);
    race(run).await;
}

/// The scripts with history and without.
fn measure(
    run: &mut Run,
    name: &'static str,
    over_http: Http,
    scripts: [&'static str; 2],
    variables: &[(&'static str, u32)],
    gate: Option<f64>,
) {
    let by_script = |script| sql(&run.bed.database, script, CLIENTS, variables);
    let claim =
        |against, gate, aim| Claim { about: "keyed over HTTP", against, quantity: Quantity::Rate, gate, aim };
    run.measure(&Workload {
        name,
        commits: WRITES,
        contenders: vec![
            Contender::new("keyed over HTTP", Load::Http(over_http)).creating_in("bench.customers"),
            Contender::new("hand-written SQL, same writes", by_script(scripts[0])),
            Contender::new("hand-written SQL, no history", by_script(scripts[1])),
        ],
        claims: vec![
            claim("hand-written SQL, same writes", gate, Some(0.8)),
            claim("hand-written SQL, no history", None, None),
        ],
    });
}

/// All clients concurrently create the same key, one key after the other.
async fn race(run: &mut Run<'_>) {
    run.report.begin(format!("race to create {RACES} keys, {CLIENTS} clients each"));
    // The faster they are, the more of them collide.
    run.bed.set_commit(Commit::DoesNotWait);
    let mut wrong = 0;
    for number in 1..=RACES {
        let mut responses = JoinSet::new();
        for client in 1..=CLIENTS {
            let body = json!({ "external_key": format!("race-{number}"), "attributes": { "score": client } });
            let request = run.bed.proxy.request("PUT", "/v1/entities/template/customers/by-key").json(&body);
            responses.spawn(request.send());
        }
        let responses = responses.join_all().await;
        let created =
            responses.iter().filter(|response| response.status == 201 && response.body["created"] == true);
        let found =
            responses.iter().filter(|response| response.status == 200 && response.body["created"] == false);
        let (created, found) = (created.count(), found.count());
        let one_id = responses.iter().all(|response| response.body["id"] == responses[0].body["id"]);
        if (created, found, one_id) != (1, CLIENTS as usize - 1, true) {
            let said = responses.iter().find(|response| response.status > 201).map(|response| &response.text);
            run.report.fail(&format!("race-{number}: {created} created it, {found} found it {said:?}"));
            wrong += 1;
        }
    }
    run.bed.set_commit(Commit::Waits);
    let count =
        "select count(*) from bench.customers where external_key like 'race-%' and deleted_at is null";
    let rows = run.bed.cluster.sql(run.bed.database.name(), count);
    if rows != RACES.to_string() {
        run.report.fail(&format!("{rows} records hold {RACES} keys"));
    }
    run.report.add_count("keys that were not created exactly once", wrong, true);
}
