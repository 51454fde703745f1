//! Cleaning up after a test process, however it ends.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A small shell that waits for the end of this process, then runs its script.
///
/// Rust drops no static at exit and nothing at all in a killed process, so the shell holds the other end of a pipe:
/// the kernel closes ours whatever happens. (A parent-death signal would not do: it comes with the end of the
/// *thread* that started the child, and each test has its own.)
pub struct Watchdog {
    shell: Child,
}

impl Watchdog {
    /// Arms the script; `$1` in it is `argument`.
    pub fn new(script: &str, argument: impl AsRef<OsStr>) -> Self {
        let shell = Command::new("sh")
            .args(["-c", &format!("cat >/dev/null; {script}"), "watchdog"])
            .arg(argument)
            .stdin(Stdio::piped())
            // A reader of the output waits until all processes have closed it.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Out of reach of a Ctrl-C that ends the tests.
            .process_group(0)
            .spawn()
            .expect("`sh` is on every Debian");
        Self { shell }
    }

    /// Forgets the script.
    pub fn disarm(mut self) {
        // The only failure would be that the shell has ended already.
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
