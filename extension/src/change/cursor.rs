//! Cursors of the feed. Pure. A cursor is opaque to clients. Its signature distinguishes a forged cursor from an expired
//! one.

use super::position::{Derived, FeedPosition};
use crate::error::{Code, Error};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The format version: the first byte of a cursor.
const FORM: u8 = 1;
/// The size of a signature in bytes.
const SIGNATURE: usize = 16;

/// The first eight bytes of a hash.
pub type Fingerprint = [u8; 8];

/// The project or template whose changes a request reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A project, by its id.
    Project(i32),
    /// A template, by its id.
    Template(i32),
}

/// The state of a reader between two requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The origin of transaction ids: the database in which they were assigned.
    pub origin: Fingerprint,
    /// The timeline of the write-ahead log.
    pub timeline: u32,
    /// The write-ahead log position when the cursor was issued.
    pub lsn: u64,
    /// The project or template.
    pub scope: Scope,
    /// The greatest template id when the cursor was issued.
    pub templates: i32,
    /// A fingerprint of the caller's read access to these templates.
    pub access: Fingerprint,
    /// The position of the last row that was read.
    pub feed_position: FeedPosition,
}

/// A fingerprint of a list of strings.
pub fn fingerprint<'t>(texts: impl Iterator<Item = &'t str>) -> Fingerprint {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize()[..8].try_into().expect("eight bytes")
}

/// The error for text that is not a cursor of this feed.
pub fn invalid_cursor() -> Error {
    Error::at(Code::InvalidValue, "/after", "this is not a cursor of this feed of changes").hint(
        "Send the next_cursor of the previous page, with the same project and template, or \"start\" for everything.",
    )
}

/// The error for a cursor from which reading cannot continue without a gap.
pub fn too_old(reason: &str) -> Error {
    Error::at(Code::ResyncRequired, "/after", reason)
        .hint("Empty your copy, and read the feed again from \"start\".")
}

impl Cursor {
    /// The cursor as text.
    pub fn to_signed_text(&self, secret: &[u8]) -> String {
        let mut bytes = vec![FORM];
        bytes.extend(self.origin);
        bytes.extend(self.timeline.to_be_bytes());
        bytes.extend(self.lsn.to_be_bytes());
        let (kind, number) = match self.scope {
            Scope::Project(number) => (0, number),
            Scope::Template(number) => (1, number),
        };
        bytes.push(kind);
        bytes.extend(number.to_be_bytes());
        bytes.extend(self.templates.to_be_bytes());
        bytes.extend(self.access);
        bytes.extend(self.feed_position.position.to_be_bytes());
        bytes.extend(self.feed_position.template.to_be_bytes());
        bytes.extend(self.feed_position.record.as_bytes());
        bytes.extend(self.feed_position.version.to_be_bytes());
        if let Some(derived) = &self.feed_position.derived {
            bytes.extend(derived.template.to_be_bytes());
            bytes.extend(derived.record.as_bytes());
        }
        let signature = sign(&bytes, secret).finalize().into_bytes();
        bytes.extend(&signature[..SIGNATURE]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Parses the output of [`Self::to_signed_text`] and verifies its signature with this secret.
    pub fn from_signed_text(text: &str, secret: &[u8]) -> Result<Cursor, Error> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| invalid_cursor())?;
        let (content, signature) = bytes.split_last_chunk::<SIGNATURE>().ok_or_else(invalid_cursor)?;
        sign(content, secret).verify_truncated_left(signature).map_err(|_| invalid_cursor())?;
        Reader(content).cursor().ok_or_else(invalid_cursor)
    }
}

fn sign(bytes: &[u8], secret: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a secret of any length");
    mac.update(bytes);
    mac
}

/// The bytes that remain to be read.
struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn take<const LENGTH: usize>(&mut self) -> Option<[u8; LENGTH]> {
        let (taken, rest) = self.0.split_first_chunk::<LENGTH>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn number(&mut self) -> Option<i32> {
        self.take().map(i32::from_be_bytes)
    }

    fn record(&mut self) -> Option<Uuid> {
        self.take().map(Uuid::from_bytes)
    }

    fn cursor(mut self) -> Option<Cursor> {
        if self.take()? != [FORM] {
            return None;
        }
        let (origin, timeline) = (self.take()?, u32::from_be_bytes(self.take()?));
        let lsn = u64::from_be_bytes(self.take()?);
        let ([kind], number) = (self.take()?, self.number()?);
        let scope = if kind == 0 { Scope::Project(number) } else { Scope::Template(number) };
        let (templates, access) = (self.number()?, self.take()?);
        let position = i64::from_be_bytes(self.take()?);
        let (template, record, version) = (self.number()?, self.record()?, self.number()?);
        let derived = match self.0 {
            [] => None,
            _ => Some(Derived { template: self.number()?, record: self.record()? }),
        };
        let feed_position = FeedPosition { position, template, record, version, derived };
        self.0.is_empty().then_some(Cursor { origin, timeline, lsn, scope, templates, access, feed_position })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cursors() -> impl Strategy<Value = Cursor> {
        let feed_position =
            (any::<i64>(), any::<i32>(), any::<u128>(), any::<i32>(), any::<Option<(i32, u128)>>());
        (any::<Fingerprint>(), any::<(u32, u64, bool, i32, i32)>(), any::<Fingerprint>(), feed_position)
            .prop_map(|(origin, (timeline, lsn, is_project, number, templates), access, feed_position)| {
                let (position, template, record, version, derived) = feed_position;
                let derived =
                    derived.map(|(template, record)| Derived { template, record: Uuid::from_u128(record) });
                let record = Uuid::from_u128(record);
                let feed_position = FeedPosition { position, template, record, version, derived };
                let scope = if is_project { Scope::Project(number) } else { Scope::Template(number) };
                Cursor { origin, timeline, lsn, scope, templates, access, feed_position }
            })
    }

    proptest! {
        #[test]
        fn cursor_round_trips(cursor in cursors()) {
            let text = cursor.to_signed_text(b"secret");
            prop_assert_eq!(Cursor::from_signed_text(&text, b"secret").expect("a cursor"), cursor);
            prop_assert!(Cursor::from_signed_text(&text, b"another").is_err());
        }

        #[test]
        fn changed_cursor_is_rejected(cursor in cursors(), position in any::<usize>(), bit in 0..8_u32) {
            let mut bytes = URL_SAFE_NO_PAD.decode(cursor.to_signed_text(b"secret")).expect("base64");
            let position = position % bytes.len();
            bytes[position] ^= 1_u8 << bit;
            let error = Cursor::from_signed_text(&URL_SAFE_NO_PAD.encode(bytes), b"secret").expect_err("a change");
            prop_assert_eq!(error.violations[0].pointer.as_str(), "/after");
        }

        #[test]
        fn arbitrary_cursor_is_rejected(text in prop_oneof![any::<String>(), "[-_A-Za-z0-9]{0,200}"]) {
            prop_assert!(Cursor::from_signed_text(&text, b"secret").is_err());
        }
    }
}
