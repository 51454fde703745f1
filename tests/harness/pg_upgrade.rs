//! Clusters of a newer PostgreSQL, created by pg_upgrade.

use crate::cluster::{initialize, run};
use crate::server_user::{self, version_of};
use crate::{Cluster, Durability};
use std::path::{Path, PathBuf};

/// The variable in which `make test` names the PostgreSQL versions to upgrade through, oldest first: the folders of
/// their programs, separated by colons. All of them have the extension.
const PATH: &str = "KEYED_UPGRADE_PATH";

/// The first PostgreSQL version whose initdb enables data checksums by default.
const CHECKSUMS_BY_DEFAULT: u32 = 18;

/// The folders of the programs of the PostgreSQL versions, oldest first.
pub fn upgrade_path() -> Vec<PathBuf> {
    let path = std::env::var_os(PATH)
        .unwrap_or_else(|| panic!("{PATH} is not set: run `make test KIND=pg_upgrade`"));
    let programs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    assert!(programs.len() > 1, "{PATH} is {}: at least two versions are needed", path.display());
    programs
}

impl Cluster {
    /// Upgrades this cluster to the PostgreSQL whose programs are in this folder. This cluster is stopped.
    pub fn upgraded_to(&self, programs: &Path) -> Self {
        Self::start_from(programs, Durability::None, &[], |data| {
            // pg_upgrade requires that both clusters have checksums or neither does.
            let options: &[&str] = match self.sql("postgres", "show data_checksums").as_str() {
                "on" => &["--data-checksums"],
                _ if version_of(programs) >= CHECKSUMS_BY_DEFAULT => &["--no-data-checksums"],
                _ => &[],
            };
            initialize(programs, data, options);
            let upgrade = |options: &[&str]| {
                let mut upgrade = server_user::command(programs, "pg_upgrade");
                upgrade.arg("--old-bindir").arg(self.programs()).arg("--new-bindir").arg(programs);
                upgrade.arg("--old-datadir").arg(self.data_folder()).arg("--new-datadir").arg(data);
                // pg_upgrade writes a script that removes the old cluster into the folder of the socket.
                let folder = data.with_file_name("");
                upgrade.arg("--socketdir").arg(&folder).current_dir(folder);
                run(upgrade.arg("--username=postgres").args(options));
            };
            upgrade(&["--check"]);
            self.stop();
            upgrade(&["--no-sync", "--old-options=-c fsync=off", "--new-options=-c fsync=off"]);
        })
    }
}
