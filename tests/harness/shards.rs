//! A service whose projects are on several shards.

use crate::{Cluster, Database, Proxy};
use tokio::sync::OnceCell;

/// Whether the tests run against a service with shards (`KEYED_TEST_SHARDS=on`): each database is shard 3, beside an empty shard 0.
pub fn has_shards() -> bool {
    std::env::var_os("KEYED_TEST_SHARDS").is_some_and(|value| value == "on")
}

/// The statement that sets up a database.
pub(crate) fn init() -> &'static str {
    if has_shards() { "select keyed.init(shard => 3)" } else { "select keyed.init()" }
}

/// The setting of a proxy for the database with this URL.
pub(crate) async fn setting_of(url: &str) -> (&'static str, String) {
    /// The URL of the empty shard, which all tests share.
    static EMPTY: OnceCell<String> = OnceCell::const_new();

    // Keywords have no place in a list of shards.
    if !has_shards() || !url.contains("://") {
        return ("KEYED_DATABASE_URL", url.to_owned());
    }
    let empty = EMPTY.get_or_init(async || {
        let cluster = Cluster::shared();
        let database = Database::empty_in(&cluster).await;
        let session = database.session().await;
        session.run("create extension keyed cascade").await;
        session.run("select keyed.init(shard => 0)").await;
        let url = cluster.url("keyed_proxy", database.name());
        // It is there until the server ends.
        std::mem::forget(database);
        url
    });
    ("KEYED_SHARDS", format!("0={} 3={url}", empty.await))
}

/// Databases that are shards of one service.
pub struct Shards {
    databases: Vec<(u8, Database)>,
}

impl Shards {
    /// Fresh databases with these numbers, in the cluster that all tests share.
    pub async fn new(numbers: &[u8]) -> Self {
        let mut databases = Vec::new();
        for number in numbers {
            let database = Database::new().await;
            database.become_shard(*number).await;
            databases.push((*number, database));
        }
        Self { databases }
    }

    /// These databases, which are shards already.
    #[must_use]
    pub fn of(databases: Vec<(u8, Database)>) -> Self {
        Self { databases }
    }

    /// The database of a shard.
    pub fn database(&self, number: u8) -> &Database {
        let found = self.databases.iter().find(|(known, _)| *known == number);
        found.map(|(_, database)| database).unwrap_or_else(|| panic!("there is no shard {number}"))
    }

    /// The value of `KEYED_SHARDS`.
    pub fn setting(&self) -> String {
        let entry = |(number, database): &(u8, Database)| {
            format!("{number}={}", database.cluster().url("keyed_proxy", database.name()))
        };
        self.databases.iter().map(entry).collect::<Vec<_>>().join("\n")
    }

    /// An API key for a role and the projects of each shard listed: the first issues the key, the others register it. Without
    /// projects, it is for all of the shard.
    pub async fn api_key(&self, role: &str, projects: &[(u8, &[&str])]) -> String {
        let mut key: Option<String> = None;
        for (number, projects) in projects {
            let database = self.database(*number);
            match &key {
                None => key = Some(database.api_key(role, projects).await),
                Some(key) => database.register_api_key(key, role, projects).await,
            }
        }
        key.expect("a key is for at least one shard")
    }

    /// An administrator's key for all projects.
    pub async fn administrator(&self) -> String {
        let all: Vec<(u8, &[&str])> = self.databases.iter().map(|(number, _)| (*number, &[][..])).collect();
        self.api_key("keyed_admin", &all).await
    }

    /// Starts a proxy before them. Requests have an administrator's key by default.
    pub async fn start(&self) -> Proxy {
        self.start_with(&[]).await
    }

    /// The same with settings of its own.
    pub async fn start_with(&self, settings: &[(&str, &str)]) -> Proxy {
        let key = self.administrator().await;
        Proxy::start_sharded(&self.setting(), settings, &key).await
    }
}

impl Database {
    /// Makes this database, which has no data yet, a shard.
    pub async fn become_shard(&self, number: u8) {
        let statement = format!("select keyed.init(shard => {number})");
        self.session().await.run(&statement).await;
    }

    /// Registers a key that another shard issued: for the projects listed, or for all when none is.
    pub async fn register_api_key(&self, key: &str, role: &str, projects: &[&str]) {
        let projects = (!projects.is_empty()).then_some(projects);
        let statement = "select keyed.register_api_key($1, $2::text::name, $3::text[], 'issued by a test')";
        let registered = self.client().await.execute(statement, &[&key, &role, &projects]).await;
        registered.unwrap_or_else(|error| panic!("the key is not registered: {error:?}"));
    }
}
