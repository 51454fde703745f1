//! The shared strings, concatenated. Cells refer to them by index.

use quick_xml::events::Event;

use super::error::PartError;
use super::xml::Xml;

/// The maximum number of shared strings.
const MAX_STRINGS: usize = 4_000_000;

#[derive(Default)]
pub(super) struct SharedStrings {
    all: String,
    /// The end of each string.
    ends: Vec<u32>,
}

impl SharedStrings {
    /// Reads the part, whose size limit is below 4 GiB.
    pub(super) fn read(mut xml: Xml<'_>) -> Result<SharedStrings, PartError> {
        let mut shared_strings = SharedStrings::default();
        loop {
            let is_text = match xml.next()? {
                Event::Start(element) => element.local_name().as_ref() == "si",
                Event::Eof => return Ok(shared_strings),
                _ => false,
            };
            if is_text {
                if shared_strings.ends.len() >= MAX_STRINGS {
                    return Err(PartError::Size);
                }
                xml.rich_text(&mut shared_strings.all)?;
                shared_strings
                    .ends
                    .push(u32::try_from(shared_strings.all.len()).map_err(|_| PartError::Size)?);
            }
        }
    }

    pub(super) fn get(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)? as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        Some(&self.all[start..end])
    }
}
