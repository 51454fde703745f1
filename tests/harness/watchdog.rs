//! Cleanup after a test process, however it ends.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A small shell that waits for the end of this process, then runs its script.
///
/// Rust does not drop statics at exit, and a killed process drops nothing. So the shell holds the read end of a pipe,
/// and the kernel closes the write end when this process ends. (A parent-death signal would not do: it is sent when the
/// *thread* that started the child ends, and each test has its own thread.)
pub struct Watchdog {
    shell: Child,
}

impl Watchdog {
    /// Starts the watchdog; `$1` in the script is `argument`.
    pub fn new(script: &str, argument: impl AsRef<OsStr>) -> Self {
        let shell = Command::new("sh")
            .args(["-c", &format!("cat >/dev/null; {script}"), "watchdog"])
            .arg(argument)
            .stdin(Stdio::piped())
            // Otherwise a reader of this process's output would wait for the shell, too.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // In a process group of its own, so that Ctrl-C does not end it with the tests.
            .process_group(0)
            .spawn()
            .expect("`sh` is on every Debian");
        Self { shell }
    }

    /// Discards the script.
    pub fn disarm(mut self) {
        // The write fails only if the shell has already ended.
        let _ = self.shell.kill();
    }
}

impl Drop for Watchdog {
    /// Runs the script now and waits for it.
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}
