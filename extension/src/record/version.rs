//! Versions of records, and preconditions: entity tags (RFC 9110, 8.8.3) and conditional requests (section 13).
//!
//! The version of a record is a hash of its complete JSON. It is computed for each response and not stored. So every
//! change of the JSON changes it: by functions of keyed, direct DML, writes with disabled triggers, or a new attribute.
//! An unchanged record keeps its version, also after a restore.
//!
//! Alternatives do not work. A transaction id or a ctid does not survive a restore. `updated_at` is equal for two changes
//! in one transaction. The number of the last history entry ignores changes of the definition, and costs a second index
//! scan for each lookup.
//!
//! An entity tag is a version, optionally followed by `.` and a hash of a response that shows more than the record
//! (`verbose`), and by `-` and the content coding of the response. Writes compare versions only.

use crate::error::{Code, Error};
use sha2::{Digest, Sha256};

/// The version of a record with this complete JSON: the first 128 bits of its SHA-256, as hexadecimal digits.
pub fn of(record: &str) -> String {
    let digest = Sha256::digest(record);
    let bits = digest.iter().take(16).fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
    format!("{bits:032x}")
}

/// The entity tag of a response that shows more than the record itself.
pub fn with_response(version: &str, response: &str) -> String {
    format!("{version}.{}", of(response))
}

/// An entity tag in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tag {
    is_weak: bool,
    opaque: String,
}

impl Tag {
    /// The tag without the content coding.
    fn uncoded(&self) -> &str {
        self.opaque.split('-').next().unwrap_or_default()
    }

    fn version(&self) -> &str {
        self.uncoded().split('.').next().unwrap_or_default()
    }
}

/// The value of `If-Match` or `If-None-Match`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tags {
    /// `*`.
    Any,
    /// A list of tags.
    Listed(Vec<Tag>),
}

impl Tags {
    /// Parses `*` or a list of entity tags. A single version may be unquoted, as SQL returns it.
    fn parse(text: &str, name: &str) -> Result<Tags, Error> {
        let text = text.trim_matches([' ', '\t']);
        if text == "*" {
            return Ok(Tags::Any);
        }
        let is_unquoted = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
        if !text.is_empty() && text.bytes().all(is_unquoted) {
            return Ok(Tags::Listed(vec![Tag { is_weak: false, opaque: text.to_owned() }]));
        }
        list(text).map(Tags::Listed).ok_or_else(|| {
            Error::new(Code::MalformedRequest, format!("{name} is neither * nor a list of entity tags")).hint(
                "Send the value of ETag unchanged, with its double quotes. Separate several with commas.",
            )
        })
    }

    /// Whether one of them has this version (strong comparison: weak tags do not match).
    fn match_version(&self, version: &str) -> bool {
        match self {
            Tags::Any => true,
            Tags::Listed(tags) => tags.iter().any(|tag| !tag.is_weak && tag.version() == version),
        }
    }
}

/// Parses `"a", W/"b"`: at least one tag; empty elements are ignored.
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

/// The preconditions of a write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    if_match: Option<Tags>,
    if_none_match: Option<Tags>,
}

impl Preconditions {
    /// Parses both headers, which are optional.
    pub fn parse(if_match: Option<&str>, if_none_match: Option<&str>) -> Result<Preconditions, Error> {
        Ok(Preconditions {
            if_match: if_match.map(|text| Tags::parse(text, "If-Match")).transpose()?,
            if_none_match: if_none_match.map(|text| Tags::parse(text, "If-None-Match")).transpose()?,
        })
    }

    /// Whether there are no preconditions.
    pub fn is_empty(&self) -> bool {
        self.if_match.is_none() && self.if_none_match.is_none()
    }

    /// Whether the check needs the version.
    pub fn need_version(&self) -> bool {
        [&self.if_match, &self.if_none_match]
            .into_iter()
            .flatten()
            .any(|tags| matches!(tags, Tags::Listed(_)))
    }

    /// Whether they hold if the record does not exist.
    pub fn hold_if_absent(&self) -> bool {
        self.if_match.is_none()
    }

    /// Whether they hold for a record with this version.
    pub fn hold_for(&self, version: &str) -> bool {
        self.if_match.as_ref().is_none_or(|tags| tags.match_version(version))
            && !self.if_none_match.as_ref().is_some_and(|tags| match tags {
                Tags::Any => true,
                Tags::Listed(tags) => tags.iter().any(|tag| tag.version() == version),
            })
    }

