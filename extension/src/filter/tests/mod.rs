//! Compiled SQL of valid filters, and pointer, code and message of errors.

mod days;
mod indexable;
pub(crate) mod properties;
mod references;
mod rejections;
mod rendering;
pub(crate) mod schema;
mod uses;
mod values;

use super::check::{Settings, check};
use super::render::{Options, render};
use super::schema::AttributeKey;
use super::{Filter, parse};
use crate::error::{Code, Error};
use crate::json;
use schema::works;
use serde_json::value::RawValue;

fn raw(text: &str) -> Box<RawValue> {
    serde_json::from_str(text).expect(text)
}

/// Compiles the members `filters` and `filter_groups` of a request for works.
fn compile_with(body: &str, settings: Settings) -> Result<Filter, Error> {
    let members = json::object(body)?.0;
    let member = |requested: &str| members.iter().find(|(name, _)| name == requested).map(|member| member.1);
    check(&parse::body(member("filters"), member("filter_groups"))?, &*works(), settings)
}

fn compile(body: &str) -> Result<Filter, Error> {
    compile_with(body, Settings { time_zone: "Europe/Zurich", ..Settings::default() })
}

fn compile_scope(scope: &str) -> Result<Filter, Error> {
    check(&parse::scope(&raw(scope))?, &*works(), Settings::default())
}

/// A single condition on works, as SQL.
fn condition(condition: &str) -> String {
    match compile(&format!("{{\"filters\":[{condition}]}}")) {
        Ok(filter) => render(&filter, "t", Options::default()),
        Err(error) => panic!("{condition} was refused: {error:?}"),
    }
}

/// The SQL of the condition `{field, operator, value}`, with the value as JSON.
fn on(field: &str, operator: &str, value: &str) -> String {
    format!(r#"{{"field":"{field}","operator":"{operator}","value":{value}}}"#)
}

/// Each line is a field, an operator, a value as JSON, and the SQL of the condition.
fn check_lines(lines: &[(&str, &str, &str, &str)]) {
    for (field, operator, value, expected) in lines {
        let expected = match *expected {
            constant @ ("true" | "false") => constant.to_owned(),
            sql => format!("({sql})"),
        };
        assert_eq!(condition(&on(field, operator, value)), expected, "{field} {operator} {value}");
    }
}

/// The pointer, the code and the message of each error.
fn violations(rejected: Result<Filter, Error>) -> Vec<(String, Code, String)> {
    let error = rejected.expect_err("a refusal");
    error
        .violations
        .into_iter()
        .map(|violation| (violation.pointer, violation.code, violation.detail))
        .collect()
}
