//! Loads a CSV file into a template: one upsert by key for each row, several at a time.
//!
//! ```text
//! cargo run --release -p keyed-proxy --example load_csv -- --key-file .run/admin.key \
//!     --project demo --template countries --key-column code --create-template countries.csv
//! ```
//!
//! A second run changes nothing: each row is then an update to the values that its record has already.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

/// Loads a CSV file into a template of keyed, one upsert by key for each row.
#[derive(Parser)]
struct Arguments {
    /// The CSV file: UTF-8, the first line names the columns.
    file: PathBuf,
    /// Where the proxy answers, without TLS.
    #[arg(long, default_value = "http://127.0.0.1:8080")]
    url: String,
    /// The file that holds the API key.
    #[arg(long)]
    key_file: PathBuf,
    /// The project, by slug or number.
    #[arg(long)]
    project: String,
    /// The slug of the template.
    #[arg(long)]
    template: String,
    /// The column that holds the external key.
    #[arg(long)]
    key_column: String,
    /// Make the template from the columns if it does not exist: numbers where all values are, else strings.
    #[arg(long)]
    create_template: bool,
    /// How many upserts are under way at once, each on a connection of its own.
    #[arg(long, default_value_t = 8)]
    connections: usize,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let mut survey = Survey::of(&arguments)?;
    let service = Service::new(&arguments)?;
    if arguments.create_template {
        service.create_template(&survey.columns).await?;
    }
    service.read_types(&mut survey.columns).await?;
    let began = Instant::now();
    let Tally { created, updated, failed, problems } = send_all(&arguments, survey, service).await?;
    let seconds = began.elapsed().as_secs_f64();
    let rows = created + updated + failed;
    println!("rows {rows}, created {created}, updated {updated}, failed {failed}");
    println!("{seconds:.1} s, {:.0} rows/s", rows as f64 / seconds);
    problems.iter().for_each(|problem| eprintln!("{problem}"));
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What a first look at the whole file tells.
struct Survey {
    columns: Vec<Column>,
    /// The position of the key among them.
    key: usize,
    rows: u64,
}

struct Column {
    header: String,
    slug: String,
    /// The attribute's type, guessed until the template was read. Without one the column is left out.
    kind: Option<String>,
}

impl Survey {
    fn of(arguments: &Arguments) -> anyhow::Result<Survey> {
        let mut reader = open(arguments)?;
        let mut columns: Vec<Column> = Vec::new();
        for header in reader.headers()? {
            let slug = free_slug(header, &columns);
            columns.push(Column { header: header.to_owned(), slug, kind: None });
        }
        let key = columns.iter().position(|column| column.header == arguments.key_column);
        let key = key.with_context(|| format!("there is no column {:?}", arguments.key_column))?;
        let mut rows = 0;
        for record in reader.records() {
            rows += 1;
            // A file that cannot be read to its end is refused here, before anything of it is sent.
            let record = record?;
            for (column, cell) in columns.iter_mut().zip(&record).filter(|(_, cell)| !cell.is_empty()) {
                let is_number = column.kind.as_deref() != Some("string") && is_json_number(cell);
                column.kind = Some(if is_number { "number" } else { "string" }.to_owned());
            }
        }
        Ok(Survey { columns, key, rows })
    }
}

fn open(arguments: &Arguments) -> anyhow::Result<csv::Reader<std::fs::File>> {
    let file = &arguments.file;
    csv::Reader::from_path(file).with_context(|| format!("cannot read {}", file.display()))
}

/// A slug for a column's header: lower case, letters, digits and `_`, and not that of an earlier column.
fn free_slug(header: &str, taken: &[Column]) -> String {
    // The standard fields of a record, and the columns that PostgreSQL itself gives to every table.
    let reserved = "id template_id template_slug external_key created_at updated_at deleted_at \
                    tableoid xmin cmin xmax cmax ctid";
    let plain = |character: char| match character.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9') => letter,
        _ => '_',
    };
    let mut slug: String = header.trim().chars().map(plain).collect();
    if !slug.starts_with(|first: char| first.is_ascii_lowercase()) {
        slug.insert_str(0, "column_");
    }
    // A slug has at most 63 characters, and two are left for the loop below.
    slug.truncate(61);
    while reserved.split(' ').any(|name| name == slug) || taken.iter().any(|column| column.slug == slug) {
        slug.push('_');
    }
    slug
}

/// Codes such as `007` are none: JSON knows no leading zeros, so they stay strings and keep them.
fn is_json_number(cell: &str) -> bool {
    cell.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && !cell.ends_with(char::is_whitespace)
        && serde_json::from_str::<serde_json::Number>(cell).is_ok()
}

/// A cell as JSON. The digits of a number go out as they stand in the file.
fn value(cell: &str, kind: &str) -> serde_json::Result<Box<RawValue>> {
    match kind {
        _ if cell.is_empty() => to_raw_value(&()),
        "number" | "metric" if is_json_number(cell) => RawValue::from_string(cell.to_owned()),
        "reference" => to_raw_value(&json!({ "external_key": cell })),
        _ => to_raw_value(cell),
    }
}

/// A template of the service, seen by one caller.
struct Service {
    client: reqwest::Client,
    templates: String,
    template: String,
    by_key: String,
}

