//! The order of the values of a column, as a statement sorts them.

use super::compat;
use super::datum;
use super::direct_access::Unfit;
use super::found::Found;
use super::key_order::KeyOrder;
use super::memory::{Current, Owned};
use super::table::Table;
use pgrx::pg_sys::{self, AttrNumber, Datum, Oid};
use std::cmp::Ordering;

/// Compares the values of a column.
pub struct ValueOrder {
    column: AttrNumber,
    /// So many characters of texts decide.
    max_characters: usize,
    /// The function that compares. The session keeps it with the type.
    compare: *mut pg_sys::FmgrInfo,
    collation: Oid,
    kind: Oid,
    is_by_value: bool,
    /// What one comparison allocates.
    memory: Owned,
}

impl ValueOrder {
    /// Of a column whose values are passed by value, texts or numbers; of texts, so many characters decide, by a collation, or
    /// by that of the column where it is 0.
    pub fn of(
        table: &Table,
        column: AttrNumber,
        max_characters: usize,
        collation: Oid,
    ) -> Result<ValueOrder, Unfit> {
        if !(1..=table.columns()).contains(&(column as usize)) {
            return Err(Unfit);
        }
        // SAFETY: an open table describes its columns, of which this is one. An entry of the cache of types stays for the life
        // of the session, and its function with it.
        unsafe {
            let attribute = compat::column((*table.relation()).rd_att, column as usize - 1);
            let kind = pg_sys::lookup_type_cache(attribute.atttypid, pg_sys::TYPECACHE_CMP_PROC_FINFO as i32);
            let is_copied = [pg_sys::TEXTOID, pg_sys::NUMERICOID].contains(&attribute.atttypid);
            let fits = !attribute.attisdropped && (attribute.attbyval || is_copied);
            if !fits || (*kind).cmp_proc_finfo.fn_oid == Oid::INVALID {
                return Err(Unfit);
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

    /// The value of a row, valid while the row is lent; none for null.
    pub fn value(&self, row: &Found) -> Option<Datum> {
        row.get(self.column)
    }

    /// Compares two values, as far as they decide.
    pub fn compare(&self, one: Datum, other: Datum) -> Ordering {
        // SAFETY: both values are of the column's type. What is allocated is freed with memory of our own.
        unsafe {
            let _current = Current::switch_to(self.memory.context());
            let [one, other] = [one, other].map(|value| self.deciding(value));
            let order = pg_sys::FunctionCall2Coll(self.compare, self.collation, one, other);
            pg_sys::MemoryContextReset(self.memory.context());
            datum::read_i32(order).cmp(&0)
        }
    }

    fn is_text(&self) -> bool {
        self.kind == pg_sys::TEXTOID
    }

    /// A bound of values that come first in an order; none for texts, of which a part decides.
    pub fn bound(&self, order: KeyOrder) -> Option<Bound> {
        let strategy = match order {
            KeyOrder::Ascending => pg_sys::BTLessEqualStrategyNumber,
            KeyOrder::Descending => pg_sys::BTGreaterEqualStrategyNumber,
        };
        // SAFETY: asks the catalog, through caches.
        let function = unsafe {
            let kind = pg_sys::lookup_type_cache(self.kind, pg_sys::TYPECACHE_BTREE_OPFAMILY as i32);
            let (family, values) = ((*kind).btree_opf, (*kind).btree_opintype);
            let operator = pg_sys::get_opfamily_member(family, values, values, strategy as i16);
            if operator == Oid::INVALID { Oid::INVALID } else { pg_sys::get_opcode(operator) }
        };
        let (column, collation) = (self.column, self.collation);
        (!self.is_text() && function != Oid::INVALID).then_some(Bound { column, collation, function })
    }

    /// What decides of a value: the beginning of a long text.
    fn deciding(&self, value: Datum) -> Datum {
        if self.is_long(value) { self.beginning(value) } else { value }
    }

    /// Whether a value is a text of which only the beginning decides, so that it takes longer to compare than others.
    pub fn is_long(&self, value: Datum) -> bool {
        // SAFETY: a text is a varlena; its size as it is read does not need its bytes.
        self.is_text()
            && unsafe {
                let stored = value.cast_mut_ptr::<pg_sys::varlena>();
                let is_short = pgrx::varatt_is_1b(stored) && !pgrx::varatt_is_1b_e(stored);
                let size = || pg_sys::toast_raw_datum_size(value).saturating_sub(pg_sys::VARHDRSZ);
                !is_short && size() > self.max_characters
            }
    }

    /// A copy of the beginning of a text.
    fn beginning(&self, text: Datum) -> Datum {
        /// The maximum number of bytes of a character.
        const BYTES: usize = 4;
        // SAFETY: a text is a varlena. Of a long one, only so many bytes are read where they are stored.
        let start = unsafe {
            pg_sys::pg_detoast_datum_slice(text.cast_mut_ptr(), 0, (self.max_characters * BYTES) as i32)
        };
        datum::with_bytes(Datum::from(start), |bytes| {
            // The last character may be cut off.
            let whole = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
            let end = whole.char_indices().nth(self.max_characters).map_or(whole.len(), |(end, _)| end);
            datum::text(&whole[..end])
        })
        .unwrap_or(text)
    }

    /// Copies as much of a value as decides; it is valid until it is [given back](Self::give_back).
    pub fn keep(&self, value: Datum) -> Datum {
        if self.is_by_value {
            return value;
        }
        if self.is_text() {
            return self.beginning(value);
        }
        // SAFETY: what is neither a text nor passed by value is a numeric. A copy has the long header, which comparisons read
        // without a copy of their own.
        Datum::from(unsafe { pg_sys::pg_detoast_datum_copy(value.cast_mut_ptr()) })
    }

    /// Frees what was kept.
    pub fn give_back(&self, kept: Datum) {
        if !self.is_by_value {
            // SAFETY: `keep` allocates what is not passed by value, and the caller has it only once.
            unsafe { pg_sys::pfree(kept.cast_mut_ptr()) };
        }
    }
}

/// Compares two texts by a collation, or by that of the database where it is 0.
pub fn compare_texts(one: &[u8], other: &[u8], collation: Oid) -> Ordering {
    let [start, other_start] = [one, other].map(|text| text.as_ptr().cast());
    let [length, other_length] = [one, other].map(|text| text.len() as i32);
    let collation = if collation == Oid::INVALID { pg_sys::DEFAULT_COLLATION_OID } else { collation };
    // SAFETY: starts and lengths are those of the texts.
    let order = unsafe { pg_sys::varstr_cmp(start, length, other_start, other_length, collation) };
    order.cmp(&0)
}

/// What the values of a column are compared with, while rows are read.
pub struct Bound {
    column: AttrNumber,
    collation: Oid,
    /// The function of `<=`, or of `>=`.
    function: Oid,
}

impl Bound {
    /// As PostgreSQL compares each row with a value.
    pub(super) fn key(&self, value: Datum) -> pg_sys::ScanKeyData {
        let mut key = pg_sys::ScanKeyData::default();
        // SAFETY: the function compares two values of the column. A scan of a table ignores the number of a strategy, the second zero.
        unsafe {
            pg_sys::ScanKeyEntryInitialize(
                &mut key,
                0,
                self.column,
                0,
                Oid::INVALID,
                self.collation,
                self.function,
                value,
            );
        }
        key
    }
}
