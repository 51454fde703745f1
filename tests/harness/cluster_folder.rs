//! The folder of a cluster. It belongs to one test process and is removed when the process ends, however it ends.

use crate::server_user;
use crate::watchdog::Watchdog;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The prefix of the folders' names.
const PREFIX: &str = "keyed-test-";

/// A file in the folder that its process keeps locked. A process id would not do: ids are reused, and each container
/// has its own.
const LOCK: &str = "in-use";

/// Stops the server in the folder `$1`, then all other processes in folders below it (several servers, and their
/// cluster manager), and removes the folder. The working directory identifies the processes of a server, because a
/// postmaster stays in its data directory. A process that is dead but not yet reaped has no working directory. The
/// server is stopped instead of killed, because a killed server leaves its shared memory.
const CLEAN_UP: &str = r#"pid=$(head -n 1 "$1/data/postmaster.pid")
    ours() { [ "$(readlink "/proc/$pid/cwd")" = "$1/data" ]; }
    ours "$1" && kill -QUIT "$pid"
    while ours "$1"; do sleep 0.05; done
    below() { find /proc/[0-9]*/cwd -maxdepth 0 -lname "$1" | cut -d / -f 3; }
    while pids=$(below "$1/*") && [ -n "$pids" ]; do
        servers=$(below "$1/*/data")
        for pid in $pids; do
            case " $(echo $servers) " in *" $pid "*) kill -QUIT "$pid" && kill -CONT "$pid" ;; *) kill -KILL "$pid" ;; esac
        done
        sleep 0.05
    done
    rm -rf "$1""#;

/// The environment variable with the folder for the servers of tests. `.dev/test` sets it to a folder in memory.
const PLACE: &str = "KEYED_TEST_SERVERS";

/// A folder below the one for servers, or below that for temporary files.
pub(crate) struct ClusterFolder {
    path: PathBuf,
    /// The open file holds the lock. The kernel releases it when the process ends.
    _lock: File,
    watchdog: Option<Watchdog>,
}

impl ClusterFolder {
    /// Creates a folder. The first call of a process also removes the folders of dead processes, because a watchdog
    /// does not survive a crash of the machine.
    pub(crate) fn create() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);
        static REMOVED: Once = Once::new();
        let servers = std::env::var_os(PLACE).map_or_else(std::env::temp_dir, PathBuf::from);
        REMOVED.call_once(|| remove_abandoned(&servers));
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = servers.join(format!("{PREFIX}{}-{number}", std::process::id()));
        server_user::create_folder(&path);
        let watchdog = Some(Watchdog::new(CLEAN_UP, &path));
        Self { _lock: lock(&path), path, watchdog }
    }

    /// The path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Stops the server in the folder and removes the folder.
    pub(crate) fn remove(&mut self) {
        drop(self.watchdog.take());
    }
}

/// Locks a folder. The file is renamed to its final name after it is locked, so that no other process finds it
/// unlocked.
fn lock(folder: &Path) -> File {
    let unnamed = folder.join("new");
    let file = File::create_new(&unnamed).expect("the folder is new");
    file.lock().expect("no other process knows the file");
    std::fs::rename(unnamed, folder.join(LOCK)).expect("the folder is accessible");
    file
}

/// Removes the folders whose processes have ended. A folder without a lock file is kept, because it may be under
/// construction.
fn remove_abandoned(temporary: &Path) {
    let entries = std::fs::read_dir(temporary).expect("there is a folder for temporary files");
    for entry in entries.flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        // A folder of another user cannot be read. Its owner removes it.
        let Ok(lock) = File::open(entry.path().join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            drop(Watchdog::new(CLEAN_UP, entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_dead_processes_are_removed() {
        let temporary = std::env::temp_dir().join(format!("keyed-folders-{}", std::process::id()));
        let folder = |name: &str| {
            let folder = temporary.join(name);
            std::fs::create_dir_all(folder.join("data")).expect("a folder");
            folder
        };
        let (dead, live) = (folder("keyed-test-1-1"), folder("keyed-test-2-1"));
        let (in_the_making, other) = (folder("keyed-test-3-1"), folder("another"));
        drop(lock(&dead));
        drop(lock(&other));
        let _lock = lock(&live);
        remove_abandoned(&temporary);
        assert!(!dead.exists());
        assert!(live.exists() && in_the_making.exists() && other.exists());
        std::fs::remove_dir_all(temporary).expect("the folder is accessible");
    }
}
