//! Leakproof expressions of dates and times: comparisons between their types, and expressions such as
//! `now() - interval '30 days'`. They raise no errors and read no row.

use pgrx::pg_sys::{self, List, Node, NodeTag, SQLValueFunctionOp};
use pgrx::prelude::*;
use pgrx::{PgList, is_a};

/// Cross-type comparisons. A date outside the range of the other type compares as greater or smaller, without an error.
pub(super) const COMPARISONS: [u32; 36] = [
    pg_sys::F_DATE_EQ_TIMESTAMP,
    pg_sys::F_DATE_NE_TIMESTAMP,
    pg_sys::F_DATE_LT_TIMESTAMP,
    pg_sys::F_DATE_LE_TIMESTAMP,
    pg_sys::F_DATE_GT_TIMESTAMP,
    pg_sys::F_DATE_GE_TIMESTAMP,
    pg_sys::F_DATE_EQ_TIMESTAMPTZ,
    pg_sys::F_DATE_NE_TIMESTAMPTZ,
    pg_sys::F_DATE_LT_TIMESTAMPTZ,
    pg_sys::F_DATE_LE_TIMESTAMPTZ,
    pg_sys::F_DATE_GT_TIMESTAMPTZ,
    pg_sys::F_DATE_GE_TIMESTAMPTZ,
    pg_sys::F_TIMESTAMP_EQ_DATE,
    pg_sys::F_TIMESTAMP_NE_DATE,
    pg_sys::F_TIMESTAMP_LT_DATE,
    pg_sys::F_TIMESTAMP_LE_DATE,
    pg_sys::F_TIMESTAMP_GT_DATE,
    pg_sys::F_TIMESTAMP_GE_DATE,
    pg_sys::F_TIMESTAMPTZ_EQ_DATE,
    pg_sys::F_TIMESTAMPTZ_NE_DATE,
    pg_sys::F_TIMESTAMPTZ_LT_DATE,
    pg_sys::F_TIMESTAMPTZ_LE_DATE,
    pg_sys::F_TIMESTAMPTZ_GT_DATE,
    pg_sys::F_TIMESTAMPTZ_GE_DATE,
    pg_sys::F_TIMESTAMP_EQ_TIMESTAMPTZ,
    pg_sys::F_TIMESTAMP_NE_TIMESTAMPTZ,
    pg_sys::F_TIMESTAMP_LT_TIMESTAMPTZ,
    pg_sys::F_TIMESTAMP_LE_TIMESTAMPTZ,
    pg_sys::F_TIMESTAMP_GT_TIMESTAMPTZ,
    pg_sys::F_TIMESTAMP_GE_TIMESTAMPTZ,
    pg_sys::F_TIMESTAMPTZ_EQ_TIMESTAMP,
    pg_sys::F_TIMESTAMPTZ_NE_TIMESTAMP,
    pg_sys::F_TIMESTAMPTZ_LT_TIMESTAMP,
    pg_sys::F_TIMESTAMPTZ_LE_TIMESTAMP,
    pg_sys::F_TIMESTAMPTZ_GT_TIMESTAMP,
    pg_sys::F_TIMESTAMPTZ_GE_TIMESTAMP,
];

/// Arithmetic and casts of dates and times. They fail only on overflow, which [`MAX_STEPS`] steps cannot reach.
const STEPS: [u32; 14] = [
    pg_sys::F_TIMESTAMPTZ_PL_INTERVAL,
    pg_sys::F_TIMESTAMPTZ_MI_INTERVAL,
    pg_sys::F_TIMESTAMP_PL_INTERVAL,
    pg_sys::F_TIMESTAMP_MI_INTERVAL,
    pg_sys::F_DATE_PL_INTERVAL,
    pg_sys::F_DATE_MI_INTERVAL,
    pg_sys::F_DATE_PLI,
    pg_sys::F_DATE_MII,
    pg_sys::F_DATE_TIMESTAMPTZ,
    pg_sys::F_DATE_TIMESTAMP,
    pg_sys::F_TIMESTAMPTZ_DATE,
    pg_sys::F_TIMESTAMPTZ_TIMESTAMP,
    pg_sys::F_TIMESTAMP_DATE,
    pg_sys::F_TIMESTAMP_TIMESTAMPTZ,
];

