//! The rows that describe templates and attributes in the state.

use crate::postgres::datum;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::definition::Definition;
use crate::template::{Attribute, Template};
use crate::value::list_option;
use pgrx::pg_sys::{self, Datum};

/// Writes down a new attribute; answers its number.
pub fn insert_attribute(
    spi: &Connection,
    template: i32,
    position: i32,
    new: &Definition,
    target: Option<i32>,
) -> i32 {
    let options = new.options.as_deref().map(list_option::to_json);
    let rows = spi.run_once(
        "with made as (insert into keyed_state.attribute \
         (template_id, position, slug, type, label, required, indexed, options, target_id, default_value) \
         values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10::jsonb) returning id) \
         insert into keyed_state.attribute_use (attribute_id) select id from made returning attribute_id",
        Snapshot::Latest,
        &[
            (pg_sys::INT4OID, Some(Datum::from(template))),
            (pg_sys::INT4OID, Some(Datum::from(position))),
            (pg_sys::TEXTOID, datum::text(&new.slug)),
            (pg_sys::TEXTOID, datum::text(new.kind.name())),
            (pg_sys::TEXTOID, datum::optional_text(new.label.as_deref())),
            (pg_sys::BOOLOID, Some(Datum::from(new.required))),
            (pg_sys::BOOLOID, Some(Datum::from(new.indexed))),
            (pg_sys::TEXTOID, datum::optional_text(options.as_deref())),
            (pg_sys::INT4OID, target.map(Datum::from)),
            (pg_sys::TEXTOID, datum::optional_text(new.default.as_deref())),
        ],
    );
    rows.get(0, 0).map_or(0, datum::read_i32)
}

/// Changes a column of an attribute's row.
pub fn update_attribute(
    spi: &Connection,
    attribute: &Attribute,
    column: &str,
    kind: pg_sys::Oid,
    value: datum::Argument,
) {
    spi.run_once(
        &format!("update keyed_state.attribute set {column} = $2 where id = $1"),
        Snapshot::Latest,
        &[(pg_sys::INT4OID, Some(Datum::from(attribute.id))), (kind, value)],
    );
}

/// Changes a column, a text, of a template's row.
pub fn update_template(spi: &Connection, template: &Template, column: &str, value: datum::Argument) {
    spi.run_once(
        &format!("update keyed_state.template set {column} = $2 where id = $1"),
        Snapshot::Latest,
        &[(pg_sys::INT4OID, Some(Datum::from(template.id))), (pg_sys::TEXTOID, value)],
    );
}