impl Service {
    fn new(arguments: &Arguments) -> anyhow::Result<Service> {
        let key = std::fs::read_to_string(&arguments.key_file).context("cannot read the key's file")?;
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::try_from(format!("Bearer {}", key.trim()))?);
        headers.insert("x-service-project-id", HeaderValue::try_from(&arguments.project)?);
        let client = reqwest::Client::builder().default_headers(headers).build()?;
        let (api, template) = (arguments.url.trim_end_matches('/'), arguments.template.clone());
        let by_key = format!("{api}/v1/entities/template/{template}/by-key");
        Ok(Service { client, templates: format!("{api}/v1/templates"), template, by_key })
    }

    async fn create_template(&self, columns: &[Column]) -> anyhow::Result<()> {
        let attribute = |column: &Column| {
            let kind = column.kind.as_deref().unwrap_or("string");
            json!({ "slug": column.slug, "type": kind, "label": column.header })
        };
        let attributes: Vec<Value> = columns.iter().map(attribute).collect();
        let body = json!({ "slug": self.template, "attributes": attributes });
        match answer_to(self.client.post(&self.templates).json(&body)).await? {
            (201, _) => eprintln!("Created the template {}.", self.template),
            (409, _) => eprintln!("The template {} exists already.", self.template),
            (_, problem) => bail!("the template cannot be created: {}", in_words(&problem)),
        }
        Ok(())
    }

    /// Replaces what was guessed of the columns by what the template says of its attributes.
    async fn read_types(&self, columns: &mut [Column]) -> anyhow::Result<()> {
        let address = format!("{}/{}", self.templates, self.template);
        let (200, template) = answer_to(self.client.get(address)).await? else {
            bail!("the template {} cannot be read; --create-template makes it", self.template)
        };
        let attributes = template["attributes"].as_array().context("the template has no attributes")?;
        for column in columns {
            let attribute = attributes.iter().find(|attribute| attribute["slug"] == column.slug.as_str());
            column.kind = attribute.and_then(|found| found["type"].as_str()).map(ToOwned::to_owned);
            if column.kind.is_none() {
                eprintln!("No attribute is called {}: column {:?} is left out.", column.slug, column.header);
            }
        }
        Ok(())
    }

    /// Whether the record was created; a refusal is told in words.
    async fn upsert(&self, body: String) -> anyhow::Result<bool> {
        let request = self.client.put(&self.by_key).header("content-type", "application/json").body(body);
        let (status, answer) = answer_to(request).await?;
        match answer["created"].as_bool() {
            Some(created) if status == if created { 201 } else { 200 } => Ok(created),
            _ => bail!("{status} {}", in_words(&answer)),
        }
    }
}

async fn answer_to(request: reqwest::RequestBuilder) -> anyhow::Result<(u16, Value)> {
    let answer = request.send().await?;
    let status = answer.status().as_u16();
    let text = answer.text().await?;
    Ok((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
}

/// The code and the details of a problem, each fault with its place.
fn in_words(problem: &Value) -> String {
    let faults = problem["errors"].as_array().into_iter().flatten();
    let faults: String = faults.map(|fault| format!("; {}: {}", fault["pointer"], fault["detail"])).collect();
    format!("{}: {}{faults}", problem["code"], problem["detail"])
}

/// What became of the rows.
#[derive(Default)]
struct Tally {
    created: u64,
    updated: u64,
    failed: u64,
    /// The first few refusals.
    problems: Vec<String>,
}

impl Tally {
    fn add(&mut self, line: u64, outcome: anyhow::Result<bool>) {
        match outcome {
            Ok(true) => self.created += 1,
            Ok(false) => self.updated += 1,
            Err(problem) => {
                self.failed += 1;
                if self.problems.len() < 5 {
                    self.problems.push(format!("line {line}: {problem:#}"));
                }
            }
        }
    }
}

#[derive(Serialize)]
struct Upsert<'a> {
    external_key: &'a str,
    attributes: BTreeMap<&'a str, Box<RawValue>>,
}

async fn send_all(arguments: &Arguments, survey: Survey, service: Service) -> anyhow::Result<Tally> {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} rows, {per_sec}, {eta} left")?;
    let progress = ProgressBar::new(survey.rows).with_style(style);
    let tally = Arc::new(Mutex::new(Tally::default()));
    let (service, mut senders, mut connections) = (Arc::new(service), Vec::new(), JoinSet::new());
    for _ in 0..arguments.connections.max(1) {
        let (sender, mut rows) = mpsc::channel::<(u64, String)>(64);
        let (service, tally, progress) = (service.clone(), tally.clone(), progress.clone());
        senders.push(sender);
        connections.spawn(async move {
            while let Some((line, body)) = rows.recv().await {
                let outcome = service.upsert(body).await;
                tally.lock().await.add(line, outcome);
                progress.inc(1);
            }
        });
    }
    for record in open(arguments)?.records() {
        let record = record?;
        let mut attributes = BTreeMap::new();
        for (column, cell) in survey.columns.iter().zip(&record) {
            if let Some(kind) = &column.kind {
                attributes.insert(column.slug.as_str(), value(cell, kind)?);
            }
        }
        let external_key = &record[survey.key];
        // Rows of one key take the same connection, so of two the later one wins, as in the file.
        let connection = external_key.bytes().map(usize::from).sum::<usize>() % senders.len();
        let body = serde_json::to_string(&Upsert { external_key, attributes })?;
        let line = record.position().map_or(0, csv::Position::line);
        senders[connection].send((line, body)).await?;
    }
    drop(senders);
    connections.join_all().await;
    progress.finish_and_clear();
    Ok(std::mem::take(&mut *tally.lock().await))
}