/// The supported range begins 6,700 years ago. A step is at most [`MAX_DAYS`] in each of the three fields of an interval.
const MAX_STEPS: usize = 8;
const MAX_DAYS: i64 = 100 * 366;
const MICROSECONDS_OF_DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// The units that `date_trunc` accepts.
const UNITS: [&str; 10] =
    ["microseconds", "milliseconds", "second", "minute", "hour", "day", "week", "month", "quarter", "year"];

/// Whether an expression is the current time, or a few steps from it.
///
/// # Safety
/// The node is an expression of a statement that is being planned.
pub(super) unsafe fn is_counted_from_now(node: *mut Node) -> bool {
    // SAFETY: the caller's.
    unsafe { is_within(node, MAX_STEPS) }
}

/// # Safety
/// The node is an expression of a statement that is being planned.
unsafe fn is_within(node: *mut Node, steps: usize) -> bool {
    // SAFETY: the caller's; the tag of a node determines its type.
    unsafe {
        match (*node).type_ {
            NodeTag::T_SQLValueFunction => matches!(
                (*node.cast::<pg_sys::SQLValueFunction>()).op,
                SQLValueFunctionOp::SVFOP_CURRENT_DATE
                    | SQLValueFunctionOp::SVFOP_CURRENT_TIMESTAMP
                    | SQLValueFunctionOp::SVFOP_LOCALTIMESTAMP
            ),
            NodeTag::T_FuncExpr => {
                let call = node.cast::<pg_sys::FuncExpr>();
                is_step((*call).funcid.to_u32(), (*call).args, steps)
            }
            NodeTag::T_OpExpr => {
                let operation = node.cast::<pg_sys::OpExpr>();
                pg_sys::set_opfuncid(operation);
                is_step((*operation).opfuncid.to_u32(), (*operation).args, steps)
            }
            _ => false,
        }
    }
}

/// # Safety
/// The arguments are those of a call of the function.
unsafe fn is_step(function: u32, arguments: *mut List, steps: usize) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let arguments = PgList::<Node>::from_pg(arguments);
        if [pg_sys::F_NOW, pg_sys::F_TRANSACTION_TIMESTAMP].contains(&function) {
            return true;
        }
        let Some(steps) = steps.checked_sub(1) else { return false };
        let is_from_now = |position| arguments.get_ptr(position).is_some_and(|it| is_within(it, steps));
        if [pg_sys::F_DATE_TRUNC_TEXT_TIMESTAMPTZ, pg_sys::F_DATE_TRUNC_TEXT_TIMESTAMP].contains(&function) {
            return arguments.get_ptr(0).is_some_and(|unit| is_unit(unit)) && is_from_now(1);
        }
        STEPS.contains(&function) && is_from_now(0) && arguments.iter_ptr().skip(1).all(|it| is_short(it))
    }
}

/// Whether a constant is a number of days or an interval within [`MAX_DAYS`].
///
/// # Safety
/// The node is an expression.
unsafe fn is_short(node: *mut Node) -> bool {
    // SAFETY: the caller's; the value of a constant has its type.
    unsafe {
        let constant = node.cast::<pg_sys::Const>();
        if !is_a(node, NodeTag::T_Const) || (*constant).constisnull {
            return false;
        }
        let within = |days: i64| (-MAX_DAYS..=MAX_DAYS).contains(&days);
        match (*constant).consttype {
            pg_sys::INT4OID => {
                i32::from_datum((*constant).constvalue, false).is_some_and(|days| within(days.into()))
            }
            pg_sys::INTERVALOID => {
                let interval = *(*constant).constvalue.cast_mut_ptr::<pg_sys::Interval>();
                within(i64::from(interval.month) * 305 / 10)
                    && within(interval.day.into())
                    && within(interval.time / MICROSECONDS_OF_DAY)
            }
            _ => false,
        }
    }
}

/// # Safety
/// The node is an expression.
unsafe fn is_unit(node: *mut Node) -> bool {
    // SAFETY: the caller's; a non-null constant of type text holds a string.
    unsafe {
        let constant = node.cast::<pg_sys::Const>();
        is_a(node, NodeTag::T_Const)
            && (*constant).consttype == pg_sys::TEXTOID
            && !(*constant).constisnull
            && String::from_datum((*constant).constvalue, false)
                .is_some_and(|unit| UNITS.contains(&unit.to_ascii_lowercase().as_str()))
    }
}
