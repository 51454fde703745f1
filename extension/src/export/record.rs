//! A record of an export.

use crate::attribute_type::AttributeType;
use crate::json_write::write_double;
use crate::postgres::datum;
use crate::postgres::spi::Rows;
use crate::record::shape::STANDARD_COLUMNS;
use crate::template::Template;
use crate::value::time;
use pgrx::pg_sys::Datum;

/// One record of an export.
pub struct Record<'a> {
    /// Its template.
    pub template: &'a Template,
    pub(super) rows: &'a Rows<'a>,
    pub(super) row: usize,
    pub(super) further: &'a [usize],
}

impl Record<'_> {
    /// A column of [`crate::record::statement::columns`].
    pub fn column(&self, position: usize) -> Option<Datum> {
        self.rows.datum(self.row, position)
    }

    /// The external key of what the attribute at a position refers to, where there is one that the caller sees.
    pub fn target_key(&self, position: usize) -> Option<Datum> {
        (self.template.attributes[position].kind == AttributeType::Reference)
            .then(|| self.further(position))?
    }

    /// When the value of the metric at a position was measured.
    fn measured_at(&self, position: usize) -> Option<Datum> {
        (self.template.attributes[position].kind == AttributeType::Metric).then(|| self.further(position))?
    }

    /// Writes the metric at a position as a point of its series, so that it keeps its time wherever it is read.
    pub fn write_metric(&self, out: &mut String, position: usize, value: Datum) {
        let value = datum::read_f64(value);
        let Some(at) = self.measured_at(position) else { return write_double(out, value) };
        out.push_str("{\"value\":");
        write_double(out, value);
        out.push_str(",\"at\":\"");
        time::write_datetime(out, datum::read_i64(at));
        out.push_str("\"}");
    }

    fn further(&self, position: usize) -> Option<Datum> {
        let place = self.further.iter().position(|attribute| *attribute == position)?;
        self.rows.datum(self.row, STANDARD_COLUMNS + self.template.attributes.len() + place)
    }
}
