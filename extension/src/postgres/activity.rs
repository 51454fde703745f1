//! What `pg_stat_activity` shows of this session.

use pgrx::pg_sys;
use std::cell::RefCell;
use std::ffi::CString;

/// The maximum length that PostgreSQL keeps.
const LONGEST: usize = pg_sys::NAMEDATALEN as usize - 1;

/// The maximum length of an id that the proxy takes from a client.
const LONGEST_ID: usize = 128;

thread_local! {
    /// The id of the transaction's request; empty if it has none.
    static REQUEST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Shows the id of a request as `application_name`, until the transaction ends.
///
/// The setting stays as it is: a change of it would be reported to the client with every statement.
pub fn show_request(id: &str) {
    if !id.contains(|c: char| c.is_ascii_graphic()) {
        return;
    }
    let name = REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.extend(id.chars().filter(char::is_ascii_graphic).take(LONGEST_ID));
        b"keyed ".iter().copied().chain(request.bytes()).take(LONGEST).collect::<Vec<u8>>()
    });
    let Ok(name) = CString::new(name) else { return };
    // SAFETY: PostgreSQL copies the text into this session's own entry.
    unsafe { pg_sys::pgstat_report_appname(name.as_ptr()) };
}

/// The id of the request that the transaction belongs to, also the part that is too long to be shown.
pub fn request() -> Option<String> {
    REQUEST.with_borrow(|request| (!request.is_empty()).then(|| request.clone()))
}

/// Shows the setting again.
pub fn transaction_ended() {
    let was_shown = REQUEST.with_borrow_mut(|request| {
        let was_shown = !request.is_empty();
        request.clear();
        was_shown
    });
    if was_shown {
        // SAFETY: the setting is a text of the session, or null before there is one. PostgreSQL copies it, and raises nothing.
        unsafe {
            let name = pg_sys::application_name;
            pg_sys::pgstat_report_appname(if name.is_null() { c"".as_ptr() } else { name });
        }
    }
}
