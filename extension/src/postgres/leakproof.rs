//! Conditions that are leakproof in fact, although PostgreSQL does not mark their functions so.
//!
//! A function is on the list if it has no side effect and raises no error that depends on the values of a row. The list
//! contains OIDs of built-in functions, so a user's function with the same name is not on it.

use super::moment::{self, is_counted_from_now};
use pgrx::pg_sys::{self, List, Node, NodeTag, Oid, RestrictInfo};
use pgrx::prelude::*;
use pgrx::{PgList, is_a};

/// The maximum number of wildcards in a pattern, enough for a substring match. LIKE recurses at each wildcard, so the text
/// decides whether it exceeds the stack depth limit.
const MAX_WILDCARDS: usize = 2;

/// Comparisons of `numeric`. They raise no errors.
const NUMERIC: [u32; 6] = [
    pg_sys::F_NUMERIC_EQ,
    pg_sys::F_NUMERIC_NE,
    pg_sys::F_NUMERIC_LT,
    pg_sys::F_NUMERIC_LE,
    pg_sys::F_NUMERIC_GT,
    pg_sys::F_NUMERIC_GE,
];

/// LIKE and ILIKE. They raise an error if the pattern ends with an escape character, or if the collation is
/// nondeterministic. [`is_call_leakproof`] checks both, so the pattern must be a constant.
const LIKE: [u32; 4] = [pg_sys::F_TEXTLIKE, pg_sys::F_TEXTNLIKE, pg_sys::F_TEXTICLIKE, pg_sys::F_TEXTICNLIKE];

/// Array operators. They compare elements by `=` of the element type, which raises no error for `text`.
const ARRAYS: [u32; 3] = [pg_sys::F_ARRAYOVERLAP, pg_sys::F_ARRAYCONTAINS, pg_sys::F_ARRAYCONTAINED];

/// Whether a condition is leakproof: it compares columns with constants and with the current time only.
///
/// Other expressions that read no column are excluded too. A user's function is called for some rows only, and a PL/pgSQL
/// parameter raises an error if it has no value. Either discloses that a row exists.
///
/// # Safety
/// The condition belongs to a statement that is being planned.
pub(super) unsafe fn is_leakproof(node: *mut Node) -> bool {
    // SAFETY: the caller's; the tag of a node determines its type.
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
                is_built_in((*operation).opno)
                    && is_call_leakproof(function, (*operation).args, (*operation).inputcollid)
            }
            NodeTag::T_ScalarArrayOpExpr => {
                let operation = node.cast::<pg_sys::ScalarArrayOpExpr>();
                pg_sys::set_sa_opfuncid(operation);
                let function = (*operation).opfuncid;
                // LIKE ANY is not supported: each of its patterns would need a check.
                is_built_in((*operation).opno)
                    && !LIKE.contains(&function.to_u32())
                    && is_call_leakproof(function, (*operation).args, (*operation).inputcollid)
            }
            _ => false,
        }
    }
}

/// Whether an operator is built in. Selectivity estimation also calls the commutator and the negator, and a user-defined
/// operator can name any operators as such.
fn is_built_in(operator: Oid) -> bool {
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

/// Whether an operand's type has no collation, or its collation is built in, so that no user can make it raise an error or
/// a warning. A comparison of strings without a collation raises an error.
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

/// Whether a LIKE pattern is a constant that raises no error for any text.
///
/// # Safety
/// The node is an expression.
unsafe fn is_sound_pattern(node: *mut Node) -> bool {
    // SAFETY: the caller's; a non-null constant of type text holds a string.
    unsafe {
        let constant = node.cast::<pg_sys::Const>();
        if !is_a(node, NodeTag::T_Const) || (*constant).consttype != pg_sys::TEXTOID {
            return false;
        }
        (*constant).constisnull
            || String::from_datum((*constant).constvalue, false).is_some_and(|pattern| is_sound(&pattern))
    }
}

/// Whether a pattern has few wildcards and no trailing escape character.
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
    fn pattern_without_trailing_escape_and_with_few_wildcards_is_sound() {
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
