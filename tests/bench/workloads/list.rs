//! Lists: two conditions, an order, fifty records.

use super::{Run, against_sql, headers_of_keyed, over_works};
use crate::load::{Http, Load};
use crate::rounds::{Claim, Contender, Quantity, READS, Workload};

const CLIENTS: u32 = 8;

/// How much longer than hand-written SQL a list should take at most.
const AIM: f64 = 1.2;

/// Fifty records with everything in them are longer than this.
const LEAST_BYTES: f64 = 15_000.0;

pub(super) async fn run(run: &mut Run<'_>) {
    let in_sql =
        Contender::new("keyed in SQL", over_works(run.bed, include_str!("../scripts/list_keyed.sql")).await);
    against_sql(
        run,
        "list of 50: a city's, sorted by price",
        [include_str!("../scripts/list_proxy.sql"), include_str!("../scripts/list_plain.sql")],
        AIM,
        Some(in_sql),
    )
    .await;
    against_sql(
        run,
        "list of 50: along the index of prices",
        [include_str!("../scripts/ordered_proxy.sql"), include_str!("../scripts/ordered_plain.sql")],
        AIM,
        None,
    )
    .await;
    over_http(run);
}

fn over_http(run: &mut Run) {
    let bed = run.bed;
    let http = |service: String, environment| {
        let script = include_str!("../scripts/list.lua");
        Load::Http(Http {
            script,
            service,
            clients: CLIENTS,
            threads: 2,
            environment,
            least_bytes: LEAST_BYTES,
        })
    };
    let body = r#"{"filters":[{"field":"city","operator":"eq","value":"City %d"},{"field":"price","operator":"gte","value":%d}],"sort":"-price","limit":50}"#;
    let keyed = http(
        bed.proxy.url(""),
        vec![
            ("METHOD", "POST".to_owned()),
            ("ADDRESS", "/v1/entities/search/works".to_owned()),
            ("HEADERS", headers_of_keyed(bed)),
            ("BODY", body.to_owned()),
        ],
    );
    let mut contenders = vec![Contender::new("keyed over HTTP", keyed)];
    if let Some(postgrest) = &bed.postgrest {
        let address = "/works?city=eq.City%%20%d&price=gte.%d&order=price.desc,id.desc&limit=50";
        let load = http(
            postgrest.url.clone(),
            vec![
                ("METHOD", "GET".to_owned()),
                ("ADDRESS", address.to_owned()),
                ("HEADERS", "Host: postgrest\r\n".to_owned()),
            ],
        );
        contenders.push(Contender::new("PostgREST", load));
    }
    run.measure(&Workload {
        name: "list of 50 over HTTP: a city's, sorted by price",
        commits: READS,
        contenders,
        claims: vec![Claim {
            about: "keyed over HTTP",
            against: "PostgREST",
            quantity: Quantity::Rate,
            gate: Some(1.2),
            aim: Some(1.8),
        }],
    });
}
