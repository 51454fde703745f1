//! Deferred rows, which reference records of later rows. A few are stored in memory, many in an unnamed temporary file,
//! up to a limit.

use std::io::{self, Read, Seek, SeekFrom, Write};

use keyed_errors::Code;
use keyed_write_order::record_filter::RecordFilter;
use keyed_write_order::rows::{Next, RecordHash, Rows};
use tempfile::SpooledTempFile;
use tokio::task::spawn_blocking;

use crate::file::chunk::Chunk;
use crate::file::rows::CHUNK_BYTES;
use crate::problem::Problem;

/// The maximum size in memory.
const MAX_BYTES_IN_MEMORY: usize = 1 << 20;
/// The rows of a cycle are written in one chunk if they fit into this many chunks of normal size.
const MAX_CHUNKS_OF_CYCLE: usize = 4;

/// A deferred row and its dependencies, as the database reports them.
pub(crate) struct DeferredRow<'a> {
    pub(crate) line: u64,
    pub(crate) row: &'a str,
    /// The hash of its record.
    pub(crate) record: Option<RecordHash>,
    /// The hashes of the texts by which other rows reference it.
    pub(crate) texts: &'a [RecordHash],
    /// The hashes of the records that it references.
    pub(crate) targets: &'a [RecordHash],
}

/// The limits.
struct Limits {
    /// The maximum size of all rows.
    bytes: u64,
    /// The maximum number of rows and references, each of which uses a few dozen bytes of memory.
    rows: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 1 << 30, rows: 1 << 21 }
    }
}

/// Deferred rows in the order of the file.
#[derive(Default)]
pub(crate) struct DeferredRows {
    limits: Limits,
    spool: Spool,
    positions: Vec<Position>,
    rows: Rows,
    /// The records of these rows. Later rows of the same records are deferred too.
    held: RecordFilter,
}

/// The position of a row in the spool.
#[derive(Clone, Copy)]
struct Position {
    line: u64,
    begin: u64,
    length: u32,
}

impl DeferredRows {
    /// The number of deferred rows.
    pub(crate) fn count(&self) -> usize {
        self.positions.len()
    }

    /// The records that have a deferred row.
    pub(crate) fn held(&self) -> &RecordFilter {
        &self.held
    }

    /// Adds rows.
    pub(crate) async fn extend(
        &mut self,
        rows: impl IntoIterator<Item = DeferredRow<'_>>,
    ) -> Result<(), Problem> {
        let mut added = String::new();
        for DeferredRow { line, row, record, texts, targets } in rows {
            let begin = self.spool.end + added.len() as u64;
            if self.rows.size() + 1 + texts.len() + targets.len() > self.limits.rows
                || begin + row.len() as u64 > self.limits.bytes
            {
                return Err(too_many(self.count()));
            }
            self.positions.push(Position { line, begin, length: row.len() as u32 });
            self.rows.push(record, texts, targets);
            if let Some(record) = record {
                self.held.add(record, || self.rows.records());
            }
            added.push_str(row);
        }
        if added.is_empty() {
            return Ok(());
        }
        self.spool.append(added).await.map_err(no_space)
    }

    /// Returns the rows in dependency order: each after the rows that it references, except in cycles.
    pub(crate) async fn into_chunks(self) -> Result<Chunks, Problem> {
        let DeferredRows { spool, positions, rows, .. } = self;
        let order = spawn_blocking(|| rows.order()).await.map_err(|error| no_space(error.into()))?;
        Ok(Chunks { spool, positions, order, returned: 0 })
    }
}

/// The deferred rows in dependency order.
pub(crate) struct Chunks {
    spool: Spool,
    positions: Vec<Position>,
    order: Vec<Next>,
    /// The number of returned rows.
    returned: usize,
}

impl Chunks {
    /// Returns about `limit` of the next rows; `None` at the end.
    pub(crate) async fn next(&mut self, limit: usize) -> Result<Option<Chunk>, Problem> {
        let count = self.fitting(limit);
        let next = &self.order[self.returned..self.returned + count];
        let positions: Vec<Position> = next.iter().map(|next| self.positions[next.row as usize]).collect();
        self.returned += count;
        let texts = self.spool.read(&positions).await.map_err(no_space)?;
        let mut chunk = Chunk::default();
        let mut begin = 0;
        for position in &positions {
            let end = begin + position.length as usize;
            chunk.push(position.line, &texts[begin..end]);
            begin = end;
        }
        Ok((!chunk.rows.is_empty()).then_some(chunk))
    }

    /// The number of rows of the next chunk. A cycle is not split unless it is too long.
    fn fitting(&self, limit: usize) -> usize {
        let (mut bytes, mut separable) = (0, 0);
        for (count, next) in self.order[self.returned..].iter().enumerate() {
            if next.is_separable {
                separable = count;
            }
            let chunks = if separable == 0 { MAX_CHUNKS_OF_CYCLE } else { 1 };
            let is_full = |times| count >= limit * times || bytes >= CHUNK_BYTES * times;
            if next.is_separable && is_full(1) || is_full(chunks) {
                return if separable == 0 { count } else { separable };
            }
            bytes += self.positions[next.row as usize].length as usize;
        }
        self.order.len() - self.returned
    }
}

/// Concatenated texts, in memory until they are too large.
#[derive(Default)]
struct Spool {
    file: Option<SpooledTempFile>,
    end: u64,
}

