//! The SQL function that looks for words.

use super::find::{self, Matches};
use super::query::Query;
use super::table;
use crate::access::{Caller, Right};
use crate::error::{Code, Error};
use crate::json::write_string;
use crate::postgres::datum;
use crate::postgres::function::{Answer, Call, must_not_be_null, sql_functions};
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Access, connected};
use crate::template::{Template, catalog};
use std::fmt::Write as _;
use uuid::Uuid;

const MOST_MATCHES: i32 = 1000;

sql_functions! {
    /// `keyed.text_matches(template regclass, query text, page_size integer) returns jsonb`.
    keyed_text_matches => |call| {
        let template = catalog::by_table(call.oid(0).ok_or_else(|| must_not_be_null("template"))?)?;
        text_matches(call, &template).map(Answer::Json)
    };
}

fn text_matches(call: &Call, template: &Template) -> Result<String, Error> {
    let text = call.required_text(1, "query")?;
    let size = call.integer(2).filter(|size| (1..=MOST_MATCHES).contains(size)).ok_or_else(|| {
        Error::at(Code::InvalidValue, "/page_size", format!("page_size is a number from 1 to {MOST_MATCHES}"))
    })? as usize;
    let caller = Caller::current();
    caller.require(Right::Read, template)?;
    if !template.has_documents {
        return Err(table::not_migrated(template));
    }
    let query = Query::parse(&text)?;
    let sight =
        |target: &Template, _: &str| caller.require(Right::Read, target).is_ok().then(|| "true".to_owned());
    let found = find::find(template, &query, &sight, None);
    let mut out = String::from("{\"order\":");
    let page: Vec<(Option<i16>, Uuid)> = match found.matches {
        Matches::Ranked(ranked) => {
            out.push_str("\"rank\"");
            ranked.into_iter().take(size).map(|(rank, id)| (Some(rank), id)).collect()
        }
        Matches::Newest { condition, first } => {
            out.push_str("\"newest\"");
            let others = newest(template, &condition, first, size);
            first.into_iter().chain(others).take(size).map(|id| (None, id)).collect()
        }
    };
    out.push_str(",\"scanned\":[");
    for (position, term) in found.scanned.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        write_string(&mut out, term);
    }
    out.push_str("],\"matches\":[");
    for (position, (rank, id)) in page.iter().enumerate() {
        let separator = if position > 0 { "," } else { "" };
        let rank = rank.map_or("null".to_owned(), |rank| rank.to_string());
        let _ = write!(out, "{separator}{{\"id\":\"{id}\",\"rank\":{rank}}}");
    }
    out.push_str("]}");
    Ok(out)
}

fn newest(template: &Template, condition: &str, first: Option<Uuid>, size: usize) -> Vec<Uuid> {
    let others = first.map_or(String::new(), |first| format!(" and t.id <> '{first}'"));
    let sql = format!(
        "select t.id from {} d join {} t on t.id = d.record_id where {condition}{others} \
         order by t.id desc limit {size}",
        table::table_sql(template.id),
        template.table_sql()
    );
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(&sql, Access::Snapshot, &[]);
            (0..rows.len()).filter_map(|row| rows.get(row, 0).map(datum::read_uuid)).collect()
        })
    })
}
