//! A separate Debian system with its own systemd, on which packages are installed as on a server.

use harness::{Watchdog, target_folder, until};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The folder in which the machine finds the packages.
const PACKAGES: &str = "/srv/packages";

/// Packages that the pages assume, and packages that check other packages.
const PRESENT: &str = "systemd-sysv,dbus,curl,lintian";

/// A running machine. It keeps its changes in memory, and they are lost when this value is dropped.
pub(crate) struct Machine {
    container: Child,
    /// The process id of its init, as seen by the host.
    leader: u32,
    _watchdog: Watchdog,
}

impl Machine {
    /// Boots a machine with only Debian and the folder with the packages.
    pub(crate) async fn boot() -> Self {
        let mut container = container(&["--boot"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("systemd-nspawn is installed");
        // Makes systemd shut the machine down.
        let watchdog = Watchdog::new(
            r#"kill -TERM "$1" && while kill -0 "$1"; do sleep 0.1; done"#,
            container.id().to_string(),
        );
        let mut leader = None;
        until("the machine has booted", async || {
            let ended = container.try_wait().expect("the process is a child of this one");
            assert!(ended.is_none(), "systemd-nspawn ended with {ended:?}");
            leader = first_process(container.id());
            leader.is_some_and(|leader| {
                let state =
                    enter(leader, "systemctl is-system-running").output().expect("nsenter is installed");
                matches!(String::from_utf8_lossy(&state.stdout).trim(), "running" | "degraded")
            })
        })
        .await;
        Self { container, leader: leader.expect("it has booted"), _watchdog: watchdog }
    }

    /// Runs a script as root in the folder with the packages.
    pub(crate) fn run(&self, script: &str) -> Outcome {
        Outcome::of(&enter(self.leader, script).output().expect("nsenter is installed"), script)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.container.id().to_string()).status();
        let _ = self.container.wait();
    }
}

/// Runs a script as root in a machine that is not booted, as in a container.
pub(crate) fn run_without_systemd(script: &str) -> Outcome {
    let script = format!("cd {PACKAGES}\n{script}");
    let mut container = container(&["--pipe", "--quiet"]);
    let output = container.args(["bash", "-euo", "pipefail", "-c", &script]).output();
    Outcome::of(&output.expect("systemd-nspawn is installed"), &script)
}

/// The output of a script, and whether it succeeded.
pub(crate) struct Outcome {
    script: String,
    succeeded: bool,
    pub(crate) printed: String,
    pub(crate) complaints: String,
}

impl Outcome {
    fn of(output: &Output, script: &str) -> Self {
        Self {
            script: script.to_owned(),
            succeeded: output.status.success(),
            printed: String::from_utf8_lossy(&output.stdout).into_owned(),
            complaints: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The standard output. Asserts that the script succeeded.
    pub(crate) fn expect(self) -> String {
        let Self { script, printed, complaints, .. } = self;
        assert!(self.succeeded, "{script}\nfailed:\n{printed}\n{complaints}");
        printed
    }

    /// The whole output. Asserts that the script failed.
    pub(crate) fn expect_failure(self) -> String {
        let Self { script, printed, complaints, .. } = self;
        assert!(!self.succeeded, "{script}\nsucceeded:\n{printed}\n{complaints}");
        printed + &complaints
    }
}

/// A command in the machine with this init process.
fn enter(leader: u32, script: &str) -> Command {
    let mut command = Command::new("nsenter");
    let leader = leader.to_string();
    command.args(["--target", &leader, "--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd"]);
    command.args(["bash", "-euo", "pipefail", "-c", &format!("cd {PACKAGES}\n{script}")]);
    command.env_clear().stdin(Stdio::null());
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/root");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// A machine that uses the tree, with namespaces and a network of its own.
fn container(arguments: &[&str]) -> Command {
    static NUMBER: AtomicUsize = AtomicUsize::new(1);
    let name = format!("keyed-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let mut command = Command::new("systemd-nspawn");
    // No machine writes into the tree, so several can use it.
    command.env("SYSTEMD_NSPAWN_LOCK", "0").arg("--volatile=overlay").arg("--directory").arg(tree());
    command.args(["--machine", &name, "--register=no", "--keep-unit"]);
    command.args(["--private-network", "--setenv=DEBIAN_FRONTEND=noninteractive"]);
    let packages = target_folder().join("deb");
    command.arg(format!("--bind-ro={}:{PACKAGES}", packages.display()));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// The child of systemd-nspawn that is the machine's systemd.
fn first_process(container: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{container}/task/{container}/children")).ok()?;
    children.split_whitespace().filter_map(|child| child.parse().ok()).find(|child| {
        std::fs::read_to_string(format!("/proc/{child}/comm")).is_ok_and(|name| name.trim() == "systemd")
    })
}

/// The built packages.
pub(crate) fn packages() -> Vec<String> {
    let folder = target_folder().join("deb");
    let files = std::fs::read_dir(&folder).unwrap_or_else(|_| panic!("{}: make deb", folder.display()));
    let names = files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".deb") && !name.contains("-dbgsym_")).collect()
}

/// The PostgreSQL version of the packages.
pub(crate) fn major() -> String {
    let names = packages();
    let major = names.iter().find_map(|name| name.strip_prefix("postgresql-")?.split('-').next());
    major.expect("a package of the extension: make deb").to_owned()
}

/// The tree of a Debian like this one. It is created once; remove the folder to get the current packages.
fn tree() -> PathBuf {
    static MADE: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    MADE.get_or_init(|| {
        let major = major();
        let folder = target_folder().join("machine");
        let (tree, unfinished) = (folder.join(&major), folder.join(format!("{major}.unfinished")));
        if !tree.exists() {
            std::fs::create_dir_all(&folder).expect("the target folder can be written");
            make(&unfinished, &major);
            std::fs::rename(unfinished, &tree).expect("it is in the same folder");
        }
        tree
    })
    .clone()
}

/// The machine has no network, so the dependencies of the packages are downloaded here.
fn make(tree: &Path, major: &str) {
    let _ = std::fs::remove_dir_all(tree);
    let release = std::fs::read_to_string("/etc/os-release").expect("this is Debian");
    let release = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let download = format!(
        "apt-get install --yes --download-only --option=APT::Install-Recommends=true ca-certificates libnss-systemd postgresql-{major} \
         $(apt-cache show postgresql-{major}-pgvector >/dev/null 2>&1 && echo postgresql-{major}-pgvector)"
    );
    let made = Command::new("mmdebstrap")
        .args([
            "--variant=minbase",
            "--skip=cleanup/apt/lists,cleanup/apt/cache",
            &format!("--include={PRESENT}"),
        ])
        .arg(format!("--customize-hook=chroot \"$1\" sh -c '{download}'"))
        .arg(release.expect("it has a name"))
        .arg(tree)
        .stdin(Stdio::null())
        .output()
        .expect("mmdebstrap is installed");
    assert!(made.status.success(), "mmdebstrap: {}", String::from_utf8_lossy(&made.stderr));
}
