//! How much others kept the processors from us: what they took is missing from every figure.

use std::collections::HashMap;

/// The processors' time so far, in clock ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Processors {
    all: f64,
    busy: f64,
    ours: f64,
}

impl Processors {
    pub(crate) fn now() -> Self {
        let text = std::fs::read_to_string("/proc/stat").expect("this is Linux");
        let first = text.lines().next().unwrap_or_default();
        // Behind these eight only times follow that are counted in them already.
        let ticks: Vec<f64> =
            first.split_whitespace().skip(1).take(8).filter_map(|tick| tick.parse().ok()).collect();
        let all = ticks.iter().sum();
        // The fourth and the fifth are the time idle and the time waiting for a disk.
        let idle: f64 = ticks.iter().skip(3).take(2).sum();
        Self { all, busy: all - idle, ours: ours() }
    }

    /// The share of the processors that others used between two looks.
    pub(crate) fn used_by_others_since(self, before: Self) -> f64 {
        let others = (self.busy - before.busy) - (self.ours - before.ours);
        (others / (self.all - before.all).max(1.0)).max(0.0)
    }
}

/// The time of this process and all that come from it, the ended ones too.
fn ours() -> f64 {
    let mut parents = HashMap::new();
    let mut times = HashMap::new();
    for entry in std::fs::read_dir("/proc").expect("this is Linux").flatten() {
        let Ok(process) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        // A process may end while we look.
        let Ok(text) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name, in parentheses, may itself have spaces and parentheses.
        let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let number =
            |position: usize| fields.get(position).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
        parents.insert(process, number(1) as u32);
        // In user and in system mode, and the same of the children it has waited for.
        times.insert(process, (11..15).map(number).sum::<f64>());
    }
    let us = std::process::id();
    let is_ours = |process: u32| {
        std::iter::successors(Some(process), |child| parents.get(child).copied())
            .any(|ancestor| ancestor == us)
    };
    times.iter().filter(|(process, _)| is_ours(**process)).map(|(_, time)| time).sum()
}
