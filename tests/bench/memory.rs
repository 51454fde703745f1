//! How much memory the proxy and its sessions hold while they work.

use harness::Proxy;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

/// A watch over a proxy and its sessions of the database.
pub(crate) struct Memory {
    proxy: u32,
    is_over: Arc<AtomicBool>,
    watch: JoinHandle<Vec<f64>>,
}

/// What was seen.
pub(crate) struct Measured {
    /// The most that the proxy held since it was started: MiB.
    pub(crate) proxy_peak: f64,
    /// The most that the sessions held in the last quarter of the time, to that in the second.
    pub(crate) growth: f64,
}

impl Memory {
    /// Begins to watch.
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

    /// Ends.
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

/// The memory of its own that the session with most of it holds, in kB: what it shares with others is not counted.
fn largest_session(name: &str) -> f64 {
    let entries = std::fs::read_dir("/proc").expect("this is Linux").flatten();
    let sessions = entries.filter(|entry| {
        std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| line.starts_with(name.as_bytes()))
    });
    sessions.filter_map(|session| kilobytes(&session.path(), "RssAnon:")).fold(0.0, f64::max)
}

/// The memory of its own that a process holds, in kB.
pub(crate) fn held_by(process: u32) -> Option<f64> {
    kilobytes(&Path::new("/proc").join(process.to_string()), "RssAnon:")
}

fn kilobytes(process: &Path, field: &str) -> Option<f64> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
