//! A connection of an SQL user that returns values as text and errors as SQLSTATE, code and pointers.

use crate::Database;
use serde_json::Value;
use std::fmt;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// Result rows: each value as the text that psql prints, `None` for null.
pub type Rows = Vec<Vec<Option<String>>>;

/// A connection for simple queries. `$1`, `$2`, … are replaced by quoted values.
pub struct Session {
    client: Client,
}

impl Database {
    /// A new session as superuser.
    pub async fn session(&self) -> Session {
        self.session_as("postgres").await
    }

    /// A new session as a role with LOGIN.
    pub async fn session_as(&self, role: &str) -> Session {
        Session { client: self.client_as(role).await }
    }

    /// A new session with connection options such as `-c name=value`.
    pub async fn session_with(&self, role: &str, options: &str) -> Session {
        let mut config = self.cluster().config(role, self.name());
        let connected = config.options(options).connect(NoTls).await;
        let (client, connection) = connected.unwrap_or_else(|error| panic!("{role} cannot connect: {error}"));
        tokio::spawn(connection);
        Session { client }
    }
}

impl Session {
    /// A session on an existing connection.
    pub fn on(client: Client) -> Self {
        Self { client }
    }

    /// Runs the statements and returns the rows or the error.
    pub async fn attempt(&self, statements: &str, values: &[&str]) -> Result<Rows, SqlError> {
        let statements = bind(statements, values);
        match self.client.simple_query(&statements).await {
            Ok(messages) => Ok(messages.iter().filter_map(row).collect()),
            Err(error) => Err(SqlError::new(&error)),
        }
    }

    /// The number of rows that a statement wrote or returned, or its error.
    pub async fn count(&self, statement: &str, values: &[&str]) -> Result<u64, SqlError> {
        let messages = self.client.simple_query(&bind(statement, values)).await;
        let messages = messages.map_err(|error| SqlError::new(&error))?;
        let count = |message: &SimpleQueryMessage| match message {
            SimpleQueryMessage::CommandComplete(count) => *count,
            _ => 0,
        };
        Ok(messages.iter().map(count).sum())
    }

    /// The rows that the statements return.
    pub async fn rows(&self, statements: &str, values: &[&str]) -> Rows {
        self.attempt(statements, values)
            .await
            .unwrap_or_else(|error| panic!("`{statements}` with {} failed: {error}", excerpt(values)))
    }

    /// Runs statements and ignores their result.
    pub async fn run(&self, statements: &str) {
        self.rows(statements, &[]).await;
    }

    /// The single value that a statement returns; empty for null.
    pub async fn text(&self, statement: &str, values: &[&str]) -> String {
        let mut rows = self.rows(statement, values).await;
        let value = rows.pop().and_then(|mut row| row.pop());
        value.unwrap_or_else(|| panic!("`{statement}` returned no row")).unwrap_or_default()
    }

    /// The single value as JSON; `Null` for null.
    pub async fn json(&self, statement: &str, values: &[&str]) -> Value {
        let text = self.text(statement, values).await;
        if text.is_empty() {
            return Value::Null;
        }
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("`{statement}` returned {text}: {error}"))
    }

    /// The error of the statements. Panics if they succeed.
    pub async fn error(&self, statements: &str, values: &[&str]) -> SqlError {
        match self.attempt(statements, values).await {
            Ok(rows) => {
                panic!("`{statements}` with {} succeeded and returned {rows:?}", excerpt(values))
            }
            Err(error) => error,
        }
    }

    /// The id of the session's server process.
    pub async fn process(&self) -> String {
        self.text("select pg_catalog.pg_backend_pid()", &[]).await
    }
}

fn row(message: &SimpleQueryMessage) -> Option<Vec<Option<String>>> {
    let SimpleQueryMessage::Row(row) = message else { return None };
    Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
}

/// The values, truncated for a readable message.
fn excerpt(values: &[&str]) -> String {
    let mut excerpt = format!("{values:?}");
    excerpt.truncate(excerpt.floor_char_boundary(500));
    excerpt
}

/// Replaces `$1`, `$2`, … by quoted values.
fn bind(statements: &str, values: &[&str]) -> String {
    let mut parts = statements.split('$');
    let mut bound = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|next: char| !next.is_ascii_digit()).unwrap_or(part.len());
        match part[..digits].parse::<usize>().ok().and_then(|number| values.get(number.wrapping_sub(1))) {
            Some(text) => {
                bound.push_str(&quote(text));
                bound.push_str(&part[digits..]);
            }
            None => {
                bound.push('$');
                bound.push_str(part);
            }
        }
    }
    bound
}

/// Quotes a text as an SQL literal.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The error of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError {
    /// The SQLSTATE.
    pub state: String,
    /// The message.
    pub message: String,
    /// The DETAIL as JSON; null if it is not JSON.
    pub detail: Value,
    /// The hint; empty if there is none.
    pub hint: String,
}

impl SqlError {
    /// Converts an error of the driver. Panics if it did not come from the server.
    pub fn new(error: &tokio_postgres::Error) -> Self {
        let error = error.as_db_error().unwrap_or_else(|| panic!("the connection failed: {error:?}"));
        Self {
            state: error.code().code().to_owned(),
            message: error.message().to_owned(),
            detail: error.detail().and_then(|detail| serde_json::from_str(detail).ok()).unwrap_or_default(),
            hint: error.hint().unwrap_or_default().to_owned(),
        }
    }

    /// The SQLSTATE and keyed's error code, to be compared in one step.
    pub fn codes(&self) -> (&str, &str) {
        (&self.state, self.detail["code"].as_str().unwrap_or_default())
    }

    /// The pointers of the errors in the request.
    pub fn pointers(&self) -> Vec<&str> {
        let problems = self.detail["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
        problems.iter().filter_map(|problem| problem["pointer"].as_str()).collect()
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({}) {}", self.message, self.state, self.detail)
    }
}
