//! A database that the last release has filled with objects of every kind, and the results of its queries.
//! `tests/lifecycle/update/` contains both: a dump, and a list of results.

use crate::{Cluster, Database, Durability, repository_folder};
use std::path::PathBuf;
use std::sync::Arc;

/// The last release, from which databases are updated.
pub const RELEASE: &str = "0.1.0";
/// A role of that database. It can read and write all customers.
pub const CLERK: &str = "release_clerk";
/// Another role. It can read and write the customers of one company.
pub const PARTNER: &str = "release_partner";

/// The dump, as a psql script.
pub fn dump_of_the_release() -> PathBuf {
    file("sql")
}

/// The results of the queries, as JSON.
pub fn results_of_the_release() -> PathBuf {
    file("json")
}

fn file(ending: &str) -> PathBuf {
    repository_folder().join("tests/lifecycle/update").join(format!("{RELEASE}.{ending}"))
}

impl Database {
    /// The release's database in a cluster of its own, with the SQL of the release and the library of this version.
    pub async fn of_the_release() -> Self {
        Self::restored(&format!("CREATE EXTENSION keyed WITH SCHEMA keyed VERSION '{RELEASE}'")).await
    }

    /// A dump of the release, restored where this version is installed.
    pub async fn restored_from_the_release() -> Self {
        Self::restored(CREATE_EXTENSION).await
    }

    async fn restored(create_extension: &str) -> Self {
        let cluster = Arc::new(Cluster::start(Durability::None));
        let administrator = Self::empty_in(&cluster).await;
        administrator.run_in_psql(&roles());
        let database = Self::empty_in(&cluster).await;
        let script = std::fs::read_to_string(dump_of_the_release()).expect("the dump of the release");
        assert!(script.contains(CREATE_EXTENSION), "the dump creates the extension");
        database.run_in_psql(&script.replace(CREATE_EXTENSION, create_extension));
        // No dump contains the privileges on the database itself.
        let grant = format!("grant create on database {} to keyed_owner", database.name());
        database.session().await.run(&grant).await;
        database
    }
}

/// The spelling of pg_dump.
const CREATE_EXTENSION: &str = "CREATE EXTENSION IF NOT EXISTS keyed WITH SCHEMA keyed";

/// Creates keyed's roles and the roles of the release's database, which a dump does not contain.
fn roles() -> String {
    let roles = std::fs::read_to_string(repository_folder().join("sql/roles.sql")).expect("a script");
    let (fixed, _) = roles.split_once("create schema").expect("roles come first");
    format!("{fixed}\ncreate role {CLERK} login; create role {PARTNER} login;")
}
