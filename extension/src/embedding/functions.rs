//! The SQL and HTTP functions that write vectors.

use crate::access::Caller;
use crate::error::Error;
use crate::json;
use crate::postgres::function::{Call, ReturnValue, must_not_be_null, sql_functions};
use crate::record::embedding as record_embedding;
use crate::record::precondition::preconditions;
use crate::value::member::{missing, unknown_member};
use crate::value::vector::{Embedding, Vector};
use crate::value::written::Written;
use std::rc::Rc;
use uuid::Uuid;

sql_functions! {
    /// `keyed.set_embedding(id uuid, vector real[], if_match text) returns void`.
    keyed_set_embedding => |call| {
        let id = call.uuid(0).ok_or_else(|| must_not_be_null("id"))?;
        let embedding = match call.reals(1, "vector")? {
            None => Embedding::Null,
            Some(numbers) => Embedding::Value(Rc::new(argument(&numbers)?)),
        };
        record_embedding::set(&Caller::current(), id, &embedding, &preconditions(call, 2)?).map(|()| ReturnValue::Void)
    };

    /// `keyed_http.set_embedding(id text, body text, if_match text, if_none_match text) returns text[]`.
    keyed_http_set_embedding => |call| {
        let (id, body) = (id_name(call)?, call.required_text(1, "body")?);
        record_embedding::set(&Caller::current(), id, &parse_body(&body)?, &preconditions(call, 2)?).map(|()| no_content())
    };

    /// `keyed_http.delete_embedding(id text, if_match text, if_none_match text) returns text[]`.
    keyed_http_delete_embedding => |call| {
        let preconditions = preconditions(call, 1)?;
        record_embedding::set(&Caller::current(), id_name(call)?, &Embedding::Null, &preconditions).map(|()| no_content())
    };
}

fn argument(numbers: &[f32]) -> Result<Vector, Error> {
    Vector::of(&numbers.iter().copied().map(f64::from).collect::<Vec<_>>(), "/vector")
}

/// Parses `{vector}`. Null is rejected: DELETE removes a vector, and an accidental null must not.
fn parse_body(body: &str) -> Result<Embedding, Error> {
    let mut vector = None;
    for (name, value) in json::object(body)?.0 {
        match name.as_ref() {
            "vector" => vector = Some(Vector::parse(value, "/vector")?),
            _ => {
                let pointer = format!("/{}", json::pointer_step(&name));
                return Err(unknown_member(&name, &pointer).hint("Use the member vector."));
            }
        }
    }
    vector.map(|vector| Embedding::Value(Rc::new(vector))).ok_or_else(|| missing("vector", ""))
}

fn id_name(call: &Call) -> Result<Uuid, Error> {
    Uuid::parse_str(&call.required_text(0, "id")?).map_err(|_| Error::not_found())
}

fn no_content() -> ReturnValue {
    ReturnValue::Written(Written::no_content())
}
