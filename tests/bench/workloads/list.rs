//! Lists: two conditions, a sort, fifty records.

use super::{Run, against_sql, headers_of_keyed, over_works};
use crate::load::{Http, Load};
use crate::rounds::{Claim, Contender, Quantity, READS, Workload};

const CLIENTS: u32 = 8;

/// The maximum ratio of a list to handwritten SQL.
const AIM: f64 = 1.2;

/// Fifty complete records are longer than this.
const LEAST_BYTES: f64 = 15_000.0;

pub(super) async fn run(run: &mut Run<'_>) {
    let in_sql =
        Contender::new("keyed in SQL", over_works(run.bed, include_str!("../scripts/list_keyed.sql")).await);
    against_sql(
        run,
        "list of 50: one city, sorted by price",
        [include_str!("../scripts/list_proxy.sql"), include_str!("../scripts/list_plain.sql")],
        AIM,
        Some(in_sql),
    )
    .await;
    against_sql(
        run,
        "list of 50: sorted by indexed price",
        [include_str!("../scripts/ordered_proxy.sql"), include_str!("../scripts/ordered_plain.sql")],
        AIM,
        None,
    )
    .await;
    over_http(
        run,
        "list of 50 over HTTP: one city, sorted by price",
        [
            r#"{"field":"city","operator":"eq","value":"City %d"},{"field":"price","operator":"gte","value":%d}"#,
            "city=eq.City%%20%d&price=gte.%d",
        ],
        [(0, 999), (0, 8_000)],
        // Most of the work is reading five hundred records, which the same server does for both.
        None,
    )
    .await;
    over_http(
        run,
        "list of 50 over HTTP: sorted by indexed price",
        [
            r#"{"field":"price","operator":"lte","value":%d},{"field":"amount","operator":"gte","value":%d}"#,
            "price=lte.%d&amount=gte.%d",
        ],
        [(500, 9_999), (40, 60)],
        Some(1.2),
    )
    .await;
}

/// The conditions, of keyed and of PostgREST, take two numbers from these ranges.
async fn over_http(
    run: &mut Run<'_>,
    name: &'static str,
    [ours, theirs]: [&str; 2],
    ranges: [(u32, u32); 2],
    gate: Option<f64>,
) {
    let bed = run.bed;
    let ranges = ranges.map(|(from, to)| format!("{from} {to}")).join(" ");
    let http = |service: String, mut environment: Vec<(&'static str, String)>| {
        let script = include_str!("../scripts/list.lua");
        environment.push(("RANGES", ranges.clone()));
        let (clients, threads, least_bytes) = (CLIENTS, 2, LEAST_BYTES);
        Load::Http(Http { script, service, clients, threads, environment, least_bytes })
    };
    let keyed = http(
        bed.proxy.url(""),
        vec![
            ("METHOD", "POST".to_owned()),
            ("ADDRESS", "/v1/entities/search/works".to_owned()),
            ("HEADERS", headers_of_keyed(bed)),
            ("BODY", format!(r#"{{"filters":[{ours}],"sort":"-price","limit":50}}"#)),
        ],
    );
    let mut contenders = vec![Contender::new("keyed over HTTP", keyed)];
    if let Some(postgrest) = &bed.postgrest {
        let load = http(
            postgrest.url.clone(),
            vec![
                ("METHOD", "GET".to_owned()),
                ("ADDRESS", format!("/works?{theirs}&order=price.desc,id.desc&limit=50")),
                ("HEADERS", "Host: postgrest\r\n".to_owned()),
            ],
        );
        contenders.push(Contender::new("PostgREST", load));
    }
    let (about, against, quantity) = ("keyed over HTTP", "PostgREST", Quantity::Rate);
    let claims = vec![Claim { about, against, quantity, gate, aim: Some(1.8) }];
    run.measure_warm(&Workload { name, commits: READS, contenders, claims }).await;
}
