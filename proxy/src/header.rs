//! Strict reading of headers.

use axum::http::{HeaderMap, HeaderName};

use crate::problem::Problem;

/// The value of a header that may be missing. Two of one name would let two readers of a request see two values.
pub(crate) fn single(headers: &HeaderMap, name: HeaderName) -> Result<Option<&[u8]>, Problem> {
    let mut values = headers.get_all(&name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Problem::malformed(format!("the header {name} is given more than once")));
    }
    Ok(first.map(|value| value.as_bytes().trim_ascii()))
}
