//! CPU usage: the share of other processes, which reduces every rate, and the CPU time of the measured servers, which
//! hardly depends on other processes or the disk.

use std::collections::HashMap;

/// The CPU time so far, in clock ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Processors {
    all: f64,
    busy: f64,
    ours: f64,
    servers: f64,
}

impl Processors {
    pub(crate) fn now() -> Self {
        let text = std::fs::read_to_string("/proc/stat").expect("this is Linux");
        let first = text.lines().next().unwrap_or_default();
        // Later fields are already included in the first eight.
        let ticks: Vec<f64> =
            first.split_whitespace().skip(1).take(8).filter_map(|tick| tick.parse().ok()).collect();
        let all = ticks.iter().sum();
        // Fields four and five are the idle time and the time waiting for I/O.
        let idle: f64 = ticks.iter().skip(3).take(2).sum();
        let (ourselves, servers) = times();
        Self { all, busy: all - idle, ours: ourselves + servers, servers }
    }

    /// The CPU time of the servers between two samples, in microseconds.
    pub(crate) fn used_by_servers_since(self, before: Self) -> f64 {
        // Linux reports times in hundredths of a second, independent of its own clock.
        (self.servers - before.servers) * 10_000.0
    }

    /// The share of the CPUs that other processes used between two samples.
    pub(crate) fn used_by_others_since(self, before: Self) -> f64 {
        let others = (self.busy - before.busy) - (self.ours - before.ours);
        (others / (self.all - before.all).max(1.0)).max(0.0)
    }
}

/// The CPU time of this process and of its finished children, which generate the load, and of its running children, the
/// servers.
fn times() -> (f64, f64) {
    let mut parents = HashMap::new();
    let mut times = HashMap::new();
    for entry in std::fs::read_dir("/proc").expect("this is Linux").flatten() {
        let Ok(process) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        // A process may end during the loop.
        let Ok(text) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name is in parentheses, and may itself contain spaces and parentheses.
        let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let number =
            |position: usize| fields.get(position).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
        parents.insert(process, number(1) as u32);
        // User and system time, of the process and of its finished children.
        times.insert(process, (11..15).map(number).sum::<f64>());
    }
    let us = std::process::id();
    let is_ours = |process: u32| {
        std::iter::successors(Some(process), |child| parents.get(child).copied())
            .any(|ancestor| ancestor == us)
    };
    let all: f64 = times.iter().filter(|(process, _)| is_ours(**process)).map(|(_, time)| time).sum();
    let ourselves = times.get(&us).copied().unwrap_or_default();
    (ourselves, all - ourselves)
}
