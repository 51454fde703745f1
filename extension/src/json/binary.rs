//! JSON text → the stored form of `jsonb`, and the names in it: pure.
//!
//! `jsonb_in` parses a text into a tree of PostgreSQL's memory and converts that. Texts that this crate wrote need less: an
//! upsert of one record spent 21,000 of 576,000 instructions in it. What is rare (escapes by code point, exponents, long
//! numbers, deep nesting, long texts) yields `None` and is left to `jsonb_in`, and so is everything that is not JSON.
//!
//! A container is a header with the number of its members, an entry for each name and each value, then their contents. An
//! entry has a type and the length of its content. Every 32nd has the end of its content in place of the length, so that a
//! reader adds at most 31 lengths. Source: `src/include/utils/jsonb.h` of PostgreSQL.

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

/// The size of the longest text that is converted. The parsed values of a text take up to 40 times its size, in memory that the
/// server cannot refuse; this is also why the conversion needs no check for interrupts.
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

/// The entries of a container that is being written.
struct Entries {
    /// The position of the first in the output.
    begin: usize,
    /// How many are set.
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
        // Of equal names the last would win.
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
        // An exponent, or what is not a number.
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
