//! The format of texts and lists in a cell, so that they read back unchanged and no spreadsheet evaluates them as
//! formulas: pure.

/// The separator of list elements.
pub const SEPARATOR: char = ';';

/// Whether a spreadsheet could take a text that begins so for a formula. Such a text is written with a `'` before it.
pub fn begins_like_a_formula(text: &str) -> bool {
    // Spreadsheets take the full-width signs for the others, and some pass over a line end before them.
    text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\r', '\n', '\''])
}

/// A text without its guard: without a `'` before what could be a formula, or alone.
pub fn unguarded(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if rest.is_empty() || begins_like_a_formula(rest) => rest,
        _ => cell,
    }
}

/// A list as a cell that reads back as the same list, with this between its elements.
pub fn write_list(out: &mut String, list: &[String], separator: char) {
    let is_plain = |element: &String| {
        !element.is_empty()
            && !element.contains(separator)
            && !element.starts_with(' ')
            && !element.ends_with(' ')
    };
    if list.is_empty() || !list.iter().all(is_plain) || list[0].starts_with('[') {
        out.push('[');
        for (position, element) in list.iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            crate::json::write_string(out, element);
        }
        out.push(']');
        return;
    }
    if begins_like_a_formula(&list[0]) {
        out.push('\'');
    }
    for (position, element) in list.iter().enumerate() {
        if position > 0 {
            out.push(separator);
        }
        out.push_str(element);
    }
}

/// A text as a cell that reads back as the same text and that no spreadsheet takes for a formula.
pub fn write_text(out: &mut String, text: &str) {
    if text.is_empty() || begins_like_a_formula(text) {
        out.push('\'');
    }
    out.push_str(text);
}
