//! Corrects the series of a record's metric: points are replaced or deleted, and the latest value follows.

use super::key::Key;
use super::series::{AFTER_ALL, BEFORE_ALL, bound, metric_at};
use super::version::Preconditions;
use super::{changes, embedding, precondition, read, write};
use crate::access::{Action, Caller};
use crate::attribute_type::{AttributeType, metric as points};
use crate::error::{Code, Error};
use crate::json;
use crate::json_write::write_double;
use crate::metric;
use crate::metric::correction::{self, Times};
use crate::quota::reserve;
use crate::record::shape::write_value;
use crate::value::change::{Change, Point, Value};
use crate::value::member::unknown_member;
use pgrx::pg_sys::Datum;
use serde_json::value::RawValue;
use uuid::Uuid;

/// A correction: the points at these times are deleted, and others added.
#[derive(Debug)]
pub struct Correction {
    times: Times,
    points: Vec<Point>,
}

impl Correction {
    /// Deletes the points at a time or in a range (RFC 3339).
    pub fn delete(at: Option<&str>, from: Option<&str>, to: Option<&str>) -> Result<Correction, Error> {
        let times = match (bound(at, "/at")?, range(from, to)?) {
            (Some(_), Some(_)) => {
                let message = "at cannot be combined with from and to";
                return Err(Error::at(Code::InvalidValue, "/at", message)
                    .hint("Send at for the points of one time, or from and to for a range."));
            }
            (Some(at), None) => Times::At(vec![at]),
            (None, Some(range)) => range,
            (None, None) => {
                return Err(Error::at(Code::InvalidValue, "/at", "the request selects no points").hint(
                    "Send at, or from and to. from=0001-01-01T00:00:00Z without to deletes the whole series.",
                ));
            }
        };
        Ok(Correction { times, points: Vec::new() })
    }

    /// Replaces the points at the same times, or all points in a range that contains them.
    pub fn replace(sent: &RawValue, from: Option<&str>, to: Option<&str>) -> Result<Correction, Error> {
        let points = points::parse_points(sent, &changes::rules_of_request("/points"))?;
        let mut times = Vec::with_capacity(points.len());
        for (position, point) in points.iter().enumerate() {
            let here = format!("/points/{position}/at");
            times.push(point.at.ok_or_else(|| {
                Error::at(Code::InvalidValue, here, "at is required for points that replace others")
            })?);
        }
        let times = match range(from, to)? {
            None if times.is_empty() => {
                return Err(Error::at(Code::InvalidValue, "/points", "the request selects no points")
                    .hint("Send points, or from and to for the range to delete."));
            }
            None => Times::At(times),
            Some(range) => {
                if let Some(position) = times.iter().position(|at| !range.contain(*at)) {
                    let here = format!("/points/{position}/at");
                    let message = "the point is outside of the range from (inclusive) to (exclusive)";
                    return Err(Error::at(Code::InvalidValue, here, message));
                }
                range
            }
        };
        Ok(Correction { times, points })
    }

    /// Parses `{points, from?, to?}`.
    pub fn parse(body: &str) -> Result<Correction, Error> {
        let (mut points, mut from, mut to) = (None, None, None);
        for (name, value) in json::object(body)?.0 {
            let here = format!("/{}", json::pointer_step(&name));
            match name.as_ref() {
                "points" => points = Some(value),
                "from" if json::is_null(value) => {}
                "to" if json::is_null(value) => {}
                "from" => from = Some(json::text_at(value, &here)?),
                "to" => to = Some(json::text_at(value, &here)?),
                _ => {
                    return Err(unknown_member(&name, &here).hint("Use the members points, from and to."));
                }
            }
        }
        let points = points.ok_or_else(|| {
            Error::at(Code::InvalidValue, "/points", "points is missing")
                .hint("Send the new points, or an empty array to delete only.")
        })?;
        Correction::replace(points, from.as_deref(), to.as_deref())
    }
}

fn range(from: Option<&str>, to: Option<&str>) -> Result<Option<Times>, Error> {
    let (from, to) = (bound(from, "/from")?, bound(to, "/to")?);
    if from.is_none() && to.is_none() {
        return Ok(None);
    }
    Ok(Some(Times::Range(from.unwrap_or(BEFORE_ALL), to.unwrap_or(AFTER_ALL))))
}

/// Corrects the series of a live record that the caller may read and change:
/// `{deleted, added, latest: {at, value} | null}`.
pub fn correct(
    caller: &Caller,
    record: Uuid,
    slug: &str,
    correction: Correction,
    preconditions: &Preconditions,
) -> Result<String, Error> {
    let template = read::template_of(caller, record, Action::Update)?;
    caller.require(Action::Read, &template)?;
    let position = metric_at(&template, slug)?;
    let attribute = &template.attributes[position];
    reserve::for_change(&template);
    embedding::require_writable(caller, &template, record)?;
    precondition::require_of_locked(caller, &template, record, preconditions)?;
    let deleted = correction::delete(&template, record, attribute.id, &correction.times);
    let added = correction.points.len();
    let mut written = vec![(position, Change::Append(correction.points))];
    metric::append(&template, record, &written);
    let latest = correction::latest(&template, record, attribute.id);
    let value = match latest {
        Some(point) => Value::ByValue(Datum::from(point.value.to_bits()).value() as i64),
        None => Value::Null,
    };
    written[0].1 = Change::Set(value);
    write::update(
        caller,
        Action::Update,
        &template,
        record,
        &Key::Absent,
        written,
        &Preconditions::default(),
    )?;
    let mut out = format!("{{\"deleted\":{deleted},\"added\":{added},\"latest\":");
    match latest {
        None => out.push_str("null"),
        Some(Point { value, at }) => {
            out.push_str("{\"at\":");
            write_value(&mut out, AttributeType::DateTime, at.map(Datum::from));
            out.push_str(",\"value\":");
            write_double(&mut out, value);
            out.push('}');
        }
    }
    out.push('}');
    Ok(out)
}
