//! The written and acknowledged changes, and the database contents that they require.

use harness::{Session, companies, customers, notes};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The known outcome for some records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Acknowledged.
    There,
    /// Rejected, or reported as not written.
    Absent,
    /// The outcome is unknown.
    Either,
}

/// New records. No other client writes their keys, and their values are derived from their keys.
#[derive(Debug)]
pub(super) struct Group {
    /// The kind of request that wrote them.
    pub(super) by: &'static str,
    /// Templates and keys.
    pub(super) records: Vec<(&'static str, String)>,
    pub(super) fate: Fate,
    /// The points of their series.
    pub(super) points: u32,
}

/// How often a number was incremented.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) acknowledged: u64,
    pub(super) unknown: u64,
}

/// The changes of one client.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) groups: Vec<Group>,
    /// Increments of the shared record, without an Idempotency-Key.
    pub(super) shared: Count,
    /// Increments of the client's own record, with an Idempotency-Key.
    pub(super) once: u64,
    /// Requests with a success, with nothing written, and without a response.
    pub(super) acknowledged: u64,
    pub(super) not_written: u64,
    pub(super) unknown: u64,
}

/// The number of a new record, derived from its key.
pub(super) fn number_of(key: &str) -> u32 {
    key.bytes().fold(7, |number, byte| (number * 31 + u32::from(byte)) % 1_000_003)
}

/// The name of a new record, derived from its key.
pub(super) fn name_of(key: &str) -> String {
    format!("Somebody {key}")
}

/// The attributes of a new record.
pub(super) fn attributes_of(template: &str, key: &str) -> Value {
    match template {
        "notes" => json!({"text": name_of(key)}),
        "companies" => json!({"name": name_of(key)}),
        _ => json!({"name": name_of(key), "visits": number_of(key)}),
    }
}

/// Customers with these keys.
pub(super) fn customers_of(keys: &[String]) -> Vec<(&'static str, String)> {
    keys.iter().map(|key| ("customers", key.clone())).collect()
}

/// How many groups with an unknown outcome were found in the database, and how many were not.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) there: usize,
    pub(super) absent: usize,
}

/// A record in the database: its name, its number, the versions of its history, the points of its series, and the
/// number of records with its key.
type Row = (String, String, u32, u32, u32);

/// All records with a key, by template and key.
pub(super) struct Tables(HashMap<&'static str, HashMap<String, Row>>);

impl Tables {
    pub(super) async fn read(session: &Session) -> Self {
        let points = format!("(select count(*) from {} m where m.record_id = t.id)", customers::SERIES);
        let mut tables = HashMap::new();
        for (template, history, name, number, points) in [
            ("companies", companies::HISTORY, "name", "''", "0"),
            ("customers", customers::HISTORY, "name", "visits::text", points.as_str()),
            ("notes", notes::HISTORY, "text", "''", "0"),
        ] {
            let sql = format!(
                "select external_key, max({name}), max({number}), \
                 sum((select count(*) from {history} h where h.record_id = t.id)), sum({points}), count(*) \
                 from crm.{template} t where external_key is not null group by external_key"
            );
            tables.insert(template, rows(session, &sql).await);
        }
        Self(tables)
    }

    /// Compares groups of new records with the database. Afterwards, every outcome is known.
    pub(super) fn compare(&self, groups: &mut [Group]) -> Found {
        let mut found = Found::default();
        for group in groups {
            let there = group.records.iter().filter_map(|(template, key)| self.0[template].get(key)).count();
            let whole = group.records.len();
            match group.fate {
                Fate::There => assert_eq!(there, whole, "was acknowledged, but is missing: {group:?}"),
                Fate::Absent => assert_eq!(there, 0, "was reported as not written, but exists: {group:?}"),
                Fate::Either if there == 0 => {
                    found.absent += 1;
                    group.fate = Fate::Absent;
                }
                Fate::Either => {
                    assert_eq!(there, whole, "exists only partly: {group:?}");
                    found.there += 1;
                    group.fate = Fate::There;
                }
            }
            for (template, key) in group.records.iter().filter(|_| there > 0) {
                let number =
                    if *template == "customers" { number_of(key).to_string() } else { String::new() };
                let expected = (name_of(key), number, 1, group.points, 1);
                assert_eq!(
                    self.0[template][key], expected,
                    "{key} of {} was not written completely and once",
                    group.by
                );
            }
        }
        found
    }
}

async fn rows(session: &Session, sql: &str) -> HashMap<String, Row> {
    let rows = session.rows(sql, &[]).await;
    let read = |row: Vec<Option<String>>| {
        let mut values = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || values.next().expect("six columns");
        let (key, name, number) = (next(), next(), next());
        let mut count = || next().parse().expect("a number");
        (key, (name, number, count(), count(), count()))
    };
    rows.into_iter().map(read).collect()
}
