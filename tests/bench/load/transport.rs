//! The transports of a batch or file, and their responses.

use futures_util::SinkExt;
use harness::Cluster;
use serde_json::Value;
use std::io::Cursor;
use std::pin::pin;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, NoTls, Row, Statement};

/// The destination of batches.
pub(crate) enum Transport {
    /// A prepared statement with the batch as its only parameter. It returns a `report`, as keyed does, or a row with
    /// `created` for each record.
    Statement { database: String, text: &'static str },
    /// COPY.
    Copy { database: String, text: &'static str },
    /// POST to a URL.
    Http { url: String, headers: Vec<(&'static str, String)> },
}

/// An open connection of a transport.
pub(crate) enum Session {
    Statement(Client, Statement),
    Copy(Client, &'static str),
    Http(Box<reqwest::RequestBuilder>),
}

/// An unparsed response.
pub(crate) enum Response {
    Json(String),
    Rows(Vec<Row>),
    Count(u64),
}

/// The result of a batch.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) records: usize,
    /// How many of them were created, if the response reports it.
    pub(crate) created: Option<usize>,
}

/// The reason why a batch was not written.
pub(crate) enum Failure {
    Deadlock,
    Rejected(String),
}

impl Transport {
    pub(super) async fn open(&self, cluster: &Cluster) -> Session {
        match self {
            Self::Statement { database, text } => {
                let client = connect(cluster, database).await;
                let statement = client.prepare(text).await;
                Session::Statement(client, statement.expect("a statement without a mistake"))
            }
            Self::Copy { database, text } => Session::Copy(connect(cluster, database).await, text),
            Self::Http { url, headers } => {
                let client = reqwest::Client::builder().no_proxy().build();
                let request = client.expect("a client without TLS can be built").post(url);
                let request =
                    headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
                let is_typed = headers.iter().any(|(name, _)| *name == "Content-Type");
                let request =
                    if is_typed { request } else { request.header("Content-Type", "application/json") };
                Session::Http(Box::new(request))
            }
        }
    }
}

async fn connect(cluster: &Cluster, database: &str) -> Client {
    let connected = cluster.config("postgres", database).connect(NoTls).await;
    let (client, connection) = connected.expect("the server takes connections");
    tokio::spawn(connection);
    client
}

impl Session {
    pub(super) async fn send(&self, body: String) -> Result<Response, Failure> {
        match self {
            Self::Statement(client, statement) => {
                Ok(Response::Rows(client.query(statement, &[&body]).await?))
            }
            Self::Copy(client, text) => {
                let mut sink = pin!(client.copy_in(*text).await?);
                sink.send(Cursor::new(body)).await?;
                Ok(Response::Count(sink.finish().await?))
            }
            Self::Http(request) => {
                let request = request.try_clone().expect("it has no body yet").body(body);
                let response = request.send().await?;
                let is_success = response.status().is_success();
                let text = response.text().await?;
                match is_success {
                    true => Ok(Response::Json(text)),
                    false if text.contains("40P01") => Err(Failure::Deadlock),
                    false => Err(Failure::Rejected(text)),
                }
            }
        }
    }
}

impl Response {
    pub(super) fn read(self) -> Result<Written, Failure> {
        match self {
            Self::Json(text) => read_json(&text),
            Self::Rows(rows) => match rows.first().map(|row| row.try_get("report")) {
                Some(Ok(report)) => read_json(report),
                _ => {
                    let created = rows.iter().filter(|row| row.get("created")).count();
                    Ok(Written { records: rows.len(), created: Some(created) })
                }
            },
            Self::Count(count) => Ok(Written { records: count as usize, created: None }),
        }
    }
}

/// Parses keyed's report on a batch or file, or PostgREST's list of records.
fn read_json(text: &str) -> Result<Written, Failure> {
    let wrong = || Failure::Rejected(text.chars().take(500).collect());
    let response: Value = serde_json::from_str(text).map_err(|_| wrong())?;
    if let Some(records) = response.as_array() {
        return Ok(Written { records: records.len(), created: None });
    }
    if let Some(rows) = response["rows"].as_u64() {
        let created = response["created"].as_u64().filter(|_| response["failed"] == 0).ok_or_else(wrong)?;
        return Ok(Written { records: rows as usize, created: Some(created as usize) });
    }
    let results = response["results"].as_array().filter(|_| response["errors"] == false).ok_or_else(wrong)?;
    let mut created = 0;
    for (index, result) in results.iter().enumerate() {
        match (result["index"] == index, result["status"].as_u64(), result["created"].as_bool()) {
            (true, Some(201), Some(true)) => created += 1,
            (true, Some(200), Some(false)) => {}
            _ => return Err(Failure::Rejected(format!("result {index} is {result}"))),
        }
    }
    Ok(Written { records: results.len(), created: Some(created) })
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.code() {
            Some(&SqlState::T_R_DEADLOCK_DETECTED) => Self::Deadlock,
            _ => Self::Rejected(format!("{error:?}")),
        }
    }
}

impl From<reqwest::Error> for Failure {
    fn from(error: reqwest::Error) -> Self {
        Self::Rejected(format!("{error:?}"))
    }
}
