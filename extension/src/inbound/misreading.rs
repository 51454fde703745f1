//! Detects paths that jsonpath parses in an unintended way: names with a hyphen, names in brackets, and variables. PostgreSQL
//! accepts most of them, and deliveries would then fail or write wrong values.

/// The reason for rejecting a path, and the correct form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misreading {
    /// A fragment.
    pub message: String,
    /// A sentence.
    pub hint: String,
}

/// A part of a path that is misread.
enum Found<'a> {
    /// A name with hyphens, which jsonpath parses as minus signs.
    Hyphens(&'a str),
    /// A string in brackets, where jsonpath expects an array index.
    Bracketed(&'a str),
}

/// The misreading of a path in its written form.
pub fn of_written(path: &str) -> Option<Misreading> {
    let found = scan(path);
    let (_, first) = found.first()?;
    let (message, difference) = match first {
        Found::Hyphens(name) => (
            format!("in the path {path}, the hyphen in {name} is a minus sign"),
            is_difference(name).then(|| name.replacen('-', " - ", 1)),
        ),
        Found::Bracketed(_) => {
            (format!("in the path {path}, brackets contain a string instead of an array index"), None)
        }
    };
    let hint = match (rewritten(path, &found), difference) {
        (Some(quoted), Some(difference)) => {
            format!("Write {quoted} for a member of that name, or spaces around a minus: {difference}.")
        }
        (Some(quoted), None) => format!("Write {quoted}."),
        (None, _) => {
            "A path can select only one member: write its name in double quotes, such as $.\"first name\"."
                .to_owned()
        }
    };
    Some(Misreading { message, hint })
}

/// The misreading of a path in PostgreSQL's output format: a variable. Mappings have no variables.
pub fn of_canonical(path: &str, canonical: &str) -> Option<Misreading> {
    let (mut at, bytes) = (0, canonical.as_bytes());
    while let Some(byte) = bytes.get(at) {
        match (byte, bytes.get(at + 1)) {
            (b'$', Some(b'"')) => {
                let quoted = &canonical[at + 1..after_text(canonical, at + 1)];
                return Some(Misreading {
                    message: format!(
                        "the path {path} refers to the variable {quoted}, and a mapping has no variables"
                    ),
                    hint: format!("Write $.{quoted} for a member of the item."),
                });
            }
            (b'"', _) => at = after_text(canonical, at),
            _ => at += 1,
        }
    }
    None
}

/// The hint for a path that PostgreSQL cannot parse.
pub fn hint_of_unreadable(path: &str) -> String {
    let general = "Paths are PostgreSQL's jsonpath, for example $.customer.name or $.lines[*].sku. Put a name with other \
                   characters than letters, digits and _ in double quotes: $.\"first name\".";
    match path.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '-' | ' '))
        && !path.trim().is_empty()
    {
        true if path.chars().all(is_of_name) => format!("Write $.{path}. {general}"),
        true => format!("Write $.\"{path}\". {general}"),
        false => general.to_owned(),
    }
}

/// All misread parts of a path, with their byte ranges.
fn scan(path: &str) -> Vec<(std::ops::Range<usize>, Found<'_>)> {
    let bytes = path.as_bytes();
    let (mut found, mut brackets, mut before, mut at) = (Vec::new(), Vec::new(), 0, 0);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'"' | b'\'' => {
                at = after_text(path, start);
                let is_closed = at > start + 1 && bytes[at - 1] == byte;
                if let Some(&(b'[', open)) = brackets.last()
                    && matches!(before, b'[' | b',')
                    && is_closed
                {
                    found.push((open..at, Found::Bracketed(&path[start + 1..at - 1])));
                }
            }
            b'(' | b'[' | b'{' => brackets.push((byte, start)),
            b')' | b']' | b'}' => {
                brackets.pop();
                // The closing bracket belongs to the part.
                if let Some((range, Found::Bracketed(_))) = found.last_mut()
                    && byte == b']'
                    && path[range.end..start].trim().is_empty()
                {
                    range.end = at;
                }
            }
            b'.' => {
                let rest = &path[at..];
                let end = rest.find(|it: char| !is_of_name(it) && it != '-').unwrap_or(rest.len());
                let name = &rest[..end];
                let is_name = name.starts_with(|first: char| is_of_name(first) && !first.is_ascii_digit());
                at += end;
                if is_name && name.contains('-') && !name.ends_with('-') {
                    found.push((at - name.len()..at, Found::Hyphens(name)));
                }
            }
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    found
}

/// The path with each misread part as a quoted name; `None` if brackets contain several names, which a path cannot express.
fn rewritten(path: &str, found: &[(std::ops::Range<usize>, Found)]) -> Option<String> {
    let (mut out, mut kept) = (String::new(), 0);
    for (range, place) in found {
        let is_part = matches!(place, Found::Bracketed(_)) && !path[range.clone()].ends_with(']');
        if is_part || range.start < kept {
            return None;
        }
        out.push_str(&path[kept..range.start]);
        out.push_str(&match place {
            Found::Hyphens(name) => format!("\"{name}\""),
            Found::Bracketed(name) => format!(".\"{name}\""),
        });
        kept = range.end;
    }
    Some(out + &path[kept..])
}

