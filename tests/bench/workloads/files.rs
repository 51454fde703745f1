//! Import and export of half a million rows, as they come from another system: most of them new, a tenth changed, a
//! hundredth invalid. Measures rate and memory.

use super::{Run, token_of_keyed};
use crate::bed::Bed;
use crate::load::median;
use crate::memory::Memory;
use crate::report::Figure;
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Cursor;
use std::pin::pin;
use std::time::Instant;
use tokio_postgres::NoTls;

const ROWS: usize = 500_000;
/// PostgREST reads a whole body before it starts, so it gets the file in parts.
const PART: usize = 50_000;
const HEADER: &str = "external_key,name,email,city,score\n";

/// The kind of a row, by its index in the file.
#[derive(PartialEq, Eq)]
enum Kind {
    New,
    Changed,
    Wrong,
}

fn kind(index: usize) -> Kind {
    match (index % 100, index % 10) {
        (55, _) => Kind::Wrong,
        (_, 0) => Kind::Changed,
        _ => Kind::New,
    }
}

fn count(expected: Kind) -> usize {
    (0..ROWS).filter(|index| kind(*index) == expected).count()
}

/// Rows for a table that accepts every kind of them, or only some. In that case, new rows replace invalid ones, or all
/// existing ones.
fn rows(indexes: std::ops::Range<usize>, round: usize, takes: &[Kind]) -> String {
    let mut text = String::new();
    for index in indexes {
        let key = match kind(index) {
            Kind::Changed if takes.contains(&Kind::Changed) => format!("A-{}", index / 10 + 1),
            _ => format!("F{round}-{index}"),
        };
        let is_wrong = kind(index) == Kind::Wrong && takes.contains(&Kind::Wrong);
        let score = if is_wrong { "x".to_owned() } else { format!("{round}.{index}") };
        let n = round * ROWS + index;
        let _ = writeln!(text, "{key},Name {n},user{n}@example.org,City {n},{score}");
    }
    text
}

/// The rates of one round in rows per second, and memory.
#[derive(Default)]
struct Round {
    copy: f64,
    first: f64,
    again: f64,
    postgrest: Option<f64>,
    /// The peak memory of the proxy, in MiB.
    proxy: f64,
    /// The memory of the session in the last quarter of the import, relative to the second.
    session: f64,
}

pub(super) async fn run(run: &mut Run<'_>) {
    let bed = run.bed;
    let mut rounds = Vec::new();
    for number in 1..=run.arguments.rounds.min(3) {
        eprintln!("Half a million rows, round {number} …");
        match round(bed, number).await {
            Ok(round) => rounds.push(round),
            Err(problem) => run.report.fail(&problem),
        }
    }
    run.report.begin(format!("import of {ROWS} rows, a tenth changed, a hundredth wrong, on_error=skip"));
    let ratio = |of: &dyn Fn(&Round) -> Option<f64>| median(rounds.iter().filter_map(of).collect());
    let rate = |name: &str, value: f64| println!("  {name:<50}{value:>9.0} rows/s");
    rate("keyed", ratio(&|it| Some(it.first)));
    rate("keyed, the same file again", ratio(&|it| Some(it.again)));
    rate("COPY, same indexes, new rows only", ratio(&|it| Some(it.copy)));
    if bed.postgrest.is_some() {
        rate("PostgREST, no mistakes", ratio(&|it| it.postgrest));
    }
    let rates = |name, value, gate, aim| figure(name, value, "", true, gate, aim);
    let memory = |name, value, unit, gate| figure(name, value, unit, false, gate, None);
    let mut figures = vec![rates("keyed / COPY", ratio(&|it| Some(it.first / it.copy)), 0.2, Some(0.4))];
    if bed.postgrest.is_some() {
        let value = ratio(&|it| it.postgrest.map(|theirs| it.first / theirs));
        figures.push(rates("keyed / PostgREST", value, 0.8, Some(1.5)));
    }
    figures.push(rates("again / the first time", ratio(&|it| Some(it.again / it.first)), 1.0, None));
    figures.push(memory("memory of the proxy at most", ratio(&|it| Some(it.proxy)), " MiB", 64.0));
    let session = ratio(&|it| Some(it.session));
    figures.push(memory("session's memory, last / second quarter", session, "", 1.2));
    figures.iter().for_each(|figure| run.report.add_figure(figure));
    exports(run).await;
}

