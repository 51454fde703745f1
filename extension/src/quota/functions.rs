//! The SQL functions of quotas.

use super::define;
use crate::postgres::datum;
use crate::postgres::function::{ReturnValue, sql_functions};
use crate::quota::usage;

sql_functions! {
    /// `keyed.set_quota(project text, name text, maximum bigint) returns void`.
    keyed_set_quota => |call| {
        let (project, name) = (call.required_text(0, "project")?, call.required_text(1, "name")?);
        define::set(&project, &name, call.datum(2).map(datum::read_i64)).map(|()| ReturnValue::Void)
    };

    /// `keyed.quota_report(project text) returns jsonb`.
    keyed_quota_report => |call| usage::report(&call.required_text(0, "project")?).map(ReturnValue::Json);
}
