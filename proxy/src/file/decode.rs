//! Bytes → text. The encoding is taken from the byte order mark, the declaration, or the first non-ASCII character.

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Decodes the bytes of a file.
pub(crate) struct Decode {
    /// The declared encoding.
    given: Option<&'static Encoding>,
    stage: Stage,
}

enum Stage {
    /// More bytes are needed to detect the encoding.
    Beginning(Vec<u8>),
    /// All bytes so far are ASCII, except the possible beginning of a character.
    Ascii(Vec<u8>),
    Known(Decoder),
}

/// Bytes that are not valid in the encoding.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Undecodable;

impl Decode {
    /// A decoder for a file in the declared encoding, or a detected one.
    pub(crate) fn new(given: Option<&'static Encoding>) -> Decode {
        Decode { given, stage: Stage::Beginning(Vec::new()) }
    }

    /// The name of the encoding.
    pub(crate) fn name(&self) -> String {
        match &self.stage {
            Stage::Known(decoder) => decoder.encoding().name().to_ascii_lowercase(),
            Stage::Beginning(_) | Stage::Ascii(_) => self.given.unwrap_or(UTF_8).name().to_ascii_lowercase(),
        }
    }

    /// Appends the text of the next bytes. `is_end` marks the last ones.
    pub(crate) fn push(&mut self, bytes: &[u8], is_end: bool, out: &mut String) -> Result<(), Undecodable> {
        match &mut self.stage {
            Stage::Beginning(held) => {
                held.extend_from_slice(bytes);
                if held.len() < 4 && !is_end {
                    return Ok(());
                }
                let held = std::mem::take(held);
                let marked = Encoding::for_bom(&held);
                let (encoding, mark) = match (marked, self.given) {
                    (Some((encoding, mark)), _) => (Some(encoding), mark),
                    (None, Some(given)) => (Some(given), 0),
                    (None, None) => (detect_utf16(&held), 0),
                };
                self.stage = encoding.map_or(Stage::Ascii(Vec::new()), |it| {
                    Stage::Known(it.new_decoder_without_bom_handling())
                });
                self.push(&held[mark..], is_end, out)
            }
            Stage::Ascii(held) => {
                let bytes = [held.as_slice(), bytes].concat();
                let first = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len());
                let (ascii, rest) = bytes.split_at(first);
                out.push_str(std::str::from_utf8(ascii).map_err(|_| Undecodable)?);
                let Some(encoding) = detect_by_character(rest, is_end) else {
                    *held = rest.to_owned();
                    return Ok(());
                };
                self.stage = Stage::Known(encoding.new_decoder_without_bom_handling());
                self.push(rest, is_end, out)
            }
            Stage::Known(decoder) => decode(decoder, bytes, is_end, out),
        }
    }
}

/// Detects UTF-16 without a byte order mark by the zero bytes of its first characters, which are mostly ASCII.
fn detect_utf16(beginning: &[u8]) -> Option<&'static Encoding> {
    match beginning {
        [0, a, 0, b, ..] if *a > 0 && *b > 0 => Some(UTF_16BE),
        [a, 0, b, 0, ..] if *a > 0 && *b > 0 => Some(UTF_16LE),
        _ => None,
    }
}

/// Detects the encoding from the first non-ASCII character: windows-1252 text that happens to be valid UTF-8 is
/// extremely rare. `None` if more bytes are needed.
fn detect_by_character(bytes: &[u8], is_end: bool) -> Option<&'static Encoding> {
    // The maximum length of a character.
    let beginning = &bytes[..bytes.len().min(4)];
    match std::str::from_utf8(beginning) {
        Ok("") => None,
        Ok(_) => Some(UTF_8),
        Err(error) if error.valid_up_to() > 0 => Some(UTF_8),
        Err(error) if error.error_len().is_none() && !is_end => None,
        Err(_) => Some(WINDOWS_1252),
    }
}

