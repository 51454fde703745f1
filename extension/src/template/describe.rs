//! Describes templates as JSON, without opening their tables.

use super::load::{COLUMNS, read_attribute, read_row};
use super::{Attribute, Template};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{Parameter, params};
use crate::postgres::spi::{Connection, Snapshot, connected};
use std::collections::HashMap;

/// The JSON of templates in the caller's snapshot, by project and slug. It fills no cache and locks no table of records.
pub fn describe(ids: &[i32]) -> Vec<String> {
    as_owner(|| {
        connected(|spi| {
            let ids = params![ids];
            let mut attributes = describe_attributes(spi, &ids);
            let rows = spi.run_once(
                &format!(
                    "select {COLUMNS} from keyed_state.template t join keyed_state.project p on p.id = t.project_id \
                     where t.id = any ($1) order by p.slug, t.slug"
                ),
                Snapshot::Active,
                &ids,
            );
            let slugs = slugs_of_targets(spi);
            let describe = |row| {
                pgrx::check_for_interrupts!();
                let template = read_row(&rows, row)?;
                let attributes = attributes.remove(&template.id).unwrap_or_default();
                let template = Template::new(Template { attributes, ..template });
                Some(template.to_json_with(&|target| slugs.get(&target).cloned()))
            };
            (0..rows.len()).filter_map(describe).collect()
        })
    })
}

fn describe_attributes(spi: &Connection, ids: &[Parameter]) -> HashMap<i32, Vec<Attribute>> {
    let rows = spi.run_once(
        "select a.id, a.slug, a.type, a.label, a.required, a.indexed, a.options, a.target_id, a.default_value, \
         0::smallint, to_jsonb(a) ->> 'collation', to_jsonb(a) ->> 'format', a.template_id from keyed_state.attribute a \
         where a.template_id = any ($1) order by a.template_id, a.position, a.id",
        Snapshot::Active,
        ids,
    );
    let mut attributes: HashMap<i32, Vec<Attribute>> = HashMap::new();
    for row in 0..rows.len() {
        pgrx::check_for_interrupts!();
        if let (Some(attribute), Some(template)) =
            (read_attribute(&rows, row), rows.get::<Option<i32>>(row, 12))
        {
            attributes.entry(template).or_default().push(attribute);
        }
    }
    attributes
}

fn slugs_of_targets(spi: &Connection) -> HashMap<i32, String> {
    let sql = "select t.id, t.slug from keyed_state.template t \
               where t.id in (select a.target_id from keyed_state.attribute a)";
    let rows = spi.run_once(sql, Snapshot::Active, &[]);
    rows.iter().collect()
}
