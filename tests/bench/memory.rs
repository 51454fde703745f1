//! Memory usage of the proxy and its database sessions under load.

use harness::Proxy;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

/// A monitor of a proxy and its database sessions.
pub(crate) struct Memory {
    proxy: u32,
    is_over: Arc<AtomicBool>,
    watch: JoinHandle<Vec<f64>>,
}

/// The observed values.
pub(crate) struct Measured {
    /// The peak memory of the proxy since its start, in MiB.
    pub(crate) proxy_peak: f64,
    /// The peak memory of the sessions in the last quarter of the time, relative to the second.
    pub(crate) growth: f64,
}

impl Memory {
    /// Starts the monitor.
    pub(crate) fn watch(proxy: &Proxy, database: &str) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (ends, name) = (Arc::clone(&is_over), format!("postgres: keyed_proxy {database} "));
        let watch = spawn(move || {
            let mut held = Vec::new();
            while !ends.load(Ordering::Relaxed) {
                held.push(largest_session(&name));
                sleep(Duration::from_millis(50));
            }
            held
        });
        Self { proxy: proxy.process(), is_over, watch }
    }

    /// Stops the monitor.
    pub(crate) fn end(self) -> Measured {
        self.is_over.store(true, Ordering::Relaxed);
        let held = self.watch.join().expect("it does not panic");
        let quarter = |number: usize| {
            let part = &held[held.len() * (number - 1) / 4..held.len() * number / 4];
            part.iter().copied().fold(0.0, f64::max)
        };
        let proxy = Path::new("/proc").join(self.proxy.to_string());
        let proxy_peak = kilobytes(&proxy, "VmHWM:").unwrap_or(f64::NAN) / 1024.0;
        Measured { proxy_peak, growth: quarter(4) / quarter(2) }
    }
}

/// The largest private memory of a session, in kB. Shared memory does not count.
fn largest_session(name: &str) -> f64 {
    let entries = std::fs::read_dir("/proc").expect("this is Linux").flatten();
    let sessions = entries.filter(|entry| {
        std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| line.starts_with(name.as_bytes()))
    });
    sessions.filter_map(|session| kilobytes(&session.path(), "RssAnon:")).fold(0.0, f64::max)
}

/// The private memory of a process, in kB.
pub(crate) fn held_by(process: u32) -> Option<f64> {
    kilobytes(&Path::new("/proc").join(process.to_string()), "RssAnon:")
}

fn kilobytes(process: &Path, field: &str) -> Option<f64> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
