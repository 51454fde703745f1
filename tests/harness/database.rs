//! A database per test.

use crate::shards::init;
use crate::{Cluster, Durability};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_postgres::{Client, NoTls};

/// The template database with the extension, from which the database of each test is copied.
const TEMPLATE: &str = "keyed_template";

/// A database with the extension, for a single test. Dropping the value drops the database and its roles.
pub struct Database {
    cluster: Arc<Cluster>,
    name: String,
    roles: Mutex<Vec<String>>,
}

impl Database {
    /// A new database in the cluster that all tests share.
    pub async fn new() -> Self {
        Self::new_in(&Cluster::shared()).await
    }

    /// A new database in a durable cluster of its own, for tests that stop or kill the server.
    pub async fn new_durable() -> Self {
        Self::new_in(&Arc::new(Cluster::start(Durability::Full))).await
    }

    /// A new database in this cluster.
    pub async fn new_in(cluster: &Arc<Cluster>) -> Self {
        cluster
            .template
            .get_or_init(async || {
                let administrator = connect(cluster, "postgres", "postgres").await;
                execute(&administrator, &format!("create database {TEMPLATE}")).await;
                let template = connect(cluster, "postgres", TEMPLATE).await;
                execute(&template, "create extension keyed cascade").await;
                execute(&template, init()).await;
                close(template).await;
            })
            .await;
        let database = Self::create(cluster, &format!("template {TEMPLATE} strategy file_copy")).await;
        // A copy has everything except the privileges on the database itself, which init() grants.
        execute(&database.client().await, init()).await;
        database
    }

    /// A new database whose default collation is the Unicode collation of ICU.
    pub async fn new_with_icu() -> Self {
        let options =
            "template template0 encoding 'UTF8' locale_provider icu icu_locale 'und' locale 'C.UTF-8'";
        let database = Self::create(&Cluster::shared(), options).await;
        for statement in ["create extension keyed cascade", init()] {
            execute(&database.client().await, statement).await;
        }
        database
    }

    /// A database without the extension in this cluster, into which a test can restore a dump.
    pub async fn empty_in(cluster: &Arc<Cluster>) -> Self {
        Self::create(cluster, "").await
    }

    /// A database without the extension, created with these options of CREATE DATABASE.
    pub async fn empty_with(cluster: &Arc<Cluster>, options: &str) -> Self {
        Self::create(cluster, options).await
    }

    /// The same database in another cluster: a standby, or a cluster that pg_upgrade created.
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

    /// The name of the database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cluster of the database.
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    /// A new connection as superuser.
    pub async fn client(&self) -> Client {
        self.client_as("postgres").await
    }

    /// A new connection as a role with LOGIN.
    pub async fn client_as(&self, role: &str) -> Client {
        connect(&self.cluster, role, &self.name).await
    }

    /// Creates a role with LOGIN. Roles belong to the cluster, so the returned name has a suffix that makes it unique
    /// among all tests.
    pub async fn create_role(&self, name: &str) -> String {
        let role = format!("{name}_{}", self.name);
        execute(&self.client().await, &format!("create role {role} login")).await;
        self.roles.lock().unwrap_or_else(PoisonError::into_inner).push(role.clone());
        role
    }

    /// Grants a role privileges, separated by commas, on all records of a template or project.
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
        granted.unwrap_or_else(|error| panic!("cannot grant to {role}: {}", explain(&error)));
    }

    /// Revokes the privileges of a role on a template or project.
    pub async fn revoke(&self, role: &str, target: &str) {
        let statement = "select keyed.revoke_access($1::text::name, $2)";
        let revoked = self.client().await.execute(statement, &[&role, &target]).await;
        revoked.unwrap_or_else(|error| panic!("cannot revoke from {role}: {}", explain(&error)));
    }

    /// Issues an API key for a role: for these projects, or for all if the list is empty.
    pub async fn api_key(&self, role: &str, projects: &[&str]) -> String {
        let projects = (!projects.is_empty()).then_some(projects);
        let statement = "select keyed.issue_api_key($1::text::name, $2::text[], 'issued by a test')";
        let row = self.client().await.query_one(statement, &[&role, &projects]).await;
        row.unwrap_or_else(|error| panic!("cannot issue an API key for {role}: {}", explain(&error))).get(0)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // A cluster of its own is removed with its last database.
        if Arc::strong_count(&self.cluster) == 1 {
            return;
        }
        // With FORCE, because connections of a failed test may still be open.
        let mut statements = vec![format!("drop database {} with (force)", self.name)];
        let roles = self.roles.get_mut().unwrap_or_else(PoisonError::into_inner);
        statements.extend(roles.iter().map(|role| format!("drop role {role}")));
        let cluster = Arc::clone(&self.cluster);
        // The test does not wait: PostgreSQL first writes a checkpoint, which takes longer than most tests. Databases
        // that remain when the process ends are removed with the cluster.
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

/// Waits until the server has closed the session, because a database in use cannot be copied.
async fn close(client: Client) {
    let ended = client.batch_execute("select pg_terminate_backend(pg_backend_pid())").await;
    assert!(ended.is_err(), "a terminated session still responds");
}

/// The message of a tokio-postgres error is only "db error". The details are in its source.
fn explain(error: &tokio_postgres::Error) -> String {
    error.as_db_error().map_or_else(
        || format!("{error:?}"),
        |error| {
            format!("{} ({})\n{}", error.message(), error.code().code(), error.detail().unwrap_or_default())
        },
    )
}
