//! Create a record with four attributes and an unused key.

use super::{Keys, Run, VALUES, headers_of_keyed, sql};
use crate::load::{Http, Load};
use crate::rounds::{Claim, Contender, Quantity, WRITES, Workload};

const CLIENTS: u32 = 8;
const KEYS: Keys = Keys { fresh: 100, records: 1 };

pub(super) fn run(run: &mut Run) {
    let bed = run.bed;
    let by_script = |script| sql(&bed.database, script, CLIENTS, &KEYS.variables());
    let over_http = |service: String, address: &str, headers: String, body: String, peer: &str| {
        Load::Http(Http {
            script: include_str!("../scripts/upsert.lua"),
            service,
            clients: CLIENTS,
            threads: 2,
            environment: vec![
                ("METHOD", "POST".to_owned()),
                ("ADDRESS", address.to_owned()),
                ("HEADERS", headers),
                ("BODY", body),
                ("PEER", peer.to_owned()),
                ("FRESH", KEYS.fresh.to_string()),
                ("RECORDS", KEYS.records.to_string()),
            ],
            least_bytes: 100.0,
        })
    };
    let ours = over_http(
        bed.proxy.url(""),
        "/v1/entities/template/customers",
        headers_of_keyed(bed),
        format!(r#"{{"external_key":"A-%d","attributes":{{{VALUES}}}}}"#),
        "keyed_creating",
    );
    let mut contenders = vec![
        Contender::new("keyed over HTTP", ours).creating_in("bench.customers"),
        Contender::new(
            "hand-written SQL, same writes",
            by_script(include_str!("../scripts/create_same.sql")),
        ),
        Contender::new("hand-written SQL, no history", by_script(include_str!("../scripts/create_bare.sql"))),
    ];
    if let Some(postgrest) = &bed.postgrest {
        let theirs = over_http(
            postgrest.url.clone(),
            "/customers?select=id",
            "Host: postgrest\r\nPrefer: return=representation\r\n".to_owned(),
            format!(r#"{{"external_key":"A-%d",{VALUES}}}"#),
            "postgrest",
        );
        contenders.push(Contender::new("PostgREST, no history", theirs));
    }
    let claim = |against, gate, aim| {
        let (about, quantity) = ("keyed over HTTP", Quantity::Rate);
        Claim { about, against, quantity, gate, aim }
    };
    run.measure(&Workload {
        name: "create",
        commits: WRITES,
        contenders,
        claims: vec![
            claim("hand-written SQL, same writes", Some(0.4), Some(0.75)),
            claim("hand-written SQL, no history", None, Some(0.55)),
            claim("PostgREST, no history", Some(1.3), Some(2.0)),
        ],
    });
}
