//! Load by pgbench with prepared statements: the cheapest client of PostgreSQL there is.

use super::{Turn, median};
use harness::Cluster;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// A script for pgbench.
pub(crate) struct Sql {
    /// Its text.
    pub(crate) script: &'static str,
    pub(crate) database: String,
    pub(crate) clients: u32,
    /// The variables that the script expects.
    pub(crate) variables: Vec<(&'static str, u32)>,
}

impl Sql {
    pub(crate) fn run(&self, cluster: &Cluster, seconds: u32) -> Turn {
        // pgbench runs as PostgreSQL's user, and this folder is the one that it may surely write to.
        let data = cluster.data_folder();
        let folder = data.parent().expect("the data is in the cluster's folder");
        let log = folder.join("pgbench");
        let mut command = cluster.program("pgbench");
        command.args(["--no-vacuum", "--protocol=prepared", "--jobs=2", "--file=-"]);
        command.args(["--log", "--sampling-rate=0.2"]).arg(format!("--log-prefix={}", log.display()));
        command.arg(format!("--client={}", self.clients)).arg(format!("--time={seconds}"));
        for (name, value) in &self.variables {
            command.arg(format!("--define={name}={value}"));
        }
        let (output, errors, succeeded) = feed(command.arg(&self.database), self.script);
        let mut turn = Turn { median: median(sampled_latencies(folder)), ..Turn::default() };
        let figure = |before: &str| -> Option<f64> {
            output.lines().find_map(|line| line.strip_prefix(before)?.split(' ').next()?.parse().ok())
        };
        turn.rate = figure("tps = ").unwrap_or_default();
        turn.done = figure("number of transactions actually processed: ").unwrap_or_default();
        let failed = figure("number of failed transactions: ").unwrap_or_default();
        if failed > 0.0 {
            turn.faults.push(format!("{failed} statements failed"));
        }
        if !succeeded {
            turn.faults.push(errors.trim().to_owned());
        }
        turn
    }
}

/// Runs a program with that input; its output, its errors, and whether it succeeded.
fn feed(command: &mut Command, input: &str) -> (String, String, bool) {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("pgbench comes with PostgreSQL 15");
    let mut stdin = child.stdin.take().expect("it was asked for");
    // A program that refuses its arguments reads nothing; its own words say why.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("it is our child");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(output.stdout), text(output.stderr), output.status.success())
}

/// The latencies in the logs of a run, in milliseconds. The logs go with the reading.
fn sampled_latencies(folder: &Path) -> Vec<f64> {
    let mut latencies = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the cluster's folder is there").flatten() {
        if entry.file_name().to_string_lossy().starts_with("pgbench.") {
            let text = std::fs::read_to_string(entry.path()).expect("the log can be read");
            let microseconds = text.lines().filter_map(|line| line.split(' ').nth(2)?.parse::<f64>().ok());
            latencies.extend(microseconds.map(|microseconds| microseconds / 1000.0));
            std::fs::remove_file(entry.path()).expect("the log can be removed");
        }
    }
    latencies
}
