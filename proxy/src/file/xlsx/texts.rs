//! The shared strings, concatenated. Cells refer to them by index.

use quick_xml::events::Event;

use super::error::PartError;
use super::xml::Xml;

/// The maximum number of shared strings.
const MAX_TEXTS: usize = 4_000_000;

#[derive(Default)]
pub(super) struct Texts {
    all: String,
    /// The end of each string.
    ends: Vec<u32>,
}

impl Texts {
    /// Reads the part, whose size limit is below 4 GiB.
    pub(super) fn read(mut xml: Xml<'_>) -> Result<Texts, PartError> {
        let mut texts = Texts::default();
        loop {
            let is_text = match xml.next()? {
                Event::Start(element) => element.local_name().as_ref() == "si",
                Event::Eof => return Ok(texts),
                _ => false,
            };
            if is_text {
                if texts.ends.len() >= MAX_TEXTS {
                    return Err(PartError::Size);
                }
                xml.rich_text(&mut texts.all)?;
                texts.ends.push(u32::try_from(texts.all.len()).map_err(|_| PartError::Size)?);
            }
        }
    }

    pub(super) fn get(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)? as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        Some(&self.all[start..end])
    }
}