impl Spool {
    async fn append(&mut self, text: String) -> io::Result<()> {
        self.end += text.len() as u64;
        self.with_file(move |file| {
            file.seek(SeekFrom::End(0))?;
            file.write_all(text.as_bytes())
        })
        .await
    }

    /// The texts at these positions, concatenated.
    async fn read(&mut self, positions: &[Position]) -> io::Result<String> {
        let positions = positions.to_vec();
        self.with_file(move |file| {
            let mut texts = vec![0; positions.iter().map(|position| position.length as usize).sum()];
            let mut rest = texts.as_mut_slice();
            for position in positions {
                let text;
                (text, rest) = rest.split_at_mut(position.length as usize);
                file.seek(SeekFrom::Start(position.begin))?;
                file.read_exact(text)?;
            }
            String::from_utf8(texts).map_err(io::Error::other)
        })
        .await
    }

    async fn with_file<T: Send + 'static>(
        &mut self,
        body: impl FnOnce(&mut SpooledTempFile) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let mut file = self.file.take().unwrap_or_else(|| SpooledTempFile::new(MAX_BYTES_IN_MEMORY));
        let (file, result) = spawn_blocking(move || {
            let result = body(&mut file);
            (file, result)
        })
        .await?;
        self.file = Some(file);
        result
    }
}

fn no_space(error: io::Error) -> Problem {
    Problem::unavailable("there is no disk space for deferred rows", error.to_string())
}

fn too_many(count: usize) -> Problem {
    let detail = format!("more than {count} rows reference records of later rows");
    Problem::new(Code::PayloadTooLarge, detail)
        .with_hint("Put each row after the rows that it references, or split the file.")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates deferred rows, each with its record, the record that it references, and its text.
    async fn waiting(rows: impl Iterator<Item = (u64, Option<u64>, String)>) -> DeferredRows {
        let mut waiting = DeferredRows::default();
        for (record, target, row) in rows {
            let (targets, row) = (target.as_slice(), row.as_str());
            let row = DeferredRow { line: record, row, record: Some(record), texts: &[], targets };
            assert!(waiting.extend([row]).await.is_ok());
        }
        waiting
    }

    async fn chunks(waiting: DeferredRows, limit: usize) -> Vec<Chunk> {
        let Ok(mut chunks) = waiting.into_chunks().await else { panic!("an order") };
        let mut all = Vec::new();
        while let Ok(Some(chunk)) = chunks.next(limit).await {
            all.push(chunk);
        }
        all
    }

    #[tokio::test]
    async fn deferred_rows_follow_the_rows_that_they_reference() {
        let text = |row: u64| format!("{row},{}", "é\n".repeat(100));
        let chunks =
            chunks(waiting((1..=10_000).map(|row| (row, Some(row + 1), text(row)))).await, 3000).await;
        let mut next = 10_000;
        for chunk in &chunks {
            for (position, row) in chunk.rows.iter().enumerate() {
                assert_eq!((row.line, chunk.row(position)), (next, text(next).as_str()));
                next -= 1;
            }
        }
        assert_eq!((next, chunks[0].rows.len()), (0, 3000));
    }

    #[tokio::test]
    async fn rows_beyond_the_limits_are_rejected() {
        let text = "x".repeat(MAX_BYTES_IN_MEMORY / 4);
        let row = |record| DeferredRow {
            line: record,
            row: &text,
            record: Some(record),
            texts: &[],
            targets: &[0, 0],
        };
        // References count like rows. The size limit includes memory and file.
        let cases = [
            (Limits { bytes: u64::MAX, rows: 30 }, 10),
            (Limits { bytes: 7 * text.len() as u64, rows: usize::MAX }, 7),
        ];
        for (limits, capacity) in cases {
            let mut waiting = DeferredRows { limits, ..DeferredRows::default() };
            for record in 0..capacity {
                assert!(waiting.extend([row(record)]).await.is_ok(), "{record} of {capacity}");
            }
            let Err(problem) = waiting.extend([row(capacity)]).await else { panic!("beyond {capacity}") };
            assert_eq!(problem.status().as_u16(), 413);
            assert_eq!(waiting.count() as u64, capacity);
            let returned: usize = chunks(waiting, 100).await.iter().map(|chunk| chunk.rows.len()).sum();
            assert_eq!(returned as u64, capacity, "deferred rows are not lost");
        }
        assert_eq!((Limits::default().bytes, Limits::default().rows), (1 << 30, 1 << 21));
    }

    #[tokio::test]
    async fn cycle_is_not_split_unless_it_is_too_long() {
        // Two single rows, then two cycles of `length` rows.
        for (length, sizes) in
            [(3, vec![2, 3, 3]), (4, vec![2, 4, 4]), (9, vec![2, 9, 9]), (20, vec![2, 16, 4, 16, 4])]
        {
            let cycle = move |begin: u64| {
                (begin..begin + length).map(move |row| (row, begin + (row + 1 - begin) % length))
            };
            let rows = [(1, 0), (2, 0)].into_iter().chain(cycle(100)).chain(cycle(200));
            let waiting = waiting(rows.map(|(row, target)| (row, Some(target), row.to_string()))).await;
            let chunks = chunks(waiting, 4).await;
            assert_eq!(chunks.iter().map(|it| it.rows.len()).collect::<Vec<_>>(), sizes, "{length}");
        }
    }
}
