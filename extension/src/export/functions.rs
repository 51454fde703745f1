//! The SQL functions of exports.

use super::options::Options;
use super::run;
use crate::access::Caller;
use crate::access::lookup::template_by_name;
use crate::postgres::function::{ReturnValue, sql_functions};
use crate::view::stored;

sql_functions! {
    /// `keyed_http.export_open(template text, format text, body text, view text) returns text`.
    keyed_http_export_open => |call| {
        let caller = Caller::current();
        let template = template_by_name(&caller, &call.required_text(0, "template")?)?;
        let options = Options::parse(&call.text(1).unwrap_or_else(|| "csv".to_owned()))?;
        let body = match call.text(3) {
            // It is part of the URL, so a missing view is 404.
            Some(view) => {
                stored::get(&caller, &template, &view)?;
                serde_json::json!({"view": view}).to_string()
            }
            None => call.text(2).unwrap_or_else(|| "{}".to_owned()),
        };
        run::open(&caller, &template, &body, &options).map(ReturnValue::Text)
    };

    /// `keyed_http.export_next() returns text`.
    keyed_http_export_next => |_| Ok(run::next(&Caller::current())?.map_or(ReturnValue::Null, ReturnValue::Text));
}
