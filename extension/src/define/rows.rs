//! The rows that describe templates and attributes in the state.

use crate::attribute_type::AttributeType;
use crate::error::Error;
use crate::postgres::guard;
use crate::postgres::parameter::{IntoParameter, Jsonb, Parameter, params};
use crate::postgres::raise::Raise;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::definition::Definition;
use crate::template::{Attribute, Template, presentation};
use crate::value::list_option;
use serde_json::value::RawValue;

/// Inserts an attribute. Returns its number. Before migration 26, a CHECK constraint lists the types.
pub fn insert_attribute(
    spi: &Connection,
    template: i32,
    position: i32,
    new: &Definition,
    target: Option<i32>,
) -> i32 {
    let options = new.options.as_deref().map(list_option::to_json);
    if (new.kind == AttributeType::Boolean && !is_migrated(spi, TYPES_MIGRATION))
        || (new.format.is_some() && !is_migrated(spi, FORMAT_MIGRATION))
    {
        guard::not_migrated().raise();
    }
    let rows = spi.run_once(
        "with made as (insert into keyed_state.attribute \
         (template_id, position, slug, type, label, required, indexed, options, target_id, default_value) \
         values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10::jsonb) returning id) \
         insert into keyed_state.attribute_use (attribute_id) select id from made returning attribute_id",
        Snapshot::Latest,
        &params![
            template,
            position,
            &new.slug,
            new.kind.name(),
            new.label.as_deref(),
            new.required,
            new.indexed,
            options.as_deref(),
            target,
            new.default.as_deref()
        ],
    );
    let id = rows.get::<Option<i32>>(0, 0).unwrap_or_default();
    if let Some(collation) = &new.collation {
        let own = "update keyed_state.attribute set \"collation\" = $2 where id = $1";
        spi.run_once(own, Snapshot::Latest, &params![id, collation]);
    }
    if let Some(format) = &new.format {
        let own = "update keyed_state.attribute set \"format\" = $2 where id = $1";
        spi.run_once(own, Snapshot::Latest, &params![id, Jsonb(format)]);
    }
    id
}

/// The migration that drops the constraint on types.
const TYPES_MIGRATION: i32 = 26;
/// The migration that adds the column for formats.
const FORMAT_MIGRATION: i32 = 33;

/// Whether a migration has run.
pub fn is_migrated(spi: &Connection, migration: i32) -> bool {
    let sql = "select from keyed_state.version where number = $1";
    !spi.run_once(sql, Snapshot::Latest, &params![migration]).is_empty()
}

/// Replaces the format of an attribute; null removes it.
pub fn set_format(
    spi: &Connection,
    attribute: &Attribute,
    value: &RawValue,
    pointer: &str,
) -> Result<(), Error> {
    let format = presentation::parse(attribute.kind, value, pointer)?;
    if is_migrated(spi, FORMAT_MIGRATION) {
        update_attribute(spi, attribute, "\"format\"", format.as_deref().map(Jsonb).into_parameter());
    } else if format.is_some() {
        return Err(guard::not_migrated());
    }
    Ok(())
}

/// Changes a column of an attribute's row.
pub fn update_attribute(spi: &Connection, attribute: &Attribute, column: &str, value: Parameter) {
    spi.run_once(
        &format!("update keyed_state.attribute set {column} = $2 where id = $1"),
        Snapshot::Latest,
        &params![attribute.id, value],
    );
}

/// Changes a text column of a template's row.
pub fn update_template(spi: &Connection, template: &Template, column: &str, value: Option<&str>) {
    spi.run_once(
        &format!("update keyed_state.template set {column} = $2 where id = $1"),
        Snapshot::Latest,
        &params![template.id, value],
    );
}
