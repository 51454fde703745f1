//! Idempotent requests: the header `Idempotency-Key`, as in the IETF draft
//! (draft-ietf-httpapi-idempotency-key-header), and the fingerprint of a request.
//!
//! The database stores a response in the transaction of the write. The statement of the request is wrapped in one that
//! returns the stored response or stores the new one (`statement`), which needs only one round trip. Requests without
//! the header have no additional cost.

use axum::http::request::Parts;
use axum::http::{HeaderName, Method};
use bytes::BytesMut;
use sha2::{Digest, Sha256};
use tokio::task::yield_now;
use tokio_postgres::types::IsNull;

use crate::header::single;
use crate::problem::Problem;
use keyed_service::statement::Argument;

const NAME: HeaderName = HeaderName::from_static("idempotency-key");

/// The number of bytes that are hashed without yielding.
const MAX_INLINE: usize = 64 << 10;

/// The maximum length of a key, in characters.
const MAX_KEY_LENGTH: usize = 255;

/// The Idempotency-Key of a request, with its method and path.
pub(crate) struct Idempotency {
    pub(crate) key: String,
    target: String,
}

impl Idempotency {
    /// Reads the header of a request. It is ignored for reads.
    pub(crate) fn of(parts: &Parts) -> Result<Option<Idempotency>, Problem> {
        if matches!(parts.method, Method::GET | Method::HEAD) {
            return Ok(None);
        }
        let Some(value) = single(&parts.headers, NAME)? else { return Ok(None) };
        let address = parts.uri.path_and_query().map_or("", |address| address.as_str());
        let target = format!("{} {address}", parts.method);
        Ok(Some(Idempotency { key: read(value)?, target }))
    }

    /// The content that identifies a request: method, path, and the arguments of its statement, that is, project, path
    /// parameters and body.
    pub(crate) fn content<'a>(
        &self,
        arguments: impl IntoIterator<Item = &'a Argument<'a>>,
    ) -> Result<Content, Problem> {
        let mut content = Content(vec![BytesMut::from(self.target.as_bytes())]);
        for (value, kind) in arguments {
            let mut bytes = BytesMut::new();
            let written = value.to_sql_checked(kind, &mut bytes);
            match written
                .map_err(|error| Problem::internal(format!("an argument cannot be hashed: {error}")))?
            {
                IsNull::Yes => content.0.push(BytesMut::from(&b"null"[..])),
                IsNull::No => content.0.extend([BytesMut::from(&b"value"[..]), bytes]),
            }
        }
        Ok(content)
    }
}

/// The content of a request.
pub(crate) struct Content(Vec<BytesMut>);

impl Content {
    /// The fingerprint. Yields between the pieces of a large part, so that other requests are not delayed.
    pub(crate) async fn fingerprint(self) -> [u8; 32] {
        let mut digest = Sha256::new();
        for part in self.0 {
            digest.update((part.len() as u64).to_be_bytes());
            let mut pieces = part.chunks(MAX_INLINE).peekable();
            while let Some(piece) = pieces.next() {
                digest.update(piece);
                if pieces.peek().is_some() {
                    yield_now().await;
                }
            }
        }
        digest.finalize().into()
    }
}

/// Parses the key in the header: a quoted string (RFC 8941) as in the draft, or unquoted as most clients send it.
fn read(value: &[u8]) -> Result<String, Problem> {
    let is_quoted = value.len() >= 2 && value.starts_with(b"\"") && value.ends_with(b"\"");
    let key = if is_quoted { unquote(&value[1..value.len() - 1]) } else { Some(value.to_vec()) };
    let fits = |key: &Vec<u8>| {
        let least = if is_quoted { b' ' } else { b'!' };
        (1..=MAX_KEY_LENGTH).contains(&key.len()) && key.iter().all(|byte| (least..=b'~').contains(byte))
    };
    let key = key.filter(fits).and_then(|key| String::from_utf8(key).ok());
    key.ok_or_else(|| {
        Problem::malformed("the header Idempotency-Key must have 1 to 255 visible characters of ASCII, or be a string in double quotes")
    })
}

fn unquote(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return None,
            b'\\' => out.push(*bytes.next().filter(|next| matches!(next, b'"' | b'\\'))?),
            plain => out.push(*plain),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use futures_util::FutureExt;

    use proptest::prelude::*;

    use super::*;
    use keyed_service::statement::text;

    fn key(value: &[u8]) -> Option<String> {
        read(value).ok()
    }

    #[test]
    fn key_is_bare_or_quoted() {
        for (value, expected) in [
            ("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
            ("\"8e03978e\"", "8e03978e"),
            (r#""a \"b\" \\ c""#, r#"a "b" \ c"#),
            ("a\"b", "a\"b"),
            ("\"", "\""),
        ] {
            assert_eq!(key(value.as_bytes()).as_deref(), Some(expected), "{value}");
        }
        assert!(key(&[b'x'; 255]).is_some());
    }

    #[test]
    fn invalid_key_is_rejected() {
        for value in [&b""[..], b"\"\"", b"a b", b"\xc3\xa9", b"a\tb", b"\"a\"b\"", b"\"a\\\"", b"\"a\\b\""] {
            assert_eq!(key(value), None, "{}", String::from_utf8_lossy(value));
        }
        assert!(key(&[b'x'; 256]).is_none());
    }

    fn fingerprint(method: &str, address: &str, project: Option<&str>, body: &str) -> [u8; 32] {
        let request = Request::builder().method(method).uri(address).header("idempotency-key", "k").body(());
        let (parts, ()) = request.expect("a request").into_parts();
        let idempotency = Idempotency::of(&parts).ok().flatten().expect("a key");
        let content = idempotency.content(&[text(&project), text(&body)]).expect("texts can be hashed");
        content.fingerprint().now_or_never().expect("small texts are hashed without yielding")
    }

    #[test]
    fn fingerprint_covers_every_part_of_the_request() {
        let requests = [
            ("PUT", "/v1/entities/a", Some("crm"), "{}"),
            ("PATCH", "/v1/entities/a", Some("crm"), "{}"),
            ("PUT", "/v1/entities/b", Some("crm"), "{}"),
            ("PUT", "/v1/entities/a?mode=create", Some("crm"), "{}"),
            ("PUT", "/v1/entities/a", Some("shop"), "{}"),
            ("PUT", "/v1/entities/a", None, "{}"),
            ("PUT", "/v1/entities/a", Some("null"), "{}"),
            ("PUT", "/v1/entities/a", Some("crm"), "{ }"),
        ];
        let prints =
            requests.map(|(method, address, project, body)| fingerprint(method, address, project, body));
        let different: std::collections::HashSet<_> = prints.iter().collect();
        assert_eq!(different.len(), requests.len());
        assert_eq!(fingerprint("PUT", "/v1/entities/a", Some("crm"), "{}"), prints[0]);
    }

    proptest! {
        #[test]
        fn quoted_key_round_trips(text in "[ -~]{1,255}") {
            let quoted = format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
            prop_assert_eq!(read(quoted.as_bytes()).ok(), Some(text));
        }

        #[test]
        fn any_header_is_a_valid_key_or_rejected(value in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..300),
            "\"?[a-c\"\\\\ ]{0,9}\"?".prop_map(String::into_bytes),
        ]) {
            match read(&value) {
                Ok(key) => prop_assert!((1..=MAX_KEY_LENGTH).contains(&key.len()) && key.bytes().all(|it| (b' '..=b'~').contains(&it))),
                Err(problem) => prop_assert_eq!(problem.status(), 400),
            }
        }
    }
}
