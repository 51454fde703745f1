//! C-language functions that PostgreSQL calls, their results, and the name of the running one.
//!
//! Their SQL declarations, with names, defaults and comments, are in `sql/functions/`.

use super::datum::{self, Argument};
use super::memory::Current;
use super::parameter::ToSql;
use crate::error::{Code, Error};
use crate::value::written::Written;
use pgrx::pg_sys::{self, Datum};
use std::cell::Cell;
use uuid::Uuid;

/// Declares functions for `language c`. Each takes a [`Call`] and returns a `Result<ReturnValue, Error>`.
macro_rules! sql_functions {
    ($($(#[$doc:meta])* $name:ident => $body:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// Only PostgreSQL calls it, with a call of its own.
        #[allow(unsafe_code, reason = "PostgreSQL finds the function by its name")]
        #[unsafe(no_mangle)]
        #[pgrx::pg_guard]
        pub unsafe extern "C-unwind" fn $name(call: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
            let body: fn(&$crate::postgres::function::Call)
                -> Result<$crate::postgres::function::ReturnValue, $crate::error::Error> = $body;
            $crate::postgres::library_version::check();
            let _running = $crate::postgres::function::Running::begin(stringify!($name));
            let _settings = $crate::postgres::session_settings::OverriddenSettings::begin();
            let call = $crate::postgres::function::Call::new(call);
            $crate::postgres::raise::OrRaise::or_raise(body(&call)).into_datum(&call)
        }
        $crate::postgres::function::paste_finfo! { $name }
    )* };
}
pub(crate) use sql_functions;

/// Declares a strict function of an integer that a policy calls for every row. The first call of a statement evaluates it, and
/// later calls return the cached result, which costs no more than a trivial built-in function. Only the first call needs
/// the panic guard.
macro_rules! cached_function {
    ($(#[$doc:meta])* $name:ident => $evaluate:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Only PostgreSQL calls it, with a call of its own.
        #[allow(unsafe_code, reason = "PostgreSQL finds the function by its name")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(call: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
            #[pgrx::pg_guard]
            unsafe extern "C-unwind" fn evaluate(call: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
                let evaluate: fn(i32) -> bool = $evaluate;
                $crate::postgres::library_version::check();
                let call = $crate::postgres::function::Call::new(call);
                let result = evaluate(call.first_integer());
                call.cache(result);
                pgrx::pg_sys::Datum::from(result)
            }
            match $crate::postgres::function::Call::new(call).cached() {
                Some(result) => pgrx::pg_sys::Datum::from(result),
                // SAFETY: the caller's.
                None => unsafe { evaluate(call) },
            }
        }
        $crate::postgres::function::paste_finfo! { $name }
    };
}
pub(crate) use cached_function;

/// Declares that a function uses version 1 of the calling convention, as `PG_FUNCTION_INFO_V1` does.
macro_rules! paste_finfo {
    ($name:ident) => {
        const _: () = {
            #[allow(unsafe_code, reason = "PostgreSQL finds the record by its name")]
            #[unsafe(export_name = concat!("pg_finfo_", stringify!($name)))]
            extern "C" fn finfo() -> &'static pgrx::pg_sys::Pg_finfo_record {
                const VERSION_1: pgrx::pg_sys::Pg_finfo_record =
                    pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
                &VERSION_1
            }
        };
    };
}
pub(crate) use paste_finfo;

/// One call of a function.
pub struct Call(pg_sys::FunctionCallInfo);

/// The result of a function.
pub enum ReturnValue {
    /// SQL null.
    Null,
    /// `void`.
    Void,
    /// `text`.
    Text(String),
    /// `jsonb`, as JSON text.
    Json(String),
    /// `uuid`.
    Uuid(Uuid),
    /// `text[]`.
    Texts(Vec<Option<String>>),
    /// `text[]`: the result of a function that writes.
    Written(Written),
    /// `(id uuid, created boolean)`.
    Upserted(Uuid, bool),
    /// Any other datum, such as a trigger's row.
    Datum(Datum),
}

impl Call {
    /// Wraps the call that PostgreSQL made.
    #[inline(always)]
    pub fn new(call: pg_sys::FunctionCallInfo) -> Self {
        Call(call)
    }

    /// The call as PostgreSQL made it.
    pub fn info(&self) -> pg_sys::FunctionCallInfo {
        self.0
    }

    /// The first argument of a strict function of an integer. Raises no errors.
    #[inline(always)]
    pub fn first_integer(&self) -> i32 {
        // SAFETY: the call is PostgreSQL's own, in progress, and of a strict function of an integer.
        unsafe { (*(*self.0).args.as_ptr()).value.value() as i32 }
    }

