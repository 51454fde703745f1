//! The request id in the session's entry of `pg_stat_activity`.

use pgrx::pg_sys;
use std::cell::RefCell;
use std::ffi::CString;

/// The maximum length of `application_name`.
const MAX_NAME_LENGTH: usize = pg_sys::NAMEDATALEN as usize - 1;

/// The maximum length of a request id.
const MAX_ID_LENGTH: usize = 128;

thread_local! {
    /// The request id of the transaction; empty if it has none.
    static REQUEST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Shows a request id as `application_name` until the transaction ends.
///
/// The setting itself does not change, because PostgreSQL reports each change of it to the client.
pub fn show_request(id: &str) {
    if !id.contains(|c: char| c.is_ascii_graphic()) {
        return;
    }
    let name = REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.extend(id.chars().filter(char::is_ascii_graphic).take(MAX_ID_LENGTH));
        b"keyed ".iter().copied().chain(request.bytes()).take(MAX_NAME_LENGTH).collect::<Vec<u8>>()
    });
    let Ok(name) = CString::new(name) else { return };
    // SAFETY: PostgreSQL copies the string into the session's own entry.
    unsafe { pg_sys::pgstat_report_appname(name.as_ptr()) };
}

/// The request id of the transaction, not truncated.
pub fn request() -> Option<String> {
    REQUEST.with_borrow(|request| (!request.is_empty()).then(|| request.clone()))
}

/// Shows the setting again at the end of the transaction.
pub fn transaction_ended() {
    let was_shown = REQUEST.with_borrow_mut(|request| {
        let was_shown = !request.is_empty();
        request.clear();
        was_shown
    });
    if was_shown {
        // SAFETY: the setting is a string, or null early in a session. PostgreSQL copies it without errors.
        unsafe {
            let name = pg_sys::application_name;
            pg_sys::pgstat_report_appname(if name.is_null() { c"".as_ptr() } else { name });
        }
    }
}
