//! Splits a path into steps, and finds the step at which a path without result fails.

/// A prefix of a path, up to and including a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The path up to this step, which is a valid path.
    pub path: String,
    /// Its last step.
    pub step: Step,
}

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The payload or item itself: `$`.
    Root,
    /// Elements of an array: `[*]`, `[0]`.
    Elements,
    /// A filter: `?(…)`.
    Filter,
    /// A member, a method, a wildcard.
    Other,
}

/// The cause of an empty result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// The array exists and is empty.
    Array,
    /// The array exists, and the path's filter excludes all elements.
    Elements,
    /// Another value exists, and the path's filter excludes it.
    Filtered,
    /// A member of the path is missing.
    Missing,
}

/// The prefixes of a path in PostgreSQL's output format, shortest first. None if the path is an expression without
/// separable steps.
pub fn prefixes(canonical: &str) -> Option<Vec<Prefix>> {
    let start = if canonical.starts_with("strict ") { "strict ".len() } else { 0 };
    let bytes = canonical.as_bytes();
    if bytes.get(start) != Some(&b'$') || bytes.get(start + 1) == Some(&b'"') {
        return None;
    }
    let mut end = start + 1;
    let mut found = vec![Prefix { path: canonical[..end].to_owned(), step: Step::Root }];
    while end < bytes.len() {
        let (next, step) = match (bytes[end], bytes.get(end + 1)) {
            (b'[', _) => (after_bracket(bytes, end)?, Step::Elements),
            (b'?', Some(b'(')) => (after_bracket(bytes, end + 1)?, Step::Filter),
            (b'.', Some(b'"')) => (after_text(bytes, end + 1)?, Step::Other),
            (b'.', _) => (after_name(bytes, end + 1)?, Step::Other),
            _ => return None,
        };
        end = next;
        found.push(Prefix { path: canonical.get(..end)?.to_owned(), step });
    }
    Some(found)
}

/// The longest prefix with a result, and its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    /// The prefix, counted from 0.
    pub prefix: usize,
    /// All its values are arrays.
    pub arrays: bool,
    /// All its values are arrays without elements.
    pub empty: bool,
}

/// The cause of an empty result after a prefix.
pub fn meaning(prefixes: &[Prefix], last: Last) -> Empty {
    let step = |position: usize| prefixes.get(position).map(|prefix| prefix.step);
    match step(last.prefix + 1) {
        _ if last.empty => Empty::Array,
        Some(Step::Filter) if last.arrays || step(last.prefix) == Some(Step::Elements) => Empty::Elements,
        Some(Step::Filter) => Empty::Filtered,
        _ => Empty::Missing,
    }
}

/// The position after a quoted string.
fn after_text(bytes: &[u8], quote: usize) -> Option<usize> {
    let mut at = quote + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The position after the matching closing bracket.
fn after_bracket(bytes: &[u8], open: usize) -> Option<usize> {
    let (mut at, mut depth) = (open, 0usize);
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = after_text(bytes, at)?;
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The position after `*`, `**{1 to 2}`, or a method and its arguments.
fn after_name(bytes: &[u8], start: usize) -> Option<usize> {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'*' | b'_');
    let end = start + bytes[start..].iter().take_while(|byte| is_name(byte)).count();
    match bytes.get(end) {
        _ if end == start => None,
        Some(b'(' | b'{') => after_bracket(bytes, end),
        _ => Some(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn steps(canonical: &str) -> Option<Vec<String>> {
        Some(prefixes(canonical)?.into_iter().map(|prefix| prefix.path).collect())
    }

    #[test]
    fn path_is_split_into_steps() {
        assert_eq!(
            steps(r#"$."a.b[\"]"[*]?(@."x" == ")" && exists (@."y"[0]))."c""#).expect("steps"),
            [
                "$",
                r#"$."a.b[\"]""#,
                r#"$."a.b[\"]"[*]"#,
                r#"$."a.b[\"]"[*]?(@."x" == ")" && exists (@."y"[0]))"#,
                r#"$."a.b[\"]"[*]?(@."x" == ")" && exists (@."y"[0]))."c""#,
            ]
        );
        assert_eq!(
            steps("strict $.**{2 to last}.*.double()").expect("steps"),
            [
                "strict $",
                "strict $.**{2 to last}",
                "strict $.**{2 to last}.*",
                "strict $.**{2 to last}.*.double()"
            ]
        );
    }

    #[test]
    fn expression_has_no_steps() {
        for text in [r#"($."a" + 1)"#, r#"$"name""#, r#""constant""#, "-$.a", r#"$."a" + 1"#, "$.", "$[", ""]
        {
            assert_eq!(steps(text), None, "{text}");
        }
    }

    #[test]
    fn first_step_without_a_value_determines_the_cause() {
        let path = prefixes(r#"$."a"[*]?(@ > 1)."b""#).expect("steps");
        let meaning = |prefix, arrays, empty| meaning(&path, Last { prefix, arrays, empty });
        assert_eq!(meaning(0, false, false), Empty::Missing);
        assert_eq!(meaning(1, true, true), Empty::Array);
        assert_eq!(meaning(2, false, false), Empty::Elements);
        assert_eq!(meaning(3, false, false), Empty::Missing);
        // A member of an empty array, which lax mode allows.
        assert_eq!(meaning(0, true, true), Empty::Array);
    }

    #[test]
    fn filter_can_exclude_a_value_that_is_not_an_array() {
        let path = prefixes(r#"$?(@."type" == "order")"#).expect("steps");
        assert_eq!(meaning(&path, Last { prefix: 0, arrays: false, empty: false }), Empty::Filtered);
        assert_eq!(meaning(&path, Last { prefix: 0, arrays: true, empty: false }), Empty::Elements);
    }

    proptest! {
        #[test]
        fn prefixes_are_nested_and_end_with_the_path(
            text in prop_oneof![any::<String>(), "(strict )?\\$[a\\[\\](){}?.*\"\\\\@ é]{0,20}"],
        ) {
            if let Some(found) = prefixes(&text) {
                prop_assert_eq!(found[found.len() - 1].path.as_str(), text.as_str());
                for pair in found.windows(2) {
                    prop_assert!(pair[1].path.starts_with(&pair[0].path) && pair[1].path.len() > pair[0].path.len());
                }
            }
        }
    }
}
