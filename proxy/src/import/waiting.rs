//! Rows that refer to records of later rows. A few wait in memory, many in an unnamed file, up to a maximum.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use keyed_errors::Code;
use tokio::task::spawn_blocking;

use super::held::Held;
use super::order::{Next, Order};
use crate::file::portion::Portion;
use crate::file::rows::PORTION_BYTES;
use crate::problem::Problem;

/// The maximum size in memory.
const IN_MEMORY: usize = 1 << 20;
/// The maximum total size.
const MOST_BYTES: u64 = 1 << 30;
/// The maximum number of rows and references, each of which takes some dozen bytes of memory.
const MOST_ROWS: usize = 1 << 21;
/// Rows of a cycle are written together if they fit in this many portions.
const PORTIONS_OF_CYCLE: usize = 4;

/// A waiting row and its dependencies, as the database reports them.
pub(crate) struct Waiter<'a> {
    pub(crate) line: u64,
    pub(crate) row: &'a str,
    /// The hash of its record.
    pub(crate) name: Option<u64>,
    /// The hashes of its texts by which others refer to it.
    pub(crate) texts: &'a [u64],
    /// The hashes of the records that it refers to.
    pub(crate) targets: &'a [u64],
}

/// The limits.
struct Most {
    bytes: u64,
    rows: usize,
}

impl Default for Most {
    fn default() -> Most {
        Most { bytes: MOST_BYTES, rows: MOST_ROWS }
    }
}

/// Rows in the order in which they came.
#[derive(Default)]
pub(crate) struct Waiting {
    most: Most,
    spool: Spool,
    places: Vec<Place>,
    order: Order,
    /// Their records, of which later rows have to wait too.
    held: Held,
}

/// The place of a row in the spool.
#[derive(Clone, Copy)]
struct Place {
    line: u64,
    begin: u64,
    length: u32,
}

impl Waiting {
    /// The number of waiting rows.
    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }

    /// The records of which a row waits.
    pub(crate) fn held(&self) -> &Held {
        &self.held
    }

    pub(crate) async fn push(&mut self, waiter: Waiter<'_>) -> Result<(), Problem> {
        let Waiter { line, row, name, texts, targets } = waiter;
        if self.order.size() + 1 + texts.len() + targets.len() > self.most.rows
            || self.spool.end() + row.len() as u64 > self.most.bytes
        {
            return Err(too_many(self.count()));
        }
        self.places.push(Place { line, begin: self.spool.end(), length: row.len() as u32 });
        self.order.push(name, texts, targets);
        if let Some(name) = name {
            self.held.add(name, || self.order.names());
        }
        self.spool.push(row).await.map_err(no_room)
    }

    /// Gives the rows out again: each after those it refers to, as far as that can be.
    pub(crate) async fn into_portions(self) -> Result<Portions, Problem> {
        let Waiting { spool, places, order, .. } = self;
        let order = spawn_blocking(|| order.settle()).await.map_err(|error| no_room(error.into()))?;
        Ok(Portions { spool, places, order, given: 0 })
    }
}

/// The rows that waited.
pub(crate) struct Portions {
    spool: Spool,
    places: Vec<Place>,
    order: Vec<Next>,
    /// The number of returned rows.
    given: usize,
}

impl Portions {
    /// The next rows, about this many; `None` at the end.
    pub(crate) async fn next(&mut self, most: usize) -> Result<Option<Portion>, Problem> {
        let count = self.fitting(most);
        let next = &self.order[self.given..self.given + count];
        let places: Vec<Place> = next.iter().map(|next| self.places[next.row as usize]).collect();
        self.given += count;
        let texts = self.spool.read(&places).await.map_err(no_room)?;
        let mut portion = Portion::default();
        let mut begin = 0;
        for place in &places {
            let end = begin + place.length as usize;
            portion.push(place.line, &texts[begin..end]);
            begin = end;
        }
        Ok((!portion.rows.is_empty()).then_some(portion))
    }

    /// The number of the next rows that go together: a cycle is not split unless it is too long.
    fn fitting(&self, most: usize) -> usize {
        let (mut bytes, mut free) = (0, 0);
        for (count, next) in self.order[self.given..].iter().enumerate() {
            if next.is_free {
                free = count;
            }
            let parts = if free == 0 { PORTIONS_OF_CYCLE } else { 1 };
            let is_full = |times| count >= most * times || bytes >= PORTION_BYTES * times;
            if next.is_free && is_full(1) || is_full(parts) {
                return if free == 0 { count } else { free };
            }
            bytes += self.places[next.row as usize].length as usize;
        }
        self.order.len() - self.given
    }
}

/// Bytes one after the other, those that came first in a file.
#[derive(Default)]
struct Spool {
    file: Option<Arc<File>>,
    in_file: u64,
    memory: Vec<u8>,
}

impl Spool {
    fn end(&self) -> u64 {
        self.in_file + self.memory.len() as u64
    }

    async fn push(&mut self, text: &str) -> io::Result<()> {
        self.memory.extend_from_slice(text.as_bytes());
        if self.memory.len() < IN_MEMORY {
            return Ok(());
        }
        let (file, memory, begin) = (self.file.clone(), std::mem::take(&mut self.memory), self.in_file);
        let written = spawn_blocking(move || {
            let file = file.map_or_else(|| tempfile::tempfile().map(Arc::new), Ok)?;
            file.write_all_at(&memory, begin)?;
            Ok::<_, io::Error>((file, memory))
        });
        let (file, mut memory) = written.await??;
        self.in_file += memory.len() as u64;
        memory.clear();
        (self.file, self.memory) = (Some(file), memory);
        Ok(())
    }

