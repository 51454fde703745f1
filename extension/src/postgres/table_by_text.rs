//! Rows of a table by a text in one of their columns, without a statement: what the executor does for a bitmap heap scan
//! with a condition on that column, without comparing texts by the rules of a language where that makes no difference.

use super::compat;
use super::datum;
use super::direct_access::Unfit;
use super::heap_by_index::{Key, search};
use super::index::is_usable;
use super::memory::{Current, Owned};
use super::places::Places;
use super::table::Table;
use pgrx::pg_sys::{self, AttrNumber, Datum, Oid};
use std::sync::OnceLock;

/// A pattern of `like`, or of `ilike`.
#[derive(Clone, Copy, Debug)]
pub struct Pattern<'p> {
    /// As SQL has it.
    pub text: &'p str,
    /// Whether upper and lower case count as the same.
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
    /// Whether a column has the collation of the database, which compares texts byte by byte, and makes the letters of ASCII
    /// small one by one, each to its own small letter. Turkish, for one, does not.
    pub fn lowers_ascii(&self, column: AttrNumber) -> bool {
        static LOWERS: OnceLock<bool> = OnceLock::new();
        // SAFETY: the function takes a text, and the collation is that of the database, which never changes.
        let lowers = || unsafe {
            let letters: String = ('A'..='Z').collect();
            let lowered = pg_sys::OidFunctionCall1Coll(
                Oid::from(pg_sys::F_LOWER_TEXT),
                pg_sys::DEFAULT_COLLATION_OID,
                datum::text(&letters).unwrap_or(Datum::null()),
            );
            datum::with_text(lowered, |lowered| lowered == letters.to_ascii_lowercase())
        };
        self.has_database_collation(column) && *LOWERS.get_or_init(lowers)
    }

    /// Where rows are that an index of trigrams finds for a pattern of this column, among them rows that do not match.
    pub fn places_by_text(&self, column: AttrNumber, pattern: Pattern) -> Result<Places, Unfit> {
        // SAFETY: the table is open; the bitmap is complete, and freed below or with the memory of the calling function.
        unsafe {
            let bitmap = self.found_by_text(column, pattern)?;
            let mut places = Places::default();
            compat::each_page(bitmap, |page, offsets| {
                places.add(page, offsets);
                true
            });
            pg_sys::tbm_free(bitmap);
            Ok(places)
        }
    }

    /// Where an index says that rows may match.
    ///
    /// # Safety
    /// The bitmap is freed, or left to the memory of the calling function.
    unsafe fn found_by_text(
        &self,
        column: AttrNumber,
        pattern: Pattern,
    ) -> Result<*mut pg_sys::TIDBitmap, Unfit> {
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        // SAFETY: the table is open, and so knows its indexes; one that is gone yields null. What was opened is closed, also by
        // an error that unwinds.
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
        Err(Unfit)
    }
}

/// The number of the operator of a pattern in an index, if that is a whole one of this column alone that knows it.
///
/// # Safety
/// The index is open.
unsafe fn strategy(
    index: pg_sys::Relation,
    column: AttrNumber,
    pattern: Pattern,
) -> Option<pg_sys::StrategyNumber> {
    // SAFETY: an open relation has a row of pg_class, an index also one of pg_index, whose column numbers are as many as it
    // says, and operator families of its columns.
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

/// Asks PostgreSQL whether texts match a pattern.
pub struct Matcher {
    memory: Owned,
    function: Oid,
    pattern: Datum,
}

impl Matcher {
    /// For a pattern, by the collation of the database.
    pub fn new(pattern: Pattern) -> Matcher {
        // SAFETY: reads a variable of the session.
        let memory = Owned::below(unsafe { pg_sys::CurrentMemoryContext }, c"keyed pattern");
        let text = datum::text(pattern.text).unwrap_or(Datum::null());
        Matcher { memory, function: Oid::from(pattern.function()), pattern: text }
    }

    /// Whether the text of a row matches.
    pub fn matches(&self, text: Datum) -> bool {
        // SAFETY: the function takes two texts. What it allocates is freed with the memory, which is this value's own.
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
