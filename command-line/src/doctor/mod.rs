//! `doctor`: reports problems of a database and how to solve them. It changes nothing.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use keyed_checks::{Check, LOCK_TIMEOUT, LOCKED, Needs, Severity};
use serde::Serialize;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::connection::{Connection, connect, explain, runtime};
use super::outcome::{Failure, print};

#[derive(Args)]
pub(crate) struct Doctor {
    /// Print JSON: {"healthy", "extension_version", "proxy_version", "checks": [{"name", "sound"}],
    /// "findings": [{"check", "severity", "message", "remedy"}]}.
    #[arg(long)]
    json: bool,

    /// The lowest severity of a finding that sets the exit code to 1.
    #[arg(long, value_parser = severities(), default_value = "error", value_name = "SEVERITY")]
    fail_on: Severity,

    #[command(flatten)]
    connection: Connection,
}

fn severities() -> impl TypedValueParser<Value = Severity> {
    PossibleValuesParser::new(["note", "warning", "error"]).map(|name| match name.as_str() {
        "note" => Severity::Note,
        "warning" => Severity::Warning,
        _ => Severity::Error,
    })
}

#[derive(Serialize)]
struct Finding {
    check: &'static str,
    severity: Severity,
    message: String,
    remedy: String,
}

#[derive(Serialize)]
struct Passed {
    name: &'static str,
    /// Whether the check passed; null if it could not run, because an object is missing or locked.
    sound: Option<bool>,
}

#[derive(Serialize)]
struct Report {
    healthy: bool,
    extension_version: Option<String>,
    proxy_version: &'static str,
    checks: Vec<Passed>,
    findings: Vec<Finding>,
}

pub(crate) fn run(arguments: Doctor) -> Result<(), Failure> {
    let report = runtime()?.block_on(examine(&arguments))?;
    let is_failure = report.findings.iter().any(|finding| finding.severity >= arguments.fail_on);
    if arguments.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&report).map_err(anyhow::Error::new)?))?;
    } else {
        print(&report.to_text())?;
    }
    if is_failure {
        return Err(Failure::Running(anyhow::anyhow!("there are findings to repair")));
    }
    Ok(())
}

async fn examine(arguments: &Doctor) -> Result<Report, Failure> {
    let client = connect(&arguments.connection.connector("doctor")?).await?;
    // All checks use one snapshot, and none can write.
    let begin = format!(
        "begin isolation level repeatable read read only; set local lock_timeout = '{}'",
        LOCK_TIMEOUT.to_string_lossy()
    );
    client.batch_execute(&begin).await.map_err(explain)?;
    let mut installed_objects = installed_objects(&client).await?;
    let (mut checks, mut findings) = (Vec::new(), Vec::new());
    if installed_objects > Needs::Nothing
        && let Some(finding) = library_error(&client).await?
    {
        findings.push(finding);
        installed_objects = Needs::Nothing;
    }
    for check in keyed_checks::checks() {
        let sound = if check.needs <= installed_objects {
            let (found, sound) = findings_of(&client, check).await?;
            findings.extend(found);
            sound
        } else {
            None
        };
        checks.push(Passed { name: check.name, sound });
    }
    let extension_version = extension_version(&client).await?;
    let proxy_version = env!("CARGO_PKG_VERSION");
    if let Some(version) = extension_version.as_deref().filter(|version| *version != proxy_version) {
        findings.push(Finding {
            check: "extension",
            severity: Severity::Warning,
            message: format!("this program has version {proxy_version}, the extension version {version}"),
            remedy: "install both from the same release".to_owned(),
        });
    }
    let healthy = findings.iter().all(|finding| finding.severity < Severity::Error);
    Ok(Report { healthy, extension_version, proxy_version, checks, findings })
}

async fn installed_objects(client: &Client) -> Result<Needs, Failure> {
    let query = "select exists (select from pg_extension where extname = 'keyed'), \
                 exists (select from pg_attribute where attrelid = to_regclass('keyed_state.access_grant') and attname = 'bound_in')";
    let rows = client.query_typed(query, &[]).await.map_err(explain)?;
    Ok(match rows.first().map(|row| (row.get(0), row.get(1))) {
        Some((true, true)) => Needs::State,
        Some((true, false)) => Needs::Extension,
        _ => Needs::Nothing,
    })
}

/// If the library is older than the extension or its schema version, every function fails.
async fn library_error(client: &Client) -> Result<Option<Finding>, Failure> {
    client.batch_execute("savepoint probe").await.map_err(explain)?;
    let called = client.query_typed("select keyed.pending_migrations()", &[]).await;
    client.batch_execute("rollback to probe").await.map_err(explain)?;
    let error = called.err();
    let error = error.as_ref().and_then(|error| error.as_db_error());
    Ok(error.filter(|error| *error.code() == SqlState::CANNOT_CONNECT_NOW).map(|error| Finding {
        check: "extension",
        severity: Severity::Error,
        message: error.message().to_owned(),
        remedy: error.hint().unwrap_or_default().to_owned(),
    }))
}

/// The findings of a check, and whether it passed; `None` if a table that it reads is locked.
async fn findings_of(client: &Client, check: &Check) -> Result<(Vec<Finding>, Option<bool>), Failure> {
    client.batch_execute("savepoint examination").await.map_err(explain)?;
    let found = client.query_typed(check.query, &[]).await;
    let is_locked = matches!(&found, Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE));
    let found = if is_locked {
        client.batch_execute("rollback to examination").await.map_err(explain)?;
        client.query_typed(LOCKED, &[]).await
    } else {
        found
    };
    let rows =
        found.map_err(|error| explain(error).context(format!("the check {} could not run", check.name)))?;
    client.batch_execute("release examination").await.map_err(explain)?;
    let finding = |row: &tokio_postgres::Row| Finding {
        check: check.name,
        severity: check.severity,
        message: row.get(0),
        remedy: row.get(1),
    };
    Ok((rows.iter().map(finding).collect(), (!is_locked).then_some(rows.is_empty())))
}

async fn extension_version(client: &Client) -> Result<Option<String>, Failure> {
    let query = "select extversion from pg_extension where extname = 'keyed'";
    let rows = client.query_typed(query, &[]).await.map_err(explain)?;
    Ok(rows.first().map(|row| row.get(0)))
}

impl Report {
    fn to_text(&self) -> String {
        let mut out = String::new();
        for (passed, check) in self.checks.iter().zip(keyed_checks::checks()) {
            match passed.sound {
                Some(true) => out += &format!("ok       {}: {}\n", check.name, check.sound),
                Some(false) => {}
                None if self.findings.iter().any(|finding| finding.check == check.name) => {}
                None => out += &format!("skipped  {}: its prerequisite is missing\n", check.name),
            }
            for finding in self.findings.iter().filter(|finding| finding.check == check.name) {
                let severity = match finding.severity {
                    Severity::Error => "ERROR  ",
                    Severity::Warning => "WARNING",
                    Severity::Note => "note   ",
                };
                out += &format!("{severity}  {}: {}\n", finding.check, on_one_line(&finding.message));
                out += &format!("         remedy: {}\n", on_one_line(&finding.remedy));
            }
        }
        out
    }
}

/// Escapes control characters in names that users chose: a line break or an escape sequence could imitate output of
/// doctor.
fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