    /// The error for an upsert with If-Match whose record does not exist.
    pub fn failure_if_absent(&self) -> Error {
        failed("no record has this key, and If-Match requires one", "Omit If-Match to create the record.")
    }

    /// The error for a write to a record with this version.
    pub fn failure_for(&self, version: &str) -> Error {
        let is_match = self.if_match.as_ref().is_none_or(|tags| tags.match_version(version));
        match &self.if_none_match {
            Some(Tags::Any) if is_match => failed(
                "the record exists, and If-None-Match allows creation only",
                "Omit If-None-Match to update the record.",
            ),
            Some(Tags::Listed(_)) if is_match => failed(
                "If-None-Match lists the version of the record",
                "Omit If-None-Match to write any version.",
            ),
            _ => failed(
                "If-Match does not list the version of the record",
                "Read the record again, and send its ETag as If-Match, or its version as if_match in a batch. In SQL, call keyed.record_version(id).",
            ),
        }
    }
}

/// The tag in If-None-Match that matches a response (weak comparison). The 304 response repeats it.
pub fn matching_tag(if_none_match: Option<&str>, tag: &str) -> Result<Option<String>, Error> {
    let Some(text) = if_none_match else { return Ok(None) };
    Ok(match Tags::parse(text, "If-None-Match")? {
        Tags::Any => Some(tag.to_owned()),
        Tags::Listed(tags) => tags.into_iter().find(|sent| sent.uncoded() == tag).map(|sent| sent.opaque),
    })
}

fn failed(message: &str, hint: &str) -> Error {
    Error::new(Code::PreconditionFailed, message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preconditions(if_match: Option<&str>, if_none_match: Option<&str>) -> Preconditions {
        Preconditions::parse(if_match, if_none_match).expect("entity tags")
    }

    #[test]
    fn version_is_a_hexadecimal_hash_of_the_json() {
        assert_eq!(of("{}"), "44136fa355b3678a1146ad16f7e8649e");
        assert_ne!(of("{\"a\":1}"), of("{\"a\":1.0}"));
    }

    #[test]
    fn parser_accepts_entity_tags_of_rfc_9110() {
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
    fn if_match_compares_versions_strongly() {
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
            assert!(!preconditions(Some(text), None).hold_if_absent(), "{text}");
        }
    }

    #[test]
    fn error_names_the_failed_precondition() {
        let message_of =
            |if_match, if_none_match| preconditions(if_match, if_none_match).failure_for("v").message;
        for (if_match, if_none_match, part) in [
            (None, Some("*"), "the record exists"),
            (Some("*"), Some("*"), "the record exists"),
            (None, Some("\"v\""), "If-None-Match lists"),
            (Some("\"a\""), None, "If-Match does not list"),
            (Some("\"a\""), Some("*"), "If-Match does not list"),
        ] {
            let message = message_of(if_match, if_none_match);
            assert!(message.contains(part), "{if_match:?} {if_none_match:?}: {message}");
        }
    }

    #[test]
    fn if_none_match_compares_weakly() {
        for (text, holds) in [("*", false), ("\"v\"", false), ("W/\"v\"", false), ("\"a\"", true)] {
            assert_eq!(preconditions(None, Some(text)).hold_for("v"), holds, "{text}");
            assert!(preconditions(None, Some(text)).hold_if_absent(), "{text}");
        }
        assert!(!preconditions(Some("\"v\""), Some("*")).hold_for("v"));
        assert!(preconditions(None, None).is_empty());
    }

    #[test]
    fn matching_tag_compares_the_complete_tag() {
        for (text, expected) in [
            ("\"v\"", Some("v")),
            ("\"a\", W/\"v\"", Some("v")),
            ("\"v-gzip\"", Some("v-gzip")),
            ("*", Some("v")),
            ("\"v.0123\"", None),
            ("\"a\"", None),
        ] {
            assert_eq!(matching_tag(Some(text), "v"), Ok(expected.map(str::to_owned)), "{text}");
        }
        assert_eq!(matching_tag(Some("\"v.0123-br\""), "v.0123"), Ok(Some("v.0123-br".to_owned())));
        assert_eq!(matching_tag(Some("\"v\""), "v.0123"), Ok(None));
        assert_eq!(matching_tag(None, "v"), Ok(None));
    }
}