fn decode(
    decoder: &mut Decoder,
    mut bytes: &[u8],
    is_end: bool,
    out: &mut String,
) -> Result<(), Undecodable> {
    loop {
        let room = decoder.max_utf8_buffer_length_without_replacement(bytes.len()).ok_or(Undecodable)?;
        out.reserve(room);
        let (result, read) = decoder.decode_to_string_without_replacement(bytes, out, is_end);
        bytes = &bytes[read..];
        match result {
            DecoderResult::InputEmpty => return Ok(()),
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => return Err(Undecodable),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The text of a file that arrives in chunks of this size, and its encoding.
    fn read(
        bytes: &[u8],
        size: usize,
        given: Option<&'static Encoding>,
    ) -> Result<(String, String), Undecodable> {
        let (mut decode, mut out) = (Decode::new(given), String::new());
        for chunk in bytes.chunks(size) {
            decode.push(chunk, false, &mut out)?;
        }
        decode.push(&[], true, &mut out)?;
        Ok((out, decode.name()))
    }

    fn utf16(text: &str, mark: bool, swap: bool) -> Vec<u8> {
        let units = mark.then_some(0xfeff).into_iter().chain(text.encode_utf16());
        units.flat_map(|unit| if swap { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    }

    #[test]
    fn encoding_is_detected_at_any_chunk_size() {
        let text = "name,city\nZoë,Zürich €\n";
        let (mark, swapped) = (true, true);
        let (windows, _, _) = WINDOWS_1252.encode(text);
        for (bytes, name) in [
            (text.as_bytes().to_vec(), "utf-8"),
            ([b"\xef\xbb\xbf", text.as_bytes()].concat(), "utf-8"),
            (windows.into_owned(), "windows-1252"),
            (utf16(text, mark, !swapped), "utf-16le"),
            (utf16(text, mark, swapped), "utf-16be"),
            (utf16(text, !mark, !swapped), "utf-16le"),
            (utf16(text, !mark, swapped), "utf-16be"),
        ] {
            for size in [1, 2, 3, 7, 1000] {
                assert_eq!(
                    read(&bytes, size, None),
                    Ok((text.to_owned(), name.to_owned())),
                    "{name} by {size}"
                );
            }
        }
    }

    #[test]
    fn byte_order_mark_overrides_the_declared_encoding() {
        assert_eq!(read(b"a\xe9", 9, Some(WINDOWS_1252)), Ok(("aé".to_owned(), "windows-1252".to_owned())));
        assert_eq!(read(b"a\xe9", 9, Some(UTF_8)), Err(Undecodable));
        let marked = [b"\xef\xbb\xbf".as_slice(), "é".as_bytes()].concat();
        assert_eq!(read(&marked, 9, Some(WINDOWS_1252)), Ok(("é".to_owned(), "utf-8".to_owned())));
    }

    #[test]
    fn detected_utf8_is_final() {
        assert_eq!(read("é,é,é\n\u{e9}".as_bytes(), 4, None).map(|it| it.1), Ok("utf-8".to_owned()));
        assert_eq!(read(&["é".as_bytes(), b"ab\xe9b"].concat(), 2, None), Err(Undecodable));
        assert_eq!(read(&[b"abcd", "é".as_bytes(), b"\xc3"].concat(), 6, None), Err(Undecodable));
    }

    #[test]
    fn first_non_ascii_character_decides_at_any_chunk_size() {
        for size in [1, 2, 3, 5, 1000] {
            let later = ["a,é€😀\nb,".as_bytes(), b"\xe9\nc\n"].concat();
            assert_eq!(read(&later, size, None), Err(Undecodable), "by {size}");
            for text in ["a,€", "a,😀"] {
                let read = read(text.as_bytes(), size, None);
                assert_eq!(read, Ok((text.to_owned(), "utf-8".to_owned())), "by {size}");
            }
            // The cut-off beginning of a character is not a character.
            for bytes in [b"ab\xc3".as_slice(), b"abc\xe2\x82", b"a\xe9bcd", b"a\xe9\xc3\xa9"] {
                assert_eq!(
                    read(bytes, size, None).map(|it| it.1),
                    Ok("windows-1252".to_owned()),
                    "by {size}"
                );
            }
        }
    }

    #[test]
    fn empty_file_is_utf8() {
        assert_eq!(read(b"", 1, None), Ok((String::new(), "utf-8".to_owned())));
        assert_eq!(read(b"a", 1, None), Ok(("a".to_owned(), "utf-8".to_owned())));
    }

    proptest! {
        #[test]
        fn result_does_not_depend_on_chunk_size(
            bytes in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..20),
                prop::collection::vec(prop::sample::select(b"a,\n\0\xc3\xa9\xe2\x82\xac\xff\xfe\xef\xbb\xbf".to_vec()), 0..20),
                any::<String>().prop_map(String::into_bytes),
            ],
            size in 1..6_usize,
            given in prop::sample::select(vec![None, Some(UTF_8), Some(UTF_16LE), Some(WINDOWS_1252)]),
        ) {
            prop_assert_eq!(read(&bytes, size, given), read(&bytes, 1000, given));
        }

        #[test]
        fn encoded_text_round_trips(text in "\\PC{0,30}", size in 1..6_usize) {
            prop_assert_eq!(read(text.as_bytes(), size, None).map(|it| it.0), Ok(text.trim_start_matches('\u{feff}').to_owned()));
        }
    }
}
