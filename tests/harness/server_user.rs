//! The user that runs PostgreSQL's programs, which refuse to run as root.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The folder of the server's programs: the folder that `make test` sets, or the one of the pg_config with which cargo
/// builds the extension (`.cargo/config.toml`).
pub(crate) fn programs() -> PathBuf {
    let pg_config = || {
        let path = std::env::var_os("PGRX_PG_CONFIG_PATH").map(PathBuf::from);
        path.expect("cargo sets PGRX_PG_CONFIG_PATH").with_file_name("")
    };
    std::env::var_os("KEYED_PG_BIN").map_or_else(pg_config, PathBuf::from)
}

/// The major version of PostgreSQL that the tests run on, such as 15.
pub fn major_version() -> u32 {
    static VERSION: LazyLock<u32> = LazyLock::new(|| version_of(&programs()));
    *VERSION
}

/// The major version of the PostgreSQL whose programs are in this folder.
pub(crate) fn version_of(programs: &Path) -> u32 {
    let output = command(programs, "postgres").arg("--version").output().expect("PostgreSQL is installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // "postgres (PostgreSQL) 15.20 (Debian …)"
    let version = text.split_whitespace().nth(2).and_then(|version| version.split('.').next());
    version.and_then(|version| version.parse().ok()).unwrap_or_else(|| panic!("which version is {text}"))
}

/// A program of the PostgreSQL in this folder, run by an unprivileged user and without this process's environment.
pub(crate) fn command(programs: &Path, program: &str) -> Command {
    let mut command = Command::new(programs.join(program));
    if let Some((uid, gid)) = ids() {
        command.uid(uid).gid(gid);
    }
    // The program fails if it cannot return to its start folder, and its user may not be able to enter the current one.
    command.current_dir("/");
    // Rust backtraces would flood the log, and libpq's variables would select another server.
    command.env_remove("RUST_BACKTRACE");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PG")) {
        command.env_remove(name);
    }
    command
}

/// Gives a file to that user, with access for no one else.
pub(crate) fn give(file: &Path) {
    use std::os::unix::fs::{PermissionsExt, chown};

    std::fs::set_permissions(file, PermissionsExt::from_mode(0o600)).expect("the file is accessible");
    if let Some((uid, gid)) = ids() {
        chown(file, Some(uid), Some(gid)).expect("root can change the owner of a file");
    }
}

/// Creates a folder that only that user can access.
pub(crate) fn create_folder(folder: &Path) {
    use std::os::unix::fs::{PermissionsExt, chown};

    std::fs::create_dir(folder).unwrap_or_else(|error| panic!("cannot make {}: {error}", folder.display()));
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).expect("the folder is accessible");
    if let Some((uid, gid)) = ids() {
        chown(folder, Some(uid), Some(gid)).expect("root can change the owner of a folder");
    }
}

/// User and group id of `postgres` if this process is root. Otherwise the server runs as the current user.
fn ids() -> Option<(u32, u32)> {
    let us = std::fs::metadata("/proc/self").expect("this is Linux").uid();
    (us == 0).then(|| (id("-u"), id("-g")))
}

fn id(which: &str) -> u32 {
    let output = Command::new("id").args([which, "postgres"]).output().expect("`id` is on every Debian");
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().expect("the user postgres exists: `make setup` installs it")
}
