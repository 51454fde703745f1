//! Detects the delimiter: from a line `sep=;`, otherwise as the most frequent candidate in the header.

use crate::problem::Problem;

const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The first line that is not empty.
fn first_line(text: &str) -> &str {
    text.trim_start_matches(['\n', '\r']).split(['\n', '\r']).next().unwrap_or_default()
}

/// The delimiter in a line `sep=;`, which spreadsheet programs write before the header.
pub(crate) fn named(line: &str) -> Option<u8> {
    let line = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap_or(line);
    let (name, delimiter) = line.split_at_checked(4)?;
    match delimiter.as_bytes() {
        [byte] if name.eq_ignore_ascii_case("sep=") && is_delimiter(*byte) => Some(*byte),
        _ => None,
    }
}

/// Whether a byte can be a delimiter.
pub(crate) fn is_delimiter(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !matches!(byte, b'"' | b'\n' | b'\r')
}

/// Parses the delimiter of a request.
pub(crate) fn parse_delimiter(text: &str) -> Result<u8, Problem> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if is_delimiter(*byte) => Ok(*byte),
        _ => Err(Problem::invalid_value(
            "the query parameter \"delimiter\" must be one ASCII character other than a letter, digit or quote, or the word tab",
        )),
    }
}

/// Detects the delimiter from the first line. For a file with one column, it does not matter.
pub(crate) fn delimiter(text: &str) -> u8 {
    if let Some(named) = named(first_line(text)) {
        return named;
    }
    let mut counts = [0_usize; CANDIDATES.len()];
    let mut is_quoted = false;
    for byte in text.bytes() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            // Empty lines before the header are skipped.
            b'\n' | b'\r' if !is_quoted && counts.iter().any(|count| *count > 0) => break,
            _ if !is_quoted => {
                if let Some(candidate) = CANDIDATES.iter().position(|candidate| *candidate == byte) {
                    counts[candidate] += 1;
                }
            }
            _ => {}
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let first = counts.iter().position(|count| *count == most).unwrap_or(0);
    CANDIDATES[first]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn header_determines_the_delimiter() {
        for (text, expected) in [
            ("a,b,c\n1;2;3;4;5", b','),
            ("a;b\n\"1,5\";2", b';'),
            ("a\tb\r\n1\t2", b'\t'),
            ("\"x,y,z\"|b\n", b'|'),
            ("\"a\nb,c\";d", b';'),
            ("alone", b','),
            ("", b','),
        ] {
            assert_eq!(delimiter(text), expected, "{text:?}");
        }
    }

    #[test]
    fn first_line_may_name_the_delimiter() {
        for (text, expected) in [
            ("sep=;\na,b,c;d\n", b';'),
            ("\r\nSEP=|\r\na,b\n", b'|'),
            ("sep=\t\na,b", b'\t'),
            ("\"sep=;\"\na,b", b';'),
            ("sep=^", b'^'),
            // These lines are headers.
            ("sep=;x\n", b';'),
            ("sep=\na,b", b','),
            ("sep=a\n", b','),
            ("sep=\"\n", b','),
            ("step=,;\n1;2", b','),
            ("é=é;\n", b';'),
        ] {
            assert_eq!(delimiter(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_known_delimiter(text in any::<String>()) {
            prop_assert!(is_delimiter(delimiter(&text)));
        }

        #[test]
        fn delimiter_is_detected_in_any_header(
            names in prop::collection::vec("[a-zé ]{1,5}|\"[a,;|\\n]{0,5}\"", 2..8),
            expected in prop::sample::select(CANDIDATES.to_vec()),
            rest in "[a,;|]{0,20}",
        ) {
            let header = names.join(&char::from(expected).to_string());
            prop_assert_eq!(delimiter(&format!("{header}\n{rest}")), expected);
        }
    }
}
