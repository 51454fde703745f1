//! Exported records.

use crate::attribute_type::AttributeType;
use crate::json_write::write_double;
use crate::postgres::datum;
use crate::postgres::spi::Rows;
use crate::record::shape::STANDARD_COLUMNS;
use crate::record::shown;
use crate::template::Template;
use crate::value::time;
use pgrx::pg_sys::Datum;

/// An exported record.
pub struct Record<'a> {
    /// Its template.
    pub template: &'a Template,
    pub(super) rows: &'a Rows<'a>,
    pub(super) row: usize,
    pub(super) additional: &'a [usize],
}

impl Record<'_> {
    /// A column of [`crate::record::statement::columns`].
    pub fn column(&self, position: usize) -> Option<Datum> {
        self.rows.datum(self.row, position)
    }

    /// Its version.
    pub fn version(&self) -> String {
        shown::version_of(self.template, &|position| self.column(position))
    }

    /// The external key of a reference's target, if the target has one and is visible to the caller.
    pub fn target_key(&self, position: usize) -> Option<Datum> {
        (self.template.attributes[position].kind == AttributeType::Reference)
            .then(|| self.additional(position))?
    }

    /// The time of a metric's latest point.
    fn measured_at(&self, position: usize) -> Option<Datum> {
        (self.template.attributes[position].kind == AttributeType::Metric)
            .then(|| self.additional(position))?
    }

    /// Writes a metric as a point with its time, so that an import preserves it.
    pub fn write_metric(&self, out: &mut String, position: usize, value: Datum) {
        let value = datum::read_f64(value);
        let Some(at) = self.measured_at(position) else { return write_double(out, value) };
        out.push_str("{\"value\":");
        write_double(out, value);
        out.push_str(",\"at\":\"");
        time::write_datetime(out, datum::read_i64(at));
        out.push_str("\"}");
    }

    fn additional(&self, position: usize) -> Option<Datum> {
        let place = self.additional.iter().position(|attribute| *attribute == position)?;
        self.rows.datum(self.row, STANDARD_COLUMNS + self.template.attributes.len() + place)
    }
}
