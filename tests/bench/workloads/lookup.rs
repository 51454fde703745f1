//! A complete record by its key, as JSON.

use super::{Run, lookup_over_http, sql};
use crate::bed::{Bed, RECORDS};
use crate::load::{Http, Load};
use crate::rounds::{Claim, Contender, Quantity, READS, Workload};

/// With eight clients, processes wait for each other a third of the time. With more clients, the CPUs are busy, which
/// shows the cost of a lookup.
pub(super) fn run(run: &mut Run) {
    measure(run, 8, None);
    measure(run, 32, Some(0.40));
    measure_many(run);
}

/// A thousand records by their keys, in one statement.
fn measure_many(run: &mut Run) {
    let contenders = [
        ("keyed.get_by_keys", include_str!("../scripts/by_keys_keyed.sql")),
        ("a search with in", include_str!("../scripts/by_keys_search.sql")),
        ("hand-written SQL", include_str!("../scripts/by_keys_plain.sql")),
    ];
    let contenders = contenders.map(|(name, script)| Contender::new(name, by_script(run, 1, script)));
    let claim = |against| Claim {
        about: "keyed.get_by_keys",
        against,
        quantity: Quantity::Rate,
        gate: None,
        aim: None,
    };
    run.measure(&Workload {
        name: "1,000 records by key",
        commits: READS,
        contenders: contenders.into(),
        claims: vec![claim("a search with in"), claim("hand-written SQL")],
    });
}

fn measure(run: &mut Run, clients: u32, gate: Option<f64>) {
    let bed = run.bed;
    let mut contenders = vec![
        Contender::new("keyed over HTTP", lookup_over_http(bed, clients, RECORDS)),
        Contender::new(
            "hand-written SQL",
            by_script(run, clients, include_str!("../scripts/lookup_plain.sql")),
        ),
        Contender::new("bare axum", over_hop(bed, clients)),
        Contender::new("keyed in SQL", by_script(run, clients, include_str!("../scripts/lookup_keyed.sql"))),
    ];
    if let Some(postgrest) = &bed.postgrest {
        let load = Http {
            script: include_str!("../scripts/lookup.lua"),
            service: postgrest.url.clone(),
            clients,
            threads: 2,
            environment: vec![
                ("ADDRESS", "/customers?external_key=eq.".to_owned()),
                ("HEADERS", "Host: postgrest\r\nAccept: application/vnd.pgrst.object+json\r\n".to_owned()),
                ("RECORDS", RECORDS.to_string()),
            ],
            least_bytes: 300.0,
        };
        contenders.push(Contender::new("PostgREST", Load::Http(load)));
    }
    let claim = |about, against, gate, aim| Claim { about, against, quantity: Quantity::Rate, gate, aim };
    run.measure(&Workload {
        name: "lookup by key",
        commits: READS,
        contenders,
        claims: vec![
            claim("keyed over HTTP", "hand-written SQL", gate, Some(0.60)),
            claim("keyed over HTTP", "bare axum", None, Some(1.0)),
            claim("keyed over HTTP", "PostgREST", Some(4.0), Some(7.0)),
            claim("keyed in SQL", "hand-written SQL", None, None),
        ],
    });
}

/// The statement without a key check, privileges and limits.
fn over_hop(bed: &Bed, clients: u32) -> Load {
    Load::Http(Http {
        script: include_str!("../scripts/lookup.lua"),
        service: bed.hop.url.clone(),
        clients,
        threads: 2,
        environment: vec![
            ("ADDRESS", "/customers?key=".to_owned()),
            ("HEADERS", "Host: hop\r\n".to_owned()),
            ("RECORDS", RECORDS.to_string()),
        ],
        least_bytes: 300.0,
    })
}

fn by_script(run: &Run, clients: u32, script: &'static str) -> Load {
    sql(&run.bed.database, script, clients, &[("records", RECORDS)])
}
