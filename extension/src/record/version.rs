//! Versions of records, and preconditions: entity tags (RFC 9110, 8.8.3) and conditional requests (section 13).
//!
//! The version of a record is a hash of its complete JSON, computed with each response and stored nowhere. So
//! everything that changes what callers see changes it: functions of keyed, direct DML, writes with the triggers off,
//! a new attribute. An unchanged record keeps its version, wherever its row is stored.
//!
//! The alternatives fail. A transaction number or a ctid does not survive a restore, and `updated_at` is equal for two
//! changes in one transaction. The number of the last history entry ignores attributes and costs a second index scan
//! per lookup.
//!
//! An entity tag is a version, optionally followed by `.` and a hash of a response that shows more than the record
//! (`verbose`), and by `-` and the content coding of the response. Writes compare versions only.

use crate::error::{Code, Error};
use sha2::{Digest, Sha256};

/// The version of the state that this JSON shows whole: the first 128 bits of its SHA-256, as hexadecimal digits.
pub fn of(record: &str) -> String {
    let digest = Sha256::digest(record);
    let bits = digest.iter().take(16).fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
    format!("{bits:032x}")
}

/// The tag of an answer that shows more than the record itself.
pub fn with_surroundings(version: &str, answer: &str) -> String {
    format!("{version}.{}", of(answer))
}

/// An entity tag that a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tag {
    is_weak: bool,
    opaque: String,
}

impl Tag {
    /// The tag of the answer as it was before it was packed.
    fn unpacked(&self) -> &str {
        self.opaque.split('-').next().unwrap_or_default()
    }

    fn version(&self) -> &str {
        self.unpacked().split('.').next().unwrap_or_default()
    }
}

/// What `If-Match` or `If-None-Match` says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tags {
    /// `*`: any state at all.
    Any,
    /// One of these.
    Listed(Vec<Tag>),
}

impl Tags {
    /// Parses `*` or a list of entity tags. A single version may be without quotes, as SQL returns it.
    fn parse(text: &str, name: &str) -> Result<Tags, Error> {
        let text = text.trim_matches([' ', '\t']);
        if text == "*" {
            return Ok(Tags::Any);
        }
        let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
        if !text.is_empty() && text.bytes().all(is_bare) {
            return Ok(Tags::Listed(vec![Tag { is_weak: false, opaque: text.to_owned() }]));
        }
        list(text).map(Tags::Listed).ok_or_else(|| {
            Error::new(Code::MalformedRequest, format!("{name} is neither * nor a list of entity tags")).hint(
                "Send the value of ETag unchanged, with its double quotes. Separate several with commas.",
            )
        })
    }

    /// Whether one of them is the state with this version (strong comparison: a weak tag is none).
    fn name_version(&self, version: &str) -> bool {
        match self {
            Tags::Any => true,
            Tags::Listed(tags) => tags.iter().any(|tag| !tag.is_weak && tag.version() == version),
        }
    }
}

/// `"a", W/"b"`: at least one tag; empty elements count for nothing.
fn list(text: &str) -> Option<Vec<Tag>> {
    let mut tags = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if rest.is_empty() {
            return (!tags.is_empty()).then_some(tags);
        }
        let quoted = rest.strip_prefix("W/");
        let (opaque, after) = quoted.unwrap_or(rest).strip_prefix('"')?.split_once('"')?;
        if opaque.chars().any(|letter| letter <= ' ' || letter == '\u{7f}') {
            return None;
        }
        tags.push(Tag { is_weak: quoted.is_some(), opaque: opaque.to_owned() });
        rest = after.trim_start_matches([' ', '\t']);
        if !rest.is_empty() && !rest.starts_with(',') {
            return None;
        }
    }
}

/// What a write demands of the state that it meets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    if_match: Option<Tags>,
    if_none_match: Option<Tags>,
}

impl Preconditions {
    /// Reads both conditions; absent ones demand nothing.
    pub fn parse(if_match: Option<&str>, if_none_match: Option<&str>) -> Result<Preconditions, Error> {
        Ok(Preconditions {
            if_match: if_match.map(|text| Tags::parse(text, "If-Match")).transpose()?,
            if_none_match: if_none_match.map(|text| Tags::parse(text, "If-None-Match")).transpose()?,
        })
    }

    /// Whether nothing is demanded.
    pub fn are_none(&self) -> bool {
        self.if_match.is_none() && self.if_none_match.is_none()
    }

    /// Whether the check needs the version.
    pub fn name_versions(&self) -> bool {
        [&self.if_match, &self.if_none_match]
            .into_iter()
            .flatten()
            .any(|tags| matches!(tags, Tags::Listed(_)))
    }

    /// Whether they hold where there is no record.
    pub fn hold_for_none(&self) -> bool {
        self.if_match.is_none()
    }

    /// Whether they hold for a record of this version.
    pub fn hold_for(&self, version: &str) -> bool {
        self.if_match.as_ref().is_none_or(|tags| tags.name_version(version))
            && !self.if_none_match.as_ref().is_some_and(|tags| match tags {
                Tags::Any => true,
                Tags::Listed(tags) => tags.iter().any(|tag| tag.version() == version),
            })
    }

    /// The refusal of an upsert that may not create the record, where none holds the key.
    pub fn refusal_for_none(&self) -> Error {
        refusal("no record has this key, and If-Match requires one", "Leave If-Match out to create it.")
    }

