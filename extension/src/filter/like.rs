//! A column that is like a pattern → SQL.

use super::predicate::Test;
use super::sql::OR;
use crate::value::pattern::{in_ascii, in_ascii_of_forms};

/// The normal forms of a pattern, and whether letter case counts, if these tests say no more.
pub(super) fn forms(tests: &[Test]) -> Option<(Vec<&str>, bool)> {
    let pattern = |test| match test {
        &Test::Like { ref pattern, ignores_case } => Some((pattern.as_str(), ignores_case)),
        _ => None,
    };
    let forms: Vec<(&str, bool)> = tests.iter().map(pattern).collect::<Option<_>>()?;
    let &(_, ignores_case) = forms.first()?;
    Some((forms.into_iter().map(|(pattern, _)| pattern).collect(), ignores_case))
}

/// The condition that a column is like one of the normal forms of a pattern; `text` writes a constant.
///
/// To make a text small letter by letter costs most of a comparison, and each form costs one. Where no index spares
/// them, the letters of ASCII alone are compared first, which costs half of one, and hardly ever the whole. The test in
/// front says nothing to the planner, who would take it for independent, and `is true` keeps the two in their order.
pub(super) fn like(
    name: &str,
    forms: &[&str],
    ignores_case: bool,
    is_indexed: bool,
    text: impl Fn(&str) -> String,
) -> String {
    let operator = if ignores_case { "ilike" } else { "like" };
    let each: Vec<String> = forms.iter().map(|form| format!("{name} {operator} {}", text(form))).collect();
    let (whole, coarse) = match forms {
        [form] => (each.join(OR), in_ascii(form).filter(|_| ignores_case && !is_indexed)),
        _ => (format!("({})", each.join(OR)), forms.first().and_then(|form| in_ascii_of_forms(form))),
    };
    match coarse {
        Some(coarse) => format!(
            "(nullif({name} collate \"C\" {operator} {}, false) is not null and {whole}) is true",
            text(&coarse)
        ),
        None => whole,
    }
}
