//! Triggers of a table that run before a row is written: one that returns NULL drops the write without an error.

use super::trigger::Event;
use pgrx::pg_sys::{self, Oid};
use std::ffi::CStr;

/// Whether a table has an enabled trigger before rows of this event, apart from one of this name. The caller must have locked
/// the table.
pub fn exist(table: Oid, event: Event, except: &CStr) -> bool {
    let of_event = match event {
        Event::Insert => pg_sys::TRIGGER_TYPE_INSERT,
        Event::Update => pg_sys::TRIGGER_TYPE_UPDATE,
        Event::Delete => pg_sys::TRIGGER_TYPE_DELETE,
    };
    let wanted = (pg_sys::TRIGGER_TYPE_ROW | pg_sys::TRIGGER_TYPE_BEFORE | of_event) as i16;
    // SAFETY: a table that is gone yields null. A description has as many triggers as it says, with NUL-terminated names,
    // and stays while the table is open.
    unsafe {
        let relation = pg_sys::try_table_open(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        if relation.is_null() {
            return false;
        }
        let description = (*relation).trigdesc;
        let exist = !description.is_null()
            && std::slice::from_raw_parts((*description).triggers, (*description).numtriggers as usize)
                .iter()
                .any(|trigger| {
                    trigger.tgtype & wanted == wanted
                        && trigger.tgenabled as u8 != pg_sys::TRIGGER_DISABLED
                        && CStr::from_ptr(trigger.tgname) != except
                });
        pg_sys::table_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
        exist
    }
}
