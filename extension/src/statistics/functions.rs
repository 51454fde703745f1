//! The SQL functions of statistics.

use super::measurements;
use crate::access::{Caller, template_list};
use crate::json_write::to_json;
use crate::postgres::function::{ReturnValue, sql_functions};
use crate::template::catalog;
use serde::Serialize;

sql_functions! {
    /// `keyed.measurement_report() returns jsonb`.
    keyed_measurement_report => |_| measurements::report().map(ReturnValue::Json);

    /// `keyed.visible_templates() returns jsonb`.
    keyed_visible_templates => |_| {
        catalog::refresh();
        Ok(ReturnValue::Json(visible_templates(&Caller::current())))
    };
}

#[derive(Serialize)]
struct Visible<'a> {
    id: i32,
    project: &'a str,
    template: &'a str,
}

fn visible_templates(caller: &Caller) -> String {
    let listed = template_list::templates(caller);
    let visible = listed.iter().filter_map(|listed| {
        let (project, template) = listed.name.split_once('.')?;
        Some(Visible { id: listed.id, project, template })
    });
    to_json(&visible.collect::<Vec<_>>())
}
