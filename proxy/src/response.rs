//! A row of the database → an HTTP response.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio_postgres::Row;

use crate::conditional::set_tag;
use crate::observation::REPLAYED;
use crate::problem::Problem;
use crate::query::Prefix;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The response of a read: its row has one column, the body.
pub(crate) fn read(row: &Row) -> Result<Response, Problem> {
    match row.try_get::<_, &str>(0) {
        Ok(body) => Ok(json(StatusCode::OK, body.to_owned())),
        Err(error) => Err(Problem::internal(format!("not the result of a read: {error}"))),
    }
}

/// The response of a read of one record: its column is `{entity tag, body}`. The body is null if the caller already has
/// the response with this tag.
pub(crate) fn record(row: &Row) -> Result<Response, Problem> {
    let unexpected = |what: String| Problem::internal(format!("not the result of a read: {what}"));
    let columns: Vec<Option<&str>> = row.try_get(0).map_err(|error| unexpected(error.to_string()))?;
    let [Some(tag), body] = columns[..] else {
        return Err(unexpected(format!("{} elements", columns.len())));
    };
    let mut response = match body {
        Some(body) => json(StatusCode::OK, body.to_owned()),
        None => StatusCode::NOT_MODIFIED.into_response(),
    };
    set_tag(&mut response, tag)?;
    Ok(response)
}

/// The response of a read with headers: its column is `{value of each header, …, body}`.
pub(crate) fn read_with<const N: usize>(row: &Row, names: &[HeaderName; N]) -> Result<Response, Problem> {
    let unexpected = |what: String| Problem::internal(format!("not the result of a read: {what}"));
    let mut columns: Vec<String> = row.try_get(0).map_err(|error| unexpected(error.to_string()))?;
    let body = columns.pop().filter(|_| columns.len() == N);
    let mut response = json(StatusCode::OK, body.ok_or_else(|| unexpected("other elements".to_owned()))?);
    for (name, value) in names.iter().zip(columns) {
        let value = HeaderValue::try_from(value).map_err(|error| unexpected(error.to_string()))?;
        response.headers_mut().insert(name.clone(), value);
    }
    Ok(response)
}

/// The response of a write: its first column is `{status, id of the created object, body, entity tag of the returned
/// record, subject}`. The database uses the subject and the elements after it to store the response of a request with
/// an Idempotency-Key. Only such a request has a second column, which is true if the response was stored earlier. With
/// `collection`, a created object gets a Location.
pub(crate) fn written(row: &Row, collection: Option<(Prefix, &str)>) -> Result<Response, Problem> {
    let unexpected = |what: String| Problem::internal(format!("not the result of a write: {what}"));
    let columns: Vec<Option<&str>> = row.try_get(0).map_err(|error| unexpected(error.to_string()))?;
    let [Some(status), id, body, tag, _subject, ..] = columns[..] else {
        return Err(unexpected(format!("{} elements", columns.len())));
    };
    let status =
        StatusCode::from_bytes(status.as_bytes()).map_err(|_| unexpected(format!("status {status}")))?;
    let mut response = match body {
        Some(body) => json(status, body.to_owned()),
        None => status.into_response(),
    };
    if let (StatusCode::CREATED, Some(id), Some((Prefix(prefix), noun))) = (status, id, collection) {
        let address = HeaderValue::try_from(format!("{prefix}/{noun}/{id}"));
        let address = address.map_err(|_| unexpected(format!("id {id:?}")))?;
        response.headers_mut().insert(header::LOCATION, address);
    }
    if let Some(tag) = tag {
        set_tag(&mut response, tag)?;
    }
    if row.try_get(1).unwrap_or(false) {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}

pub(crate) fn json(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, JSON)], body).into_response()
}
