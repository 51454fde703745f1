//! Load by pgbench, the cheapest client of PostgreSQL.

use super::{Turn, median, tail};
use harness::Cluster;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A script for pgbench.
pub(crate) struct Sql {
    /// The text of the script.
    pub(crate) script: Cow<'static, str>,
    pub(crate) database: String,
    /// The role; by default the superuser.
    pub(crate) role: Option<String>,
    pub(crate) clients: u32,
    /// The variables that the script expects.
    pub(crate) variables: Vec<(&'static str, u32)>,
    /// The query mode: `prepared`, or `simple`, in which each statement is planned.
    pub(crate) protocol: &'static str,
    /// The rate of transactions per second, independent of their completion; `None` means as many as possible.
    pub(crate) pace: Option<f64>,
}

impl Sql {
    /// One client without a rate limit.
    pub(crate) fn new(script: impl Into<Cow<'static, str>>, database: &str) -> Self {
        let (script, database) = (script.into(), database.to_owned());
        let (role, variables) = (None, Vec::new());
        Self { script, database, role, clients: 1, variables, protocol: "prepared", pace: None }
    }

    pub(crate) fn run(&self, cluster: &Cluster, seconds: u32) -> Turn {
        // pgbench runs as PostgreSQL's user, which can certainly write to this folder.
        let data = cluster.data_folder();
        let folder = data.parent().expect("the data is in the cluster's folder");
        // Two may run at the same time.
        static RUN: AtomicU32 = AtomicU32::new(1);
        let name = format!("pgbench-{}", RUN.fetch_add(1, Ordering::Relaxed));
        let mut command = cluster.program("pgbench");
        command.args(["--no-vacuum", "--jobs=2", "--file=-"]).arg(format!("--protocol={}", self.protocol));
        command.arg("--log").arg(format!("--log-prefix={}", folder.join(&name).display()));
        match self.pace {
            // With a rate, there are few enough transactions to log each. Their latency then includes the schedule lag.
            Some(pace) => command.arg(format!("--rate={pace:.1}")),
            None if self.clients > 1 => command.arg("--sampling-rate=0.2"),
            // A single client may complete only a few.
            None => &mut command,
        };
        command.arg(format!("--client={}", self.clients)).arg(format!("--time={seconds}"));
        if let Some(role) = &self.role {
            command.arg(format!("--username={role}"));
        }
        for (name, value) in &self.variables {
            command.arg(format!("--define={name}={value}"));
        }
        let (output, errors, succeeded) = feed(command.arg(&self.database), &self.script);
        let latencies = latencies(folder, &name);
        let mut turn = Turn { median: median(latencies.clone()), tail: tail(latencies), ..Turn::default() };
        let figure = |before: &str| -> Option<f64> {
            output.lines().find_map(|line| line.strip_prefix(before)?.split(' ').next()?.parse().ok())
        };
        turn.rate = figure("tps = ").unwrap_or_default();
        turn.done = figure("number of transactions actually processed: ").unwrap_or_default();
        let failed = figure("number of failed transactions: ").unwrap_or_default();
        if failed > 0.0 {
            turn.problems.push(format!("{failed} statements failed"));
        }
        if !succeeded {
            turn.problems.push(errors.trim().to_owned());
        }
        turn
    }
}

/// Runs a program with this input. Returns its output, its errors, and whether it succeeded.
fn feed(command: &mut Command, input: &str) -> (String, String, bool) {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("pgbench comes with PostgreSQL");
    let mut stdin = child.stdin.take().expect("it was asked for");
    // A program that rejects its arguments reads no input, and reports the reason itself.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("the process is a child of this one");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(output.stdout), text(output.stderr), output.status.success())
}

/// Reads and removes the logs of a run. Returns the latencies in milliseconds.
fn latencies(folder: &Path, name: &str) -> Vec<f64> {
    let mut latencies = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the cluster's folder exists").flatten() {
        if entry.file_name().to_string_lossy().starts_with(&format!("{name}.")) {
            let text = std::fs::read_to_string(entry.path()).expect("the log can be read");
            latencies.extend(latencies_in(&text));
            std::fs::remove_file(entry.path()).expect("the log can be removed");
        }
    }
    latencies
}

/// The latencies in a log. pgbench reads the clock only when it waits. If a response is already there, as on a busy
/// machine where the server ran in place of pgbench, the transaction gets a latency of 0, and its time is part of the
/// next one of the same client.
fn latencies_in(log: &str) -> Vec<f64> {
    let mut latencies = Vec::new();
    // For each client, the number of its last transaction, and how many up to then had no time.
    let mut clients: HashMap<&str, (u64, u32)> = HashMap::new();
    for line in log.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [client, number, microseconds, ..] = fields.as_slice() else { continue };
        let (Ok(number), Ok(microseconds)) = (number.parse::<u64>(), microseconds.parse::<f64>()) else {
            continue;
        };
        let (last, untimed) = clients.entry(client).or_default();
        // A sampled log lacks the transactions in between.
        if number != *last + 1 {
            *untimed = 0;
        }
        (*last, *untimed) = (number, *untimed + 1);
        if microseconds > 0.0 {
            let each = microseconds / 1000.0 / f64::from(*untimed);
            latencies.extend((0..*untimed).map(|_| each));
            *untimed = 0;
        }
    }
    latencies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_without_a_time_share_the_next_one() {
        let log =
            "0 1 30 0 1 1\n0 2 0 0 1 1\n1 1 50 0 1 1\n0 3 0 0 1 1\n0 4 90 0 1 1\n1 2 40 0 1 1\n0 5 0 0 1 1\n";
        assert_eq!(latencies_in(log), [0.03, 0.05, 0.03, 0.03, 0.03, 0.04]);
        let sampled = "0 1 0 0 1 1\n0 5 90 0 1 1\n0 9 60 0 1 1\n";
        assert_eq!(latencies_in(sampled), [0.09, 0.06]);
    }
}
