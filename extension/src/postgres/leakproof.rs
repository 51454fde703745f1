//! Which conditions say nothing about a row but their result.
//!
//! A function is on the list if it raises no error that depends on the values of a row, and does nothing but return a value. The
//! list has the numbers of PostgreSQL's own functions, so no other function of the same name is on it.

use pgrx::pg_sys::{self, List, Node, NodeTag, Oid, RestrictInfo};
use pgrx::prelude::*;
use pgrx::{PgList, is_a};

/// The most wildcards of a pattern. LIKE calls itself at each, and fails where that is too deep, which depends on the text.
const MOST_WILDCARDS: usize = 32;

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

/// Whether evaluating an expression says nothing about a row but its value.
///
/// # Safety
/// The expression is one of a planner.
pub(super) unsafe fn is_leakproof(node: *mut Node) -> bool {
    // SAFETY: the caller's; each kind of node is read as what it is.
    unsafe {
        if node.is_null() {
            return false;
        }
        let all = |list: *mut List| PgList::<Node>::from_pg(list).iter_ptr().all(|node| is_leakproof(node));
        match (*node).type_ {
            NodeTag::T_Const => true,
            NodeTag::T_Var => (*node.cast::<pg_sys::Var>()).varlevelsup == 0,
            NodeTag::T_Param => (*node.cast::<pg_sys::Param>()).paramkind != pg_sys::ParamKind::PARAM_SUBLINK,
            NodeTag::T_RestrictInfo => is_leakproof((*node.cast::<RestrictInfo>()).clause.cast()),
            NodeTag::T_RelabelType => is_leakproof((*node.cast::<pg_sys::RelabelType>()).arg.cast()),
            NodeTag::T_BooleanTest => is_leakproof((*node.cast::<pg_sys::BooleanTest>()).arg.cast()),
            NodeTag::T_NullTest => {
                let test = node.cast::<pg_sys::NullTest>();
                !(*test).argisrow && is_leakproof((*test).arg.cast())
            }
            NodeTag::T_BoolExpr => all((*node.cast::<pg_sys::BoolExpr>()).args),
            NodeTag::T_OpExpr | NodeTag::T_DistinctExpr => {
                let operation = node.cast::<pg_sys::OpExpr>();
                pg_sys::set_opfuncid(operation);
                is_function_leakproof((*operation).opfuncid, (*operation).args, (*operation).inputcollid)
                    && all((*operation).args)
            }
            NodeTag::T_ScalarArrayOpExpr => {
                let operation = node.cast::<pg_sys::ScalarArrayOpExpr>();
                pg_sys::set_sa_opfuncid(operation);
                // The patterns of LIKE ANY would have to be looked at one by one.
                !LIKE.contains(&(*operation).opfuncid.to_u32())
                    && is_function_leakproof(
                        (*operation).opfuncid,
                        (*operation).args,
                        (*operation).inputcollid,
                    )
                    && all((*operation).args)
            }
            // What reads nothing of the row, and is the same for all.
            _ => {
                !pg_sys::contain_var_clause(node)
                    && !pg_sys::contain_volatile_functions(node)
                    && !pg_sys::contain_subplans(node)
            }
        }
    }
}

/// # Safety
/// The arguments are those of a call of the function.
unsafe fn is_function_leakproof(function: Oid, arguments: *mut List, collation: Oid) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let arguments = PgList::<Node>::from_pg(arguments);
        let number = function.to_u32();
        if LIKE.contains(&number) {
            let is_deterministic =
                collation != Oid::INVALID && pg_sys::get_collation_isdeterministic(collation);
            return is_deterministic && arguments.get_ptr(1).is_some_and(|pattern| is_sound_pattern(pattern));
        }
        if ARRAYS.contains(&number) {
            return arguments.iter_ptr().all(|it| pg_sys::exprType(it) == pg_sys::TEXTARRAYOID);
        }
        NUMERIC.contains(&number) || pg_sys::get_func_leakproof(function)
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
    wildcards <= MOST_WILDCARDS
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
        assert!(is_sound(&"%".repeat(MOST_WILDCARDS)));
        assert!(!is_sound(&"%a".repeat(MOST_WILDCARDS + 1)));
    }
}
