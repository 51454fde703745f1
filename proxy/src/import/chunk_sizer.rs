//! Chooses the number of rows of the next chunk. Large chunks have less overhead per row, but other transactions may
//! wait for their locks, so each chunk must be short even if the rows of a template are slow.

use std::time::Duration;

use crate::file::rows::CHUNK_ROWS;

const MIN_ROWS: usize = 100;
/// The database caches this many new ids, which saves lookups of new records.
const MAX_ROWS: usize = 8000;

/// Below this time, the next chunk can be larger.
const SHORT: Duration = Duration::from_millis(300);
/// Above this time, the next chunk is smaller.
const LONG: Duration = Duration::from_millis(1000);

/// The size of the next chunk, based on the duration of the previous ones.
pub(crate) struct ChunkSizer(usize);

impl ChunkSizer {
    pub(crate) fn new() -> ChunkSizer {
        ChunkSizer(CHUNK_ROWS)
    }

    /// The number of rows of the next chunk.
    pub(crate) fn rows(&self) -> usize {
        self.0
    }

    /// Records the duration of a chunk.
    pub(crate) fn record(&mut self, rows: usize, time: Duration) {
        if time > LONG {
            self.0 = (rows.min(self.0) / 2).max(MIN_ROWS);
        } else if time < SHORT && rows >= self.0 {
            self.0 = (self.0 * 2).min(MAX_ROWS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of successive chunks if each row takes this long.
    fn sizes(microseconds_a_row: u64) -> Vec<usize> {
        let mut sizer = ChunkSizer::new();
        let mut next = || {
            let rows = sizer.rows();
            sizer.record(rows, Duration::from_micros(microseconds_a_row * rows as u64));
            rows
        };
        (0..8).map(|_| next()).collect()
    }

    #[test]
    fn chunk_size_follows_the_response_time() {
        assert_eq!(sizes(1), [2000, 4000, 8000, 8000, 8000, 8000, 8000, 8000]);
        assert_eq!(sizes(100), [2000, 4000, 4000, 4000, 4000, 4000, 4000, 4000]);
        assert_eq!(sizes(1000), [2000, 1000, 1000, 1000, 1000, 1000, 1000, 1000]);
        assert_eq!(sizes(100_000), [2000, 1000, 500, 250, 125, 100, 100, 100]);
    }

    #[test]
    fn short_chunk_does_not_raise_the_size() {
        let mut sizer = ChunkSizer::new();
        sizer.record(7, Duration::from_millis(1));
        assert_eq!(sizer.rows(), CHUNK_ROWS);
        sizer.record(300, Duration::from_secs(9));
        assert_eq!(sizer.rows(), 150);
    }
}
