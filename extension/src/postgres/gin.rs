//! The support functions of a GIN index.

use super::datum;
use super::function::Call;
use pgrx::pg_sys::{self, Datum};
use pgrx::prelude::PgSqlErrorCode;
use std::collections::TryReserveError;

/// No row can match.
const NO: i8 = pg_sys::GIN_FALSE as i8;
/// A row may match: it must be read.
const PERHAPS: i8 = pg_sys::GIN_MAYBE as i8;

/// Answers `extractValue(text, nkeys)`: the keys of a value. `keys` is given what to call from time to time, so that a
/// long value can be interrupted.
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
    // SAFETY: the second argument says where the number of keys belongs.
    unsafe { hand_over(&keys, pointer(call, 1)) }
}

/// Answers `extractQuery(text, nkeys, strategy, …, searchMode)`: the keys that whatever is like the text has. Where there
/// are none, all rows are read: also where the operator of this number ignores case by the rules of a language, and where the
/// collation takes different texts for equal.
pub fn keys_of_query(call: &Call, ignoring_case: u16, keys: impl FnOnce(&str) -> Vec<i32>) -> Datum {
    let value = call.datum(0).unwrap_or(Datum::null());
    let ignores_case = question_of_query(call) == ignoring_case;
    // SAFETY: the call is in progress.
    let collation = unsafe { (*call.info()).fncollation };
    let has_language = collation != pg_sys::C_COLLATION_OID;
    // By the rules of some collations different texts are equal, which since 18 LIKE regards.
    // SAFETY: asks the catalog for a collation that an index has.
    let is_bytewise = || !has_language || unsafe { pg_sys::get_collation_isdeterministic(collation) };
    let has_keys = !(ignores_case && has_language) && is_bytewise();
    let keys = if has_keys { datum::with_text(value, keys) } else { Vec::new() };
    // SAFETY: the arguments say where the number of keys and the mode of the search belong.
    unsafe {
        if keys.is_empty() {
            *pointer(call, 6) = pg_sys::GIN_SEARCH_MODE_ALL as i32;
        }
        hand_over(&keys, pointer(call, 1))
    }
}

/// The number of the question in a call of `extractQuery`.
pub fn question_of_query(call: &Call) -> u16 {
    call.datum(2).map_or(0, |number| number.value() as u16)
}

/// The number of the question in a call of `triConsistent`.
pub fn question_of_match(call: &Call) -> u16 {
    call.datum(1).map_or(0, |number| number.value() as u16)
}

/// Answers `triConsistent(check, …, nkeys, …)`: a row has to have all keys, and is read if it may.
pub fn may_have_all(call: &Call) -> Datum {
    Datum::from(if answers(call).contains(&NO) { NO } else { PERHAPS })
}

/// The same where one of the keys is enough.
pub fn may_have_one(call: &Call) -> Datum {
    Datum::from(if answers(call).iter().all(|answer| *answer == NO) { NO } else { PERHAPS })
}

/// What is known of each key.
fn answers(call: &Call) -> &[i8] {
    let count = call.integer(3).unwrap_or_default();
    // SAFETY: the first argument is a list of as many answers as the fourth says.
    unsafe {
        match usize::try_from(count) {
            Ok(count @ 1..) => std::slice::from_raw_parts(pointer::<i8>(call, 0), count),
            _ => &[],
        }
    }
}

/// The error that PostgreSQL itself raises, which ends the statement and not the session.
fn out_of_memory() -> ! {
    pgrx::ereport!(
        ERROR,
        PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
        "out of memory for the index keys of a text"
    );
}

/// # Safety
/// The argument is a pointer to a value of this type.
unsafe fn pointer<T>(call: &Call, position: usize) -> *mut T {
    call.datum(position).unwrap_or(Datum::null()).cast_mut_ptr()
}

/// The keys as PostgreSQL takes them: a list of its own, and their number.
///
/// # Safety
/// The number may be written.
unsafe fn hand_over(keys: &[i32], number: *mut i32) -> Datum {
    // SAFETY: the list has room for all keys; GIN frees it, or the memory it is in. As many as a text of a gigabyte can
    // have are still a number.
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