fn figure(
    name: &str,
    value: f64,
    unit: &'static str,
    more_is_better: bool,
    gate: f64,
    aim: Option<f64>,
) -> Figure {
    Figure { name: name.to_owned(), value, unit, related: Vec::new(), more_is_better, gate: Some(gate), aim }
}

async fn round(bed: &Bed, number: usize) -> Result<Round, String> {
    let mut round = Round { copy: copy_in(bed, number).await?, ..Round::default() };
    let file = HEADER.to_owned() + &rows(0..ROWS, number, &[Kind::New, Kind::Changed, Kind::Wrong]);
    let memory = Memory::watch(&bed.proxy, bed.database.name());
    round.first = keyed(bed, file.clone(), [count(Kind::New), count(Kind::Changed), 0]).await?;
    let measured = memory.end();
    (round.proxy, round.session) = (measured.proxy_peak, measured.growth);
    round.again = keyed(bed, file, [0, 0, count(Kind::New) + count(Kind::Changed)]).await?;
    round.postgrest = postgrest(bed, number).await?;
    Ok(round)
}

/// COPY accepts only new keys and no invalid rows.
async fn copy_in(bed: &Bed, round: usize) -> Result<f64, String> {
    let body = rows(0..ROWS, round, &[Kind::New]);
    let (client, connection) = connect(bed).await?;
    let text = "copy plain.searched (external_key, name, email, city, score) from stdin (format csv)";
    let began = Instant::now();
    let mut sink = pin!(client.copy_in(text).await.map_err(describe)?);
    sink.send(Cursor::new(body)).await.map_err(describe)?;
    let count = sink.finish().await.map_err(describe)?;
    let rate = ROWS as f64 / began.elapsed().as_secs_f64();
    connection.abort();
    if count == ROWS as u64 { Ok(rate) } else { Err(format!("COPY took {count} rows")) }
}

/// Imports a file. The report must have these counts of created, updated and unchanged records.
async fn keyed(bed: &Bed, file: String, expected: [usize; 3]) -> Result<f64, String> {
    let path = "/v1/entities/template/customers/import?on_error=skip";
    let request = bed.proxy.request("POST", path).body("text/csv", file);
    let began = Instant::now();
    let response = request.response().await;
    let report: Value = response.json().await.map_err(describe)?;
    let rate = ROWS as f64 / began.elapsed().as_secs_f64();
    let counts = ["created", "updated", "unchanged", "failed"].map(|name| report[name].as_u64());
    let [created, updated, unchanged] = expected;
    let expected = [created, updated, unchanged, count(Kind::Wrong)].map(|count| Some(count as u64));
    if counts == expected { Ok(rate) } else { Err(format!("an import answers {counts:?}, not {expected:?}")) }
}

/// PostgREST rejects a file with an invalid row, so it gets one without.
async fn postgrest(bed: &Bed, round: usize) -> Result<Option<f64>, String> {
    let Some(postgrest) = &bed.postgrest else { return Ok(None) };
    let client = reqwest::Client::builder().no_proxy().build().map_err(describe)?;
    let url = format!(
        "{}/customers?on_conflict=external_key&columns=external_key,name,email,city,score",
        postgrest.url
    );
    let mut seconds = 0.0;
    for first in (0..ROWS).step_by(PART) {
        let body = HEADER.to_owned() + &rows(first..first + PART, round, &[Kind::New, Kind::Changed]);
        let request = client
            .post(&url)
            .header("Prefer", "resolution=merge-duplicates,return=minimal")
            .header("Content-Type", "text/csv")
            .body(body);
        let began = Instant::now();
        let response = request.send().await.map_err(describe)?;
        if !response.status().is_success() {
            return Err(format!("PostgREST: {}", response.text().await.map_err(describe)?));
        }
        seconds += began.elapsed().as_secs_f64();
    }
    Ok(Some(ROWS as f64 / seconds))
}

