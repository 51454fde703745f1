//! Conditional requests (RFC 9110, section 13): the headers, and the entity tag of a response. The database compares the tags.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;

use crate::problem::Problem;

/// The values of `If-Match` and `If-None-Match`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Conditions {
    pub(crate) if_match: Option<String>,
    pub(crate) if_none_match: Option<String>,
}

impl Conditions {
    pub(crate) fn of(headers: &HeaderMap) -> Result<Conditions, Problem> {
        Ok(Conditions {
            if_match: value(headers, header::IF_MATCH)?,
            if_none_match: value(headers, header::IF_NONE_MATCH)?,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.if_match.is_none() && self.if_none_match.is_none()
    }
}

/// The value of a header. Both headers are lists, so repeated headers form one list.
fn value(headers: &HeaderMap, name: HeaderName) -> Result<Option<String>, Problem> {
    let mut joined: Option<String> = None;
    for line in headers.get_all(&name) {
        let Ok(line) = std::str::from_utf8(line.as_bytes()) else {
            return Err(Problem::malformed(format!("the header {name} is not UTF-8")));
        };
        joined = Some(match joined {
            None => line.to_owned(),
            Some(before) => before + ", " + line,
        });
    }
    Ok(joined)
}

/// Sets the entity tag of a response.
pub(crate) fn set_tag(response: &mut Response, tag: &str) -> Result<(), Problem> {
    let value = HeaderValue::try_from(format!("\"{tag}\""))
        .map_err(|_| Problem::internal(format!("not an entity tag: {tag:?}")))?;
    response.headers_mut().insert(header::ETAG, value);
    Ok(())
}

/// Adds the encoding to the tag of a compressed response: its bytes differ from the plain response, so its tag must
/// differ. In `If-Match`, both are equivalent.
pub(crate) fn mark_compressed(response: &mut Response) {
    let headers = response.headers();
    let (Some(tag), Some(coding)) = (headers.get(header::ETAG), headers.get(header::CONTENT_ENCODING)) else {
        return;
    };
    let Some(plain) = tag.as_bytes().strip_suffix(b"\"") else { return };
    if let Ok(tag) = HeaderValue::from_bytes(&[plain, b"-", coding.as_bytes(), b"\""].concat()) {
        response.headers_mut().insert(header::ETAG, tag);
    }
}

/// Whether `If-None-Match` contains this tag, plain or with an encoding. For responses that the database does not compare.
pub(crate) fn has_tag(headers: &HeaderMap, tag: &str) -> bool {
    let lines = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    let mut tags = lines.flat_map(|line| line.split(',')).map(|it| it.trim().trim_start_matches("W/"));
    tags.any(|it| {
        let rest = it.strip_prefix('"').and_then(|it| it.strip_prefix(tag));
        it == "*" || rest.is_some_and(|rest| rest == "\"" || rest.starts_with('-'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_condition_header_is_one_list() {
        let mut headers = HeaderMap::new();
        assert!(Conditions::of(&headers).is_ok_and(|conditions| conditions.is_empty()));
        headers.append(header::IF_MATCH, HeaderValue::from_static("\"a\""));
        headers.append(header::IF_MATCH, HeaderValue::from_static("W/\"b\""));
        let conditions = Conditions::of(&headers).ok();
        let expected = Conditions { if_match: Some("\"a\", W/\"b\"".to_owned()), if_none_match: None };
        assert_eq!(conditions, Some(expected));
        headers.append(header::IF_NONE_MATCH, HeaderValue::from_bytes(b"\xff").expect("obs-text"));
        assert!(Conditions::of(&headers).is_err());
    }

    #[test]
    fn list_matches_plain_compressed_and_weak_tags() {
        let has = |value: &'static str| {
            has_tag(&HeaderMap::from_iter([(header::IF_NONE_MATCH, HeaderValue::from_static(value))]), "ab")
        };
        assert!([r#""ab""#, r#"W/"ab""#, r#""x", "ab-gzip""#, "*"].into_iter().all(has));
        assert!(![r#""a""#, r#""abc""#, "ab", ""].into_iter().any(has));
        assert!(!has_tag(&HeaderMap::new(), "ab"));
    }

    #[test]
    fn compressed_response_has_its_own_entity_tag() {
        let mut response = Response::default();
        set_tag(&mut response, "a").expect("a tag");
        mark_compressed(&mut response);
        assert_eq!(response.headers()[header::ETAG], "\"a\"");
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        mark_compressed(&mut response);
        assert_eq!(response.headers()[header::ETAG], "\"a-gzip\"");
        assert!(set_tag(&mut response, "\n").is_err());
    }
}
