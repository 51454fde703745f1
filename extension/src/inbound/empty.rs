//! The cause of an empty path result: an empty array, a filter that excludes everything, or a missing member. Only a missing
//! member is an error, because the payload does not match the mapping.

use super::path::{self, Empty, Last, Prefix};
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{array, params};
use crate::postgres::spi::{Snapshot, connected};

/// The maximum number of steps of a path. A longer path counts as an expression.
const MAX_STEPS: usize = 64;

/// The cause of an empty list path for each of these items, counted from 0.
pub fn in_items(payload: &str, items: &str, path: &str, requested: &[usize]) -> Vec<(usize, Empty)> {
    let Some(prefixes) = prefixes(path) else { return Vec::new() };
    last(payload, items, &prefixes, requested)
        .into_iter()
        .map(|(item, last)| (item, path::meaning(&prefixes, last)))
        .collect()
}

/// Rejects a payload without items, unless the array exists and is empty, or the path's filter excludes all elements.
pub fn check_items(payload: &str, items: &str) -> Result<(), Error> {
    let missing = |found: &str| {
        let message = format!("the path of the items, {items}, finds nothing in the payload{found}");
        Error::at(Code::InvalidValue, "/items", message).hint(
            "Correct the path of the items in the endpoint, and replay the delivery. A payload without \
             items needs an empty array there.",
        )
    };
    let Some(prefixes) = prefixes(items) else { return Err(missing("")) };
    match last(payload, "$", &prefixes, &[0]).pop() {
        Some((_, last)) if path::meaning(&prefixes, last) != Empty::Missing => Ok(()),
        Some((_, last)) => {
            let path = |position: usize| prefixes.get(position).map_or("", |prefix| &prefix.path);
            Err(missing(&format!(": {} exists, {} does not", path(last.prefix), path(last.prefix + 1))))
        }
        None => Err(missing("")),
    }
}

/// The prefixes of a path in PostgreSQL's output format.
fn prefixes(path: &str) -> Option<Vec<Prefix>> {
    let canonical = as_owner(|| {
        connected(|spi| {
            let text = params![path];
            spi.run_once("select $1::jsonpath::text", Snapshot::Active, &text).value::<String>()
        })
    });
    path::prefixes(&canonical?).filter(|prefixes| prefixes.len() <= MAX_STEPS)
}

/// For each requested item, the longest prefix with a result.
fn last(payload: &str, items: &str, prefixes: &[Prefix], requested: &[usize]) -> Vec<(usize, Last)> {
    let paths: Vec<Option<&str>> = prefixes.iter().map(|prefix| Some(prefix.path.as_str())).collect();
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(
                "select i.n, p.n, p.arrays, p.empty \
                 from jsonb_path_query($1::jsonb, $2::jsonpath) with ordinality i (item, n) \
                 cross join lateral ( \
                   select p.n, bool_and(jsonb_typeof(v.value) = 'array') as arrays, bool_and(v.value = '[]') as empty \
                   from unnest($3) with ordinality p (path, n) \
                   cross join lateral jsonb_path_query(i.item, p.path::jsonpath) v (value) \
                   group by p.n order by p.n desc limit 1) p \
                 where i.n = any ($4)",
                Snapshot::Active,
                &params![
                    payload,
                    items,
                    array(paths.into_iter()),
                    array(requested.iter().map(|item| *item as i64 + 1)),
                ],
            );
            let last = |row| {
                let number = |column| rows.get::<Option<i64>>(row, column).unwrap_or(1) as usize - 1;
                let is = |column| rows.get::<Option<bool>>(row, column).unwrap_or_default();
                (number(0), Last { prefix: number(1), arrays: is(2), empty: is(3) })
            };
            (0..rows.len()).map(last).collect()
        })
    })
}
