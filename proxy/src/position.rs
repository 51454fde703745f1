//! Read-your-writes: the position in the write-ahead log that a write reached, and what a read asks of the server that
//! answers it.

use axum::http::{HeaderMap, HeaderName};
use tokio_postgres::types::PgLsn;

use crate::header::single_text;
use crate::problem::Problem;

/// The position after a write in a response, and in a request the position that its reads need.
pub(crate) const POSITION: HeaderName = HeaderName::from_static("x-keyed-position");

/// Which server answers the reads of a request.
const READ: HeaderName = HeaderName::from_static("x-keyed-read");

/// What the reads of a request ask of the server that answers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Freshness {
    /// Only the primary answers.
    pub(crate) primary: bool,
    /// A replica answers only if it has replayed this position.
    pub(crate) position: Option<PgLsn>,
}

impl Freshness {
    pub(crate) fn of(headers: &HeaderMap) -> Result<Freshness, Problem> {
        let primary = match single_text(headers, READ)? {
            None | Some("") => false,
            Some(value) if value.eq_ignore_ascii_case("primary") => true,
            Some(_) => {
                return Err(Problem::malformed("the header X-Keyed-Read takes only the value primary")
                    .with_hint("Leave the header out for reads that a replica may answer."));
            }
        };
        let position = match single_text(headers, POSITION)? {
            None | Some("") => None,
            Some(text) => Some(read(text).ok_or_else(|| {
                Problem::malformed("the header X-Keyed-Position is not a position such as 16/B374D848")
                    .with_hint("Send the value of X-Keyed-Position of an earlier response unchanged.")
            })?),
        };
        Ok(Freshness { primary, position })
    }
}

/// A position as PostgreSQL writes it: two hexadecimal numbers of at most eight digits.
fn read(text: &str) -> Option<PgLsn> {
    let is_number = |digits: &str| {
        (1..=8).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    let (high, low) = text.split_once('/')?;
    if is_number(high) && is_number(low) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn of(headers: &[(&HeaderName, &str)]) -> Result<Freshness, u16> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_str(value).expect("a header value"));
        }
        Freshness::of(&map).map_err(|problem| problem.status().as_u16())
    }

    #[test]
    fn request_without_headers_accepts_any_server() {
        assert_eq!(of(&[]), Ok(Freshness::default()));
        assert_eq!(of(&[(&READ, ""), (&POSITION, " ")]), Ok(Freshness::default()));
    }

    #[test]
    fn only_primary_can_be_named() {
        for value in ["primary", "Primary"] {
            assert_eq!(of(&[(&READ, value)]), Ok(Freshness { primary: true, position: None }), "{value}");
        }
        for value in ["replica", "any", "primary, primary", "1"] {
            assert_eq!(of(&[(&READ, value)]), Err(400), "{value}");
        }
    }

    #[test]
    fn malformed_position_is_rejected() {
        for value in
            ["0", "/", "1/", "/1", "1/2/3", "g/1", "+1/1", "1 /1", "123456789/0", "0/123456789", "1/-1"]
        {
            assert_eq!(of(&[(&POSITION, value)]), Err(400), "{value}");
        }
        assert_eq!(of(&[(&POSITION, "0/1"), (&POSITION, "0/1")]), Err(400), "sent twice");
    }

    proptest! {
        #[test]
        fn position_round_trips(position: u64) {
            let position = PgLsn::from(position);
            prop_assert_eq!(read(&position.to_string()), Some(position));
            prop_assert_eq!(read(&position.to_string().to_lowercase()), Some(position));
        }
    }
}
