//! Create or update by key, four attributes, half of the keys new.

use super::{Keys, Run, VALUES, sql, upsert_over_http};
use crate::bed::RECORDS;
use crate::load::{Http, Load};
use crate::rounds::{Claim, Contender, Quantity, WRITES, Workload};

const CLIENTS: u32 = 8;
const KEYS: Keys = Keys { fresh: 50, records: RECORDS };

pub(super) fn run(run: &mut Run) {
    let bed = run.bed;
    let by_script = |script| sql(&bed.database, script, CLIENTS, &KEYS.variables());
    let mut contenders = vec![
        Contender::new("keyed over HTTP", Load::Http(upsert_over_http(bed, CLIENTS, KEYS)))
            .creating_in("bench.customers"),
        Contender::new("keyed in SQL", by_script(include_str!("../scripts/upsert_keyed.sql"))),
        Contender::new(
            "hand-written SQL, same writes",
            by_script(include_str!("../scripts/upsert_same.sql")),
        ),
        Contender::new("hand-written SQL, no history", by_script(include_str!("../scripts/upsert_bare.sql"))),
    ];
    if let Some(postgrest) = &bed.postgrest {
        contenders.push(Contender::new("PostgREST, no history", over_postgrest(&postgrest.url)));
    }
    let claim = |about, against, gate, aim| Claim { about, against, quantity: Quantity::Rate, gate, aim };
    run.measure(&Workload {
        name: "upsert by key",
        commits: WRITES,
        contenders,
        claims: vec![
            claim("keyed over HTTP", "hand-written SQL, same writes", Some(0.55), Some(0.75)),
            claim("keyed over HTTP", "hand-written SQL, no history", None, Some(0.5)),
            claim("keyed over HTTP", "PostgREST, no history", Some(1.3), Some(2.0)),
            claim("keyed in SQL", "hand-written SQL, same writes", Some(0.7), Some(0.9)),
        ],
    });
}

/// The closest equivalent in PostgREST: by a key that is unique among all rows, without reporting whether the record
/// was created.
fn over_postgrest(service: &str) -> Load {
    Load::Http(Http {
        script: include_str!("../scripts/upsert.lua"),
        service: service.to_owned(),
        clients: CLIENTS,
        threads: 2,
        environment: vec![
            ("METHOD", "POST".to_owned()),
            ("ADDRESS", "/customers?on_conflict=external_key&select=id".to_owned()),
            (
                "HEADERS",
                "Host: postgrest\r\nPrefer: resolution=merge-duplicates,return=representation\r\n".to_owned(),
            ),
            ("BODY", format!(r#"{{"external_key":"A-%d",{VALUES}}}"#)),
            ("PEER", "postgrest".to_owned()),
            ("FRESH", KEYS.fresh.to_string()),
            ("RECORDS", KEYS.records.to_string()),
        ],
        least_bytes: 100.0,
    })
}
