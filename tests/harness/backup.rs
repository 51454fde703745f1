//! Base backups and recovery to a point in time.

use crate::cluster::run;
use crate::cluster_folder::ClusterFolder;
use crate::{Cluster, server_user};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A copy of a cluster's files.
pub struct BaseBackup {
    folder: ClusterFolder,
}

impl BaseBackup {
    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }
}

impl Drop for BaseBackup {
    fn drop(&mut self) {
        self.folder.remove();
    }
}

impl Cluster {
    /// Appends lines to `postgresql.conf`, and restarts the server.
    pub fn configure(&self, lines: &str) {
        append(&self.data_folder().join("postgresql.conf"), lines);
        self.stop();
        self.start_again();
    }

    /// Creates a directory next to the data directory that the server can write to.
    pub fn make_folder(&self, name: &str) -> PathBuf {
        let folder = self.data_folder().with_file_name(name);
        server_user::create_folder(&folder);
        folder
    }

    /// Takes a base backup during writes.
    pub fn base_backup(&self) -> BaseBackup {
        let folder = ClusterFolder::create();
        let mut copy = self.program("pg_basebackup");
        copy.arg("--pgdata").arg(folder.path().join("data"));
        run(copy.args(["--checkpoint=fast", "--no-sync"]));
        BaseBackup { folder }
    }

    /// Starts a cluster that recovers from a copy of the backup with these settings.
    pub fn recover(&self, backup: &BaseBackup, settings: &str) -> Cluster {
        self.start_like(|data| {
            let user_program = |name: &str| server_user::command(Path::new("/usr/bin"), name);
            run(user_program("cp").arg("--archive").arg(backup.data()).arg(data));
            append(&data.join("postgresql.auto.conf"), settings);
            run(user_program("touch").arg(data.join("recovery.signal")));
        })
    }
}

fn append(file: &Path, lines: &str) {
    let mut file = OpenOptions::new().append(true).open(file).expect("the file is there");
    file.write_all(lines.as_bytes()).expect("the file can be written");
}
