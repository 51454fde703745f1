//! The cells of a file: in its format, if it has one.

use super::options::Options;
use crate::attribute_type::{AttributeType, Rules};
use crate::error::Error;
use crate::format::Format;
use crate::postgres::clock::TimeZone;
use crate::search::time_zone;
use crate::value::cell_format::unguarded;
use crate::value::change::Change;
use crate::value::zone::{Utc, Zone};
use std::borrow::Cow;

/// How cells are read.
pub struct Cells<'o> {
    format: Option<&'o Format>,
    zone: Box<dyn Zone>,
}

impl<'o> Cells<'o> {
    /// Those of a file with these options.
    pub fn new(options: &'o Options) -> Result<Cells<'o>, Error> {
        let format = options.cells.as_ref();
        Ok(Cells { format, zone: zone_of(format)? })
    }

    /// Reads what a cell does to an attribute.
    pub fn change<'c>(&self, kind: AttributeType, cell: &'c str, rules: &Rules) -> Result<Change<'c>, Error> {
        let Some(format) = self.format else { return kind.parse_cell(cell, rules) };
        match format.read(kind, cell, &*self.zone, rules.pointer)? {
            Cow::Borrowed(cell) => kind.parse_cell(cell, rules),
            Cow::Owned(cell) => kind.parse_cell(&cell, rules).map(Change::into_owned),
        }
    }

    /// Whether a cell of the key or the id holds none.
    pub fn is_null(&self, cell: &str) -> bool {
        cell.is_empty() || self.format.is_some_and(|format| format.is_null(cell))
    }

    /// The key in a cell.
    pub fn key<'c>(&self, cell: &'c str) -> &'c str {
        self.format.and_then(|format| format.unguarded_null(cell)).unwrap_or(unguarded(cell))
    }
}

/// The time zone that a format names, otherwise UTC.
pub fn zone_of(format: Option<&Format>) -> Result<Box<dyn Zone>, Error> {
    let Some(name) = format.and_then(|format| format.time_zone.as_deref()) else { return Ok(Box::new(Utc)) };
    let name = time_zone::check(name).map_err(|error| error.below("/format"))?;
    Ok(TimeZone::named(&name).map_or_else(|| Box::new(Utc) as Box<dyn Zone>, |zone| Box::new(zone)))
}