/// Whether a name with a hyphen is a subtraction: `price-2`.
fn is_difference(name: &str) -> bool {
    name.split_once('-').is_some_and(|(_, rest)| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The position after a quoted string, or the end of the path if it is unterminated.
fn after_text(path: &str, quote: usize) -> usize {
    let bytes = path.as_bytes();
    let mut at = quote + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            byte if *byte == bytes[quote] => return at + 1,
            _ => at += 1,
        }
    }
    path.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_with_several_names_are_rejected_without_a_suggestion() {
        for path in [
            r#"$["a","b"]"#,
            r#"$['first','last']"#,
            r#"$.x["a", "b"].c"#,
            r#"$[$.a-b,"c"]"#,
            r#"$["a", $.b-c]"#,
            r#"$["a""#,
        ] {
            let misreading = of_written(path).expect("it is misread");
            assert!(
                misreading.hint.starts_with("A path can select only one member"),
                "{path}: {}",
                misreading.hint
            );
        }
        assert_eq!(of_written(r#"$["a"]"#).expect("it is misread").hint, r#"Write $."a"."#);
    }
    use proptest::prelude::*;

    #[test]
    fn misread_path_is_rejected_with_a_suggestion() {
        for (path, message, hint) in [
            ("$.first-name", "the hyphen in first-name is a minus sign", r#"Write $."first-name"."#),
            ("$.a.first-name.b[*]", "the hyphen in first-name", r#"Write $.a."first-name".b[*]."#),
            ("$.x-forwarded-for", "x-forwarded-for", r#"Write $."x-forwarded-for"."#),
            ("$.größe-alt", "größe-alt", r#"Write $."größe-alt"."#),
            (
                "$.price-2",
                "in the path $.price-2, the hyphen in price-2 is a minus sign",
                r#"Write $."price-2" for a member of that name, or spaces around a minus: price - 2."#,
            ),
            (
                "$.rows[*] ? (@.is-paid == true).first-name",
                "the hyphen in is-paid",
                r#"Write $.rows[*] ? (@."is-paid" == true)."first-name"."#,
            ),
            (r#"$["first-name"]"#, "brackets contain a string", r#"Write $."first-name"."#),
            (r#"$['first name'][0]"#, "brackets contain a string", r#"Write $."first name"[0]."#),
            (r#"$.a[ "b" ].c"#, "brackets contain a string", r#"Write $.a."b".c."#),
        ] {
            let found = of_written(path).expect(path);
            assert!(found.message.contains(message), "{path}: {}", found.message);
            assert_eq!(found.hint, hint, "{path}");
        }
    }

    #[test]
    fn valid_path_is_accepted() {
        for path in [
            "$",
            "$.id",
            r#"$."first-name""#,
            "$.price - 2",
            "$.price -2",
            "$.a.size()-1",
            "$.price-$.discount",
            "$.rows[last-1]",
            "$.rows[0 to 2].x",
            r#"$.rows[*] ? (@.kind == "a-b").name"#,
            r#"$[*] ? (@."x-y" like_regex "^a-1$")"#,
            r#""a-b""#,
            "$.n.double() * 1.5e-3",
            "$.**{2 to last}.a",
            "strict $.a.b",
        ] {
            assert_eq!(of_written(path), None, "{path}");
        }
    }

    #[test]
    fn variable_is_rejected() {
        let found = of_canonical("$id", r#"$"id""#).expect("a variable");
        assert_eq!(found.hint, r#"Write $."id" for a member of the item."#);
        assert!(of_canonical("", r#"$."a"?(@."b" == $"c")"#).is_some());
        for canonical in [r#"$."a""#, r#"$.**."$""#, r#"$?(@ == "$\"x\"")"#, r#""$\"x\"""#, "$[*]"] {
            assert_eq!(of_canonical("", canonical), None, "{canonical}");
        }
    }

    #[test]
    fn unreadable_path_has_a_hint() {
        assert!(hint_of_unreadable("customer").starts_with("Write $.customer."));
        assert!(hint_of_unreadable("first name").starts_with("Write $.\"first name\"."));
        assert!(hint_of_unreadable("$.[").starts_with("Paths are"));
        assert!(hint_of_unreadable("").starts_with("Paths are"));
    }

    proptest! {
        #[test]
        fn suggestion_is_not_misread(path in "\\$([.,\\[\\]\"'a\\-1 é@?(){}]{0,12}|\\.[a-c\\-0-9]{1,6}){0,3}|\\PC{0,20}") {
            if of_written(&path).is_some() {
                let found = scan(&path);
                let written = rewritten(&path, &found);
                prop_assert!(written.as_deref() != Some(path.as_str()));
            }
            of_canonical(&path, &path);
        }
    }
}
