//! Finds the ends of the elements of a JSON array. The database parses the elements.

use super::pending::Pending;
use crate::file::chunk::Defect;

/// The state of the scan.
#[derive(Default)]
pub(super) struct ArrayScan {
    stage: Stage,
    /// The nesting depth within the element.
    depth: usize,
    is_in_string: bool,
    /// Whether the previous byte is a backslash in a string.
    is_escaped: bool,
    /// Whether a string of the element contains a line break.
    has_break: bool,
    /// Whether the last element ended with a comma, so that another must follow.
    is_comma_last: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// The array has not begun.
    #[default]
    Before,
    /// Before an element.
    Between,
    /// In an element.
    Element,
    /// The array has ended.
    After,
    /// Text follows the array.
    Trailing,
}

impl ArrayScan {
    /// Whether the array has ended.
    pub(super) fn is_complete(&self) -> bool {
        self.stage == Stage::After
    }

    /// Whether text follows the array.
    pub(super) fn has_trailing_text(&self) -> bool {
        self.stage == Stage::Trailing
    }

    /// Scans the new text.
    pub(super) fn scan(&mut self, pending: &mut Pending) {
        while pending.seen < pending.text.len() && self.stage != Stage::Trailing {
            if self.is_in_string && !self.is_escaped {
                // Skips the bytes of a string.
                let rest = &pending.text.as_bytes()[pending.seen..];
                let skipped = memchr::memchr3(b'"', b'\\', b'\n', rest).unwrap_or(rest.len());
                pending.seen += skipped;
                if skipped == rest.len() {
                    break;
                }
            }
            let at = pending.seen;
            let byte = pending.text.as_bytes()[at];
            pending.seen = at + 1;
            self.read(pending, at, byte);
            if byte == b'\n' {
                pending.line += 1;
            }
        }
        if self.stage != Stage::Element {
            pending.skip_to(pending.seen, pending.seen);
        }
    }

    fn read(&mut self, pending: &mut Pending, at: usize, byte: u8) {
        match self.stage {
            Stage::Before if byte == b'[' => self.stage = Stage::Between,
            // The text before the array is only white space.
            Stage::Before | Stage::Trailing => {}
            Stage::After if byte.is_ascii_whitespace() => {}
            Stage::After => self.stage = Stage::Trailing,
            Stage::Between if byte.is_ascii_whitespace() => {}
            Stage::Between if byte == b',' || byte == b']' => {
                if byte == b',' || self.is_comma_last {
                    begin(pending, at);
                    pending.end_row(at, at + 1, Some(Defect::Missing));
                }
                self.separate(byte);
            }
            Stage::Between => {
                begin(pending, at);
                self.stage = Stage::Element;
                self.has_break = false;
                self.read_element(pending, at, byte);
            }
            Stage::Element => self.read_element(pending, at, byte),
        }
    }

    fn read_element(&mut self, pending: &mut Pending, at: usize, byte: u8) {
        if self.is_in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_in_string = false,
                _ => {}
            }
            self.has_break |= byte == b'\n';
            return;
        }
        match byte {
            b'"' => self.is_in_string = true,
            b'{' | b'[' => self.depth += 1,
            b',' | b']' if self.depth == 0 => {
                let length = pending.text.as_bytes()[pending.start..at].trim_ascii_end().len();
                let defect = self.has_break.then_some(Defect::LineBreak);
                pending.end_row(pending.start + length, at + 1, defect);
                self.separate(byte);
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// Handles a comma or the closing bracket.
    fn separate(&mut self, byte: u8) {
        self.is_comma_last = byte == b',';
        self.stage = if self.is_comma_last { Stage::Between } else { Stage::After };
    }
}

/// Begins an element.
fn begin(pending: &mut Pending, at: usize) {
    pending.skip_to(at, at);
    pending.start_line = pending.line;
}
