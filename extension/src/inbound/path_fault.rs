//! Which path of a mapping fails in which item: asked after the statement for all of them has failed.

use super::definition::{MOST_ITEMS, Mapping};
use crate::error::{Code, Error};
use crate::json::pointer_step;
use crate::postgres::caught::{Caught, Class};
use crate::postgres::guard::{as_owner, subtransaction};
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use pgrx::prelude::PgSqlErrorCode;
use std::ops::Range;

/// The message of an error that a path raised.
pub fn of_path(caught: &Caught) -> Option<String> {
    // An older endpoint may ask for a variable, of which there are none.
    let is_of_path =
        caught.class() == Class::Data || caught.state == PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT;
    is_of_path.then(|| caught.message.clone())
}

/// The error with the item and the member of the mapping at fault.
pub fn locate(mapping: &Mapping, payload: &str, message: &str) -> Error {
    let all = 0..MOST_ITEMS;
    if let Some(message) = failure(payload, &mapping.items, "$", &all) {
        return fault("/items", &mapping.items, &message);
    }
    let key = ("/external_key".to_owned(), &mapping.external_key);
    let attributes = mapping.sources.iter();
    let attributes =
        attributes.map(|source| (format!("/attributes/{}", pointer_step(&source.slug)), &source.path));
    for (member, path) in std::iter::once(key).chain(attributes) {
        let Some(message) = failure(payload, &mapping.items, path, &all) else { continue };
        let item = first_failing(payload, &mapping.items, path);
        return fault(&format!("/items/{item}{member}"), path, &message);
    }
    Error::new(Code::InvalidValue, message)
}

fn fault(pointer: &str, path: &str, message: &str) -> Error {
    Error::at(Code::InvalidValue, pointer, format!("the path {path} fails: {message}"))
}

/// The first item in which a path fails that fails in one.
fn first_failing(payload: &str, items: &str, path: &str) -> usize {
    let (mut first, mut end) = (0, MOST_ITEMS);
    while end - first > 1 {
        let middle = first.midpoint(end);
        match failure(payload, items, path, &(first..middle)) {
            Some(_) => end = middle,
            None => first = middle,
        }
    }
    first
}

/// The message of the error that a path raises in one of these items.
fn failure(payload: &str, items: &str, path: &str, of_items: &Range<usize>) -> Option<String> {
    let sql = "select count(*) from (select i.item from jsonb_path_query($1::jsonb, $2::jsonpath) with ordinality i (item, n) \
               where i.n > $4 limit $5) i cross join lateral jsonb_path_query(i.item, $3::jsonpath)";
    let run = || {
        as_owner(|| {
            connected(|spi| {
                let (after, count) = (of_items.start as i64, of_items.len() as i64);
                spi.run_once(sql, Snapshot::Active, &params![payload, items, path, after, count]);
            });
        });
    };
    subtransaction(run).catch(of_path).err()
}
