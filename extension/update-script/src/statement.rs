//! Splits a script into statements.

/// The statements of a script, without leading comments and semicolons.
pub(crate) fn split(script: &str) -> Vec<&str> {
    let mut statements = Vec::new();
    let mut rest = script;
    loop {
        rest = skip_blank(rest);
        if rest.is_empty() {
            return statements;
        }
        let length = length(rest);
        let statement = rest[..length].trim_end();
        if !statement.is_empty() {
            statements.push(statement);
        }
        rest = rest.get(length + 1..).unwrap_or_default();
    }
}

/// Skips leading white space and comments.
fn skip_blank(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let length = comment(text);
        if length == 0 {
            return text;
        }
        text = &text[length..];
    }
}

/// The length of a leading comment; 0 if there is none.
fn comment(text: &str) -> usize {
    if text.starts_with("--") {
        return text.find('\n').map_or(text.len(), |end| end + 1);
    }
    if !text.starts_with("/*") {
        return 0;
    }
    // Block comments can be nested.
    let (mut depth, mut place) = (0, 0);
    while place < text.len() {
        match &text.as_bytes()[place..] {
            [b'/', b'*', ..] => (depth, place) = (depth + 1, place + 2),
            [b'*', b'/', ..] => (depth, place) = (depth - 1, place + 2),
            _ => place += 1,
        }
        if depth == 0 {
            break;
        }
    }
    place
}

/// The length of the first statement, without its semicolon.
fn length(text: &str) -> usize {
    let bytes = text.as_bytes();
    // `begin atomic … end` contains semicolons, and can contain `case … end`.
    let (mut place, mut blocks, mut last_word) = (0, 0usize, "");
    while place < bytes.len() {
        let rest = &text[place..];
        match bytes[place] {
            b';' if blocks == 0 => return place,
            b'\'' => place += quoted(rest, '\'', has_escapes(text, place)),
            b'"' => place += quoted(rest, '"', false),
            b'$' => place += dollar_quoted(rest),
            b'-' | b'/' if comment(rest) > 0 => place += comment(rest),
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let end = rest.find(|next: char| !(next.is_alphanumeric() || next == '_' || next == '$'));
                let word = &rest[..end.unwrap_or(rest.len())];
                let is = |name: &str| word.eq_ignore_ascii_case(name);
                if is("atomic") && last_word.eq_ignore_ascii_case("begin") || blocks > 0 && is("case") {
                    blocks += 1;
                } else if blocks > 0 && is("end") {
                    blocks -= 1;
                }
                last_word = word;
                place += word.len();
            }
            _ => place += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    bytes.len()
}

/// Whether the quote at this position begins an escape string: `E'…'`.
fn has_escapes(text: &str, place: usize) -> bool {
    let before = &text[..place];
    before.ends_with(['e', 'E'])
        && !before[..place - 1].ends_with(|last: char| last.is_alphanumeric() || last == '_')
}

/// The length of a leading quoted string. A doubled quote counts as the end of one string and the start of the next.
fn quoted(text: &str, quote: char, has_escapes: bool) -> usize {
    let mut places = text.char_indices().skip(1);
    while let Some((place, next)) = places.next() {
        if next == quote {
            return place + 1;
        }
        if has_escapes && next == '\\' {
            places.next();
        }
    }
    text.len()
}

/// The length of a leading dollar-quoted string: `$$…$$` or `$name$…$name$`. A single dollar sign is an ordinary character.
fn dollar_quoted(text: &str) -> usize {
    let Some(end) = text[1..].find('$').map(|end| end + 2) else { return 1 };
    let tag = &text[..end];
    let is_name = tag[1..end - 1].chars().all(|next| next.is_alphanumeric() || next == '_');
    if !is_name || tag[1..].starts_with(|first: char| first.is_ascii_digit()) {
        return 1;
    }
    text[end..].find(tag).map_or(text.len(), |close| end + close + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semicolon_inside_quotes_does_not_end_a_statement() {
        let statements = [
            "select ';', \"a;b\", E'\\';', 'it''s;'",
            "create function f() returns int language plpgsql as $$ begin return 1; end $$",
            "create function g() returns int language sql as $a_1$ select 1; $$ ; $a_1$",
            "create function h() returns int language sql\n  begin atomic select case when true then 1 end; select 2; end",
            "select $1 /* ; /* ; */ ; */ -- ;\n + 1",
            "comment on function keyed.f(text) is 'é; ö'",
        ];
        let script = statements.join(";\n-- A comment; with a semicolon.\n/* another; one */\n");
        assert_eq!(split(&script), statements);
        assert_eq!(split(&format!("{script};\n\n")), statements);
        assert!(split(" -- nothing\n /* at all */ ;").is_empty());
    }
}
