//! Locates the path and the item that made the statement for all paths and items fail.

use super::definition::{MAX_ITEMS, Mapping};
use crate::error::{Code, Error};
use crate::json::pointer_step;
use crate::postgres::caught::{Caught, Class};
use crate::postgres::guard::{as_owner, subtransaction};
use crate::postgres::parameter::{IntoParameter, Jsonb, Parameter, array, params};
use crate::postgres::spi::{Snapshot, connected};
use pgrx::prelude::PgSqlErrorCode;
use std::ops::Range;

/// The message of an error that a path raised.
pub fn of_path(caught: &Caught) -> Option<String> {
    let is_of_path = match caught.state {
        // A path of an earlier version can contain a variable.
        PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT
        // Times with an offset and times without one cannot be compared.
        | PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED => true,
        _ => caught.class() == Class::Data,
    };
    is_of_path.then(|| caught.message.clone())
}

/// The error with the pointers of the item and the mapping's member. The number of statements is logarithmic in the numbers of
/// paths and items, because each statement parses the whole payload.
pub fn locate(mapping: &Mapping, payload: &str, message: &str) -> Error {
    let payload = Jsonb(payload).into_parameter();
    let attempt = Attempted { payload: &payload, items: &mapping.items };
    if let Some(message) = attempt.failure(&["$"], 0..MAX_ITEMS) {
        return violation("/items", &mapping.items, &message);
    }
    let paths: Vec<&str> = mapping.paths().skip(1).collect();
    let place = first_failing(paths.len(), |places| attempt.failure(&paths[places], 0..MAX_ITEMS).is_some());
    let path = &paths[place..=place];
    let Some(message) = attempt.failure(path, 0..MAX_ITEMS) else {
        return Error::new(Code::InvalidValue, message);
    };
    let item = first_failing(MAX_ITEMS, |items| attempt.failure(path, items).is_some());
    let member = match place.checked_sub(1).and_then(|source| mapping.sources.get(source)) {
        Some(source) => format!("/attributes/{}", pointer_step(&source.slug)),
        None => "/external_key".to_owned(),
    };
    violation(&format!("/items/{item}{member}"), paths[place], &message)
}

fn violation(pointer: &str, path: &str, message: &str) -> Error {
    Error::at(Code::InvalidValue, pointer, format!("the path {path} fails: {message}"))
}

/// The first of `count` elements that fails. `fails` tests whether a range contains a failing element.
fn first_failing(count: usize, fails: impl Fn(Range<usize>) -> bool) -> usize {
    let (mut first, mut end) = (0, count);
    while end - first > 1 {
        let middle = first.midpoint(end);
        if fails(first..middle) { end = middle } else { first = middle }
    }
    first
}

/// A payload with the path of its items.
struct Attempted<'a> {
    payload: &'a Parameter,
    items: &'a str,
}

impl Attempted<'_> {
    /// The message of the error that these paths raise in these items.
    fn failure(&self, paths: &[&str], of_items: Range<usize>) -> Option<String> {
        let sql = "select count(*) from (select i.item from jsonb_path_query($1, $2::jsonpath) with ordinality i (item, n) \
                   where i.n > $4 limit $5) i cross join unnest($3) p (path) \
                   cross join lateral jsonb_path_query(i.item, p.path::jsonpath)";
        let run = || {
            as_owner(|| {
                connected(|spi| {
                    let (after, count) = (of_items.start as i64, of_items.len() as i64);
                    let paths = array(paths.iter().map(|path| Some(*path)));
                    let arguments = params![*self.payload, self.items, paths, after, count];
                    spi.run_once(sql, Snapshot::Active, &arguments);
                });
            });
        };
        subtransaction(run).catch(of_path).err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_failing_element_is_found_by_bisection() {
        for count in [1, 2, 3, 500, MAX_ITEMS] {
            for failing in [0, count / 3, count - 1] {
                let asked = std::cell::Cell::new(0);
                let fails = |range: Range<usize>| {
                    asked.set(asked.get() + 1);
                    range.contains(&failing)
                };
                assert_eq!(first_failing(count, fails), failing, "of {count}");
                assert!(asked.get() <= 14, "{} steps of {count}", asked.get());
            }
        }
    }
}
