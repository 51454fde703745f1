//! Load by wrk: keep-alive connections that send the next request as soon as the response has arrived.

use super::wrk_latencies::Latencies;
use super::{Turn, folder};
use std::process::Command;
use std::time::SystemTime;

/// Requests for wrk.
pub(crate) struct Http {
    /// The script that creates the requests, to follow `responses.lua`.
    pub(crate) script: &'static str,
    /// The URL of the service, without a path.
    pub(crate) service: String,
    pub(crate) clients: u32,
    /// The number of threads; each thread has its own variables of the script.
    pub(crate) threads: u32,
    /// Environment variables for the script.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// Shorter responses on average are wrong.
    pub(crate) least_bytes: f64,
}

impl Http {
    pub(crate) fn run(&self, seconds: u32) -> Turn {
        let script = folder().join(format!("wrk-{}.lua", std::process::id()));
        let text = format!("{}\n{}", include_str!("../scripts/responses.lua"), self.script);
        std::fs::write(&script, text).expect("the folder can be written");
        // A different seed for each run. Otherwise, the new keys of one run would exist in the next.
        let seed = SystemTime::UNIX_EPOCH.elapsed().expect("the clock is set").as_millis() % 1_000_000_000;
        let mut command = Command::new("wrk");
        command.arg(format!("--threads={}", self.threads)).arg("--timeout=10s").arg("--script").arg(&script);
        command.arg(format!("--connections={}", self.clients)).arg(format!("--duration={seconds}s"));
        command
            .env("SEED", seed.to_string())
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        let output = command.arg(&self.service).output().expect("wrk is installed: `make setup` does it");
        std::fs::remove_file(script).expect("the folder can be written");
        let said = [output.stdout, output.stderr].concat();
        self.read(&String::from_utf8_lossy(&said))
    }

    fn read(&self, output: &str) -> Turn {
        let figure = |name: &str| -> f64 {
            let prefix = format!("result {name} ");
            let found = output.lines().find_map(|line| line.strip_prefix(&prefix)?.parse().ok());
            found.unwrap_or_else(|| panic!("wrk does not report {name}; its output:\n{output}"))
        };
        let (requests, microseconds) = (figure("requests"), figure("microseconds"));
        let latencies = output.lines().filter_map(|line| line.strip_prefix("latency ")?.split_once(' '));
        let latencies = latencies.map(|(latency, count)| Some((latency.parse().ok()?, count.parse().ok()?)));
        let latencies = latencies.collect::<Option<_>>().expect("numbers");
        // wrk computes with integers.
        let interval = microseconds as u64 / (requests as u64 / u64::from(self.clients)).max(1);
        let latencies = Latencies::of_wrk(latencies, interval);
        let mut turn = Turn {
            rate: requests / microseconds * 1e6,
            median: latencies.percentile(50),
            tail: latencies.percentile(99),
            done: requests,
            created: figure("created") as u64,
            ..Turn::default()
        };
        let example = output.lines().find_map(|line| line.strip_prefix("example ")).unwrap_or_default();
        for (name, meaning) in
            [("refused", "responses were errors or wrong"), ("broken", "requests got no response")]
        {
            if figure(name) > 0.0 {
                turn.problems.push(format!("{} of {requests} {meaning} {example}", figure(name)));
            }
        }
        let bytes = figure("bytes") / requests;
        if requests == 0.0 || bytes < self.least_bytes {
            turn.problems
                .push(format!("{requests} answers of {bytes:.0} bytes on average are too few or too short"));
        }
        turn
    }
}
