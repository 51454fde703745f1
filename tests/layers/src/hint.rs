//! The hints that a source file contains as literals.

/// The literals that are the first argument of a function whose name ends with `hint`, including those within
/// `format!`.
pub(crate) fn literals(code: &str) -> Vec<String> {
    code.split("hint(").skip(1).filter_map(literal).collect()
}

/// Whether a hint has the form of a sentence, as PostgreSQL's style guide requires. It may start with a placeholder.
pub(crate) fn is_sentence(hint: &str) -> bool {
    hint.starts_with(|first: char| first.is_uppercase() || first == '{') && hint.ends_with('.')
}

/// The text of the literal at the start of these arguments.
fn literal(arguments: &str) -> Option<String> {
    let first = arguments.trim_start();
    let first = first.strip_prefix('&').unwrap_or(first);
    let first = first.strip_prefix("format!(").map_or(first, str::trim_start);
    let mut characters = first.strip_prefix('"')?.chars().peekable();
    let mut text = String::new();
    loop {
        match characters.next()? {
            '"' => return Some(text),
            '\\' => match characters.next()? {
                // The literal continues after the indentation of the next line.
                '\n' => while characters.next_if(|it| it.is_whitespace()).is_some() {},
                escaped => text.push(escaped),
            },
            character => text.push(character),
        }
    }
}
