//! The body of a delivery, created when it is sent, with the current privileges of the endpoint's
//! role.

use super::endpoint::Endpoint;
use crate::change::entry::write_gone;
use crate::change::followed::Following;
use crate::change::{page, visible};
use crate::error::Error;
use crate::json_write::{to_json, write_string};
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::catalog;
use crate::value::time;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use uuid::Uuid;

/// A delivery that is due.
pub struct Due {
    /// Its sequence number.
    pub number: i64,
    /// Its `webhook-id`.
    pub id: Uuid,
    /// The template and the record; `None` for a test.
    pub subject: Option<(i32, Uuid)>,
    /// The operation.
    pub operation: String,
    /// The entry of the feed; empty for a test.
    pub entry: String,
    /// The time when it was queued.
    pub created_at: i64,
}

/// Creates the bodies of deliveries to an endpoint.
pub struct Payloads<'a> {
    endpoint: &'a Endpoint,
    /// The role's read access; `None` if there are only tests.
    following: Option<Following>,
    /// The records that are visible to the role, live and deleted.
    seen: HashSet<Uuid>,
}

/// The member of an entry that becomes the timestamp of a delivery.
#[derive(Deserialize)]
struct Time<'a> {
    at: Option<&'a str>,
}

impl<'a> Payloads<'a> {
    /// Prepares for these deliveries.
    pub fn of(spi: &Connection, endpoint: &'a Endpoint, due: &[Due]) -> Result<Payloads<'a>, Error> {
        let subjects = || due.iter().filter_map(|it| it.subject);
        let templates: HashSet<i32> = subjects().map(|(template, _)| template).collect();
        let following = match templates.is_empty() {
            true => None,
            false => Some(endpoint.following(|template| templates.contains(&template))?),
        };
        let mut seen = HashSet::new();
        for followed in following.iter().flat_map(|following| &following.templates) {
            let of_template = subjects().filter(|(template, _)| *template == followed.template.id);
            seen.extend(visible::visible_now(spi, followed, of_template.map(|(_, record)| record).collect()));
        }
        Ok(Payloads { endpoint, following, seen })
    }

    /// The body; `None` if nothing is left to send, because the record is no longer visible to the role, and the endpoint
    /// does not deliver `gone`.
    pub fn body(&self, spi: &Connection, due: &Due) -> Option<String> {
        let Some((template, record)) = due.subject else { return Some(self.test(due)) };
        if due.operation != "gone" && !self.seen.contains(&record) {
            let template = catalog::by_id(template).filter(|_| self.endpoint.has_operation("gone"))?;
            let mut entry = String::new();
            write_gone(&mut entry, &template, record);
            return Some(body("gone", due, &entry));
        }
        let mut entry = due.entry.clone();
        if self.endpoint.include_record && !matches!(due.operation.as_str(), "delete" | "gone") {
            let followed =
                self.following.iter().flat_map(|it| &it.templates).find(|it| it.template.id == template);
            let ids = HashSet::from([record]);
            let read = |followed| page::read_records(spi, followed, &ids, Snapshot::Latest);
            let records = followed.map(read).unwrap_or_default();
            if let Some(record) = records.get(&record)
                && entry.pop() == Some('}')
            {
                entry.push_str(",\"record\":");
                entry.push_str(record);
                entry.push('}');
            }
        }
        Some(body(&due.operation, due, &entry))
    }

    fn test(&self, due: &Due) -> String {
        #[derive(Serialize)]
        struct Test<'a> {
            r#type: &'a str,
            timestamp: String,
            data: Data<'a>,
        }
        #[derive(Serialize)]
        struct Data<'a> {
            endpoint: &'a str,
        }
        to_json(&Test {
            r#type: "test",
            timestamp: time::datetime(due.created_at),
            data: Data { endpoint: &self.endpoint.slug },
        })
    }
}

fn body(operation: &str, due: &Due, entry: &str) -> String {
    let at = serde_json::from_str::<Time>(entry).ok().and_then(|time| time.at);
    let at = at.map_or_else(|| time::datetime(due.created_at), str::to_owned);
    let mut out = String::with_capacity(entry.len() + 100);
    out.push_str("{\"type\":");
    write_string(&mut out, event_type(operation));
    out.push_str(",\"timestamp\":");
    write_string(&mut out, &at);
    out.push_str(",\"data\":");
    out.push_str(entry);
    out.push('}');
    out
}

/// The type of an operation, in the past tense.
pub fn event_type(operation: &str) -> &'static str {
    match operation {
        "create" => "record.created",
        "update" => "record.updated",
        "delete" => "record.deleted",
        "restore" => "record.restored",
        "test" => "test",
        _ => "record.gone",
    }
}