    /// The refusal of a write to a record of this version.
    pub fn refusal_for(&self, version: &str) -> Error {
        let is_match = self.if_match.as_ref().is_none_or(|tags| tags.name_version(version));
        match &self.if_none_match {
            Some(Tags::Any) if is_match => refusal(
                "the record exists, and If-None-Match allows creation only",
                "Leave If-None-Match out to update it.",
            ),
            Some(Tags::Listed(_)) if is_match => refusal(
                "the record has a version that If-None-Match lists",
                "Leave If-None-Match out to write any version.",
            ),
            _ => refusal(
                "the record has a version that If-Match does not list",
                "Read the record again and send the new ETag; in SQL, call keyed.record_version(id).",
            ),
        }
    }
}

/// Whether a reader already has this response (weak comparison), and under which tag, which the 304 response repeats.
pub fn known(if_none_match: Option<&str>, tag: &str) -> Result<Option<String>, Error> {
    let Some(text) = if_none_match else { return Ok(None) };
    Ok(match Tags::parse(text, "If-None-Match")? {
        Tags::Any => Some(tag.to_owned()),
        Tags::Listed(tags) => {
            tags.into_iter().find(|known| known.unpacked() == tag).map(|known| known.opaque)
        }
    })
}

fn refusal(message: &str, hint: &str) -> Error {
    Error::new(Code::PreconditionFailed, message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preconditions(if_match: Option<&str>, if_none_match: Option<&str>) -> Preconditions {
        Preconditions::parse(if_match, if_none_match).expect("entity tags")
    }

    #[test]
    fn a_version_is_hexadecimal_and_follows_the_json() {
        assert_eq!(of("{}"), "44136fa355b3678a1146ad16f7e8649e");
        assert_ne!(of("{\"a\":1}"), of("{\"a\":1.0}"));
    }

    #[test]
    fn tags_are_read_as_the_standard_has_them() {
        let tag = |is_weak, opaque: &str| Tag { is_weak, opaque: opaque.to_owned() };
        for (text, expected) in [
            ("*", Tags::Any),
            (" * ", Tags::Any),
            ("\"a\"", Tags::Listed(vec![tag(false, "a")])),
            ("a1-gzip", Tags::Listed(vec![tag(false, "a1-gzip")])),
            ("W/\"a\"", Tags::Listed(vec![tag(true, "a")])),
            ("\"\"", Tags::Listed(vec![tag(false, "")])),
            (", \"a,b\" ,,W/\"*\",", Tags::Listed(vec![tag(false, "a,b"), tag(true, "*")])),
            ("\"é\"", Tags::Listed(vec![tag(false, "é")])),
        ] {
            assert_eq!(Tags::parse(text, "If-Match"), Ok(expected), "{text}");
        }
        for text in [
            "",
            " ",
            ",",
            "\"a",
            "\"a\"\"b\"",
            "w/\"a\"",
            "W/a",
            "\"a\" \"b\"",
            "*, \"a\"",
            "\"a b\"",
            "a, b",
        ] {
            assert!(Tags::parse(text, "If-Match").is_err(), "{text}");
        }
    }

    #[test]
    fn if_match_compares_strongly_and_looks_at_the_version_alone() {
        for (text, holds) in [
            ("*", true),
            ("v", true),
            ("\"v\"", true),
            ("\"v-gzip\"", true),
            ("\"v.0123\"", true),
            ("\"v.0123-br\"", true),
            ("\"a\", \"v\"", true),
            ("W/\"v\"", false),
            ("\"a\"", false),
            ("\"vv\"", false),
            ("\"\"", false),
        ] {
            assert_eq!(preconditions(Some(text), None).hold_for("v"), holds, "{text}");
            assert!(!preconditions(Some(text), None).hold_for_none(), "{text}");
        }
    }

    #[test]
    fn a_refusal_names_the_condition_that_fails() {
        let told = |if_match, if_none_match| preconditions(if_match, if_none_match).refusal_for("v").message;
        for (if_match, if_none_match, part) in [
            (None, Some("*"), "the record exists"),
            (Some("*"), Some("*"), "the record exists"),
            (None, Some("\"v\""), "If-None-Match lists"),
            (Some("\"a\""), None, "If-Match does not list"),
            (Some("\"a\""), Some("*"), "If-Match does not list"),
        ] {
            let message = told(if_match, if_none_match);
            assert!(message.contains(part), "{if_match:?} {if_none_match:?}: {message}");
        }
    }

    #[test]
    fn if_none_match_compares_weakly() {
        for (text, holds) in [("*", false), ("\"v\"", false), ("W/\"v\"", false), ("\"a\"", true)] {
            assert_eq!(preconditions(None, Some(text)).hold_for("v"), holds, "{text}");
            assert!(preconditions(None, Some(text)).hold_for_none(), "{text}");
        }
        assert!(!preconditions(Some("\"v\""), Some("*")).hold_for("v"));
        assert!(preconditions(None, None).are_none());
    }

    #[test]
    fn a_reader_knows_an_answer_by_the_whole_tag() {
        for (text, expected) in [
            ("\"v\"", Some("v")),
            ("\"a\", W/\"v\"", Some("v")),
            ("\"v-gzip\"", Some("v-gzip")),
            ("*", Some("v")),
            ("\"v.0123\"", None),
            ("\"a\"", None),
        ] {
            assert_eq!(known(Some(text), "v"), Ok(expected.map(str::to_owned)), "{text}");
        }
        assert_eq!(known(Some("\"v.0123-br\""), "v.0123"), Ok(Some("v.0123-br".to_owned())));
        assert_eq!(known(Some("\"v\""), "v.0123"), Ok(None));
        assert_eq!(known(None, "v"), Ok(None));
    }
}
