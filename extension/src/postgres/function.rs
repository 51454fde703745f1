//! Functions that PostgreSQL calls: arguments in, one result out.
//!
//! Their SQL declarations, with names, defaults and comments, are written by hand in `sql/functions/`.

use super::datum::{self, Argument};
use super::memory::Current;
use super::parameter::ToSql;
use crate::error::{Code, Error};
use crate::value::written::Written;
use pgrx::pg_sys::{self, Datum};
use std::cell::Cell;
use uuid::Uuid;

/// Declares functions that `language c` can name: each takes a [`Call`] and gives a `Result<Answer, Error>`.
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
                -> Result<$crate::postgres::function::Answer, $crate::error::Error> = $body;
            $crate::postgres::library_version::check();
            let _running = $crate::postgres::running::Running::begin(stringify!($name));
            let _settings = $crate::postgres::session_settings::HeldSettings::begin();
            let call = $crate::postgres::function::Call::new(call);
            $crate::postgres::raise::OrRaise::or_raise(body(&call)).into_datum(&call)
        }
        $crate::postgres::function::paste_finfo! { $name }
    )* };
}
pub(crate) use sql_functions;

/// Declares a strict function of an integer that a policy calls for every row: it is asked once for each run of a statement,
/// and later calls return the cached answer, at the cost of PostgreSQL's own smallest functions. Only the first call
/// needs the panic guard.
macro_rules! asked_once {
    ($(#[$doc:meta])* $name:ident => $ask:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Only PostgreSQL calls it, with a call of its own.
        #[allow(unsafe_code, reason = "PostgreSQL finds the function by its name")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(call: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
            #[pgrx::pg_guard]
            unsafe extern "C-unwind" fn ask(call: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
                let ask: fn(i32) -> bool = $ask;
                $crate::postgres::library_version::check();
                let call = $crate::postgres::function::Call::new(call);
                let answer = ask(call.first_integer());
                call.remember(answer);
                pgrx::pg_sys::Datum::from(answer)
            }
            match $crate::postgres::function::Call::new(call).remembered() {
                Some(answer) => pgrx::pg_sys::Datum::from(answer),
                // SAFETY: the caller's.
                None => unsafe { ask(call) },
            }
        }
        $crate::postgres::function::paste_finfo! { $name }
    };
}
pub(crate) use asked_once;

/// Says to PostgreSQL that a function follows version 1 of the calling convention.
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

/// What a function answers.
pub enum Answer {
    /// SQL null.
    Null,
    /// `void`.
    Void,
    /// `text`.
    Text(String),
    /// `jsonb`, by its text.
    Json(String),
    /// `uuid`.
    Uuid(Uuid),
    /// `text[]`.
    Texts(Vec<Option<String>>),
    /// `text[]`: the answer of a function that writes.
    Written(Written),
    /// `(id uuid, created boolean)`.
    Upserted(Uuid, bool),
    /// A datum made elsewhere, such as a trigger's row.
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

    /// The first argument of a strict function of an integer. It raises nothing.
    #[inline(always)]
    pub fn first_integer(&self) -> i32 {
        // SAFETY: the call is PostgreSQL's own, in progress, and of a strict function of an integer.
        unsafe { (*(*self.0).args.as_ptr()).value.value() as i32 }
    }

    /// What was [remembered](Self::remember) of the call's first argument. It raises nothing.
    #[inline(always)]
    pub fn remembered(&self) -> Option<bool> {
        // SAFETY: the call is PostgreSQL's own, and in progress.
        unsafe {
            let function = (*self.0).flinfo;
            if function.is_null() {
                return None;
            }
            let noted = (*function).fn_extra as usize;
            (noted & !1 == noted_number(self.first_integer())).then_some(noted & 1 == 1)
        }
    }

    /// Caches a result for the call's first argument during the statement, as for a stable function.
    pub fn remember(&self, answer: bool) {
        // SAFETY: the call is PostgreSQL's own and in progress. The pointer is this function's alone and leads nowhere: it
        // is the number, a bit that says so, and the answer.
        unsafe {
            let function = (*self.0).flinfo;
            if !function.is_null() {
                (*function).fn_extra =
                    (noted_number(self.first_integer()) | usize::from(answer)) as *mut std::ffi::c_void;
            }
        }
    }

    /// An argument, counted from 0; `None` when it is null or was not declared.
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
fn noted_number(number: i32) -> usize {
    (number as u32 as usize) << 2 | 2
}

/// The error for an SQL null where a value is needed.
pub fn must_not_be_null(name: &str) -> Error {
    Error::at(Code::InvalidValue, format!("/{name}"), format!("{name} must not be null"))
}

impl Answer {
    /// The datum to return from `call`.
    pub fn into_datum(self, call: &Call) -> Datum {
        let datum = match self {
            Answer::Null => None,
            Answer::Void => return Datum::from(0usize),
            Answer::Text(text) => datum::text(&text),
            Answer::Json(json) => datum::jsonb(&json),
            Answer::Uuid(id) => datum::uuid(id),
            Answer::Texts(texts) => texts.to_datum(),
            Answer::Written(written) => written.into_texts().to_datum(),
            Answer::Upserted(id, created) => Some(upserted_row(id, created)),
            Answer::Datum(datum) => return datum,
        };
        datum.unwrap_or_else(|| {
            // SAFETY: the call is PostgreSQL's own and in progress.
            unsafe { (*call.info()).isnull = true };
            Datum::from(0usize)
        })
    }
}

thread_local! {
    /// The row type `(id uuid, created boolean)`, made once for each session.
    static UPSERTED: Cell<pg_sys::TupleDesc> = const { Cell::new(std::ptr::null_mut()) };
}

fn upserted_row(id: Uuid, created: bool) -> Datum {
    // SAFETY: the description has two columns, as have both arrays; it is made in memory that stays for the
    // session, and blessing registers its type for it.
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
