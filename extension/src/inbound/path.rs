//! The steps of a path, and at which step a search without a result ends.

/// A step of a path, as the text up to and including it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The path as far as this step, a path by itself.
    pub path: String,
    /// Which kind of step it ends with.
    pub step: Step,
}

/// What a step of a path asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The payload or item itself: `$`.
    Root,
    /// Elements of an array: `[*]`, `[0]`.
    Elements,
    /// What passes a condition: `?(…)`.
    Filter,
    /// A member, a method, a wildcard.
    Other,
}

/// What an empty search means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// An array is where the path looks, and it has no elements.
    Array,
    /// The array exists, and the path's filter excludes all elements.
    Elements,
    /// Another value exists, and the path's filter excludes it.
    Filtered,
    /// Something that the path names is not there.
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

/// The values that the longest prefix finds of those that find any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    /// Which prefix, counted from 0.
    pub prefix: usize,
    /// All its values are arrays.
    pub arrays: bool,
    /// All its values are arrays without elements.
    pub empty: bool,
}

/// What it means that nothing was found beyond a prefix.
pub fn meaning(prefixes: &[Prefix], last: Last) -> Empty {
    let step = |position: usize| prefixes.get(position).map(|prefix| prefix.step);
    match step(last.prefix + 1) {
        _ if last.empty => Empty::Array,
        Some(Step::Filter) if last.arrays || step(last.prefix) == Some(Step::Elements) => Empty::Elements,
        Some(Step::Filter) => Empty::Filtered,
        _ => Empty::Missing,
    }
}

/// The position behind a text in quotes.
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

/// The position behind what a bracket encloses, other brackets and texts included.
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

/// The position behind `*`, `**{1 to 2}`, or a method and its arguments.
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
    fn a_path_is_taken_apart_where_a_step_ends() {
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
    fn an_expression_has_no_steps() {
        for text in [r#"($."a" + 1)"#, r#"$"name""#, r#""constant""#, "-$.a", r#"$."a" + 1"#, "$.", "$[", ""]
        {
            assert_eq!(steps(text), None, "{text}");
        }
    }

    #[test]
    fn an_empty_search_means_what_its_first_step_without_a_value_says() {
        let path = prefixes(r#"$."a"[*]?(@ > 1)."b""#).expect("steps");
        let meaning = |prefix, arrays, empty| meaning(&path, Last { prefix, arrays, empty });
        assert_eq!(meaning(0, false, false), Empty::Missing);
        assert_eq!(meaning(1, true, true), Empty::Array);
        assert_eq!(meaning(2, false, false), Empty::Elements);
        assert_eq!(meaning(3, false, false), Empty::Missing);
        // A payload that is an empty array, asked for a member as `lax` paths may.
        assert_eq!(meaning(0, true, true), Empty::Array);
    }

    #[test]
    fn a_condition_on_what_is_no_array_passes_over_it() {
        let path = prefixes(r#"$?(@."type" == "order")"#).expect("steps");
        assert_eq!(meaning(&path, Last { prefix: 0, arrays: false, empty: false }), Empty::Filtered);
        assert_eq!(meaning(&path, Last { prefix: 0, arrays: true, empty: false }), Empty::Elements);
    }

    proptest! {
        #[test]
        fn the_steps_of_any_text_begin_alike_and_end_with_the_whole(
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
