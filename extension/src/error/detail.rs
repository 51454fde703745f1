//! Errors as JSON: the DETAIL of an SQL error, which the proxy parses, and the errors within responses.

use super::code::{self, Code};
use super::quota::{self, Reached};
use super::{Error, Violation};
use crate::json_write::to_json;
use serde::{Deserialize, Serialize};

/// The machine-readable part of an error.
#[derive(Serialize)]
pub struct Detail<'a> {
    #[serde(serialize_with = "code::as_name")]
    code: Code,
    #[serde(skip_serializing_if = "<[Violation]>::is_empty")]
    errors: &'a [Violation],
    #[serde(skip_serializing_if = "Option::is_none")]
    existing_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_index: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    quota: Option<Quota<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Quota<'a> {
    name: &'a str,
    maximum: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    used: Option<i64>,
}

/// The same as it is read; an extension of another version may have raised it.
#[derive(Deserialize)]
struct Raised<'a> {
    code: String,
    #[serde(default)]
    errors: Vec<RaisedViolation>,
    #[serde(borrow)]
    quota: Option<Quota<'a>>,
}

#[derive(Deserialize)]
struct RaisedViolation {
    pointer: String,
    code: String,
    detail: String,
}

impl Error {
    /// The machine-readable part.
    pub fn machine_readable(&self) -> Detail<'_> {
        let quota = |Reached { name, maximum, used, .. }: &Reached| Quota {
            name: name.text(),
            maximum: *maximum,
            used: *used,
        };
        Detail {
            code: self.code,
            errors: &self.violations,
            existing_id: self.existing_id.map(|id| id.to_string()),
            failed_index: self.failed_index,
            retryable: self.is_retryable,
            quota: self.quota.as_deref().map(quota),
        }
    }

    /// DETAIL: `{"code":…,"errors":[…],"existing_id":…,"failed_index":…,"retryable":true,"quota":…}`.
    pub fn detail(&self) -> String {
        to_json(&self.machine_readable())
    }

    /// Restores a caught error of keyed from its message and DETAIL; `None` for an error of PostgreSQL.
    pub fn from_raised(message: &str, detail: Option<&str>) -> Option<Self> {
        let raised: Raised<'_> = serde_json::from_str(detail?).ok()?;
        let quota = raised.quota.and_then(|Quota { name, maximum, used }| {
            Some(Box::new(Reached { name: quota::Name::parse(name)?, maximum, used, requested: 1 }))
        });
        let violations = raised.errors.into_iter().filter_map(|violation| {
            Some(Violation {
                pointer: violation.pointer,
                code: Code::parse(&violation.code)?,
                detail: violation.detail,
                hint: None,
            })
        });
        let violations: Vec<Violation> = violations.collect();
        let message = violations.first().map_or(message, |violation| &violation.detail).to_owned();
        Some(Error { violations, quota, ..Error::new(Code::parse(&raised.code)?, message) })
    }
}
