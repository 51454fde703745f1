//! A database per test.

use crate::{Cluster, Durability};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_postgres::{Client, NoTls};

/// The database from which each test's own is copied, with the extension in it.
const TEMPLATE: &str = "keyed_template";

/// A database with the extension, for a single test. It is dropped with this value, its roles as well.
pub struct Database {
    cluster: Arc<Cluster>,
    name: String,
    roles: Mutex<Vec<String>>,
}

impl Database {
    /// A fresh database in the cluster that all tests share.
    pub async fn new() -> Self {
        Self::new_in(&Cluster::shared()).await
    }

    /// A fresh database in a cluster of its own that keeps what it acknowledged, for tests that stop or kill it.
    pub async fn new_durable() -> Self {
        Self::new_in(&Arc::new(Cluster::start(Durability::Full))).await
    }

    /// A fresh database in that cluster.
    pub async fn new_in(cluster: &Arc<Cluster>) -> Self {
        cluster
            .template
            .get_or_init(async || {
                let administrator = connect(cluster, "postgres", "postgres").await;
                execute(&administrator, &format!("create database {TEMPLATE}")).await;
                let template = connect(cluster, "postgres", TEMPLATE).await;
                execute(&template, "create extension keyed cascade").await;
                execute(&template, "select keyed.init()").await;
                close(template).await;
            })
            .await;
        let database = Self::create(cluster, &format!("template {TEMPLATE} strategy file_copy")).await;
        // A copy has everything but the rights on the database itself, which init() gives.
        execute(&database.client().await, "select keyed.init()").await;
        database
    }

    /// A fresh database whose default order of texts is that of Unicode.
    pub async fn new_by_icu() -> Self {
        let options =
            "template template0 encoding 'UTF8' locale_provider icu icu_locale 'und' locale 'C.UTF-8'";
        let database = Self::create(&Cluster::shared(), options).await;
        for statement in ["create extension keyed cascade", "select keyed.init()"] {
            execute(&database.client().await, statement).await;
        }
        database
    }

    /// A database of that cluster without the extension, into which a test may restore a dump.
    pub async fn empty_in(cluster: &Arc<Cluster>) -> Self {
        Self::create(cluster, "").await
    }

    /// The same with options of CREATE DATABASE.
    pub async fn empty_with(cluster: &Arc<Cluster>, options: &str) -> Self {
        Self::create(cluster, options).await
    }

    /// The same database in another cluster: a standby, or one that pg_upgrade made.
    pub fn in_cluster(&self, cluster: Cluster) -> Self {
        Self { cluster: Arc::new(cluster), name: self.name.clone(), roles: Mutex::default() }
    }

    async fn create(cluster: &Arc<Cluster>, options: &str) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);
        let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let administrator = connect(cluster, "postgres", "postgres").await;
        execute(&administrator, &format!("create database {name} {options}")).await;
        Self { cluster: Arc::clone(cluster), name, roles: Mutex::new(Vec::new()) }
    }

    /// The database's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cluster it is in.
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    /// A new connection as superuser.
    pub async fn client(&self) -> Client {
        self.client_as("postgres").await
    }

    /// A new connection as a role that may log in.
    pub async fn client_as(&self, role: &str) -> Client {
        connect(&self.cluster, role, &self.name).await
    }

    /// Makes a role that may log in. Roles belong to the whole cluster, so the answer is a name that no other test
    /// uses; it begins with the one asked for.
    pub async fn create_role(&self, name: &str) -> String {
        let role = format!("{name}_{}", self.name);
        execute(&self.client().await, &format!("create role {role} login")).await;
        self.roles.lock().unwrap_or_else(PoisonError::into_inner).push(role.clone());
        role
    }

    /// Grants a role privileges, separated by commas, on a template or a project: on all of its records.
    pub async fn grant(&self, role: &str, target: &str, privileges: &str) {
        self.grant_scoped(role, target, privileges, None).await;
    }

    /// Grants a role privileges, separated by commas, on the records within a scope.
    pub async fn grant_within(&self, role: &str, target: &str, privileges: &str, scope: &serde_json::Value) {
        self.grant_scoped(role, target, privileges, Some(scope.to_string())).await;
    }

    async fn grant_scoped(&self, role: &str, target: &str, privileges: &str, scope: Option<String>) {
        let privileges: Vec<&str> = privileges.split(',').map(str::trim).collect();
        let statement = "select keyed.grant_access($1::text::name, $2, $3::text[], $4::text::jsonb)";
        let granted = self.client().await.execute(statement, &[&role, &target, &privileges, &scope]).await;
        granted.unwrap_or_else(|error| panic!("nothing was granted to {role}: {}", explain(&error)));
    }

    /// Takes back what a role was granted on a template or a project.
    pub async fn revoke(&self, role: &str, target: &str) {
        let statement = "select keyed.revoke_access($1::text::name, $2)";
        let revoked = self.client().await.execute(statement, &[&role, &target]).await;
        revoked.unwrap_or_else(|error| panic!("nothing was taken from {role}: {}", explain(&error)));
    }

    /// Issues an API key for a role: for the projects listed, or for all when none is.
    pub async fn api_key(&self, role: &str, projects: &[&str]) -> String {
        let projects = (!projects.is_empty()).then_some(projects);
        let statement = "select keyed.issue_api_key($1::text::name, $2::text[], 'issued by a test')";
        let row = self.client().await.query_one(statement, &[&role, &projects]).await;
        row.unwrap_or_else(|error| panic!("no API key for {role}: {}", explain(&error))).get(0)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // A cluster of this database's own goes with it.
        if Arc::strong_count(&self.cluster) == 1 {
            return;
        }
        // With force: connections of a failed test may still be open.
        let mut statements = vec![format!("drop database {} with (force)", self.name)];
        let roles = self.roles.get_mut().unwrap_or_else(PoisonError::into_inner);
        statements.extend(roles.iter().map(|role| format!("drop role {role}")));
        let cluster = Arc::clone(&self.cluster);
        // The test does not wait for it: PostgreSQL writes a checkpoint first, which takes longer than most tests. What
        // is left of it when the process ends is removed with the cluster.
        std::thread::spawn(move || {
            for statement in statements {
                let dropped = cluster.program("psql").args(["--quiet", "--command", &statement]).output();
                if !dropped.is_ok_and(|output| output.status.success()) {
                    eprintln!("could not clean up: {statement}");
                }
            }
        });
    }
}

async fn connect(cluster: &Cluster, role: &str, database: &str) -> Client {
    let (client, connection) = cluster
        .config(role, database)
        .connect(NoTls)
        .await
        .unwrap_or_else(|error| panic!("{role} cannot connect to {database}: {}", explain(&error)));
    tokio::spawn(connection);
    client
}

async fn execute(client: &Client, statement: &str) {
    client
        .batch_execute(statement)
        .await
        .unwrap_or_else(|error| panic!("`{statement}` failed: {}", explain(&error)));
}

/// Waits until the server has seen the end of a session, because a database in use cannot be copied.
async fn close(client: Client) {
    let ended = client.batch_execute("select pg_terminate_backend(pg_backend_pid())").await;
    assert!(ended.is_err(), "a session that ended itself still answers");
}

/// The message of tokio-postgres is only "db error". The rest is in its source.
fn explain(error: &tokio_postgres::Error) -> String {
    error.as_db_error().map_or_else(
        || format!("{error:?}"),
        |error| {
            format!("{} ({})\n{}", error.message(), error.code().code(), error.detail().unwrap_or_default())
        },
    )
}
