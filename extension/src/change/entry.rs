//! The JSON of an entry of the feed.

use super::rows::Change;
use crate::json_write::write_string;
use crate::template::Template;
use crate::value::time;
use uuid::Uuid;

/// What a caller receives for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disclosure {
    /// The change.
    Whole,
    /// The id of a record that is no longer visible.
    Gone,
    /// Nothing.
    Nothing,
}

/// Appends the entry of a change, with the current record.
pub fn write_change(out: &mut String, template: &Template, change: &Change, record: Option<&str>) {
    begin(out, template, change.record);
    out.push_str(",\"external_key\":");
    write_optional(out, change.external_key.as_deref());
    // A physically removed row is reported as a deletion.
    let operation = if change.operation == "purge" { "delete" } else { &change.operation };
    let is_key_changed = change.changed.iter().any(|name| name == "external_key");
    if is_key_changed || operation == "delete" {
        out.push_str(",\"previous_key\":");
        let released = if operation == "delete" { change.external_key.as_deref() } else { None };
        write_optional(out, change.previous_key.as_deref().or(released));
    }
    out.push_str(",\"operation\":\"");
    out.push_str(operation);
    out.push_str("\",\"at\":\"");
    time::write_datetime(out, change.at);
    out.push_str("\",\"actor\":");
    write_string(out, &change.actor);
    out.push_str(",\"source\":");
    write_string(out, &change.source);
    out.push_str(",\"changed\":[");
    if operation != "delete" {
        for (position, name) in change.changed.iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            write_string(out, name);
        }
    }
    out.push(']');
    write_record(out, record);
    out.push('}');
}

/// Appends an entry for a record that became visible, or may have, because another record changed.
pub fn write_derived(
    out: &mut String,
    template: &Template,
    record: Uuid,
    external_key: Option<&str>,
    disclosed: Option<&str>,
) {
    begin(out, template, record);
    out.push_str(",\"external_key\":");
    write_optional(out, external_key);
    out.push_str(",\"operation\":\"update\",\"at\":null,\"actor\":null,\"source\":null,\"changed\":[]");
    write_record(out, disclosed);
    out.push('}');
}

/// Appends the entry of a record that is no longer visible.
pub fn write_gone(out: &mut String, template: &Template, record: Uuid) {
    begin(out, template, record);
    out.push_str(",\"external_key\":null,\"operation\":\"gone\",\"at\":null,\"actor\":null,\"source\":null,\"changed\":[]}");
}

fn begin(out: &mut String, template: &Template, record: Uuid) {
    out.push_str("{\"id\":\"");
    let mut text = Uuid::encode_buffer();
    out.push_str(record.hyphenated().encode_lower(&mut text));
    out.push_str("\",\"template_id\":\"");
    out.push_str(&template.id_text);
    out.push_str("\",\"template_slug\":\"");
    out.push_str(&template.slug);
    out.push('"');
}

fn write_record(out: &mut String, record: Option<&str>) {
    if let Some(record) = record {
        out.push_str(",\"record\":");
        out.push_str(record);
    }
}

fn write_optional(out: &mut String, text: Option<&str>) {
    match text {
        Some(text) => write_string(out, text),
        None => out.push_str("null"),
    }
}
