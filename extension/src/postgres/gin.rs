//! The support functions of a GIN index.

use super::datum;
use super::function::Call;
use pgrx::pg_sys::{self, Datum};
use pgrx::prelude::PgSqlErrorCode;
use std::collections::TryReserveError;

/// GIN_FALSE: no row can match.
const NO: i8 = pg_sys::GIN_FALSE as i8;
/// GIN_MAYBE: a row may match, and must be rechecked.
const MAYBE: i8 = pg_sys::GIN_MAYBE as i8;

/// Implements `extractValue(text, nkeys)`: the keys of a value. `keys` must call the function that it gets from time to time,
/// which checks for interrupts.
pub fn keys_of_value(
    call: &Call,
    keys: impl FnOnce(&str, fn()) -> Result<Vec<i32>, TryReserveError>,
) -> Datum {
    let value = call.datum(0).unwrap_or(Datum::null());
    let keys = datum::with_text(value, |text| {
        keys(text, || {
            pgrx::check_for_interrupts!();
        })
    });
    let keys = keys.unwrap_or_else(|_| out_of_memory());
    // SAFETY: the second argument points to the number of keys.
    unsafe { return_keys(&keys, pointer(call, 1)) }
}

/// Implements `extractQuery(text, nkeys, strategy, …, searchMode)`: the keys that every match of the pattern has. Without keys,
/// the scan returns all rows. That is also the case if the operator ignores case under a collation other than "C", or if
/// the collation is nondeterministic.
pub fn keys_of_query(call: &Call, ignoring_case: u16, keys: impl FnOnce(&str) -> Vec<i32>) -> Datum {
    let value = call.datum(0).unwrap_or(Datum::null());
    let ignores_case = query_strategy(call) == ignoring_case;
    // SAFETY: the call is in progress.
    let collation = unsafe { (*call.info()).fncollation };
    let has_language = collation != pg_sys::C_COLLATION_OID;
    // Since 18, LIKE supports nondeterministic collations, which treat different strings as equal.
    // SAFETY: reads the catalog entry of an index's collation.
    let is_bytewise = || !has_language || unsafe { pg_sys::get_collation_isdeterministic(collation) };
    let has_keys = !(ignores_case && has_language) && is_bytewise();
    let keys = if has_keys { datum::with_text(value, keys) } else { Vec::new() };
    // SAFETY: the arguments point to the number of keys and the search mode.
    unsafe {
        if keys.is_empty() {
            *pointer(call, 6) = pg_sys::GIN_SEARCH_MODE_ALL as i32;
        }
        return_keys(&keys, pointer(call, 1))
    }
}

/// The strategy number in a call of `extractQuery`.
pub fn query_strategy(call: &Call) -> u16 {
    call.datum(2).map_or(0, |number| number.value() as u16)
}

/// The strategy number in a call of `triConsistent`.
pub fn match_strategy(call: &Call) -> u16 {
    call.datum(1).map_or(0, |number| number.value() as u16)
}

/// Implements `triConsistent(check, …, nkeys, …)` for a query whose matches have all keys.
pub fn may_have_all(call: &Call) -> Datum {
    Datum::from(if checks(call).contains(&NO) { NO } else { MAYBE })
}

/// Implements `triConsistent` for a query whose matches have at least one key.
pub fn may_have_one(call: &Call) -> Datum {
    Datum::from(if checks(call).iter().all(|check| *check == NO) { NO } else { MAYBE })
}

/// The ternary values of the keys.
fn checks(call: &Call) -> &[i8] {
    let count = call.integer(3).unwrap_or_default();
    // SAFETY: the first argument is an array, and the fourth its length.
    unsafe {
        match usize::try_from(count) {
            Ok(count @ 1..) => std::slice::from_raw_parts(pointer::<i8>(call, 0), count),
            _ => &[],
        }
    }
}

/// Raises PostgreSQL's error for failed allocations, which aborts the statement but not the session.
fn out_of_memory() -> ! {
    pgrx::ereport!(
        ERROR,
        PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
        "out of memory for the index keys of a text"
    );
}

/// # Safety
/// The argument points to a value of this type.
unsafe fn pointer<T>(call: &Call, position: usize) -> *mut T {
    call.datum(position).unwrap_or(Datum::null()).cast_mut_ptr()
}

/// Returns keys as an array of datums, and stores their number.
///
/// # Safety
/// `number` is writable.
unsafe fn return_keys(keys: &[i32], number: *mut i32) -> Datum {
    // SAFETY: the array has space for all keys. GIN frees it, or its memory context. The keys of a string of 1 GB fit an i32.
    unsafe {
        *number = keys.len() as i32;
        if keys.is_empty() {
            return Datum::null();
        }
        let size = keys.len() * size_of::<Datum>();
        let list: *mut Datum = pg_sys::MemoryContextAllocExtended(
            pg_sys::CurrentMemoryContext,
            size,
            pg_sys::MCXT_ALLOC_HUGE as i32,
        )
        .cast();
        for (position, key) in keys.iter().enumerate() {
            list.add(position).write(Datum::from(*key));
        }
        Datum::from(list)
    }
}
