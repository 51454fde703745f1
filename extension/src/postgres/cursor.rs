//! Cursors that several calls of one transaction read in chunks.
//!
//! PostgreSQL finds portals by name, and SQL can close a portal and declare another with the same name. A cursor that runs as
//! the owner must not be replaced so. This module therefore stores the address of the portal, and the portal's cleanup hook
//! removes it.

use super::parameter::Parameter;
use super::random;
use super::spi::{Connection, Rows, c_string, fail, split, types_of};
use pgrx::pg_guard;
use pgrx::pg_sys::{self, Portal};
use std::cell::{Cell, RefCell};

thread_local! {
    /// The open portals of this module.
    static OPEN: RefCell<Vec<Open>> = const { RefCell::new(Vec::new()) };
    /// The number of the latest cursor.
    static LATEST: Cell<u64> = const { Cell::new(0) };
}

type Cleanup = Option<unsafe extern "C-unwind" fn(Portal)>;

/// An open portal.
struct Open {
    cursor: u64,
    portal: Portal,
    /// PostgreSQL's own cleanup hook.
    cleanup: Cleanup,
}

/// A cursor, by a number that is unique in the session. It ends with its (sub)transaction at the latest.
pub struct Cursor(u64);

/// The error for a cursor that was closed before all rows were read.
#[derive(Debug)]
pub struct Closed;

impl Connection {
    /// Opens a cursor for a read-only statement under the active snapshot.
    ///
    /// `pg_cursors` does not list it, and its name is random, so SQL can neither read nor move it. `CLOSE ALL` and
    /// `ROLLBACK TO SAVEPOINT` close it.
    pub fn open_cursor(&self, sql: &str, arguments: &[Parameter]) -> Cursor {
        let source = c_string(sql);
        let name = c_string(&format!("keyed {:016x}{:016x}", random::next_u64(), random::next_u64()));
        let mut types = types_of(arguments);
        let (mut values, nulls) = split(arguments);
        // SAFETY: the strings are NUL-terminated and copied; types, values and nulls have one entry for each argument.
        let portal = unsafe {
            pg_sys::SPI_cursor_open_with_args(
                name.as_ptr(),
                source.as_ptr(),
                types.len() as i32,
                types.as_mut_ptr(),
                values.as_mut_ptr(),
                nulls.as_ptr(),
                true,
                pg_sys::CURSOR_OPT_NO_SCROLL as i32,
            )
        };
        if portal.is_null() {
            fail("open a cursor for", sql);
        }
        let cursor = LATEST.get() + 1;
        LATEST.set(cursor);
        // SAFETY: the portal was just created. PostgreSQL calls the hook once before it frees the portal, also in a
        // rollback, so the stored address is valid until then.
        unsafe {
            let cleanup = (*portal).cleanup;
            (*portal).visible = false;
            OPEN.with_borrow_mut(|open| open.push(Open { cursor, portal, cleanup }));
            (*portal).cleanup = Some(remove_portal);
        }
        Cursor(cursor)
    }

    /// The next rows of a cursor, at most `most`; `None` at its end.
    pub fn fetch(&self, cursor: &Cursor, max: usize) -> Result<Option<Rows<'_>>, Closed> {
        let portal = cursor.portal().ok_or(Closed)?;
        // SAFETY: the portal is open, see `open_cursor`.
        unsafe { pg_sys::SPI_cursor_fetch(portal, true, max as i64) };
        let rows = self.rows(pg_sys::SPI_OK_FETCH as i32, "a cursor");
        Ok((!rows.is_empty()).then_some(rows))
    }

    /// Closes a cursor before the end of the transaction.
    pub fn close_cursor(&self, cursor: &Cursor) {
        if let Some(portal) = cursor.portal() {
            // SAFETY: the portal is open, see `open_cursor`.
            unsafe { pg_sys::SPI_cursor_close(portal) };
        }
    }

    /// Closes all open cursors of this module. Each holds memory, locks and a snapshot.
    pub fn close_cursors(&self) {
        let open: Vec<Cursor> = OPEN.with_borrow(|open| open.iter().map(|it| Cursor(it.cursor)).collect());
        open.iter().for_each(|cursor| self.close_cursor(cursor));
    }
}

impl Cursor {
    fn portal(&self) -> Option<Portal> {
        OPEN.with_borrow(|open| open.iter().find(|it| it.cursor == self.0).map(|it| it.portal))
    }
}

/// The cleanup hook of keyed's portals. PostgreSQL calls it once, when the portal ends or fails.
#[pg_guard]
unsafe extern "C-unwind" fn remove_portal(portal: Portal) {
    let ended = OPEN.with_borrow_mut(|open| {
        let position = open.iter().position(|it| it.portal == portal)?;
        Some(open.swap_remove(position))
    });
    if let Some(cleanup) = ended.and_then(|it| it.cleanup) {
        // SAFETY: calls PostgreSQL's own hook as PostgreSQL would, with the hook in the portal. The guard converts its errors.
        unsafe {
            (*portal).cleanup = Some(cleanup);
            pg_sys::ffi::pg_guard_ffi_boundary(|| cleanup(portal));
        }
    }
}
