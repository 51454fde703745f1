//! The contenders that write batches of upserts, or files, with four attributes for each record.

use super::token_of_keyed;
use crate::bed::Bed;
use crate::load::{Batches, Format, Load, Shape, Transport};
use crate::postgrest::PostgRest;
use crate::rounds::Contender;

pub(super) const OVER_HTTP: &str = "keyed over HTTP";
pub(super) const OVER_HTTP_ATOMIC: &str = "keyed over HTTP, atomic";
pub(super) const IN_SQL: &str = "keyed in SQL";
pub(super) const IN_SQL_ATOMIC: &str = "keyed in SQL, atomic";
pub(super) const SAME_WRITES: &str = "hand-written SQL, same writes";
pub(super) const COPY: &str = "COPY, same indexes, no history";
pub(super) const POSTGREST: &str = "PostgREST, no history";

/// The values of one record, in JSON.
const VALUES: &str = r#""name":"Name $n","email":"user$n@example.org","city":"City $n","score":$n"#;

pub(super) fn keyed_over_http(bed: &Bed, shape: Shape, atomic: bool) -> Contender {
    let transport = Transport::Http {
        url: bed.proxy.url("/v1/entities/batch"),
        headers: vec![("Authorization", token_of_keyed(bed)), ("X-Service-Project-Id", "bench".to_owned())],
    };
    let format = Format {
        before: format!(r#"{{"atomic":{atomic},"operations":["#),
        record: operation("customers"),
        between: ",",
        after: "]}",
    };
    let name = if atomic { OVER_HTTP_ATOMIC } else { OVER_HTTP };
    of_keyed(Contender::new(name, Load::Batches(Batches { transport, format, shape })))
}

pub(super) fn keyed_in_sql(bed: &Bed, shape: Shape, atomic: bool) -> Contender {
    let (name, text) = match atomic {
        true => (IN_SQL_ATOMIC, include_str!("../scripts/batch_keyed_atomic.sql")),
        false => (IN_SQL, include_str!("../scripts/batch_keyed.sql")),
    };
    let transport = Transport::Statement { database: bed.database.name().to_owned(), text };
    let format = array_of(operation("bench.customers"));
    of_keyed(Contender::new(name, Load::Batches(Batches { transport, format, shape })))
}

fn operation(template: &str) -> String {
    let named = format!(r#""template":"{template}","external_key":"$key""#);
    format!(r#"{{"op":"upsert",{named},"attributes":{{{VALUES}}}}}"#)
}

fn of_keyed(contender: Contender) -> Contender {
    contender.creating_in("bench.customers").noting_in("keyed_state.history_1").resetting_by(reset_keyed())
}

pub(super) fn hand_written(bed: &Bed, shape: Shape) -> Contender {
    let text = include_str!("../scripts/batch_same.sql");
    let transport = Transport::Statement { database: bed.database.name().to_owned(), text };
    Contender::new(SAME_WRITES, Load::Batches(Batches { transport, format: rows(), shape }))
        .creating_in("plain.customers")
        .noting_in("plain.customers_history")
        .resetting_by(reset("plain.customers", Some("plain.customers_history")))
}

/// COPY accepts only new keys, and does not report what it wrote.
pub(super) fn copy(bed: &Bed, shape: Shape) -> Contender {
    let text = include_str!("../scripts/batch_copy.sql");
    let transport = Transport::Copy { database: bed.database.name().to_owned(), text };
    let record = "$key\tName $n\tuser$n@example.org\tCity $n\t$n\n".to_owned();
    let format = Format { before: String::new(), record, between: "", after: "" };
    Contender::new(COPY, Load::Batches(Batches { transport, format, shape }))
        .creating_in("plain.searched")
        .resetting_by(reset("plain.searched", None))
}

/// The columns are given, so PostgREST does not have to collect them from each record.
pub(super) fn over_postgrest(postgrest: &PostgRest, shape: Shape) -> Contender {
    let columns = "columns=external_key,name,email,city,score";
    let transport = Transport::Http {
        url: format!("{}/customers?on_conflict=external_key&select=id&{columns}", postgrest.url),
        headers: vec![("Prefer", "resolution=merge-duplicates,return=representation".to_owned())],
    };
    Contender::new(POSTGREST, Load::Batches(Batches { transport, format: rows(), shape }))
        .creating_in("rest.customers")
        .resetting_by(reset("rest.customers", None))
}

/// A file for keyed's import; `on_error` as the request specifies it.
pub(super) fn keyed_file(bed: &Bed, shape: Shape, name: &'static str, on_error: &str) -> Contender {
    let transport = Transport::Http {
        url: bed.proxy.url(&format!("/v1/entities/template/customers/import?on_error={on_error}")),
        headers: vec![
            ("Authorization", token_of_keyed(bed)),
            ("X-Service-Project-Id", "bench".to_owned()),
            ("Content-Type", "text/csv".to_owned()),
        ],
    };
    of_keyed(Contender::new(name, Load::Batches(Batches { transport, format: csv(), shape })))
}

/// The same file for PostgREST.
pub(super) fn file_over_postgrest(postgrest: &PostgRest, shape: Shape) -> Contender {
    let columns = "columns=external_key,name,email,city,score";
    let transport = Transport::Http {
        url: format!("{}/customers?on_conflict=external_key&select=id&{columns}", postgrest.url),
        headers: vec![
            ("Prefer", "resolution=merge-duplicates,return=representation".to_owned()),
            ("Content-Type", "text/csv".to_owned()),
        ],
    };
    Contender::new(POSTGREST, Load::Batches(Batches { transport, format: csv(), shape }))
        .creating_in("rest.customers")
        .resetting_by(reset("rest.customers", None))
}

fn csv() -> Format {
    let record = "$key,Name $n,user$n@example.org,City $n,$n\n".to_owned();
    Format { before: "external_key,name,email,city,score\n".to_owned(), record, between: "", after: "" }
}

fn rows() -> Format {
    array_of(format!(r#"{{"external_key":"$key",{VALUES}}}"#))
}

fn array_of(record: String) -> Format {
    Format { before: "[".to_owned(), record, between: ",", after: "]" }
}

/// The same for a table of keyed, with its search documents.
fn reset_keyed() -> Vec<String> {
    let mut statements = reset("bench.customers", Some("keyed_state.history_1"));
    let orphans = "not exists (select from bench.customers c where c.id = d.record_id)";
    statements.push(format!("delete from keyed_state.text_1 d where {orphans}"));
    statements.push("vacuum keyed_state.text_1".to_owned());
    statements
}

/// Statements that remove the records and notes of earlier turns. Otherwise, the tables of contenders with more turns
/// would grow faster. Triggers are off, because they would write history.
fn reset(table: &str, history: Option<&str>) -> Vec<String> {
    let mut statements = vec![
        format!("set session_replication_role = replica; delete from {table} where external_key like 'N-%'"),
        format!("vacuum {table}"),
    ];
    statements.extend(history.map(|history| format!("truncate {history}")));
    statements
}
