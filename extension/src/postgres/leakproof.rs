//! Which conditions say nothing about a row but their result.
//!
//! A function is on the list if it raises no error that depends on the values of a row, and does nothing but return a value. The
//! list has the numbers of PostgreSQL's own functions, so no other function of the same name is on it.

use super::moment::{self, is_counted_from_now};
use pgrx::pg_sys::{self, List, Node, NodeTag, Oid, RestrictInfo};
use pgrx::prelude::*;
use pgrx::{PgList, is_a};

/// The maximum number of wildcards of a pattern, enough for a substring. LIKE calls itself at each, and fails where the stack ends,
/// which depends on the text.
const MAX_WILDCARDS: usize = 2;

/// Comparisons of `numeric`: they compare digits, and raise nothing.
const NUMERIC: [u32; 6] = [
    pg_sys::F_NUMERIC_EQ,
    pg_sys::F_NUMERIC_NE,
    pg_sys::F_NUMERIC_LT,
    pg_sys::F_NUMERIC_LE,
    pg_sys::F_NUMERIC_GT,
    pg_sys::F_NUMERIC_GE,
];

/// LIKE and ILIKE: they raise errors of their pattern, if it ends with an escape, and of a collation that is not
/// deterministic. Both are looked at here, so the pattern must be known.
const LIKE: [u32; 4] = [pg_sys::F_TEXTLIKE, pg_sys::F_TEXTNLIKE, pg_sys::F_TEXTICLIKE, pg_sys::F_TEXTICNLIKE];

/// Operators of arrays: they compare elements by `=` of their type, which of texts raises nothing.
const ARRAYS: [u32; 3] = [pg_sys::F_ARRAYOVERLAP, pg_sys::F_ARRAYCONTAINS, pg_sys::F_ARRAYCONTAINED];

/// Whether a condition says nothing about a row but its result: it consists of comparisons of columns with constants and
/// with now. What else reads nothing of the row, such as a function of a login's own or a parameter of PL/pgSQL, which raises
/// an error where it has no value, would be evaluated for some rows only, and tell by that.
///
/// # Safety
/// The condition is one of a planner.
pub(super) unsafe fn is_leakproof(node: *mut Node) -> bool {
    // SAFETY: the caller's; each kind of node is read as what it is.
    unsafe {
        pg_sys::check_stack_depth();
        if node.is_null() {
            return false;
        }
        match (*node).type_ {
            NodeTag::T_Const => true,
            NodeTag::T_Var => is_operand(node),
            NodeTag::T_RestrictInfo => is_leakproof((*node.cast::<RestrictInfo>()).clause.cast()),
            NodeTag::T_BoolExpr => PgList::<Node>::from_pg((*node.cast::<pg_sys::BoolExpr>()).args)
                .iter_ptr()
                .all(|arm| is_leakproof(arm)),
            NodeTag::T_BooleanTest => is_leakproof((*node.cast::<pg_sys::BooleanTest>()).arg.cast()),
            NodeTag::T_NullTest => {
                let test = node.cast::<pg_sys::NullTest>();
                !(*test).argisrow && is_operand((*test).arg.cast())
            }
            NodeTag::T_OpExpr | NodeTag::T_DistinctExpr => {
                let operation = node.cast::<pg_sys::OpExpr>();
                pg_sys::set_opfuncid(operation);
                let function = (*operation).opfuncid;
                is_own((*operation).opno)
                    && is_call_leakproof(function, (*operation).args, (*operation).inputcollid)
            }
            NodeTag::T_ScalarArrayOpExpr => {
                let operation = node.cast::<pg_sys::ScalarArrayOpExpr>();
                pg_sys::set_sa_opfuncid(operation);
                let function = (*operation).opfuncid;
                // The patterns of LIKE ANY would have to be looked at one by one.
                is_own((*operation).opno)
                    && !LIKE.contains(&function.to_u32())
                    && is_call_leakproof(function, (*operation).args, (*operation).inputcollid)
            }
            _ => false,
        }
    }
}

