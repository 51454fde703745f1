//! The index that has the rows of a table in the order of a value, and of the ids where values are alike.

use super::direct_access::Unfit;
use super::index::is_usable;
use super::table::Table;
use pgrx::pg_sys::{self, AttrNumber, Oid};

/// What the first column of an index holds; the second is the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexedValue {
    /// The value of a column.
    Whole(AttrNumber),
    /// So many characters of the beginning of a text column.
    Beginning(AttrNumber, i32),
}

impl Table {
    /// Opens the index of a value and the ids: a B-tree of all rows in ascending order.
    ///
    /// # Safety
    /// The index is closed, or left to the resource owner.
    pub(super) unsafe fn open_index_of(&self, indexed: IndexedValue) -> Result<pg_sys::Relation, Unfit> {
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        // SAFETY: the table is open, and so knows its indexes; one that is gone yields null. An open index has a row of
        // pg_index, and as many options as it has columns.
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
        Err(Unfit)
    }
}

/// Whether the first column of an index is this.
///
/// # Safety
/// The relation is an open index of two columns.
unsafe fn holds(index: pg_sys::Relation, indexed: IndexedValue) -> bool {
    // SAFETY: an open index has a row of pg_index, whose column numbers are as many as it says: 0 for an expression, and then it
    // has a list of these.
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
/// It is an expression of an index.
unsafe fn is_beginning(expression: *mut pg_sys::Node, column: AttrNumber, length: i32) -> bool {
    // SAFETY: the tag of a node tells its type, and the arguments of a call are expressions.
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
