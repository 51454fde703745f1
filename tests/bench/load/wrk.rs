//! Load by wrk: keep-alive connections that send the next request as soon as the answer is there.

use super::wrk_latencies::Latencies;
use super::{Turn, folder};
use std::process::Command;
use std::time::SystemTime;

/// Requests for wrk.
pub(crate) struct Http {
    /// The text of a script that makes them, to follow `answers.lua`.
    pub(crate) script: &'static str,
    /// The service, without a path.
    pub(crate) service: String,
    pub(crate) clients: u32,
    /// How many threads serve them; a script's variables are those of one thread.
    pub(crate) threads: u32,
    /// What the script asks its environment for.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// Answers shorter than this on average are wrong ones.
    pub(crate) least_bytes: f64,
}

impl Http {
    pub(crate) fn run(&self, seconds: u32) -> Turn {
        let script = folder().join(format!("wrk-{}.lua", std::process::id()));
        let text = format!("{}\n{}", include_str!("../scripts/answers.lua"), self.script);
        std::fs::write(&script, text).expect("the folder can be written");
        // Another seed for every run, or the new keys of one would be the old keys of the next.
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
            found.unwrap_or_else(|| panic!("wrk does not tell {name}, it says:\n{output}"))
        };
        let (requests, microseconds) = (figure("requests"), figure("microseconds"));
        let latencies = output.lines().filter_map(|line| line.strip_prefix("latency ")?.split_once(' '));
        let latencies = latencies.map(|(latency, count)| Some((latency.parse().ok()?, count.parse().ok()?)));
        let latencies = latencies.collect::<Option<_>>().expect("numbers");
        // wrk computes with whole numbers.
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
            [("refused", "answers were refusals or wrong"), ("broken", "requests had no answer")]
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
