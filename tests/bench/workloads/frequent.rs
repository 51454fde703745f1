//! Words that half of the records have: a page of records with three of them, the count of one, and facets.

use super::{OURS, Run, THEIRS, headers_of_keyed, sql};
use crate::load::{Http, Load};
use crate::rounds::{Claim, Contender, Quantity, READS, Workload};

const CLIENTS: u32 = 8;

/// Fifty records are longer than this.
const LEAST_BYTES: f64 = 10_000.0;

pub(super) async fn run(run: &mut Run<'_>) {
    let bed = run.bed;
    let sql_of = |statement: &str| bed.cluster.sql(bed.database.name(), statement);
    bed.cluster.script(bed.database.name(), include_str!("../frequent.sql"));
    sql_of(&format!("create table plain.frequent_caller as select sha256('{}') as hash", bed.proxy.key()));
    let words =
        sql_of("select string_agg(plain.frequent(n), ' ' order by n) from generate_series(1, 30) as n");
    if let Some(postgrest) = &bed.postgrest {
        sql_of("grant select on rest.papers to web_anon; notify pgrst, 'reload schema'");
        postgrest.wait_for("papers?limit=1").await;
    }
    for (name, [ours, theirs], aim) in [
        (
            "search for three frequent words, ranked",
            [include_str!("../scripts/frequent_proxy.sql"), include_str!("../scripts/frequent_plain.sql")],
            0.5,
        ),
        (
            "count of a frequent word",
            [
                include_str!("../scripts/frequent_count_proxy.sql"),
                include_str!("../scripts/frequent_count_plain.sql"),
            ],
            5.0,
        ),
        (
            "count and two facets of 34,500 among 69,000",
            [
                include_str!("../scripts/frequent_facets_proxy.sql"),
                include_str!("../scripts/frequent_facets_plain.sql"),
            ],
            1.0,
        ),
    ] {
        let load = |script| sql(&bed.database, script, 1, &[]);
        let contenders = vec![Contender::new(OURS, load(ours)), Contender::new(THEIRS, load(theirs))];
        let quantity = Quantity::Latency;
        let claims = vec![Claim { about: OURS, against: THEIRS, quantity, gate: None, aim: Some(aim) }];
        run.measure(&Workload { name, commits: READS, contenders, claims });
    }
    let http = |service: String, mut environment: Vec<(&'static str, String)>| {
        environment.push(("WORDS", words.clone()));
        let script = include_str!("../scripts/words.lua");
        let (clients, threads, least_bytes) = (CLIENTS, 2, LEAST_BYTES);
        Load::Http(Http { script, service, clients, threads, environment, least_bytes })
    };
    let body = r#"{"global_search":"%s %s %s","limit":50}"#;
    let keyed = http(
        bed.proxy.url(""),
        vec![
            ("METHOD", "POST".to_owned()),
            ("ADDRESS", "/v1/entities/search/papers".to_owned()),
            ("HEADERS", headers_of_keyed(bed)),
            ("BODY", body.to_owned()),
        ],
    );
    let mut contenders = vec![Contender::new("keyed over HTTP, ranked", keyed)];
    if let Some(postgrest) = &bed.postgrest {
        let load = http(
            postgrest.url.clone(),
            vec![
                ("METHOD", "GET".to_owned()),
                ("ADDRESS", "/papers?words=plfts(english).%s%%20%s%%20%s&limit=50".to_owned()),
                ("HEADERS", "Host: postgrest\r\n".to_owned()),
            ],
        );
        contenders.push(Contender::new("PostgREST, any 50, not ranked", load));
    }
    let (about, against, quantity) =
        ("keyed over HTTP, ranked", "PostgREST, any 50, not ranked", Quantity::Rate);
    let claims = vec![Claim { about, against, quantity, gate: None, aim: Some(1.0) }];
    let name = "search for three frequent words over HTTP";
    run.measure(&Workload { name, commits: READS, contenders, claims });
}
