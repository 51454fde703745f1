//! What `pg_stat_activity` shows of this session.

use pgrx::pg_sys;
use std::cell::Cell;
use std::ffi::CString;

/// The maximum length that PostgreSQL keeps.
const LONGEST: usize = pg_sys::NAMEDATALEN as usize - 1;

thread_local! {
    /// Whether the session shows a request.
    static SHOWN: Cell<bool> = const { Cell::new(false) };
}

/// Shows the id of a request as `application_name`, until the transaction ends.
///
/// The setting stays as it is: a change of it would be reported to the client with every statement.
pub fn show_request(id: &str) {
    if id.is_empty() {
        return;
    }
    let visible = id.bytes().filter(u8::is_ascii_graphic);
    let name: Vec<u8> = b"keyed ".iter().copied().chain(visible).take(LONGEST).collect();
    let Ok(name) = CString::new(name) else { return };
    // SAFETY: PostgreSQL copies the text into this session's own entry.
    unsafe { pg_sys::pgstat_report_appname(name.as_ptr()) };
    SHOWN.set(true);
}

/// Shows the setting again.
pub fn transaction_ended() {
    if SHOWN.take() {
        // SAFETY: the setting is a text of the session, or null before there is one. PostgreSQL copies it, and raises nothing.
        unsafe {
            let name = pg_sys::application_name;
            pg_sys::pgstat_report_appname(if name.is_null() { c"".as_ptr() } else { name });
        }
    }
}
