//! Rows that refer to a record which a later row may bring. A few wait in memory, many in a file without a name.

use std::collections::BTreeSet;
use std::io::{self, BufReader, Read, Seek, Write};

use tempfile::SpooledTempFile;

use crate::file::rows::Portion;

/// So many bytes wait in memory.
const IN_MEMORY: usize = 1 << 20;

/// Rows in the order in which they came.
pub(crate) struct Waiting {
    file: SpooledTempFile,
    count: u64,
    /// Their records, of which later rows have to wait too.
    names: BTreeSet<u64>,
}

impl Waiting {
    pub(crate) fn new() -> Waiting {
        Waiting { file: SpooledTempFile::new(IN_MEMORY), count: 0, names: BTreeSet::new() }
    }

    /// How many rows wait.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// What stands for the records of which a row waits.
    pub(crate) fn names(&self) -> &BTreeSet<u64> {
        &self.names
    }

    pub(crate) fn push(&mut self, line: u64, row: &str, name: Option<u64>) -> io::Result<()> {
        self.count += 1;
        self.names.extend(name);
        self.file.write_all(&line.to_le_bytes())?;
        self.file.write_all(&(row.len() as u64).to_le_bytes())?;
        self.file.write_all(row.as_bytes())
    }

    /// Gives the rows out again, in portions.
    pub(crate) fn into_portions(mut self) -> io::Result<Portions> {
        self.file.rewind()?;
        Ok(Portions { file: BufReader::new(self.file), left: self.count })
    }
}

/// The rows that waited.
pub(crate) struct Portions {
    file: BufReader<SpooledTempFile>,
    left: u64,
}

impl Portions {
    /// The next rows; none at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Portion>> {
        let mut portion = Portion::default();
        while self.left > 0 && !portion.is_full() {
            let mut number = [0; 8];
            self.file.read_exact(&mut number)?;
            let line = u64::from_le_bytes(number);
            self.file.read_exact(&mut number)?;
            let mut row = vec![0; u64::from_le_bytes(number) as usize];
            self.file.read_exact(&mut row)?;
            portion.push(line, std::str::from_utf8(&row).map_err(io::Error::other)?);
            self.left -= 1;
        }
        Ok((!portion.rows.is_empty()).then_some(portion))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_their_order_also_when_there_are_many() {
        let mut waiting = Waiting::new();
        for line in 0..10_000 {
            waiting.push(line, &format!("{line},{}", "é\n".repeat(100)), None).expect("room");
        }
        let mut portions = waiting.into_portions().expect("a file");
        let mut next = 0;
        while let Some(portion) = portions.next().expect("rows") {
            for (position, row) in portion.rows.iter().enumerate() {
                assert_eq!(row.line, next);
                assert!(portion.row(position).starts_with(&format!("{next},é")));
                next += 1;
            }
        }
        assert_eq!(next, 10_000);
    }
}
