//! JSON text → the stored form of `jsonb`, and the names in it. Pure.
//!
//! `jsonb_in` parses text into a tree in PostgreSQL's memory and converts that. JSON that this crate wrote needs less work:
//! `jsonb_in` took 21,000 of the 576,000 instructions of an upsert. Rare forms (Unicode escapes, exponents, long numbers,
//! deep nesting, long input) and invalid JSON return `None`, and the caller uses `jsonb_in`.
//!
//! A container is a header with the number of its members, an entry for each name and each value, then their contents. An
//! entry has a type and the length of its content. Every 32nd entry has the end offset of its content instead of the
//! length, so that a reader adds at most 31 lengths. Source: `src/include/utils/jsonb.h` of PostgreSQL.

mod layout;
mod names;
mod number;
#[cfg(test)]
mod tests;

use layout::{
    CONTAINER, FALSE, IS_ARRAY, IS_END, IS_OBJECT, IS_SCALAR, NULL, NUMBER, NUMERIC, SIZE, STRIDE, STRING,
    TRUE, VARLENA_HEADER, varlena_header,
};
pub use names::names;
use std::borrow::Cow;

/// The maximum size of JSON that is converted. The parsed values take up to 40 times this size, and a failed allocation in
/// Rust would end the server process. Because of this limit, the conversion needs no check for interrupts.
const MAX_TEXT: usize = 256 << 10;
/// The maximum depth of containers, which are parsed recursively.
const MAX_DEPTH: usize = 32;

