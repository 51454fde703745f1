//! A sheet → rows of cells, in the order of the sheet. Only one row and the shared strings are in memory.

use std::fs::File;
use std::ops::ControlFlow;

use super::archive::{Archive, Compound, compound};
use super::cells::{Cell, Cells};
use super::csv_line::csv_text;
use super::error::{PartError, Unreadable};
use super::shared_strings::SharedStrings;
use super::styles::Styles;
use super::workbook::Workbook;
use super::xml::Xml;
use crate::file::rows::MAX_ROW_BYTES;

/// An element of a sheet.
#[derive(Debug, PartialEq)]
pub(crate) enum Event {
    /// The names of the columns.
    Header(Vec<String>),
    /// A row: its number, counted from 1, and its cells as JSON.
    Row(u64, String),
}

/// Limits of the decompressed size.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The maximum size of the sheet, which is read as a stream.
    pub(super) sheet: u64,
    /// The maximum size of the shared strings, which are in memory.
    pub(super) shared_strings: u64,
    /// The maximum size of the styles.
    pub(super) styles: u64,
    /// The maximum size of all returned rows: many cells can share a long string.
    pub(super) rows: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { sheet: 2 << 30, shared_strings: 64 << 20, styles: 16 << 20, rows: 2 << 30 }
    }
}

/// Reads the first sheet, or the one with this name, until `take` breaks or the caller is gone.
pub(crate) fn read(
    file: &File,
    sheet: Option<&str>,
    should_continue: &dyn Fn() -> bool,
    take: impl FnMut(Event) -> ControlFlow<()>,
) -> Result<(), Unreadable> {
    read_within(file, sheet, Limits::default(), should_continue, take)
}

pub(super) fn read_within(
    file: &File,
    sheet: Option<&str>,
    limits: Limits,
    should_continue: &dyn Fn() -> bool,
    mut take: impl FnMut(Event) -> ControlFlow<()>,
) -> Result<(), Unreadable> {
    match compound(file) {
        Some(Compound::Encrypted) => return Err(Unreadable::Password),
        Some(Compound::Older) => return Err(Unreadable::Older),
        None => {}
    }
    let archive = Archive::open(file)?;
    let workbook = Workbook::read(&archive)?;
    let Some(path) = workbook.sheet(sheet) else { return Err(Unreadable::NoSheet(workbook.names())) };
    let part = |path: &str, max_bytes| match archive.part(path)? {
        Some(part) => Ok::<_, PartError>(Xml::new(part, max_bytes, should_continue)),
        None => Err(PartError::Form),
    };
    let styles = workbook.part("styles")?.map(|path| part(&path, limits.styles)).transpose()?;
    let shared_strings =
        workbook.part("sharedStrings")?.map(|path| part(&path, limits.shared_strings)).transpose()?;
    let mut cells = Cells {
        xml: part(&path, limits.sheet)?,
        styles: styles.map(Styles::read).transpose()?.unwrap_or_default(),
        shared_strings: shared_strings.map(SharedStrings::read).transpose()?.unwrap_or_default(),
        is_1904: workbook.is_1904,
        row: 0,
        column: 0,
        is_row_named: false,
        text: String::new(),
    };
    let mut row = Row::default();
    let mut has_header = false;
    let mut left = limits.rows;
    loop {
        let cell = cells.next()?;
        if cell.as_ref().map(|cell| cell.row) != Some(row.number)
            && let ControlFlow::Break(()) = row.end(&mut has_header, &mut take)
        {
            return Ok(());
        }
        let Some(cell) = cell else { break };
        left = left.checked_sub(cell.json.len() as u64).ok_or(Unreadable::TooLarge)?;
        row.number = cell.row;
        row.push(cell)?;
    }
    cells.xml.finish()?;
    if has_header { Ok(()) } else { Err(Unreadable::Empty) }
}

/// The cells of a row as JSON; `None` for an empty cell.
#[derive(Default)]
struct Row {
    number: u32,
    cells: Vec<String>,
    bytes: usize,
}

impl Row {
    fn push(&mut self, cell: Cell) -> Result<(), Unreadable> {
        self.bytes += cell.json.len();
        if self.bytes > MAX_ROW_BYTES {
            return Err(Unreadable::LongRow(u64::from(self.number) + 1));
        }
        let index = cell.column as usize;
        if self.cells.len() <= index {
            self.cells.resize(index + 1, String::new());
        }
        self.cells[index] = cell.json;
        Ok(())
    }

    /// Passes the row to `take` unless it is empty. The first row is the header.
    fn end(
        &mut self,
        has_header: &mut bool,
        take: &mut impl FnMut(Event) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let cells = std::mem::take(&mut self.cells);
        self.bytes = 0;
        if cells.is_empty() {
            return ControlFlow::Continue(());
        }
        if !std::mem::replace(has_header, true) {
            return take(Event::Header(cells.iter().map(|cell| name(cell)).collect()));
        }
        let cells: Vec<&str> =
            cells.iter().map(|cell| if cell.is_empty() { "null" } else { cell.as_str() }).collect();
        take(Event::Row(u64::from(self.number) + 1, format!("[{}]", cells.join(","))))
    }
}

/// The name of a column: the text of its first cell.
fn name(cell: &str) -> String {
    csv_text(cell).trim_matches(' ').to_owned()
}
