//! The records of a page as JSON, up to its maximum size.

use crate::postgres::spi::Rows;
use crate::record::read;
use crate::record::shape::Projection;
use crate::template::Template;

/// The size at which a page ends before its limit.
const MAX_BYTES: usize = 32 << 20;

/// The records of a page.
#[derive(Debug, Default)]
pub struct Page {
    /// The records as JSON, with commas between them.
    pub json: String,
    /// The number of records.
    pub count: usize,
    /// The cursor after the last record.
    pub last: Option<String>,
    /// Whether more records follow.
    pub has_more: bool,
}

impl Page {
    /// Appends up to `limit` records, until the page is full by size. Returns their number.
    pub fn push_rows(
        &mut self,
        template: &Template,
        rows: &Rows,
        limit: usize,
        projection: &Projection,
    ) -> usize {
        for row in 0..limit {
            if self.is_full() {
                return row;
            }
            self.push(&read::to_json(template, rows, row, projection));
        }
        limit
    }

    /// Whether the page is full by size.
    pub fn is_full(&self) -> bool {
        self.json.len() > MAX_BYTES && self.count > 0
    }

    /// Appends a record.
    pub fn push(&mut self, record: &str) {
        if self.count > 0 {
            self.json.push(',');
        }
        self.json.push_str(record);
        self.count += 1;
    }
}
