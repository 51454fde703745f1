//! How texts and names become part of a statement: the only two ways, both pure.

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
    }
}
