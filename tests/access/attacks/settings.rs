//! Every setting that a login may change: whatever its value, a scope shows, counts and writes the same records.

use super::scoped::Scoped;
use harness::quote;
use std::fmt::Write as _;
use tokio_postgres::{Client, Error, SimpleQueryMessage};

/// Plans with only index scans, where possible. JIT compilation of these long statements would take seconds.
const BY_INDEX: &str = "set jit = off; set enable_seqscan = off; set enable_indexscan = off";
/// The same with parallel workers.
const IN_PARALLEL: &str = "set jit = off; set enable_seqscan = off; set parallel_setup_cost = 0; set parallel_tuple_cost = 0; \
     set min_parallel_table_scan_size = 0; set min_parallel_index_scan_size = 0; set max_parallel_workers_per_gather = 2";

/// A connection of the login, which is reopened if a setting ends it.
struct Connection<'s> {
    scoped: &'s Scoped,
    planner: &'static str,
    client: Option<Client>,
}

impl Connection<'_> {
    /// The single row that the statements return.
    async fn row(&mut self, statements: &str) -> Result<Vec<String>, Error> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            let client = self.scoped.database.client_as(&self.scoped.login).await;
            client.batch_execute(self.planner).await?;
            self.client = Some(client);
        }
        let client = self.client.as_ref().expect("a connection");
        let result = client.simple_query(statements).await;
        if result.is_err() {
            // Errors leave an open transaction, and a setting may have ended the session.
            let _ = client.simple_query("rollback").await;
        }
        let row = result?.into_iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|column| row.get(column).unwrap_or_default().to_owned()).collect())
            }
            _ => None,
        });
        Ok(row.expect("a row"))
    }
}

/// Tries all settings, and returns the number of compared rows.
async fn sweep(scoped: &Scoped, settings: &[(String, Vec<String>)], planner: &'static str) -> usize {
    let (reads, seen) = Scoped::reads();
    let (writes, written) = scoped.writes().await;
    let mut connection = Connection { scoped, planner, client: None };
    assert_eq!(connection.row(&reads).await.expect("a row"), seen, "{planner}");
    assert_eq!(
        connection.row(&format!("begin; {writes}; rollback")).await.expect("a row"),
        written,
        "{planner}"
    );
    let (mut compared, mut problems) = (0, String::new());
    for (name, values) in settings {
        for value in values {
            let set = format!("set local {name} = {}", quote(value));

            // A rejected value, or a value with which the statement is rejected, shows nothing.
            if let Ok(row) = connection.row(&format!("begin; {set}; {reads}; rollback")).await {
                compared += 1;
                for (column, (is, should)) in
                    row.iter().zip(&seen).enumerate().filter(|(_, (is, should))| is != should)
                {
                    let _ = writeln!(problems, "{planner}; {set}: read {column} is {is} and not {should}");
                }
            }
            if let Ok(row) = connection.row(&format!("begin; {set}; {writes}; rollback")).await {
                compared += 1;
                let is_rejected = |is: &str| is.len() == 5 && is != "XX000";
                for (column, (is, should)) in row.iter().zip(&written).enumerate() {
                    if is != should && !is_rejected(is) {
                        let _ =
                            writeln!(problems, "{planner}; {set}: write {column} is {is} and not {should}");
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "{problems}");
    compared
}

/// Tries the settings whose names contain one of these texts with these plans, after some statements of an
/// administrator.
async fn no_setting_widens_a_scope(prepare: &str, planner: &'static str, names: &[&str]) {
    let scoped = Scoped::new().await;
    scoped.admin.run(prepare).await;
    let mut settings = scoped.settings().await;
    assert!(settings.len() > 150, "{} settings", settings.len());
    settings.retain(|(name, _)| names.iter().any(|part| name.contains(part)));
    let compared = sweep(&scoped, &settings, planner).await;
    println!("{} settings, {compared} rows compared", settings.len());
    assert!(compared > 2 * settings.len(), "{compared} rows compared");
    scoped.end().await;
}

const ALL: &[&str] = &[""];
/// Settings that can affect a scan or a plan are tried in two more modes.
const OF_SCANS: &[&str] = &["gin", "enable", "mem", "parallel", "trgm", "plan", "row", "transform", "keyed"];

#[tokio::test]
async fn settings_cannot_widen_a_scope_with_pending_entries() {
    no_setting_widens_a_scope("select", BY_INDEX, OF_SCANS).await;
}

/// VACUUM moves entries from the pending lists of GIN indexes into the indexes.
#[tokio::test]
async fn settings_cannot_widen_a_scope_with_flushed_entries() {
    no_setting_widens_a_scope("vacuum analyze", BY_INDEX, ALL).await;
}

#[tokio::test]
async fn settings_cannot_widen_a_scope_in_parallel_plans() {
    no_setting_widens_a_scope("vacuum analyze", IN_PARALLEL, OF_SCANS).await;
}
