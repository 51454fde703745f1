//! Tests of parsing, reading, writing and suggestions.

mod rejections;
mod round_trips;
mod suggestions;

use super::Format;
use crate::attribute_type::{AttributeType, Rules};
use crate::error::Error;
use crate::value::zone::Zone;
use serde_json::value::RawValue;

/// Parses a format.
fn parse(text: &str) -> Result<Format, Error> {
    Format::parse(serde_json::from_str::<&RawValue>(text).expect("JSON"), "/format")
}

/// A valid format.
fn format(text: &str) -> Format {
    parse(text).expect(text)
}

/// The canonical cell, or the error with its hint.
fn read(format: &Format, kind: AttributeType, cell: &str, zone: &dyn Zone) -> Result<String, String> {
    let read = format.read(kind, cell, zone, "/attributes/a");
    read.map(Into::into).map_err(|error| {
        assert!(error.violations.iter().all(|violation| violation.pointer == "/attributes/a"), "{error:?}");
        format!("{error} {}", error.hint.clone().unwrap_or_default())
    })
}

/// Rules of an attribute without settings.
fn rules() -> Rules<'static> {
    Rules { pointer: "/attributes/a", ..Rules::default() }
}

/// Whether a cell is rejected with a message that contains these words.
fn is_rejected(read: &Result<String, String>, words: &[&str]) -> bool {
    read.as_ref().is_err_and(|error| words.iter().all(|word| error.contains(word)))
}
