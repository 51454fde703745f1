//! Compares the values of a column as `order by` does.

use super::compat;
use super::datum;
use super::direct_access::Unsupported;
use super::key_order::KeyOrder;
use super::memory::{Current, Owned};
use super::table::{Bound, Found, Table};
use pgrx::pg_sys::{self, AttrNumber, Datum, Oid};
use std::cmp::Ordering;

/// Compares the values of a column.
pub struct ValueOrder {
    column: AttrNumber,
    /// The number of characters of a string that are compared.
    max_characters: usize,
    /// The comparison function, from the session's type cache.
    compare: *mut pg_sys::FmgrInfo,
    collation: Oid,
    kind: Oid,
    is_by_value: bool,
    /// The memory context of a comparison.
    memory: Owned,
}

impl ValueOrder {
    /// The order of a column of type `text`, `numeric` or a type passed by value. Strings are compared by their first
    /// `most_characters` characters, under `collation`, or under the column's collation if that is 0.
    pub fn of(
        table: &Table,
        column: AttrNumber,
        max_characters: usize,
        collation: Oid,
    ) -> Result<ValueOrder, Unsupported> {
        if !(1..=table.columns()).contains(&(column as usize)) {
            return Err(Unsupported);
        }
        // SAFETY: the open table has the column. An entry of the type cache and its function live as long as the session.
        unsafe {
            let attribute = compat::column((*table.relation()).rd_att, column as usize - 1);
            let kind = pg_sys::lookup_type_cache(attribute.atttypid, pg_sys::TYPECACHE_CMP_PROC_FINFO as i32);
            let is_copied = [pg_sys::TEXTOID, pg_sys::NUMERICOID].contains(&attribute.atttypid);
            let fits = !attribute.attisdropped && (attribute.attbyval || is_copied);
            if !fits || (*kind).cmp_proc_finfo.fn_oid == Oid::INVALID {
                return Err(Unsupported);
            }
            Ok(ValueOrder {
                column,
                max_characters,
                compare: &raw mut (*kind).cmp_proc_finfo,
                collation: if collation == Oid::INVALID { attribute.attcollation } else { collation },
                kind: attribute.atttypid,
                is_by_value: attribute.attbyval,
                memory: Owned::below(pg_sys::CurrentMemoryContext, c"keyed comparison"),
            })
        }
    }

    /// The value of a row, valid as long as the row; `None` for null.
    pub fn value(&self, row: &Found) -> Option<Datum> {
        row.get(self.column)
    }

    /// Compares two values.
    pub fn compare(&self, one: Datum, other: Datum) -> Ordering {
        // SAFETY: both values are of the column's type. Allocations are freed with the memory context.
        unsafe {
            let _current = Current::switch_to(self.memory.context());
            let [one, other] = [one, other].map(|value| self.compared(value));
            let order = pg_sys::FunctionCall2Coll(self.compare, self.collation, one, other);
            pg_sys::MemoryContextReset(self.memory.context());
            datum::read_i32(order).cmp(&0)
        }
    }

    fn is_text(&self) -> bool {
        self.kind == pg_sys::TEXTOID
    }

    /// A bound on values in this order; `None` for strings, because only their beginning is compared.
    pub fn bound(&self, order: KeyOrder) -> Option<Bound> {
        let strategy = match order {
            KeyOrder::Ascending => pg_sys::BTLessEqualStrategyNumber,
            KeyOrder::Descending => pg_sys::BTGreaterEqualStrategyNumber,
        };
        // SAFETY: reads the catalog caches.
        let function = unsafe {
            let kind = pg_sys::lookup_type_cache(self.kind, pg_sys::TYPECACHE_BTREE_OPFAMILY as i32);
            let (family, values) = ((*kind).btree_opf, (*kind).btree_opintype);
            let operator = pg_sys::get_opfamily_member(family, values, values, strategy as i16);
            if operator == Oid::INVALID { Oid::INVALID } else { pg_sys::get_opcode(operator) }
        };
        let (column, collation) = (self.column, self.collation);
        (!self.is_text() && function != Oid::INVALID).then_some(Bound { column, collation, function })
    }

    /// The compared part of a value: the beginning of a long text.
    fn compared(&self, value: Datum) -> Datum {
        if self.is_long(value) { self.beginning(value) } else { value }
    }

    /// Whether a value is a string of which only the beginning is compared, which makes the comparison slower.
    pub fn is_long(&self, value: Datum) -> bool {
        // SAFETY: a string is a varlena. Its raw size is read without detoasting.
        self.is_text()
            && unsafe {
                let stored = value.cast_mut_ptr::<pg_sys::varlena>();
                let is_short = pgrx::varatt_is_1b(stored) && !pgrx::varatt_is_1b_e(stored);
                let size = || pg_sys::toast_raw_datum_size(value).saturating_sub(pg_sys::VARHDRSZ);
                !is_short && size() > self.max_characters
            }
    }

    /// A copy of the beginning of a string.
    fn beginning(&self, text: Datum) -> Datum {
        /// The maximum length of a UTF-8 character.
        const BYTES: usize = 4;
        // SAFETY: a string is a varlena. Only a slice of a long text is detoasted.
        let start = unsafe {
            pg_sys::pg_detoast_datum_slice(text.cast_mut_ptr(), 0, (self.max_characters * BYTES) as i32)
        };
        datum::with_bytes(Datum::from(start), |bytes| {
            // The slice may end within a character.
            let whole = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
            let end = whole.char_indices().nth(self.max_characters).map_or(whole.len(), |(end, _)| end);
            datum::text(&whole[..end])
        })
        .unwrap_or(text)
    }

    /// Copies the compared part of a value. The copy is valid until it is [freed](Self::free).
    pub fn copy(&self, value: Datum) -> Datum {
        if self.is_by_value {
            return value;
        }
        if self.is_text() {
            return self.beginning(value);
        }
        // SAFETY: a value that is neither a text nor passed by value is a numeric. The copy has a 4-byte header, so that
        // comparisons do not copy it again.
        Datum::from(unsafe { pg_sys::pg_detoast_datum_copy(value.cast_mut_ptr()) })
    }

    /// Frees a copy.
    pub fn free(&self, copy: Datum) {
        if !self.is_by_value {
            // SAFETY: `copy` allocated the value, and each copy has one owner.
            unsafe { pg_sys::pfree(copy.cast_mut_ptr()) };
        }
    }
}

/// Compares two strings under a collation, or under the database's default collation if that is 0.
pub fn compare_texts(one: &[u8], other: &[u8], collation: Oid) -> Ordering {
    let [start, other_start] = [one, other].map(|text| text.as_ptr().cast());
    let [length, other_length] = [one, other].map(|text| text.len() as i32);
    let collation = if collation == Oid::INVALID { pg_sys::DEFAULT_COLLATION_OID } else { collation };
    // SAFETY: pointers and lengths belong to the two slices.
    let order = unsafe { pg_sys::varstr_cmp(start, length, other_start, other_length, collation) };
    order.cmp(&0)
}
