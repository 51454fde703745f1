//! A cursor whose rows are read in portions by several calls in one transaction.
//!
//! PostgreSQL finds portals by name, and SQL can close a portal and declare another with the same name. So a cursor
//! that runs as the owner is never looked up: this module keeps the address of its portal, and the portal's cleanup
//! hook removes it when the portal ends.

use super::parameter::Parameter;
use super::random;
use super::spi::{Connection, Rows, c_string, fail, split, types_of};
use pgrx::pg_guard;
use pgrx::pg_sys::{self, Portal};
use std::cell::{Cell, RefCell};

thread_local! {
    /// The portals that this module opened and that have not ended.
    static OPEN: RefCell<Vec<Open>> = const { RefCell::new(Vec::new()) };
    /// The number of the latest cursor.
    static LATEST: Cell<u64> = const { Cell::new(0) };
}

type Cleanup = Option<unsafe extern "C-unwind" fn(Portal)>;

/// A portal that is alive.
struct Open {
    cursor: u64,
    portal: Portal,
    /// What PostgreSQL itself does when the portal ends.
    cleanup: Cleanup,
}

/// An open cursor, by a number that is never used twice in a session. It ends with its (sub)transaction at the latest.
pub struct Cursor(u64);

/// A cursor that something else closed before all its rows were read.
#[derive(Debug)]
pub struct Closed;

impl Connection {
    /// Opens a cursor on a reading statement, with parameters of the given types, in the caller's snapshot.
    ///
    /// Neither `pg_cursors` shows it nor can its name be guessed, so SQL has no way to read from it or to move it.
    /// `CLOSE ALL` and `ROLLBACK TO SAVEPOINT` close it.
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
        // SAFETY: the portal was just made. Its hook stays in place until PostgreSQL has called it once, which it does
        // before it frees the portal, in a rollback as well; until then the address is good.
        unsafe {
            let cleanup = (*portal).cleanup;
            (*portal).visible = false;
            OPEN.with_borrow_mut(|open| open.push(Open { cursor, portal, cleanup }));
            (*portal).cleanup = Some(strike_off);
        }
        Cursor(cursor)
    }

    /// The next rows of a cursor, at most this many; none at its end.
    pub fn fetch(&self, cursor: &Cursor, max: usize) -> Result<Option<Rows<'_>>, Closed> {
        let portal = cursor.portal().ok_or(Closed)?;
        // SAFETY: the portal is alive, see `open_cursor`.
        unsafe { pg_sys::SPI_cursor_fetch(portal, true, max as i64) };
        let rows = self.rows(pg_sys::SPI_OK_FETCH as i32, "a cursor");
        Ok((!rows.is_empty()).then_some(rows))
    }

    /// Frees what a cursor holds, before the end of the transaction would.
    pub fn close_cursor(&self, cursor: &Cursor) {
        if let Some(portal) = cursor.portal() {
            // SAFETY: the portal is alive, see `open_cursor`.
            unsafe { pg_sys::SPI_cursor_close(portal) };
        }
    }

    /// Closes all cursors of this module that are still open, also those that nothing reads any more: each holds memory,
    /// locks and a snapshot.
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

/// The cleanup hook of our portals: PostgreSQL calls it once, when the portal ends or fails.
#[pg_guard]
unsafe extern "C-unwind" fn strike_off(portal: Portal) {
    let ended = OPEN.with_borrow_mut(|open| {
        let place = open.iter().position(|it| it.portal == portal)?;
        Some(open.swap_remove(place))
    });
    if let Some(cleanup) = ended.and_then(|it| it.cleanup) {
        // SAFETY: PostgreSQL's own hook, called as PostgreSQL would call it: it expects to find itself in the portal. Its
        // errors unwind as Rust expects them.
        unsafe {
            (*portal).cleanup = Some(cleanup);
            pg_sys::ffi::pg_guard_ffi_boundary(|| cleanup(portal));
        }
    }
}
