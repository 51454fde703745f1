//! Errors in the delivery log.

use crate::error::Error;
use crate::error::detail::Detail;
use crate::json_write::to_json;
use serde::Serialize;

/// A logged error.
#[derive(Serialize)]
struct LoggedError<'a> {
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(flatten)]
    machine_readable: Detail<'a>,
}

/// `{code, detail, hint?, errors?: [{pointer, code, detail}]}`.
pub fn error_json(error: &Error) -> String {
    let json = to_json(&LoggedError {
        detail: error.located_message(),
        hint: error.hint.as_deref(),
        machine_readable: error.machine_readable(),
    });
    without_nul(&json)
}

/// Replaces each escaped U+0000 by U+FFFD. A message can quote input, and jsonb does not support U+0000. An escaped backslash
/// does not begin an escape.
fn without_nul(json: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(json.len()), json);
    while let Some(start) = rest.find('\\') {
        let (before, escape) = rest.split_at(start);
        kept.push_str(before);
        let length = if escape.starts_with("\\u0000") { 6 } else { 2.min(escape.len()) };
        kept.push_str(if length == 6 { "\u{fffd}" } else { &escape[..length] });
        rest = &escape[length..];
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_u_0000_is_replaced() {
        for (sent, kept) in [
            (r#"{"a":"x\u0000y"}"#, "{\"a\":\"x\u{fffd}y\"}"),
            (r#"{"a":"x\\u0000y"}"#, r#"{"a":"x\\u0000y"}"#),
            (r#"{"a":"\\\u0000\\"}"#, "{\"a\":\"\\\\\u{fffd}\\\\\"}"),
            (r#"{"a":"\n\u00e9"}"#, r#"{"a":"\n\u00e9"}"#),
        ] {
            assert_eq!(without_nul(sent), kept);
        }
    }
}