/// Whether an operator is PostgreSQL's own. An estimate also calls the commutator and the negator of an operator, and a
/// user's operator may name any operators there, whatever its function is.
fn is_own(operator: Oid) -> bool {
    operator.to_u32() < pg_sys::FirstGenbkiObjectId
}

/// Whether an operand is a column or a constant.
///
/// # Safety
/// The node is an expression.
unsafe fn is_operand(node: *mut Node) -> bool {
    // SAFETY: the caller's.
    unsafe {
        pg_sys::check_stack_depth();
        match (*node).type_ {
            NodeTag::T_Const => true,
            NodeTag::T_Var => (*node.cast::<pg_sys::Var>()).varlevelsup == 0,
            NodeTag::T_RelabelType => {
                let argument: *mut Node = (*node.cast::<pg_sys::RelabelType>()).arg.cast();
                !argument.is_null() && is_operand(argument)
            }
            _ => false,
        }
    }
}

/// # Safety
/// The arguments are those of a call of the function.
unsafe fn is_call_leakproof(function: Oid, arguments: *mut List, collation: Oid) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let arguments = PgList::<Node>::from_pg(arguments);
        let is_sound = |argument: *mut Node| {
            is_counted_from_now(argument) || is_operand(argument) && is_collation_sound(argument, collation)
        };
        if !arguments.iter_ptr().all(is_sound) {
            return false;
        }
        let number = function.to_u32();
        if LIKE.contains(&number) {
            return pg_sys::get_collation_isdeterministic(collation)
                && arguments.get_ptr(1).is_some_and(|pattern| is_sound_pattern(pattern));
        }
        if ARRAYS.contains(&number) {
            return arguments.iter_ptr().all(|it| pg_sys::exprType(it) == pg_sys::TEXTARRAYOID);
        }
        NUMERIC.contains(&number)
            || moment::COMPARISONS.contains(&number)
            || pg_sys::get_func_leakproof(function)
    }
}

/// Whether an operand is of a type without collations, or its collation is one that no user can create, drop or make
/// warn. Without a collation, texts raise an error as soon as two are compared.
///
/// # Safety
/// The node is an expression.
unsafe fn is_collation_sound(node: *mut Node, collation: Oid) -> bool {
    // SAFETY: the caller's.
    unsafe {
        pg_sys::get_typcollation(pg_sys::exprType(node)) == Oid::INVALID
            || collation == pg_sys::DEFAULT_COLLATION_OID
            || collation == pg_sys::C_COLLATION_OID
    }
}

/// Whether a pattern of LIKE is known, and raises no error whatever it is compared with.
///
/// # Safety
/// The node is an expression.
unsafe fn is_sound_pattern(node: *mut Node) -> bool {
    // SAFETY: the caller's; a constant of the type text is one.
    unsafe {
        let constant = node.cast::<pg_sys::Const>();
        if !is_a(node, NodeTag::T_Const) || (*constant).consttype != pg_sys::TEXTOID {
            return false;
        }
        (*constant).constisnull
            || String::from_datum((*constant).constvalue, false).is_some_and(|pattern| is_sound(&pattern))
    }
}

/// Whether a pattern has few wildcards, and no escape at its end.
fn is_sound(pattern: &str) -> bool {
    let (mut characters, mut wildcards) = (pattern.chars(), 0);
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.next().is_none() => return false,
            '%' => wildcards += 1,
            _ => {}
        }
    }
    wildcards <= MAX_WILDCARDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_sound_that_raises_no_error() {
        for (pattern, expected) in [
            ("", true),
            ("%abc%", true),
            ("a\\%b", true),
            ("\\\\", true),
            ("\\", false),
            ("abc\\", false),
            ("abc\\\\\\", false),
        ] {
            assert_eq!(is_sound(pattern), expected, "{pattern}");
        }
        assert!(is_sound(&"%".repeat(MAX_WILDCARDS)));
        assert!(!is_sound(&"%a".repeat(MAX_WILDCARDS + 1)));
    }
}
