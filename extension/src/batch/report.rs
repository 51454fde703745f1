//! Results → JSON, in the order of the request (docs/reference/http.md).

use super::parse::OperationKind;
use super::{Done, Outcome};
use crate::error::Error;
use crate::json::write_string;
use std::fmt::Write as _;

/// `{errors, results: [{index, status, id, created, error?}]}`.
pub fn to_json(outcomes: &[Option<Outcome>]) -> String {
    let refused = outcomes.iter().any(|outcome| !matches!(outcome, Some(Ok(_))));
    let mut out = format!("{{\"errors\":{refused},\"results\":[");
    for (index, outcome) in outcomes.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        match outcome {
            Some(Ok(done)) => {
                let Done { id, created, .. } = done;
                let status = status(done);
                let _ = write!(
                    out,
                    "{comma}{{\"index\":{index},\"status\":{status},\"id\":\"{id}\",\"created\":{created}}}"
                );
            }
            Some(Err(error)) => {
                let error = error.clone().below(&format!("/operations/{index}"));
                write_refusal(&mut out, comma, index, &error);
            }
            None => write_refusal(&mut out, comma, index, &Error::not_found()),
        }
    }
    out.push_str("]}");
    out
}

fn status(done: &Done) -> u16 {
    match (done.kind, done.created) {
        (OperationKind::Delete, _) => 204,
        (_, true) => 201,
        (_, false) => 200,
    }
}

/// A refusal carries the problem (RFC 9457) that the operation would have been answered with alone.
fn write_refusal(out: &mut String, comma: &str, index: usize, error: &Error) {
    let (code, _, status) = error.code.row();
    let mut title = code.replace('_', " ");
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let _ = write!(
        out,
        "{comma}{{\"index\":{index},\"status\":{status},\"id\":null,\"created\":false,\
         \"error\":{{\"type\":\"urn:problem-type:keyed:{code}\",\"title\":\"{title}\",\"status\":{status},\"detail\":"
    );
    write_string(out, &error.located_message());
    if let Some(hint) = &error.hint {
        out.push_str(",\"hint\":");
        write_string(out, hint);
    }
    // The machine-readable part opens with a brace of its own.
    out.push(',');
    out.push_str(&error.detail()[1..]);
    out.push('}');
}
