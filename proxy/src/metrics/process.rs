//! The metrics of the operating system about the process.

use super::all::Metrics;

impl Metrics {
    /// Updates the metrics. Unavailable values keep their previous value.
    pub(super) fn read_process(&self) {
        let Ok(own) = procfs::process::Process::myself() else { return };
        if let Ok(stat) = own.stat() {
            let per_second = procfs::ticks_per_second() as f64;
            let cpu = self.cpu.with_label_values::<&str>(&[]);
            cpu.inc_by(((stat.utime + stat.stime) as f64 / per_second - cpu.get()).max(0.0));
            self.resident.set((stat.rss * procfs::page_size()) as f64);
            self.virtual_memory.set(stat.vsize as f64);
            self.threads.set(stat.num_threads as f64);
            if let Ok(boot) = procfs::boot_time_secs() {
                self.start_time.set(boot as f64 + stat.starttime as f64 / per_second);
            }
        }
        if let Ok(count) = own.fd_count() {
            self.open_fds.set(count as f64);
        }
        if let Ok(limits) = own.limits()
            && let procfs::process::LimitValue::Value(most) = limits.max_open_files.soft_limit
        {
            self.max_fds.set(most as f64);
        }
    }
}
