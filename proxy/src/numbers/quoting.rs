//! Quotes the numbers of values in JSON. Pure.

/// The members whose numbers are values of records, at any depth.
const VALUES: [&[u8]; 4] = [b"attributes", b"attribute_values", b"changes", b"value"];
/// Members whose own members are named after attributes or keys, which may equal one of these names.
const BY_ATTRIBUTE: [&[u8]; 3] = [b"facets", b"highlights", b"records"];
/// Longer names are not among them.
const MAX_PER_NAME: usize = 16;

/// Quotes the numbers of values in valid JSON, which may arrive in pieces: `{"attributes":{"price":1.50}}` becomes
/// `{"attributes":{"price":"1.50"}}`. All other bytes are unchanged.
#[derive(Default)]
pub(super) struct Quoting {
    levels: Vec<Level>,
    position: Position,
    /// The beginning of the current name.
    name: Vec<u8>,
}

/// An open object or array.
struct Level {
    is_object: bool,
    /// Whether all numbers in it are values.
    has_values: bool,
    /// Whether the numbers of the current member are values.
    member_has_values: bool,
    /// Whether a name comes next.
    is_before_name: bool,
    /// Whether its members are named after attributes.
    is_by_attribute: bool,
}

#[derive(Clone, Copy, Default)]
enum Position {
    #[default]
    Between,
    Text {
        is_name: bool,
        is_escaped: bool,
    },
    /// A number whose opening quotation mark has been written.
    Number,
}

impl Quoting {
    /// Converts the next piece.
    pub(super) fn write(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        out.reserve(piece.len() + piece.len() / 8);
        for byte in piece.iter().copied() {
            self.step(byte, out);
        }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.position {
            Position::Text { is_name, is_escaped } => {
                self.position = match byte {
                    b'"' if !is_escaped => Position::Between,
                    _ => Position::Text { is_name, is_escaped: byte == b'\\' && !is_escaped },
                };
                if is_name {
                    self.read_name(byte);
                }
            }
            Position::Number if matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') => {}
            Position::Number => {
                out.push(b'"');
                self.position = Position::Between;
                self.between(byte, out);
            }
            Position::Between => self.between(byte, out),
        }
        out.push(byte);
    }

    fn read_name(&mut self, byte: u8) {
        if matches!(self.position, Position::Text { .. }) {
            if self.name.len() <= MAX_PER_NAME {
                self.name.push(byte);
            }
        } else if let Some(level) = self.levels.last_mut() {
            let is_value = !level.is_by_attribute && VALUES.contains(&self.name.as_slice());
            level.member_has_values = level.has_values || is_value;
        }
    }

    fn between(&mut self, byte: u8, out: &mut Vec<u8>) {
        match (byte, self.levels.last_mut()) {
            (b'"', level) => {
                self.name.clear();
                let is_name = level.is_some_and(|level| level.is_object && level.is_before_name);
                self.position = Position::Text { is_name, is_escaped: false };
            }
            (b'{' | b'[', level) => {
                let has_values = level.is_some_and(|level| level.member_has_values);
                let is_object = byte == b'{';
                let is_by_attribute = is_object && BY_ATTRIBUTE.contains(&self.name.as_slice());
                self.name.clear();
                self.levels.push(Level {
                    is_object,
                    has_values,
                    member_has_values: has_values,
                    is_before_name: true,
                    is_by_attribute,
                });
            }
            (b'}' | b']', _) => {
                self.levels.pop();
            }
            (b':', Some(level)) => level.is_before_name = false,
            (b',', Some(level)) => level.is_before_name = true,
            (b'-' | b'0'..=b'9', Some(level)) if level.member_has_values => {
                out.push(b'"');
                self.position = Position::Number;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quoted(pieces: &[&[u8]]) -> String {
        let (mut quoting, mut out) = (Quoting::default(), Vec::new());
        pieces.iter().for_each(|piece| quoting.write(piece, &mut out));
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn only_numbers_of_values_are_quoted() {
        for (text, expected) in [
            (
                r#"{"total":3,"attributes":{"n":12345678901234567890.05,"z":null,"b":true,"t":"1, 2"}}"#,
                r#"{"total":3,"attributes":{"n":"12345678901234567890.05","z":null,"b":true,"t":"1, 2"}}"#,
            ),
            (
                r#"{"attributes": {"l": [-1, 2e-7], "company": {"n": 0}}, "count": 1}"#,
                r#"{"attributes": {"l": ["-1", "2e-7"], "company": {"n": "0"}}, "count": 1}"#,
            ),
            (
                r#"{"facets":{"value":[{"value":1.0,"count":2}]},"attributes":{"facets":1}}"#,
                r#"{"facets":{"value":[{"value":"1.0","count":2}]},"attributes":{"facets":"1"}}"#,
            ),
            (
                r#"{"facets":{"n":[{"value":1.0,"count":2}]},"similarity_score":0.5}"#,
                r#"{"facets":{"n":[{"value":"1.0","count":2}]},"similarity_score":0.5}"#,
            ),
            (r#"{"note":"\"attributes\":{","n":1}"#, r#"{"note":"\"attributes\":{","n":1}"#),
            (
                "{\"attributes\":{\"a\":1}}\n{\"attributes\":{\"a\":2}}\n",
                "{\"attributes\":{\"a\":\"1\"}}\n{\"attributes\":{\"a\":\"2\"}}\n",
            ),
            ("17", "17"),
            ("", ""),
        ] {
            assert_eq!(quoted(&[text.as_bytes()]), expected);
        }
    }

    proptest! {
        #[test]
        fn quoting_does_not_depend_on_chunk_size(text in r#"[{}\[\],:"\\0-9.eE a-z-]{0,40}|(\{"value":-?[0-9]{1,3}\}){1,3}"#, at in 0..40_usize) {
            let at = at.min(text.len());
            let (first, rest) = text.as_bytes().split_at(at);
            prop_assert_eq!(quoted(&[first, rest]), quoted(&[text.as_bytes()]));
        }
    }
}
