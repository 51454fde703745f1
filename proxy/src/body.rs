//! Reads a JSON body: checks media type, size and encoding. The database validates the content.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use hyper::body::Body as _;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use crate::admission::min_rate::TransferTimer;
use crate::admission::{Admitted, ReservedBytes};
use crate::header::require_uncompressed;
use crate::problem::Problem;
use crate::state::App;

/// A larger body is checked on a blocking thread, so that no other request waits for it.
const MAX_INLINE: usize = 256 << 10;

/// The text of a required body.
pub(crate) struct JsonText(pub(crate) String);

/// The text of a body that may be missing.
pub(crate) struct OptionalJsonText(pub(crate) Option<String>);

impl FromRequest<Arc<App>> for JsonText {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        match read_json(request, app).await? {
            Some(text) => Ok(JsonText(text)),
            None => Err(Problem::malformed("this request needs a JSON body")),
        }
    }
}

impl FromRequest<Arc<App>> for OptionalJsonText {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        read_json(request, app).await.map(OptionalJsonText)
    }
}

async fn read_json(request: Request, app: &App) -> Result<Option<String>, Problem> {
    let (parts, body) = request.into_parts();
    if body.is_end_stream() {
        return Ok(None);
    }
    check_type(&parts.headers)?;
    let Some(admitted) = parts.extensions.get::<Admitted>() else {
        return Err(Problem::internal("a body is read before its request is admitted".to_owned()));
    };
    let read = read_all(body, app.body_limit, TransferTimer::new(app.minimum_rate), Some(admitted));
    let Ok(bytes) = timeout(app.body_timeout, read).await else {
        return Err(Problem::body_too_slow());
    };
    let bytes = bytes?;
    let text = match bytes.len() > MAX_INLINE {
        true => spawn_blocking(|| text(bytes)).await.map_err(|error| Problem::internal(error.to_string()))?,
        false => text(bytes),
    }?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

fn text(bytes: Vec<u8>) -> Result<String, Problem> {
    let text = String::from_utf8(bytes).map_err(|_| Problem::malformed("the body is not UTF-8"))?;
    // JSON cannot contain this byte, and neither can PostgreSQL's text, so the database cannot report it.
    if memchr::memchr(0, text.as_bytes()).is_some() {
        return Err(Problem::malformed("the body has a zero byte"));
    }
    Ok(text)
}

fn check_type(headers: &HeaderMap) -> Result<(), Problem> {
    require_uncompressed(headers)?;
    match headers.get(header::CONTENT_TYPE) {
        Some(value) if value.to_str().is_ok_and(is_json) => Ok(()),
        Some(_) => {
            Err(Problem::unsupported_media_type("the body's Content-Type must be application/json in UTF-8"))
        }
        None => {
            Err(Problem::unsupported_media_type("the body has no Content-Type: application/json is needed"))
        }
    }
}

fn is_json(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    let json =
        essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"));
    json && parts.filter_map(|parameter| parameter.split_once('=')).all(|(name, value)| {
        let value = value.trim().trim_matches('"');
        // `utf8` is not a registered name, but some clients send it.
        !name.trim().eq_ignore_ascii_case("charset")
            || ["utf-8", "utf8"].iter().any(|it| value.eq_ignore_ascii_case(it))
    })
}

async fn read_all(
    mut body: Body,
    limit: usize,
    mut timer: TransferTimer,
    admitted: Option<&Admitted>,
) -> Result<Vec<u8>, Problem> {
    // A body with a Content-Length above the limit is rejected before it is read.
    let size = body.size_hint();
    if size.lower() > limit as u64 {
        return Err(Problem::body_too_large(limit));
    }
    let expected = size.exact().map_or(FIRST_ROOM, |bytes| bytes as usize).min(limit);
    let mut room = Room { admitted, reserved: None, bytes: 0 };
    room.grow(expected).await?;
    let mut bytes = Vec::with_capacity(expected);
    loop {
        let waiting = Instant::now();
        let Ok(frame) = timeout(timer.timeout(), body.frame()).await else {
            return Err(Problem::body_too_slow());
        };
        let Some(frame) = frame else { break };
        let frame =
            frame.map_err(|_| Problem::malformed("the connection was closed before the end of the body"))?;
        let Ok(data) = frame.into_data() else { continue };
        timer.record(data.len(), waiting.elapsed());
        let length = bytes.len() + data.len();
        if length > limit {
            return Err(Problem::body_too_large(limit));
        }
        if length > room.bytes {
            room.grow(length.max(2 * room.bytes).min(limit)).await?;
        }
        bytes.extend_from_slice(&data);
    }
    room.keep();
    Ok(bytes)
}

/// The initial buffer for a body of unknown length.
const FIRST_ROOM: usize = 64 << 10;

/// The reserved memory of a body.
struct Room<'a> {
    admitted: Option<&'a Admitted>,
    reserved: Option<ReservedBytes>,
    bytes: usize,
}

impl Room<'_> {
    async fn grow(&mut self, bytes: usize) -> Result<(), Problem> {
        if let Some(admitted) = self.admitted {
            admitted.reserve(&mut self.reserved, bytes - self.bytes).await?;
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Holds the memory until the request ends.
    fn keep(self) {
        if let (Some(admitted), Some(reserved)) = (self.admitted, self.reserved) {
            admitted.keep(reserved);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::http::StatusCode;

    use proptest::prelude::*;

    use super::*;
    use crate::admission::min_rate::MinRate;

    #[test]
    fn json_types_are_recognised() {
        for value in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
            "application/json; charset=utf8",
            "application/merge-patch+json",
        ] {
            assert!(is_json(value), "{value}");
        }
        for value in
            ["", "text/json", "application/jsonp", "application/json; charset=latin1", "text/plain", "+json"]
        {
            assert!(!is_json(value), "{value}");
        }
    }

    #[tokio::test]
    async fn body_over_the_limit_is_rejected() {
        let timer = TransferTimer::new(MinRate { bytes_per_second: 1, stall: Duration::from_secs(60) });
        let read = async |text: &'static str| read_all(Body::from(text), 5, timer, None).await;
        assert_eq!(read("12345").await.ok(), Some(b"12345".to_vec()));
        let rejected = read("123456").await.map_err(|problem| problem.status());
        assert_eq!(rejected, Err(StatusCode::PAYLOAD_TOO_LARGE));
    }

    proptest! {
        #[test]
        fn accepted_content_type_is_json_in_utf8(value in prop_oneof![any::<String>(), "application/([a-z.]{0,4}\\+)?json( ?; ?(charset|q)= ?\"?(utf-?8|UTF-8|latin1)\"?){0,2}"]) {
            if is_json(&value) {
                prop_assert!(value.trim().to_ascii_lowercase().starts_with("application/"));
                prop_assert!(!value.contains("charset=latin1"));
            }
        }
    }
}
