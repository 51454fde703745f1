//! A statement whose rows are taken portion by portion, by as many calls as it needs, while its transaction lasts.

use super::datum::Argument;
use super::spi::{Connection, Rows, c_string, fail, split};
use pgrx::pg_sys::{self, Oid};
use std::ffi::{CStr, CString};

/// The name of an open cursor. With its transaction the cursor ends, whether or not it was read to its end.
pub struct Cursor(CString);

impl Connection {
    /// Opens a cursor on a reading statement, with parameters of the given types, in the caller's snapshot.
    pub fn open_cursor(&self, sql: &str, arguments: &[(Oid, Argument)]) -> Cursor {
        let source = c_string(sql);
        let mut types: Vec<Oid> = arguments.iter().map(|argument| argument.0).collect();
        let (mut values, nulls) = split(&arguments.iter().map(|argument| argument.1).collect::<Vec<_>>());
        // SAFETY: the string is NUL-terminated; types, values and nulls have one entry for each argument. Without a
        // name the portal gets one of its own, which is copied.
        unsafe {
            let portal = pg_sys::SPI_cursor_open_with_args(
                std::ptr::null(),
                source.as_ptr(),
                types.len() as i32,
                types.as_mut_ptr(),
                values.as_mut_ptr(),
                nulls.as_ptr(),
                true,
                pg_sys::CURSOR_OPT_NO_SCROLL as i32,
            );
            if portal.is_null() {
                fail("open a cursor for", sql);
            }
            Cursor(CStr::from_ptr((*portal).name).to_owned())
        }
    }

    /// The next rows of a cursor, at most so many; none at its end, or when it is gone.
    pub fn fetch(&self, cursor: &Cursor, most: usize) -> Option<Rows<'_>> {
        // SAFETY: the name is NUL-terminated; a portal that is gone is not found.
        let status = unsafe {
            let portal = pg_sys::SPI_cursor_find(cursor.0.as_ptr());
            if portal.is_null() {
                return None;
            }
            pg_sys::SPI_cursor_fetch(portal, true, most as i64);
            pg_sys::SPI_OK_FETCH as i32
        };
        Some(self.rows(status, "a cursor")).filter(|rows| !rows.is_empty())
    }

    /// Frees what a cursor holds, before the end of the transaction would.
    pub fn close_cursor(&self, cursor: &Cursor) {
        // SAFETY: as above.
        unsafe {
            let portal = pg_sys::SPI_cursor_find(cursor.0.as_ptr());
            if !portal.is_null() {
                pg_sys::SPI_cursor_close(portal);
            }
        }
    }
}
