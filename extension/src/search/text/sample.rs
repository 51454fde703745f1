//! Estimates the frequency of a query's terms from a sample of documents. The planner's estimates for substrings
//! were wrong by a factor of up to a thousand.

use super::reader::Reader;
use super::terms::{self, PreparedTerm};
use crate::postgres::heap;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::Template;
use crate::value::table_name::SideTable;

/// The number of pages of a sample: a few thousand documents of some lines, which take a few
/// milliseconds.
const PAGES: i64 = 60;
/// The number of pages that suffice to show that a single term is rare.
const FEW_PAGES: i64 = 12;
/// The number of additional matches that a sample of other pages might have found.
const SAMPLING_ERROR: i64 = 4;
/// The maximum number of documents of a sample, and the maximum length of one.
const MAX_DOCUMENTS: i64 = 1500;
const MAX_BYTES: i64 = 8192;

/// Above this size in bytes, documents are long: comparing one takes more time than finding it.
pub const LONG: i64 = 1000;

/// The size of a page.
const PAGE_BYTES: i64 = 8192;

/// A sample of documents.
pub struct Sample {
    seen: i64,
    /// The sampled number of documents, and the number that it represents.
    total: i64,
    /// The number of pages of the table.
    pages: i64,
    /// The number of documents with each term.
    each: Vec<i64>,
    /// The number of documents that match the query.
    found: i64,
}

impl Sample {
    /// Takes a sample: a small one for a single term, if it finds at most `maximum` matches.
    pub fn take(spi: &Connection, template: &Template, requested: &[PreparedTerm], maximum: usize) -> Sample {
        if let Some(sample) = Sample::compared(template, requested) {
            return sample;
        }
        let size = format!(
            "select pg_relation_size('{}') / current_setting('block_size')::bigint",
            SideTable::Documents.sql(template.id)
        );
        let pages = spi.run_once(&size, Snapshot::Active, &[]).value::<i64>().unwrap_or(0);
        if requested.len() == 1 && pages > PAGES {
            let few = Sample::of_pages(spi, template, requested, pages, FEW_PAGES);
            if few.seen > 0 && (few.found + SAMPLING_ERROR) * few.total / few.seen <= maximum as i64 {
                return few;
            }
        }
        Sample::of_pages(spi, template, requested, pages, PAGES)
    }

    /// A sample by comparison in memory; `None` if a statement must take it.
    fn compared(template: &Template, requested: &[PreparedTerm]) -> Option<Sample> {
        let sample = Reader::with(template, requested, &[], |reader| {
            let pages = i64::from(reader.heap().pages());
            let mut sample = Sample { seen: 0, total: 0, pages, each: Vec::new(), found: 0 };
            let mut match_counts = vec![0; requested.len()];
            let mut read = 0;
            for page in spread(pages) {
                if sample.seen >= MAX_DOCUMENTS {
                    break;
                }
                read += 1;
                reader.heap().rows_of(page, &mut |row| {
                    if heap::stored_size(row[1]) < MAX_BYTES as usize {
                        sample.seen += 1;
                        sample.found += i64::from(reader.rank(row, &mut match_counts).is_some());
                    }
                });
            }
            sample.total = sample.seen * pages / read.max(1);
            sample.each = match_counts.into_iter().map(|count| count as i64).collect();
            Ok(sample)
        });
        sample.ok()
    }

    fn of_pages(
        spi: &Connection,
        template: &Template,
        requested: &[PreparedTerm],
        pages: i64,
        sampled: i64,
    ) -> Sample {
        let documents = SideTable::Documents.sql(template.id);
        let some = if pages > sampled {
            // The same pages each time, as long as the table does not grow, so that pages of a result are consistent.
            format!("tablesample system ({:.6}) repeatable (1)", sampled as f64 * 100.0 / pages as f64)
        } else {
            String::new()
        };
        let needs_record = requested.iter().any(|it| !it.names.is_empty());
        let join = if needs_record {
            format!(" join {} t on t.id = d.record_id", template.table_sql())
        } else {
            String::new()
        };
        let columns = |render: &dyn Fn(usize, &PreparedTerm) -> String| -> Vec<String> {
            requested.iter().enumerate().map(|(position, it)| render(position, it)).collect()
        };
        // Each condition is evaluated once for a document, for both counts.
        let rows = spi.run_once(
            &format!(
                "select count(*), count(*) filter (where {}){} from (select true as seen{} \
                 from (select d.record_id, d.document from {documents} d {some} \
                 where pg_column_size(d.document) < {MAX_BYTES} limit {MAX_DOCUMENTS}) d{join} offset 0) s",
                terms::all(columns(&|position, _| format!("s.term_{position}")).into_iter()),
                columns(&|position, _| format!(", count(*) filter (where s.term_{position})")).concat(),
                columns(&|position, it| format!(", {} as term_{position}", it.condition())).concat(),
            ),
            Snapshot::Active,
            &[],
        );
        let count = |column| rows.get::<Option<i64>>(0, column).unwrap_or_default();
        let seen = count(0);
        Sample {
            seen,
            total: seen * pages.max(1) / pages.clamp(1, sampled),
            pages,
            found: count(1),
            each: (0..requested.len()).map(|position| count(position + 2)).collect(),
        }
    }

    /// The approximate number of records that match the query.
    pub fn found(&self) -> i64 {
        self.found * self.total / self.seen.max(1)
    }

    /// The approximate length of a document.
    pub fn bytes_of_document(&self) -> i64 {
        self.pages * PAGE_BYTES / self.total.max(1)
    }

    /// The number of sampled documents with the term at this position.
    pub fn frequency(&self, position: usize) -> i64 {
        self.each[position]
    }

    /// Whether more than half of the documents have the term, in a table larger than the sample.
    pub fn is_everywhere(&self, position: usize) -> bool {
        self.total > 2 * self.seen && self.each[position] * 2 > self.seen
    }

    /// Whether reading all documents costs less than looking the term up and reading those that have it.
    pub fn is_full_scan_faster(&self, position: usize) -> bool {
        self.bytes_of_document() <= LONG && self.each[position] * 4 > self.seen
    }

    /// Whether the term is so rare that a second index lookup pays off.
    pub fn is_rare(&self, position: usize) -> bool {
        self.each[position] * 20 < self.seen
    }
}

/// Sample pages of a table, one from each interval, not always at the same offset. They are the same each time while
/// the table does not grow, so that pages of a result are consistent.
fn spread(pages: i64) -> impl Iterator<Item = u32> {
    let stretches = pages.min(PAGES);
    (0..stretches).map(move |stretch| {
        let begin = |stretch: i64| stretch * pages / stretches;
        let length = begin(stretch + 1) - begin(stretch);
        (begin(stretch) + stretch * 37 % length) as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_pages_are_spread_over_the_table() {
        assert_eq!(spread(0).count(), 0);
        assert_eq!(spread(7).collect::<Vec<_>>(), (0..7).collect::<Vec<_>>());
        for pages in [PAGES, PAGES + 1, 1000, 1 << 31] {
            let spread: Vec<u32> = spread(pages).collect();
            assert_eq!(spread.len() as i64, PAGES);
            assert!(spread.is_sorted_by(|one, other| one < other), "{spread:?}");
            assert!(i64::from(spread[0]) <= pages / PAGES, "{spread:?}");
            assert!((pages - pages / PAGES - 1..pages).contains(&i64::from(spread[59])), "{spread:?}");
        }
    }
}
