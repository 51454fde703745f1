//! Bitmap index scans for `like` and `ilike` on a text column without a statement, and the match of a single text.

use super::compat;
use super::datum;
use super::direct_access::Unsupported;
use super::heap_by_index::{Key, search};
use super::index::is_usable;
use super::memory::{Current, Owned};
use super::table::Table;
use super::tid::TidBitmap;
use pgrx::pg_sys::{self, AttrNumber, Datum, Oid};
use std::sync::OnceLock;

/// A pattern of `like`, or of `ilike`.
#[derive(Clone, Copy, Debug)]
pub struct Pattern<'p> {
    /// The pattern in SQL syntax.
    pub text: &'p str,
    /// Whether the match is case-insensitive (`ilike`).
    pub ignores_case: bool,
}

impl Pattern<'_> {
    fn operator(self) -> u32 {
        if self.ignores_case { pg_sys::OID_TEXT_ICLIKE_OP } else { pg_sys::OID_TEXT_LIKE_OP }
    }

    fn function(self) -> u32 {
        if self.ignores_case { pg_sys::F_TEXTICLIKE } else { pg_sys::F_TEXTLIKE }
    }
}

impl Table {
    /// Whether a column has the database's default collation, and that collation maps each ASCII capital to its ASCII
    /// lowercase letter. A Turkish collation does not.
    pub fn lowers_ascii(&self, column: AttrNumber) -> bool {
        static LOWERCASES: OnceLock<bool> = OnceLock::new();
        // SAFETY: the function takes a string. The default collation of a database never changes.
        let lowers = || unsafe {
            let letters: String = ('A'..='Z').collect();
            let lowered = pg_sys::OidFunctionCall1Coll(
                Oid::from(pg_sys::F_LOWER_TEXT),
                pg_sys::DEFAULT_COLLATION_OID,
                datum::text(&letters).unwrap_or(Datum::null()),
            );
            datum::with_text(lowered, |lowered| lowered == letters.to_ascii_lowercase())
        };
        self.has_database_collation(column) && *LOWERCASES.get_or_init(lowers)
    }

    /// The TIDs that a trigram index returns for a pattern on this column. The result can contain false positives.
    pub fn tids_by_text(&self, column: AttrNumber, pattern: Pattern) -> Result<TidBitmap, Unsupported> {
        // SAFETY: the table is open. The bitmap is complete, and freed below or with the memory context of the calling
        // function.
        unsafe {
            let bitmap = self.bitmap_by_text(column, pattern)?;
            let mut tids = TidBitmap::default();
            compat::each_page(bitmap, |page, offsets| {
                tids.add(page, offsets);
                true
            });
            pg_sys::tbm_free(bitmap);
            Ok(tids)
        }
    }

    /// The TIDs that an index returns for a pattern.
    ///
    /// # Safety
    /// The caller frees the bitmap, or leaves it to the memory context of the calling function.
    unsafe fn bitmap_by_text(
        &self,
        column: AttrNumber,
        pattern: Pattern,
    ) -> Result<*mut pg_sys::TIDBitmap, Unsupported> {
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        // SAFETY: the table is open and lists its indexes; a dropped one yields null. Indexes are closed below, or by the
        // resource owner if an error unwinds.
        unsafe {
            let indexes = pg_sys::RelationGetIndexList(self.relation());
            for index in pgrx::PgList::<Oid>::from_pg(indexes).iter_oid() {
                let index = pg_sys::try_relation_open(index, lock);
                if index.is_null() {
                    continue;
                }
                let strategy = strategy(index, column, pattern);
                let found = strategy.map(|strategy| {
                    let key = Key { strategy, function: pattern.function(), value: pattern.text.to_owned() };
                    search(index, &[key])
                });
                pg_sys::relation_close(index, lock);
                if let Some(bitmap) = found {
                    return Ok(bitmap);
                }
            }
        }
        Err(Unsupported)
    }
}

/// The strategy number of a pattern's operator in a full (not partial) index on this column; `None` if there is none.
///
/// # Safety
/// The index is open.
unsafe fn strategy(
    index: pg_sys::Relation,
    column: AttrNumber,
    pattern: Pattern,
) -> Option<pg_sys::StrategyNumber> {
    // SAFETY: an open relation has its row of pg_class. An open index also has its row of pg_index, with as many column
    // numbers as that states, and the operator families of its columns.
    unsafe {
        let entry = (*index).rd_index;
        let fits = !entry.is_null()
            && (*(*index).rd_rel).relam == pg_sys::GIN_AM_OID
            && (*entry).indnatts == 1
            && (*entry).indkey.values.as_slice(1) == [column]
            && is_usable(index)
            && pg_sys::RelationGetIndexPredicate(index).is_null();
        if !fits {
            return None;
        }
        let strategy = pg_sys::get_op_opfamily_strategy(Oid::from(pattern.operator()), *(*index).rd_opfamily);
        (strategy > 0).then_some(strategy as pg_sys::StrategyNumber)
    }
}

/// Matches strings with a pattern by PostgreSQL's own function.
pub struct Matcher {
    memory: Owned,
    function: Oid,
    pattern: Datum,
}

impl Matcher {
    /// A matcher under the database's default collation.
    pub fn new(pattern: Pattern) -> Matcher {
        // SAFETY: reads a session variable.
        let memory = Owned::below(unsafe { pg_sys::CurrentMemoryContext }, c"keyed pattern");
        let text = datum::text(pattern.text).unwrap_or(Datum::null());
        Matcher { memory, function: Oid::from(pattern.function()), pattern: text }
    }

    /// Whether a string matches.
    pub fn matches(&self, text: Datum) -> bool {
        // SAFETY: the function takes two strings. Its allocations are freed with the matcher's memory context.
        unsafe {
            let _current = Current::switch_to(self.memory.context());
            let matches = pg_sys::OidFunctionCall2Coll(
                self.function,
                pg_sys::DEFAULT_COLLATION_OID,
                text,
                self.pattern,
            );
            pg_sys::MemoryContextReset(self.memory.context());
            matches.value() & 0xff != 0
        }
    }
}
