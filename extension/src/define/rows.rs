//! The rows that describe templates and attributes in the state.

use crate::attribute_type::AttributeType;
use crate::postgres::guard;
use crate::postgres::parameter::{Parameter, params};
use crate::postgres::raise::Raise;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::definition::Definition;
use crate::template::{Attribute, Template};
use crate::value::list_option;

/// Writes down a new attribute; answers its number. Until state step 26, a constraint lists the types.
pub fn insert_attribute(
    spi: &Connection,
    template: i32,
    position: i32,
    new: &Definition,
    target: Option<i32>,
) -> i32 {
    let options = new.options.as_deref().map(list_option::to_json);
    if new.kind == AttributeType::Boolean && !has_any_type(spi) {
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
    id
}

fn has_any_type(spi: &Connection) -> bool {
    let step = "select from keyed_state.version where number = 26";
    !spi.run_once(step, Snapshot::Latest, &[]).is_empty()
}

/// Changes a column of an attribute's row.
pub fn update_attribute(spi: &Connection, attribute: &Attribute, column: &str, value: Parameter) {
    spi.run_once(
        &format!("update keyed_state.attribute set {column} = $2 where id = $1"),
        Snapshot::Latest,
        &params![attribute.id, value],
    );
}

/// Changes a column, a text, of a template's row.
pub fn update_template(spi: &Connection, template: &Template, column: &str, value: Option<&str>) {
    spi.run_once(
        &format!("update keyed_state.template set {column} = $2 where id = $1"),
        Snapshot::Latest,
        &params![template.id, value],
    );
}
