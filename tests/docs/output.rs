//! Comparison of an output with the one on a page.

/// Compares line by line. `…` matches anything within a line; a line that contains only `…` matches any number of
/// lines. Runs of spaces count as one space. Empty lines and the rules below table headers are ignored.
pub(crate) fn compare(shown: &str, answered: &str) -> Result<(), String> {
    let (shown_lines, answered_lines) = (lines(shown), lines(answered));
    if all_match(&shown_lines, &answered_lines) {
        return Ok(());
    }
    Err(format!("the page shows:\n{}\nthe answer is:\n{}", shown_lines.join("\n"), answered_lines.join("\n")))
}

fn lines(text: &str) -> Vec<String> {
    let one_space = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(one_space).filter(|line| !line.is_empty() && !is_rule(line)).collect()
}

/// The rule below a table header, whose length depends on the contents.
fn is_rule(line: &str) -> bool {
    line.chars().all(|c| matches!(c, '-' | '+'))
}

fn all_match(patterns: &[String], lines: &[String]) -> bool {
    let Some((pattern, patterns)) = patterns.split_first() else { return lines.is_empty() };
    if pattern == "…" {
        return (0..=lines.len()).any(|skipped| all_match(patterns, &lines[skipped..]));
    }
    lines.split_first().is_some_and(|(line, lines)| matches(pattern, line) && all_match(patterns, lines))
}

fn matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    for (position, part) in parts.iter().enumerate() {
        if position + 1 == parts.len() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(found) => rest = &rest[found + part.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

#[test]
fn ellipsis_matches_anything() {
    assert!(matches("a … c", "a bb c") && matches("{\"id\":\"…\",\"x\":1}", "{\"id\":\"7\",\"x\":1}"));
    assert!(!matches("a … c", "a bb d") && !matches("a", "ab") && !matches("a…", "ba"));
}

#[test]
fn missing_and_extra_lines_are_differences() {
    assert!(compare("a\n…\nd", "a\nb\nc\nd").is_ok() && compare("a | b\n---+--", "a  | b\n").is_ok());
    assert!(
        compare("a", "a\nb").is_err() && compare("a\nb", "a").is_err() && compare("a\n…\nd", "a\nb").is_err()
    );
}
