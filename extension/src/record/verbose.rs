//! The member `attribute_values` of `verbose=true`: type, label and readable value of each attribute.

use super::shape::{Columns, Projection, STANDARD_COLUMNS, write_name, write_value};
use crate::access::visibility::{self, and};
use crate::access::{Action, Caller};
use crate::attribute_type::AttributeType;
use crate::json::write_string;
use crate::postgres::datum;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::template::{Attribute, Template, catalog};
use crate::value::quote::identifier;
use crate::value::table_name::SideTable;
use pgrx::pg_sys::Datum;

/// Appends `,"attribute_values":{slug:{value,type,label,…}}`.
pub fn write(
    out: &mut String,
    caller: &Caller,
    template: &Template,
    column: &Columns,
    projection: &Projection,
) {
    let Some(record) = column(0) else { return };
    out.push_str(",\"attribute_values\":{");
    let mut first = true;
    for (position, attribute) in template.attributes.iter().enumerate() {
        if !projection.has_attribute(position) {
            continue;
        }
        let value = column(STANDARD_COLUMNS + position);
        write_name(out, attribute, &mut first);
        out.push_str("{\"value\":");
        write_value(out, attribute.kind, value);
        out.push_str(",\"type\":\"");
        out.push_str(attribute.kind.name());
        out.push_str("\",\"label\":");
        write_string(out, attribute.label.as_deref().unwrap_or(&attribute.slug));
        match (attribute.kind, value) {
            (AttributeType::List, value) => write_labels(out, attribute, value),
            (AttributeType::Reference, Some(target)) => write_target(out, caller, attribute, target),
            (AttributeType::Metric, Some(value)) => write_time(out, template, attribute, record, value),
            _ => {}
        }
        out.push('}');
    }
    out.push('}');
}

fn write_labels(out: &mut String, attribute: &Attribute, value: Option<Datum>) {
    let elements = value.and_then(datum::read_text_array).unwrap_or_default();
    out.push_str(",\"labels\":[");
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(out, attribute.label_of(element));
    }
    out.push(']');
}

/// Appends the target's display value, key and template; nulls if the target is deleted or not visible to the caller.
pub fn write_target(out: &mut String, caller: &Caller, attribute: &Attribute, target_id: Datum) {
    let target = attribute.target.and_then(catalog::by_id);
    let target = target.filter(|target| caller.require(Action::Read, target).is_ok());
    let Some(target) = target else {
        out.push_str(",\"display\":null,\"external_key\":null,\"template_slug\":null");
        return;
    };
    let display =
        target.display_slug().map_or("null::text".to_owned(), |slug| format!("t.{}::text", identifier(slug)));
    let sql = format!(
        "select {display}, t.external_key from {} t where t.id = $1 and t.deleted_at is null{}",
        target.table_sql(),
        and(visibility::row(caller, &target).as_deref())
    );
    connected(|spi| {
        let rows = target.run(spi, &sql, Snapshot::Latest, &params![datum::read_uuid(target_id)]);
        for (name, column) in [("display", 0), ("external_key", 1)] {
            out.push_str(",\"");
            out.push_str(name);
            out.push_str("\":");
            let value = if rows.is_empty() { None } else { rows.datum(0, column) };
            write_value(out, AttributeType::String, value);
        }
    });
    out.push_str(",\"template_slug\":\"");
    out.push_str(&target.slug);
    out.push('"');
}

/// The maximum number of points that are searched for a value. Usually it is that of the latest point.
const MAX_POINTS: usize = 1000;

/// Appends the time of a metric's value. Direct SQL can set a value that is not that of the latest point, or of any
/// point.
fn write_time(out: &mut String, template: &Template, attribute: &Attribute, record: Datum, value: Datum) {
    let sql = format!(
        "select m.at from (select p.at, p.id, p.value from {} p where p.record_id = $1 and p.attribute_id = $2 \
         order by p.at desc, p.id desc limit {MAX_POINTS}) m where m.value = $3 order by m.at desc, m.id desc limit 1",
        SideTable::Series.sql(template.id)
    );
    let arguments = params![datum::read_uuid(record), attribute.id, datum::read_f64(value)];
    connected(|spi| {
        let rows = template.run(spi, &sql, Snapshot::Latest, &arguments);
        out.push_str(",\"at\":");
        write_value(out, AttributeType::DateTime, if rows.is_empty() { None } else { rows.datum(0, 0) });
    });
}