/// The same records by plain COPY.
const COPY_CSV: &str = "copy (select id, external_key, created_at, updated_at, name, email, city, score \
    from bench.customers where deleted_at is null) to stdout (format csv, header)";
const COPY_NDJSON: &str = "copy (select to_json(r) from (select id, external_key, created_at, updated_at, \
    json_build_object('name', name, 'email', email, 'city', city, 'score', score) as attributes \
    from bench.customers where deleted_at is null) r) to stdout";

async fn exports(run: &mut Run<'_>) {
    let bed = run.bed;
    bed.cluster.sql(bed.database.name(), "vacuum analyze bench.customers");
    let counted =
        bed.cluster.sql(bed.database.name(), "select count(*) from bench.customers where deleted_at is null");
    let records: usize = counted.parse().unwrap_or(0);
    run.report.begin(format!("export of {records} records"));
    for (format, header, plain_sql) in [("csv", 1, COPY_CSV), ("ndjson", 0, COPY_NDJSON)] {
        let mut ratios = Vec::new();
        for _ in 0..=run.arguments.rounds.min(3) {
            let both =
                async { Ok::<_, String>((export(bed, format).await?, copy_out(bed, plain_sql).await?)) };
            match both.await {
                Ok(((lines, ours), (_, theirs))) if lines == records + header => ratios.push(theirs / ours),
                Ok(((lines, _), _)) => run.report.fail(&format!("{format}: {lines} lines of {records}")),
                Err(problem) => run.report.fail(&problem),
            }
        }
        // The first run is a warm-up.
        let value = median(ratios.into_iter().skip(1).collect());
        let name = format!("{format}: keyed / COPY (select …) to stdout");
        run.report.add_figure(&figure(&name, value, "", true, 0.5, None));
    }
}

/// The number of received lines, and the seconds.
async fn export(bed: &Bed, format: &str) -> Result<(usize, f64), String> {
    let began = Instant::now();
    let path = bed.proxy.url(&format!("/v1/entities/template/customers/export?format={format}"));
    let client = reqwest::Client::builder().no_proxy().build().map_err(describe)?;
    let request = client.get(path).header("Authorization", token_of_keyed(bed));
    let response = request.header("X-Service-Project-Id", "bench").send().await.map_err(describe)?;
    let mut chunks = response.error_for_status().map_err(describe)?.bytes_stream();
    let mut lines = 0;
    while let Some(chunk) = chunks.next().await {
        lines += ends_of_line(&chunk.map_err(describe)?);
    }
    Ok((lines, began.elapsed().as_secs_f64()))
}

async fn copy_out(bed: &Bed, text: &str) -> Result<(usize, f64), String> {
    let (client, connection) = connect(bed).await?;
    let began = Instant::now();
    let mut chunks = pin!(client.copy_out(text).await.map_err(describe)?);
    let mut lines = 0;
    while let Some(chunk) = chunks.next().await {
        lines += ends_of_line(&chunk.map_err(describe)?);
    }
    let seconds = began.elapsed().as_secs_f64();
    connection.abort();
    Ok((lines, seconds))
}

fn ends_of_line(chunk: &[u8]) -> usize {
    chunk.iter().filter(|byte| **byte == b'\n').count()
}

async fn connect(bed: &Bed) -> Result<(tokio_postgres::Client, tokio::task::JoinHandle<()>), String> {
    let connected = bed.cluster.config("postgres", bed.database.name()).connect(NoTls).await;
    let (client, connection) = connected.map_err(describe)?;
    let task = tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok((client, task))
}

fn describe(error: impl std::fmt::Debug) -> String {
    format!("{error:?}")
}
