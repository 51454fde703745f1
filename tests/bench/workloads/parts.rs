//! Lists filtered by a substring: frequent and rare ones, on fresh tables and on one that has grown since it was
//! analyzed.

use super::{Run, headers_of_keyed};
use crate::bed::Bed;
use crate::load::{Http, Load};
use crate::rounds::{Claim, Contender, Quantity, READS, Workload};

/// The number of substrings that are searched in turn.
const PARTS: u32 = 300;

const OURS: &str = "keyed over HTTP";
const THEIRS: &str = "PostgREST";

/// A template, its initial and current number of records, and the names of its workloads by sort.
struct Table {
    name: &'static str,
    fresh: u32,
    records: u32,
    workloads: [&'static str; 3],
}

const TABLES: [Table; 3] = [
    Table {
        name: "parts_10",
        fresh: 10_000,
        records: 10_000,
        workloads: [
            "substring, 10,000 records: the newest 50",
            "substring, 10,000 records: 50 by price",
            "substring, 10,000 records: 50 by amount, not indexed",
        ],
    },
    Table {
        name: "parts_66",
        fresh: 16_000,
        records: 66_000,
        workloads: [
            "substring, 66,000 records after growth: the newest 50",
            "substring, 66,000 records after growth: 50 by price",
            "substring, 66,000 records after growth: 50 by amount, not indexed",
        ],
    },
    Table {
        name: "parts_500",
        fresh: 500_000,
        records: 500_000,
        workloads: [
            "substring, 500,000 records: the newest 50",
            "substring, 500,000 records: 50 by price",
            "substring, 500,000 records: 50 by amount, not indexed",
        ],
    },
];

/// The sort of keyed, that of PostgREST, and whether an index has it. Otherwise, all matches have to be sorted.
const ORDERS: [(&str, &str, bool); 3] =
    [("-id", "id.desc", true), ("price", "price.asc,id.asc", true), ("amount", "amount.asc,id.asc", false)];

pub(super) async fn run(run: &mut Run<'_>) {
    // For the functions that generate words.
    run.bed.works().await;
    for table in &TABLES {
        eprintln!("Filling a template with {} texts …", table.records);
        let sql = |statements: &str| run.bed.cluster.sql(run.bed.database.name(), statements);
        let script = include_str!("../parts.sql")
            .replace(":template", table.name)
            .replace(":fresh", &table.fresh.to_string())
            .replace(":records", &table.records.to_string())
            .replace("create function", "create or replace function");
        run.bed.cluster.script(run.bed.database.name(), &script);
        if let Some(postgrest) = &run.bed.postgrest {
            sql(&format!("grant select on rest.{} to web_anon; notify pgrst, 'reload schema'", table.name));
            postgrest.wait_for(&format!("{}?limit=1", table.name)).await;
        }
        let parts = sql(&format!(
            "select string_agg(part, ',') from (select part from (
               select substr(lower(title), 1 + floor(random() * (length(title) - 6))::int, 3 + floor(random() * 5)::int) as part
               from (select title from bench.{} order by random() limit {}) as titles) as parts
             where part !~ '^ | $' limit {PARTS}) as chosen",
            table.name,
            4 * PARTS
        ));
        for ((ours, theirs, is_indexed), name) in ORDERS.into_iter().zip(table.workloads) {
            measure(run, table, name, [ours, theirs], is_indexed, &parts);
        }
    }
}

fn measure(
    run: &mut Run<'_>,
    table: &Table,
    name: &'static str,
    [ours, theirs]: [&str; 2],
    is_indexed: bool,
    parts: &str,
) {
    let mut contenders =
        vec![Contender::new(OURS, over_http(parts, run.bed.proxy.url(""), of_keyed(run.bed, table, ours)))];
    if let Some(postgrest) = &run.bed.postgrest {
        let address = format!("/{}?title=ilike.*%s*&order={theirs}&limit=50", table.name);
        let environment = vec![
            ("METHOD", "GET".to_owned()),
            ("ADDRESS", address),
            ("HEADERS", "Host: postgrest\r\n".to_owned()),
        ];
        contenders.push(Contender::new(THEIRS, over_http(parts, postgrest.url.clone(), environment)));
    }
    let claim = |against, quantity, gate, aim| Claim { about: OURS, against, quantity, gate, aim };
    let claims = vec![
        claim(THEIRS, Quantity::Rate, is_indexed.then_some(2.0), Some(2.5)),
        claim(THEIRS, Quantity::Tail, None, None),
        // A substring of half of the texts takes longer if all matches have to be sorted.
        claim(OURS, Quantity::Spread, is_indexed.then_some(8.0), Some(5.0)),
    ];
    run.measure(&Workload { name, commits: READS, contenders, claims });
}

fn of_keyed(bed: &Bed, table: &Table, sort: &str) -> Vec<(&'static str, String)> {
    let body = format!(
        r#"{{"filters":[{{"field":"title","operator":"ilike","value":"%s"}}],"sort":"{sort}","limit":50}}"#
    );
    vec![
        ("METHOD", "POST".to_owned()),
        ("ADDRESS", format!("/v1/entities/search/{}", table.name)),
        ("HEADERS", headers_of_keyed(bed)),
        ("BODY", body),
    ]
}

fn over_http(parts: &str, service: String, mut environment: Vec<(&'static str, String)>) -> Load {
    environment.push(("PARTS", parts.to_owned()));
    let script = include_str!("../scripts/part.lua");
    // One client, so that a latency contains no wait for others.
    Load::Http(Http { script, service, clients: 1, threads: 1, environment, least_bytes: 50.0 })
}
