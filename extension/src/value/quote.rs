//! Quoting of literals and identifiers for SQL: the only two functions for it, both pure.

/// The one way in which a text becomes part of a statement.
pub fn literal(text: &str) -> String {
    let escape = if text.contains('\\') { "E" } else { "" };
    format!("{escape}'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// The one way in which a name becomes part of a statement where it might need quotes.
pub fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_literal_cannot_be_left() {
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal(r"\' or 1=1--"), r"E'\\'' or 1=1--'");
    }

    #[test]
    fn a_quoted_name_cannot_be_left() {
        assert_eq!(identifier(r#"a" or 1=1--"#), r#""a"" or 1=1--""#);
    }

    proptest! {
        #[test]
        fn every_quote_inside_a_literal_is_doubled(text in any::<String>()) {
            let quoted = literal(&text);
            let inner = quoted.trim_start_matches('E');
            let inner = &inner[1..inner.len() - 1];
            prop_assert_eq!(inner.replace("''", "").contains('\''), false);
        }

        #[test]
        fn a_literal_reads_back_as_postgresql_reads_it(text in "[a'\\\\\"\nE é]{0,12}") {
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
        fn a_quoted_name_reads_back(name in any::<String>()) {
            let quoted = identifier(&name);
            let inner = &quoted[1..quoted.len() - 1];
            prop_assert!(!inner.replace("\"\"", "").contains('"'));
            prop_assert_eq!(inner.replace("\"\"", "\""), name);
        }
    }
}
