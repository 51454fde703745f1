//! Quoting of SQL literals and identifiers. No other code does it. Pure.

/// Quotes a string as a literal.
pub fn literal(text: &str) -> String {
    let escape = if text.contains('\\') { "E" } else { "" };
    format!("{escape}'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// Quotes a name as an identifier.
pub fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn literal_is_escaped() {
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal(r"\' or 1=1--"), r"E'\\'' or 1=1--'");
    }

    #[test]
    fn identifier_is_escaped() {
        assert_eq!(identifier(r#"a" or 1=1--"#), r#""a"" or 1=1--""#);
    }

    proptest! {
        #[test]
        fn literal_doubles_every_quote(text in any::<String>()) {
            let quoted = literal(&text);
            let inner = quoted.trim_start_matches('E');
            let inner = &inner[1..inner.len() - 1];
            prop_assert_eq!(inner.replace("''", "").contains('\''), false);
        }

        #[test]
        fn literal_round_trips(text in "[a'\\\\\"\nE é]{0,12}") {
            let quoted = literal(&text);
            let (escapes, inner) = match quoted.strip_prefix('E') {
                Some(rest) => (true, &rest[1..rest.len() - 1]),
                None => (false, &quoted[1..quoted.len() - 1]),
            };
            let (mut read, mut characters) = (String::new(), inner.chars());
            while let Some(character) = characters.next() {
                let pair = character == '\'' || escapes && character == '\\';
                prop_assert!(!pair || characters.next() == Some(character), "{}", quoted);
                read.push(character);
            }
            prop_assert_eq!(read, text);
        }

        #[test]
        fn identifier_round_trips(name in any::<String>()) {
            let quoted = identifier(&name);
            let inner = &quoted[1..quoted.len() - 1];
            prop_assert!(!inner.replace("\"\"", "").contains('"'));
            prop_assert_eq!(inner.replace("\"\"", "\""), name);
        }
    }
}