/// A parsed value.
enum Value<'a> {
    Null,
    Bool(bool),
    Number(&'a str),
    String(Cow<'a, str>),
    Array(Vec<Value<'a>>),
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

/// The `jsonb` of a JSON text, with the header of a variable-length value; `None` if `jsonb_in` must decide.
pub fn to_jsonb(json: &str) -> Option<Vec<u8>> {
    if json.len() > MAX_TEXT {
        return None;
    }
    let mut parser = Parser { text: json, at: 0, depth: 0 };
    let value = parser.value()?;
    parser.skip_space();
    if parser.at != json.len() {
        return None;
    }
    let mut out = Vec::with_capacity(json.len() + json.len() / 2 + 32);
    out.resize(VARLENA_HEADER, 0);
    match &value {
        Value::Array(_) | Value::Object(_) => {
            write_value(&mut out, &value)?;
        }
        scalar => write_array(&mut out, std::slice::from_ref(scalar), IS_SCALAR)?,
    }
    let header = varlena_header(out.len());
    out[..VARLENA_HEADER].copy_from_slice(&header);
    Some(out)
}

/// Appends a value and returns its entry with its length, which includes padding before it.
fn write_value(out: &mut Vec<u8>, value: &Value) -> Option<u32> {
    let begin = out.len();
    let kind = match value {
        Value::Null => return Some(NULL),
        Value::Bool(false) => return Some(FALSE),
        Value::Bool(true) => return Some(TRUE),
        Value::String(text) => {
            out.extend_from_slice(text.as_bytes());
            STRING
        }
        Value::Number(digits) => {
            align(out);
            number::write(out, digits)?;
            NUMERIC
        }
        Value::Array(elements) => {
            align(out);
            write_array(out, elements, 0)?;
            CONTAINER
        }
        Value::Object(members) => {
            align(out);
            write_object(out, members)?;
            CONTAINER
        }
    };
    Some(kind | (out.len() - begin) as u32)
}

fn write_array(out: &mut Vec<u8>, elements: &[Value], flags: u32) -> Option<()> {
    let mut entries = Entries::begin(out, IS_ARRAY | flags, elements.len(), elements.len());
    for element in elements {
        let entry = write_value(out, element)?;
        entries.set(out, entry);
    }
    Some(())
}

fn write_object(out: &mut Vec<u8>, members: &[(Cow<str>, Value)]) -> Option<()> {
    let mut entries = Entries::begin(out, IS_OBJECT, members.len(), 2 * members.len());
    for (name, _) in members {
        out.extend_from_slice(name.as_bytes());
        entries.set(out, STRING | name.len() as u32);
    }
    for (_, value) in members {
        let entry = write_value(out, value)?;
        entries.set(out, entry);
    }
    Some(())
}

fn align(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(SIZE), 0);
}

/// The entries of a container under construction.
struct Entries {
    /// The offset of the first entry in the output.
    begin: usize,
    /// The number of entries set.
    count: usize,
    /// The total length of their contents.
    total: u32,
}

impl Entries {
    /// Appends a header with the number of members, and space for the entries.
    fn begin(out: &mut Vec<u8>, flags: u32, members: usize, entries: usize) -> Entries {
        out.extend_from_slice(&(flags | members as u32).to_ne_bytes());
        let begin = out.len();
        out.resize(begin + entries * SIZE, 0);
        Entries { begin, count: 0, total: 0 }
    }

    fn set(&mut self, out: &mut [u8], entry: u32) {
        self.total += entry & NUMBER;
        let is_end = self.count.is_multiple_of(STRIDE);
        let entry = if is_end { (entry & !NUMBER) | self.total | IS_END } else { entry };
        let at = self.begin + self.count * SIZE;
        out[at..at + SIZE].copy_from_slice(&entry.to_ne_bytes());
        self.count += 1;
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips space and then this byte, if it is next.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Option<Value<'a>> {
        self.text[self.at..].starts_with(word).then(|| self.at += word.len())?;
        Some(value)
    }

    fn value(&mut self) -> Option<Value<'a>> {
        self.skip_space();
        match self.peek()? {
            b'"' => self.string().map(Value::String),
            b'{' => self.container(Self::object),
            b'[' => self.container(Self::array),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'n' => self.word("null", Value::Null),
            _ => None,
        }
    }

    fn container(&mut self, parse: fn(&mut Self) -> Option<Value<'a>>) -> Option<Value<'a>> {
        self.at += 1;
        self.depth += 1;
        let value = if self.depth > MAX_DEPTH { None } else { parse(self) };
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Option<Value<'a>> {
        let mut elements = Vec::new();
        if !self.take(b']') {
            loop {
                elements.push(self.value()?);
                if !self.take(b',') {
                    break;
                }
            }
            self.take(b']').then_some(())?;
        }
        Some(Value::Array(elements))
    }

    fn object(&mut self) -> Option<Value<'a>> {
        let mut members = Vec::new();
        if !self.take(b'}') {
            loop {
                self.skip_space();
                let name = self.string()?;
                self.take(b':').then_some(())?;
                members.push((name, self.value()?));
                if !self.take(b',') {
                    break;
                }
            }
            self.take(b'}').then_some(())?;
        }
        let order = |name: &Cow<str>, other: &Cow<str>| {
            name.len().cmp(&other.len()).then_with(|| name.as_bytes().cmp(other.as_bytes()))
        };
        members.sort_unstable_by(|(name, _), (other, _)| order(name, other));
        // With duplicate names, the last one would win.
        let is_unique = members.windows(2).all(|pair| pair[0].0 != pair[1].0);
        is_unique.then_some(Value::Object(members))
    }

    fn number(&mut self) -> Option<Value<'a>> {
        let begin = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let whole = self.digits();
        let has_leading_zero = self.text.as_bytes()[self.at - whole..].starts_with(b"0") && whole > 1;
        if whole == 0 || has_leading_zero {
            return None;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return None;
            }
        }
        // An exponent, or not a number.
        if matches!(self.peek(), Some(b'e' | b'E')) {
            return None;
        }
        Some(Value::Number(&self.text[begin..self.at]))
    }

    fn digits(&mut self) -> usize {
        let begin = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - begin
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            return None;
        }
        self.at += 1;
        let mut plain = self.at;
        let mut unescaped = String::new();
        let bytes = self.text.as_bytes();
        loop {
            match *bytes.get(self.at)? {
                b'"' => break,
                b'\\' => {
                    unescaped.push_str(&self.text[plain..self.at]);
                    unescaped.push(match bytes.get(self.at + 1)? {
                        byte @ (b'"' | b'\\' | b'/') => char::from(*byte),
                        b'n' => '\n',
                        b'r' => '\r',
                        b't' => '\t',
                        b'b' => '\u{8}',
                        b'f' => '\u{c}',
                        _ => return None,
                    });
                    self.at += 2;
                    plain = self.at;
                }
                0..0x20 => return None,
                _ => self.at += 1,
            }
        }
        let rest = &self.text[plain..self.at];
        self.at += 1;
        if unescaped.is_empty() {
            return Some(Cow::Borrowed(rest));
        }
        unescaped.push_str(rest);
        Some(Cow::Owned(unescaped))
    }
}
