//! gzip → bytes, as a stream (RFC 1952). A file can have several members, as from `cat a.gz b.gz`. Pure.

use std::io::{self, BufRead, ErrorKind, Read};

use bytes::{Buf, Bytes};
use flate2::bufread::MultiGzDecoder;

/// The maximum number of bytes of one step. Data may decompress to a thousand times its size, which is never in memory
/// as a whole.
const STEP: usize = 64 << 10;

/// The magic number of gzip. No text begins with it.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Whether a file that begins with these bytes is compressed with gzip.
pub fn is_gzip(beginning: &[u8]) -> bool {
    beginning.starts_with(&MAGIC)
}

/// Bytes that have arrived and are not decompressed yet.
struct Arrived {
    bytes: Bytes,
    is_whole: bool,
}

/// A decompressor.
pub(crate) struct Gunzip {
    decoder: MultiGzDecoder<Arrived>,
    out: Vec<u8>,
}

/// The result of a step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Decompressed bytes.
    Bytes(Bytes),
    /// More input is needed.
    NeedsInput,
    /// The file is complete.
    End,
}

/// Why a file cannot be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GunzipError {
    /// The file is not gzip, or is corrupt.
    Corrupt,
    /// The file is truncated.
    Truncated,
}

impl Gunzip {
    /// Creates a decompressor without input.
    pub(crate) fn new() -> Gunzip {
        let arrived = Arrived { bytes: Bytes::new(), is_whole: false };
        Gunzip { decoder: MultiGzDecoder::new(arrived), out: vec![0; STEP] }
    }

    /// Adds input; `None` is the end of the file. Must be called after [`Step::NeedsInput`].
    pub(crate) fn push(&mut self, arrived: Option<Bytes>) {
        let before = self.decoder.get_mut();
        match arrived {
            Some(bytes) => before.bytes = bytes,
            None => before.is_whole = true,
        }
    }

    /// Decompresses the next bytes.
    pub(crate) fn step(&mut self) -> Result<Step, GunzipError> {
        match self.decoder.read(&mut self.out) {
            Ok(0) => Ok(Step::End),
            Ok(count) => Ok(Step::Bytes(Bytes::copy_from_slice(&self.out[..count]))),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => Ok(Step::NeedsInput),
                ErrorKind::UnexpectedEof => Err(GunzipError::Truncated),
                _ => Err(GunzipError::Corrupt),
            },
        }
    }
}

impl Read for Arrived {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(into.len());
        into[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Arrived {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.bytes.is_empty() && !self.is_whole {
            Err(ErrorKind::WouldBlock.into())
        } else {
            Ok(&self.bytes)
        }
    }

    fn consume(&mut self, count: usize) {
        self.bytes.advance(count);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    }

    /// Decompresses a file that arrives in pieces. Returns the text and the size of the largest step.
    fn unpacked(file: &[u8], piece: usize) -> Result<(Vec<u8>, usize), GunzipError> {
        let (mut gunzip, mut pieces) = (Gunzip::new(), file.chunks(piece));
        let (mut text, mut largest) = (Vec::new(), 0);
        loop {
            match gunzip.step()? {
                Step::Bytes(bytes) => {
                    largest = largest.max(bytes.len());
                    text.extend_from_slice(&bytes);
                }
                Step::NeedsInput => gunzip.push(pieces.next().map(Bytes::copy_from_slice)),
                Step::End => return Ok((text, largest)),
            }
        }
    }

    #[test]
    fn file_of_several_members_is_decompressed() {
        let file = [packed(b"a,b\n"), packed(b""), packed(b"1,2\n")].concat();
        assert!(is_gzip(&file) && !is_gzip(b"a,b\n") && !is_gzip(b"\x1f"));
        for piece in [1, 7, 1000] {
            let (text, _) = unpacked(&file, piece).expect("gzip");
            assert_eq!(text, b"a,b\n1,2\n", "{piece}");
        }
    }

    #[test]
    fn long_file_is_decompressed_in_steps() {
        let text = vec![b'x'; 10 << 20];
        let (unfolded, largest) = unpacked(&packed(&text), 1 << 20).expect("gzip");
        assert_eq!((unfolded.len(), largest), (text.len(), STEP));
    }

    #[test]
    fn damaged_or_truncated_file_is_rejected() {
        let file = packed(&b"one,two\n".repeat(100));
        for length in 0..file.len() {
            assert_eq!(
                unpacked(&file[..length], 5),
                Err(GunzipError::Truncated),
                "{length} of {} bytes",
                file.len()
            );
        }
        let mut other_sum = file.clone();
        let sum = other_sum.len() - 8;
        other_sum[sum] ^= 1;
        for damaged in
            [other_sum, b"external_key,name\n".to_vec(), [&file[..], b"more than a header"].concat()]
        {
            assert_eq!(unpacked(&damaged, 5).map(|(text, _)| text.len()), Err(GunzipError::Corrupt));
        }
    }

    proptest! {
        #[test]
        fn decompression_does_not_depend_on_chunk_size(text in prop::collection::vec(any::<u8>(), 0..3000), piece in 1_usize..400) {
            prop_assert_eq!(unpacked(&packed(&text), piece).map(|(text, _)| text), Ok(text));
        }
    }
}