    /// The [cached](Self::cache) result for the call's first argument. Raises no errors.
    #[inline(always)]
    pub fn cached(&self) -> Option<bool> {
        // SAFETY: the call is PostgreSQL's own and in progress.
        unsafe {
            let function = (*self.0).flinfo;
            if function.is_null() {
                return None;
            }
            let cached = (*function).fn_extra as usize;
            (cached & !1 == cache_key(self.first_integer())).then_some(cached & 1 == 1)
        }
    }

    /// Caches the result for the call's first argument until the statement ends.
    pub fn cache(&self, result: bool) {
        // SAFETY: the call is PostgreSQL's own and in progress. Only this function uses fn_extra, and it never dereferences the
        // value, which consists of the number, a bit that marks the cache as filled, and the result.
        unsafe {
            let function = (*self.0).flinfo;
            if !function.is_null() {
                (*function).fn_extra =
                    (cache_key(self.first_integer()) | usize::from(result)) as *mut std::ffi::c_void;
            }
        }
    }

    /// An argument, counted from 0; `None` if it is null or not declared.
    pub fn datum(&self, position: usize) -> Argument {
        // SAFETY: the call holds `nargs` arguments.
        unsafe {
            if position >= (*self.0).nargs as usize {
                return None;
            }
            let argument = (*self.0).args.as_ptr().add(position);
            (!(*argument).isnull).then(|| (*argument).value)
        }
    }
}

#[inline(always)]
fn cache_key(number: i32) -> usize {
    (number as u32 as usize) << 2 | 2
}

/// The error for an argument that is null.
pub fn must_not_be_null(name: &str) -> Error {
    Error::at(Code::InvalidValue, format!("/{name}"), format!("{name} must not be null"))
}

impl ReturnValue {
    /// The datum to return from `call`.
    pub fn into_datum(self, call: &Call) -> Datum {
        let datum = match self {
            ReturnValue::Null => None,
            ReturnValue::Void => return Datum::from(0usize),
            ReturnValue::Text(text) => datum::text(&text),
            ReturnValue::Json(json) => datum::jsonb(&json),
            ReturnValue::Uuid(id) => datum::uuid(id),
            ReturnValue::Texts(texts) => texts.to_datum(),
            ReturnValue::Written(written) => written.into_texts().to_datum(),
            ReturnValue::Upserted(id, created) => Some(upserted_row(id, created)),
            ReturnValue::Datum(datum) => return datum,
        };
        datum.unwrap_or_else(|| {
            // SAFETY: the call is PostgreSQL's own and in progress.
            unsafe { (*call.info()).isnull = true };
            Datum::from(0usize)
        })
    }
}

thread_local! {
    /// The row type `(id uuid, created boolean)`, created once in a session.
    static UPSERTED: Cell<pg_sys::TupleDesc> = const { Cell::new(std::ptr::null_mut()) };
}

fn upserted_row(id: Uuid, created: bool) -> Datum {
    // SAFETY: the descriptor and both arrays have two columns. The descriptor is allocated for the session, and
    // BlessTupleDesc registers its type.
    unsafe {
        if UPSERTED.get().is_null() {
            let _current = Current::switch_to(pg_sys::TopMemoryContext);
            let description = pg_sys::CreateTemplateTupleDesc(2);
            pg_sys::TupleDescInitEntry(description, 1, c"id".as_ptr(), pg_sys::UUIDOID, -1, 0);
            pg_sys::TupleDescInitEntry(description, 2, c"created".as_ptr(), pg_sys::BOOLOID, -1, 0);
            UPSERTED.set(pg_sys::BlessTupleDesc(description));
        }
        let mut values = [datum::uuid(id).unwrap_or(Datum::from(0usize)), Datum::from(created)];
        let mut nulls = [false, false];
        let tuple = pg_sys::heap_form_tuple(UPSERTED.get(), values.as_mut_ptr(), nulls.as_mut_ptr());
        pg_sys::HeapTupleHeaderGetDatum((*tuple).t_data)
    }
}

thread_local! {
    /// The symbol of the innermost running function.
    static RUNNING: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Marks a function as running until this is dropped, also during unwinding.
pub struct Running {
    outer: Option<&'static str>,
}

impl Running {
    /// Begins a function with this symbol.
    #[inline]
    pub fn begin(symbol: &'static str) -> Running {
        Running { outer: RUNNING.replace(Some(symbol)) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(self.outer);
    }
}

/// The schema-qualified name of the innermost running function, for the log.
pub(super) fn running_function() -> Option<String> {
    let symbol = RUNNING.get()?;
    Some(match symbol.strip_prefix("keyed_http_") {
        Some(name) => format!("keyed_http.{name}"),
        None => format!("keyed.{}", symbol.strip_prefix("keyed_").unwrap_or(symbol)),
    })
}
