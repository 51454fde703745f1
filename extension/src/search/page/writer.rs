//! Writes the records of a page, up to its maximum size.

use crate::postgres::spi::Rows;
use crate::record::read;
use crate::record::shape::Projection;
use crate::template::Template;

/// The size at which a page ends before its limit.
const MOST_BYTES: usize = 32 << 20;

/// Writes the records of a page.
#[derive(Default)]
pub struct PageWriter {
    /// How many records.
    pub shown: usize,
    /// The cursor behind the last of them.
    pub last: Option<String>,
    /// Whether there are more.
    pub has_more: bool,
}

impl PageWriter {
    /// Appends up to `most` records, until the page is full by size. Returns their number.
    pub fn write_records(
        &mut self,
        template: &Template,
        rows: &Rows,
        most: usize,
        projection: &Projection,
        out: &mut String,
    ) -> usize {
        for row in 0..most {
            if self.is_full(out) {
                return row;
            }
            self.write_record(&read::to_json(template, rows, row, projection), out);
        }
        most
    }

    /// Whether it ends here by its size.
    pub fn is_full(&self, out: &str) -> bool {
        out.len() > MOST_BYTES && self.shown > 0
    }

    /// Appends a record to the page.
    pub fn write_record(&mut self, record: &str, out: &mut String) {
        if self.shown > 0 {
            out.push(',');
        }
        out.push_str(record);
        self.shown += 1;
    }
}
