//! An XML part → events, in bounded memory: the size of the part, of an event and of a name, and the nesting depth are limited.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::error::PartError;

/// The maximum size of an event and of a text.
pub(super) const MAX_EVENT_BYTES: u64 = 4 << 20;
/// The maximum size of an element name. The parser stores the names of all open elements.
const MAX_NAME_BYTES: usize = 200;
const MAX_DEPTH: usize = 200;

/// The number of events between two checks whether the caller is gone.
const EVENTS_BETWEEN: u32 = 4096;

/// A part that is being read.
pub(super) struct Xml<'a> {
    reader: Reader<Counted<BufReader<Box<dyn Read + 'a>>>>,
    buffer: Vec<u8>,
    depth: usize,
    events: u32,
    /// Returns false when the caller is gone.
    should_continue: &'a dyn Fn() -> bool,
}

impl<'a> Xml<'a> {
    /// A reader of at most `max_bytes` bytes of a part.
    pub(super) fn new(
        part: Box<dyn Read + 'a>,
        max_bytes: u64,
        should_continue: &'a dyn Fn() -> bool,
    ) -> Xml<'a> {
        let part = BufReader::with_capacity(32 << 10, part);
        let mut reader =
            Reader::from_reader(Counted { inner: part, part: max_bytes, event: MAX_EVENT_BYTES });
        reader.config_mut().expand_empty_elements = true;
        Xml { reader, buffer: Vec::new(), depth: 0, events: 0, should_continue }
    }

    pub(super) fn next(&mut self) -> Result<Event<'_>, PartError> {
        self.events += 1;
        if self.events >= EVENTS_BETWEEN {
            self.events = 0;
            if !(self.should_continue)() {
                return Err(PartError::Cancelled);
            }
        }
        self.buffer.clear();
        self.reader.get_mut().event = MAX_EVENT_BYTES;
        let event = self.reader.read_event_into(&mut self.buffer).map_err(part_error)?;
        match &event {
            Event::Start(start) => {
                self.depth += 1;
                if self.depth > MAX_DEPTH || start.name().as_ref().len() > MAX_NAME_BYTES {
                    return Err(PartError::Size);
                }
            }
            Event::End(_) => self.depth = self.depth.saturating_sub(1),
            Event::Eof if self.depth > 0 => return Err(PartError::Form),
            _ => {}
        }
        Ok(event)
    }

    /// The number of open elements.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Reads the rest of the part, which verifies its checksum.
    pub(super) fn finish(mut self) -> Result<(), PartError> {
        while self.next()? != Event::Eof {}
        Ok(())
    }

    /// Skips the rest of the current element.
    pub(super) fn skip(&mut self) -> Result<(), PartError> {
        let outside = self.depth - 1;
        while self.depth > outside {
            self.next()?;
        }
        Ok(())
    }

    /// Appends the text of the current element.
    pub(super) fn text(&mut self, text: &mut String) -> Result<(), PartError> {
        let (outside, before) = (self.depth - 1, text.len());
        while self.depth > outside {
            match self.next()? {
                Event::Text(part) => text.push_str(&part.xml10_content()),
                Event::CData(part) => text.push_str(&part.xml10_content()),
                Event::GeneralRef(name) => match name.resolve_char_ref().map_err(part_error)? {
                    Some(character) => text.push(character),
                    None => {
                        text.push_str(
                            &unescape(&format!("&{};", name.as_ref())).map_err(|_| PartError::Form)?,
                        );
                    }
                },
                _ => {}
            }
            if (text.len() - before) as u64 > MAX_EVENT_BYTES {
                return Err(PartError::Size);
            }
        }
        Ok(())
    }

    /// Appends the text of the current rich-text element: its runs, without phonetic readings.
    pub(super) fn rich_text(&mut self, text: &mut String) -> Result<(), PartError> {
        let (outside, before) = (self.depth - 1, text.len());
        while self.depth > outside {
            let (is_run, keeps_spaces, is_reading) = match self.next()? {
                Event::Start(start) => match start.local_name().as_ref() {
                    "t" => (true, attribute(&start, "space")?.as_deref() == Some("preserve"), false),
                    name => (false, false, name == "rPh"),
                },
                _ => (false, false, false),
            };
            if is_reading {
                self.skip()?;
            }
            if !is_run {
                continue;
            }
            let start = text.len();
            self.text(text)?;
            if !keeps_spaces || text[start..].contains("_x") {
                let own = text.split_off(start);
                let trimmed = if keeps_spaces { &own } else { own.trim_matches([' ', '\t', '\r', '\n']) };
                text.push_str(&unescaped(trimmed));
            }
            if (text.len() - before) as u64 > MAX_EVENT_BYTES {
                return Err(PartError::Size);
            }
        }
        Ok(())
    }
}

/// The value of an attribute, whatever its prefix.
pub(super) fn attribute<'e>(
    element: &'e BytesStart<'_>,
    name: &str,
) -> Result<Option<Cow<'e, str>>, PartError> {
    // The check for duplicate attributes takes quadratic time.
    for attribute in element.attributes().with_checks(false) {
        let attribute = attribute.map_err(|_| PartError::Form)?;
        if attribute.key.local_name().as_ref() == name {
            let value = match attribute.value {
                Cow::Borrowed(value) => unescape(value),
                Cow::Owned(value) => unescape(&value).map(|value| Cow::Owned(value.into_owned())),
            };
            return value.map(Some).map_err(|_| PartError::Form);
        }
    }
    Ok(None)
}

/// Decodes characters that XML does not allow, which are written as `_x000D_`.
pub(super) fn unescaped(text: &str) -> String {
    let (mut units, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find("_x") {
        let number =
            rest.get(at + 2..at + 6).filter(|digits| digits.bytes().all(|it| it.is_ascii_hexdigit()));
        let is_whole = rest.get(at + 6..at + 7) == Some("_");
        match number.filter(|_| is_whole).and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
            Some(unit) => {
                units.extend(rest[..at].encode_utf16());
                units.push(unit);
                rest = &rest[at + 7..];
            }
            None => {
                units.extend(rest[..at + 2].encode_utf16());
                rest = &rest[at + 2..];
            }
        }
    }
    units.extend(rest.encode_utf16());
    String::from_utf16_lossy(&units)
}

fn part_error(error: quick_xml::Error) -> PartError {
    match error {
        quick_xml::Error::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => PartError::Size,
        _ => PartError::Form,
    }
}

/// A reader of a limited number of bytes.
struct Counted<R> {
    inner: R,
    part: u64,
    event: u64,
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let max_bytes = self.part.min(self.event);
        let chunk = self.inner.fill_buf()?;
        if max_bytes == 0 && !chunk.is_empty() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(&chunk[..chunk.len().min(usize::try_from(max_bytes).unwrap_or(usize::MAX))])
    }

    fn consume(&mut self, bytes: usize) {
        self.inner.consume(bytes);
        self.part = self.part.saturating_sub(bytes as u64);
        self.event = self.event.saturating_sub(bytes as u64);
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_characters_are_read() {
        for (escaped, text) in [
            ("", ""),
            ("plain", "plain"),
            ("a_x000D_b", "a\rb"),
            ("_x005F_x0041_", "_x0041_"),
            ("_xD83D__xDE00_", "😀"),
            ("_xD83D_", "\u{fffd}"),
            ("_x00_x_xyz", "_x00_x_xyz"),
            ("_x00é_", "_x00é_"),
        ] {
            assert_eq!(unescaped(escaped), text, "{escaped}");
        }
    }
}
