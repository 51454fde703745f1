//! Reads the parts of a ZIP archive, with the ZIP features that spreadsheets use. The sizes in the central directory
//! are validated before memory is allocated, and parts are decompressed as streams.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;

use crc32fast::Hasher;
use flate2::bufread::DeflateDecoder;
use memchr::memmem::rfind;

use super::error::PartError;

/// The maximum number of parts, and the maximum size of the central directory.
const MAX_PARTS: u64 = 10_000;
const MAX_INDEX_BYTES: u64 = 4 << 20;
/// The size of the end-of-central-directory record, without and with the longest comment.
const END_BYTES: usize = 22;
const MAX_END_BYTES: u64 = 22 + 0xffff;
/// The value of a field whose actual value is in a ZIP64 field.
const ZIP64_MARKER: u64 = 0xffff_ffff;

/// An archive with its central directory.
pub(super) struct Archive<'a> {
    file: &'a File,
    length: u64,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    method: u16,
    is_encrypted: bool,
    checksum: u32,
    bytes: u64,
    header: u64,
}

impl<'a> Archive<'a> {
    pub(super) fn open(file: &'a File) -> Result<Archive<'a>, PartError> {
        let length = file.metadata().map_err(|_| PartError::Form)?.len();
        let [parts, bytes, start] = index_of(file, length)?;
        if parts > MAX_PARTS || bytes > MAX_INDEX_BYTES {
            return Err(PartError::Size);
        }
        let index = section(file, length, start, bytes)?;
        let (mut entries, mut at) = (Vec::new(), 0);
        for _ in 0..parts {
            let (entry, next) = entry(&index, at)?;
            entries.push(entry);
            at = next;
        }
        Ok(Archive { file, length, entries })
    }

    /// Opens a part as a decompressed stream. Its name is case-insensitive.
    pub(super) fn part(&self, name: &str) -> Result<Option<Box<dyn Read + 'a>>, PartError> {
        let mut entries = self.entries.iter().filter(|entry| entry.name.eq_ignore_ascii_case(name));
        let Some(entry) = entries.next() else { return Ok(None) };
        // A duplicate is ambiguous: programs choose differently.
        if entries.next().is_some() {
            return Err(PartError::Form);
        }
        let header = section(self.file, self.length, entry.header, 30)?;
        let names = number(&header, 26, 2)? + number(&header, 28, 2)?;
        let at = entry.header + 30 + names;
        let end = at.checked_add(entry.bytes).filter(|end| *end <= self.length).ok_or(PartError::Form)?;
        if !header.starts_with(b"PK\x03\x04") || entry.is_encrypted {
            return Err(PartError::Form);
        }
        let packed = BufReader::with_capacity(64 << 10, Section { file: self.file, at, end });
        let part: Box<dyn Read + 'a> = match entry.method {
            0 => Box::new(packed),
            8 => Box::new(DeflateDecoder::new(packed)),
            _ => return Err(PartError::Form),
        };
        Ok(Some(Box::new(Checked { part, expected: entry.checksum, found: Hasher::new() })))
    }
}

/// The number of parts, and the size and position of the central directory.
fn index_of(file: &File, length: u64) -> Result<[u64; 3], PartError> {
    let tail = section(file, length, length.saturating_sub(MAX_END_BYTES), length.min(MAX_END_BYTES))?;
    let mut searched = tail.len();
    let at = loop {
        let at = rfind(&tail[..searched], b"PK\x05\x06").ok_or(PartError::Form)?;
        if number(&tail, at + 20, 2).is_ok_and(|comment| at + END_BYTES + comment as usize <= tail.len()) {
            break at;
        }
        searched = at;
    };
    let locator = at.checked_sub(20).map(|locator| &tail[locator..at]);
    match locator.filter(|locator| locator.starts_with(b"PK\x06\x07")) {
        None => Ok([number(&tail, at + 10, 2)?, number(&tail, at + 12, 4)?, number(&tail, at + 16, 4)?]),
        Some(locator) => {
            let end = section(file, length, number(locator, 8, 8)?, 56)?;
            if !end.starts_with(b"PK\x06\x06") {
                return Err(PartError::Form);
            }
            Ok([number(&end, 32, 8)?, number(&end, 40, 8)?, number(&end, 48, 8)?])
        }
    }
}

