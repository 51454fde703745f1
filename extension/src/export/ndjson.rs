//! Writes records as NDJSON, as in the API, but with references by the external key of their target, which is valid in other
//! databases.

use super::Field;
use super::record::Record;
use crate::attribute_type::AttributeType;
use crate::json::write_string;
use crate::postgres::datum;
use crate::record::shape::{STANDARD_COLUMNS, write_uuid, write_value};

/// Appends the line of a record.
pub fn write(out: &mut String, record: &Record, fields: &[Field]) {
    let template = record.template;
    out.push('{');
    for field in fields {
        let Field::Standard(name) = field else { continue };
        if !out.ends_with('{') {
            out.push(',');
        }
        out.push('"');
        out.push_str(name);
        out.push_str("\":");
        match *name {
            "id" => {
                out.push('"');
                write_uuid(out, record.column(0));
                out.push('"');
            }
            "external_key" => write_value(out, AttributeType::String, record.column(1)),
            "template_id" => write_string(out, &template.id_text),
            "template_slug" => write_string(out, &template.slug),
            "created_at" => write_value(out, AttributeType::DateTime, record.column(2)),
            "updated_at" => write_value(out, AttributeType::DateTime, record.column(3)),
            _ => write_value(out, AttributeType::DateTime, record.column(4)),
        }
    }
    out.push_str(",\"attributes\":{");
    for field in fields {
        let Field::Attribute(position) = field else { continue };
        let attribute = &template.attributes[*position];
        if !out.ends_with('{') {
            out.push(',');
        }
        out.push('"');
        out.push_str(&attribute.slug);
        out.push_str("\":");
        let value = record.column(STANDARD_COLUMNS + position);
        match (record.target_key(*position), value) {
            (Some(key), _) => {
                out.push_str("{\"external_key\":");
                datum::with_text(key, |key| write_string(out, key));
                out.push('}');
            }
            (None, Some(value)) if attribute.kind == AttributeType::Metric => {
                record.write_metric(out, *position, value);
            }
            (None, value) => write_value(out, attribute.kind, value),
        }
    }
    out.push('}');
    if fields.contains(&Field::Version) {
        out.push_str(",\"version\":\"");
        out.push_str(&record.version());
        out.push('"');
    }
    out.push_str("}\n");
}
