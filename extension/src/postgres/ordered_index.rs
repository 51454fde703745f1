//! B-trees on a value and the id: finding one, and counting its entries for a value.

use super::compat;
use super::direct_access::Unsupported;
use super::index::is_usable;
use super::parameter::Parameter;
use super::table::Table;
use pgrx::pg_sys::{self, AttrNumber, Oid};

/// The first column of an index. The second is the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexedValue {
    /// A column.
    Whole(AttrNumber),
    /// The first characters of a text column: `left(column, count)`.
    Beginning(AttrNumber, i32),
}

impl Table {
    /// Opens the ascending B-tree on a value and the id that contains all rows.
    ///
    /// # Safety
    /// The caller closes the index, or leaves it to the resource owner.
    pub(super) unsafe fn open_index_of(
        &self,
        indexed: IndexedValue,
    ) -> Result<pg_sys::Relation, Unsupported> {
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        // SAFETY: the table is open and lists its indexes; a dropped one yields null. An open index has its row of pg_index,
        // and one option for each column.
        unsafe {
            let indexes = pg_sys::RelationGetIndexList(self.relation());
            for index in pgrx::PgList::<Oid>::from_pg(indexes).iter_oid() {
                let index = pg_sys::try_relation_open(index, lock);
                if index.is_null() {
                    continue;
                }
                let entry = (*index).rd_index;
                let fits = !entry.is_null()
                    && (*(*index).rd_rel).relam == pg_sys::BTREE_AM_OID
                    && (*entry).indnkeyatts == 2
                    && std::slice::from_raw_parts((*index).rd_indoption, 2) == [0, 0]
                    && holds(index, indexed)
                    && is_usable(index)
                    && pg_sys::RelationGetIndexPredicate(index).is_null();
                if fits {
                    return Ok(index);
                }
                pg_sys::relation_close(index, lock);
            }
        }
        Err(Unsupported)
    }

    /// The number of entries for a value in the index on a value and the id, at most `max`. Entries of dead rows count.
    pub fn index_entries(
        &self,
        indexed: IndexedValue,
        value: Parameter,
        max: u64,
    ) -> Result<u64, Unsupported> {
        let (Some(equals), Some(datum)) = (equals(value.type_oid()), value.value()) else {
            return Err(Unsupported);
        };
        // SAFETY: the table is open. The first column of its index has the type of the value, which `equals` compares. Scan and
        // index are closed below, or by the resource owner if an error unwinds.
        unsafe {
            let index = self.open_index_of(indexed)?;
            let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
            if *(*index).rd_opcintype != value.type_oid() {
                pg_sys::relation_close(index, lock);
                return Err(Unsupported);
            }
            let mut key = pg_sys::ScanKeyData::default();
            pg_sys::ScanKeyEntryInitialize(
                &mut key,
                0,
                1,
                pg_sys::BTEqualStrategyNumber as pg_sys::StrategyNumber,
                Oid::INVALID,
                *(*index).rd_indcollation,
                equals,
                datum,
            );
            let scan = compat::begin_index_scan(self.relation(), index, 1);
            pg_sys::index_rescan(scan, &mut key, 1, std::ptr::null_mut(), 0);
            let mut count = 0;
            while count < max
                && !pg_sys::index_getnext_tid(scan, pg_sys::ScanDirection::ForwardScanDirection).is_null()
            {
                count += 1;
            }
            pg_sys::index_endscan(scan);
            pg_sys::relation_close(index, lock);
            Ok(count)
        }
    }
}

/// Whether an index has this first column, and the id as the second.
///
/// # Safety
/// The relation is an open index of two columns.
unsafe fn holds(index: pg_sys::Relation, indexed: IndexedValue) -> bool {
    // SAFETY: an open index has its row of pg_index, with as many column numbers as that states. The number of an expression
    // is 0, and the index then has a list of expressions.
    unsafe {
        let columns = (*(*index).rd_index).indkey.values.as_slice(2);
        let (column, length) = match indexed {
            IndexedValue::Whole(column) => return columns == [column, 1],
            IndexedValue::Beginning(column, length) => (column, length),
        };
        columns == [0, 1] && {
            let expressions = pg_sys::RelationGetIndexExpressions(index);
            pgrx::PgList::<pg_sys::Node>::from_pg(expressions)
                .get_ptr(0)
                .is_some_and(|it| is_beginning(it, column, length))
        }
    }
}

/// Whether an expression is `pg_catalog.left(column, length)`.
///
/// # Safety
/// The node is an index expression.
unsafe fn is_beginning(expression: *mut pg_sys::Node, column: AttrNumber, length: i32) -> bool {
    // SAFETY: the tag of a node determines its type, and the arguments of a call are expressions.
    unsafe {
        if (*expression).type_ != pg_sys::NodeTag::T_FuncExpr {
            return false;
        }
        let call = expression.cast::<pg_sys::FuncExpr>();
        let arguments = pgrx::PgList::<pg_sys::Node>::from_pg((*call).args);
        let (Some(text), Some(count)) = (arguments.get_ptr(0), arguments.get_ptr(1)) else { return false };
        (*call).funcid == Oid::from(pg_sys::F_LEFT)
            && (*text).type_ == pg_sys::NodeTag::T_Var
            && (*text.cast::<pg_sys::Var>()).varattno == column
            && (*count).type_ == pg_sys::NodeTag::T_Const
            && !(*count.cast::<pg_sys::Const>()).constisnull
            && (*count.cast::<pg_sys::Const>()).constvalue.value() as i32 == length
    }
}

/// The function of `=` for a type.
fn equals(type_oid: Oid) -> Option<Oid> {
    let function = match type_oid {
        pg_sys::TEXTOID => pg_sys::F_TEXTEQ,
        pg_sys::NUMERICOID => pg_sys::F_NUMERIC_EQ,
        pg_sys::FLOAT8OID => pg_sys::F_FLOAT8EQ,
        pg_sys::DATEOID => pg_sys::F_DATE_EQ,
        pg_sys::TIMESTAMPTZOID => pg_sys::F_TIMESTAMPTZ_EQ,
        pg_sys::UUIDOID => pg_sys::F_UUID_EQ,
        pg_sys::BOOLOID => pg_sys::F_BOOLEQ,
        _ => return None,
    };
    Some(Oid::from(function))
}