    /// The texts at some places, one after the other.
    async fn read(&mut self, places: &[Place]) -> io::Result<String> {
        let (file, in_file, memory) = (self.file.clone(), self.in_file, std::mem::take(&mut self.memory));
        let places = places.to_vec();
        let read = spawn_blocking(move || {
            let mut bytes = vec![0; places.iter().map(|place| place.length as usize).sum()];
            let mut rest = bytes.as_mut_slice();
            for place in places {
                let text;
                (text, rest) = rest.split_at_mut(place.length as usize);
                match (&file, place.begin.checked_sub(in_file)) {
                    (_, Some(begin)) => text.copy_from_slice(&memory[begin as usize..][..text.len()]),
                    (Some(file), None) => file.read_exact_at(text, place.begin)?,
                    (None, None) => return Err(io::ErrorKind::UnexpectedEof.into()),
                }
            }
            Ok::<_, io::Error>((bytes, memory))
        });
        let bytes;
        (bytes, self.memory) = read.await??;
        String::from_utf8(bytes).map_err(io::Error::other)
    }
}

fn no_room(error: io::Error) -> Problem {
    Problem::unavailable("there is no space for the rows that wait for others", error.to_string())
}

fn too_many(count: usize) -> Problem {
    let detail = format!("more than {count} rows refer to records of later rows");
    Problem::new(Code::PayloadTooLarge, detail)
        .with_hint("Put each row after those that it refers to, or split the file.")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that wait: what stands for the record of each, for what it refers to, and its text.
    async fn waiting(rows: impl Iterator<Item = (u64, Option<u64>, String)>) -> Waiting {
        let mut waiting = Waiting::default();
        for (name, target, row) in rows {
            let (targets, row) = (target.as_slice(), row.as_str());
            let pushed =
                waiting.push(Waiter { line: name, row, name: Some(name), texts: &[], targets }).await;
            assert!(pushed.is_ok());
        }
        waiting
    }

    async fn portions(waiting: Waiting, most: usize) -> Vec<Portion> {
        let Ok(mut portions) = waiting.into_portions().await else { panic!("an order") };
        let mut all = Vec::new();
        while let Ok(Some(portion)) = portions.next(most).await {
            all.push(portion);
        }
        all
    }

    #[tokio::test]
    async fn rows_come_back_after_those_they_refer_to_also_when_there_are_many() {
        let text = |row: u64| format!("{row},{}", "é\n".repeat(100));
        let portions =
            portions(waiting((1..=10_000).map(|row| (row, Some(row + 1), text(row)))).await, 3000).await;
        let mut next = 10_000;
        for portion in &portions {
            for (position, row) in portion.rows.iter().enumerate() {
                assert_eq!((row.line, portion.row(position)), (next, text(next).as_str()));
                next -= 1;
            }
        }
        assert_eq!((next, portions[0].rows.len()), (0, 3000));
    }

    #[tokio::test]
    async fn no_more_rows_wait_than_there_is_room_for_in_the_file_and_in_memory() {
        let text = "x".repeat(IN_MEMORY / 4);
        let row = |name| Waiter { line: name, row: &text, name: Some(name), texts: &[], targets: &[0, 0] };
        // Rows count with what they refer to; the bytes are those in the file and in memory together.
        let bounds = [
            (Most { bytes: u64::MAX, rows: 30 }, 10),
            (Most { bytes: 7 * text.len() as u64, rows: usize::MAX }, 7),
        ];
        for (most, room) in bounds {
            let mut waiting = Waiting { most, ..Waiting::default() };
            for name in 0..room {
                assert!(waiting.push(row(name)).await.is_ok(), "{name} of {room}");
            }
            let Err(problem) = waiting.push(row(room)).await else { panic!("beyond {room}") };
            assert_eq!(problem.status().as_u16(), 413);
            assert_eq!(waiting.count() as u64, room);
            let given: usize = portions(waiting, 100).await.iter().map(|portion| portion.rows.len()).sum();
            assert_eq!(given as u64, room, "what waits already is not lost");
        }
        assert_eq!((Most::default().bytes, Most::default().rows), (1 << 30, 1 << 21));
    }

    #[tokio::test]
    async fn a_cycle_is_given_out_whole_unless_it_is_too_long() {
        // Two rows alone, then cycles of so many rows.
        for (length, sizes) in
            [(3, vec![2, 3, 3]), (4, vec![2, 4, 4]), (9, vec![2, 9, 9]), (20, vec![2, 16, 4, 16, 4])]
        {
            let cycle = move |begin: u64| {
                (begin..begin + length).map(move |row| (row, begin + (row + 1 - begin) % length))
            };
            let rows = [(1, 0), (2, 0)].into_iter().chain(cycle(100)).chain(cycle(200));
            let waiting = waiting(rows.map(|(row, target)| (row, Some(target), row.to_string()))).await;
            let portions = portions(waiting, 4).await;
            assert_eq!(portions.iter().map(|it| it.rows.len()).collect::<Vec<_>>(), sizes, "{length}");
        }
    }
}