/// An entry of the central directory, and the position of the next one.
fn entry(index: &[u8], at: usize) -> Result<(Entry, usize), PartError> {
    let header = index.get(at..at + 46).filter(|it| it.starts_with(b"PK\x01\x02")).ok_or(PartError::Form)?;
    let [name, extra, comment] = [28, 30, 32].map(|at| number(header, at, 2).unwrap_or(0) as usize);
    let name_end = at + 46 + name;
    let extra_end = name_end + extra;
    let next = extra_end + comment;
    if next > index.len() {
        return Err(PartError::Form);
    }
    let name = String::from_utf8_lossy(&index[at + 46..name_end]).replace('\\', "/");
    let mut sizes = [number(header, 24, 4)?, number(header, 20, 4)?, number(header, 42, 4)?];
    apply_zip64(&mut sizes, &index[name_end..extra_end])?;
    let [_, bytes, header_at] = sizes;
    let entry = Entry {
        name,
        method: number(header, 10, 2)? as u16,
        is_encrypted: number(header, 8, 2)? & 1 == 1,
        checksum: number(header, 16, 4)? as u32,
        bytes,
        header: header_at,
    };
    Ok((entry, next))
}

/// Replaces sizes that exceed 32 bits with those in the ZIP64 extra field.
fn apply_zip64(sizes: &mut [u64; 3], mut extra: &[u8]) -> Result<(), PartError> {
    while extra.len() >= 4 && sizes.contains(&ZIP64_MARKER) {
        let length = number(extra, 2, 2)? as usize;
        let field = extra.get(4..4 + length).ok_or(PartError::Form)?;
        if number(extra, 0, 2)? == 1 {
            for (position, size) in sizes.iter_mut().filter(|size| **size == ZIP64_MARKER).enumerate() {
                *size = number(field, position * 8, 8)?;
            }
            break;
        }
        extra = &extra[4 + length..];
    }
    Ok(())
}

/// A little-endian number of this many bytes.
fn number(bytes: &[u8], at: usize, length: usize) -> Result<u64, PartError> {
    let bytes = bytes.get(at..at + length).ok_or(PartError::Form)?;
    Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Reads a section of the file after a bounds check.
fn section(file: &File, length: u64, at: u64, bytes: u64) -> Result<Vec<u8>, PartError> {
    if at.checked_add(bytes).is_none_or(|end| end > length) {
        return Err(PartError::Form);
    }
    let mut section = vec![0; bytes as usize];
    file.read_exact_at(&mut section, at).map_err(|_| PartError::Form)?;
    Ok(section)
}

/// A section of the file.
struct Section<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl Read for Section<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.file.read_at(&mut buffer[..most], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// A stream whose checksum is verified at its end.
struct Checked<'a> {
    part: Box<dyn Read + 'a>,
    expected: u32,
    found: Hasher,
}

impl Read for Checked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.part.read(buffer)?;
        self.found.update(&buffer[..read]);
        if read == 0 && !buffer.is_empty() && self.found.clone().finalize() != self.expected {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(read)
    }
}

/// The content of a compound file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compound {
    /// An encrypted spreadsheet.
    Encrypted,
    /// A spreadsheet in the older XLS format, or another document.
    Older,
}

/// Detects a compound file, the container of encrypted and older spreadsheets.
pub(super) fn compound(file: &File) -> Option<Compound> {
    /// A directory entry has 128 bytes and begins with its name in UTF-16.
    const ENTRY_BYTES: usize = 128;
    let mut block = vec![0; 64 << 10];
    file.read_exact_at(&mut block[..8], 0).ok()?;
    if block[..8] != [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1] {
        return None;
    }
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut reader = Section { file, at: 0, end: file.metadata().ok()?.len() };
    loop {
        let mut filled = 0;
        while let Some(read) = reader.read(&mut block[filled..]).ok().filter(|read| *read > 0) {
            filled += read;
        }
        if block[..filled].chunks(ENTRY_BYTES).any(|entry| entry.starts_with(&name)) {
            return Some(Compound::Encrypted);
        }
        if filled < block.len() {
            return Some(Compound::Older);
        }
    }
}
