//! Adds or changes an attribute of an existing template.

use super::collation;
use super::ddl::{self, NewColumn};
use super::rows::{insert_attribute, set_format, update_attribute};
use crate::access::Caller;
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::job;
use crate::json;
use crate::json::pointer_step;
use crate::limits;
use crate::metric;
use crate::postgres::invalidation;
use crate::postgres::parameter::{IntoParameter, Jsonb, array, params};
use crate::postgres::spi::{Connection, Snapshot};
use crate::postgres::table_lock::lock_against_writers;
use crate::search::text;
use crate::template::definition::{self, Definition};
use crate::template::{Attribute, Template, catalog, index};
use crate::value::list_option::{self, ListOption};
use crate::value::member::{self, text_at, unknown_member};
use crate::value::table_name::SideTable;
use serde_json::value::RawValue;
use std::rc::Rc;

/// Adds an attribute with its column.
pub fn add(
    spi: &Connection,
    caller: &Caller,
    template: &Template,
    new: &Definition,
    pointer: &str,
) -> Result<(), Error> {
    let max = limits::attributes_per_template();
    if template.attributes.len() >= max {
        let message = format!("a template may have at most {max} attributes");
        return Err(Error::at(Code::PayloadTooLarge, pointer, message));
    }
    let target = match &new.target {
        None => None,
        Some(slug) => Some(target(caller, template.project_id, slug).ok_or_else(|| {
            Error::at(
                Code::InvalidValue,
                format!("{pointer}/template"),
                format!("the project has no template {slug:?}"),
            )
        })?),
    };
    if let Some(target) = &target
        && target.id != template.id
    {
        // Creating a foreign key blocks writes to the referenced table.
        lock_against_writers(&[target.table_sql()]);
    }
    let table = template.table_sql();
    let collation = collation::for_new_attribute(spi, new, template.collation.as_deref(), pointer)?;
    let target_table = target.as_ref().map(|target| target.table_sql());
    let column = NewColumn { definition: new, target_table, collation };
    let is_index_job =
        (new.indexed || new.kind == AttributeType::Reference) && job::takes_index_long(spi, template.table);
    let after = match is_index_job {
        true => ddl::comment_on_new_column(&table, &column),
        false => ddl::after_column(&table, &column, &text::table::trigram_class(spi)),
    };
    spi.script(&format!("alter table {table} add column {}; {after}", ddl::column(&column)));
    if new.kind == AttributeType::Metric
        && !template.attributes.iter().any(|attribute| attribute.kind == AttributeType::Metric)
    {
        let name = SideTable::Series.sql(template.id);
        let exists = spi.run_once(
            "select from pg_class where oid = to_regclass($1)",
            Snapshot::Latest,
            &params![&name],
        );
        if exists.is_empty() {
            spi.script(&metric::create_table(template.id, &template.full_name(), &table));
        }
    }
    let position = spi.run_once(
        "select coalesce(max(position), 0) + 1 from keyed_state.attribute where template_id = $1",
        Snapshot::Latest,
        &params![template.id],
    );
    let position = position.get::<Option<i32>>(0, 0).unwrap_or(1);
    let id = insert_attribute(spi, template.id, position, new, target.map(|target| target.id));
    if is_index_job {
        job::add_index(spi, template, id);
    }
    invalidation::announce(template.table);
    Ok(())
}

/// The target template of a reference, if it is visible to the caller.
pub(crate) fn target(caller: &Caller, project: i32, slug: &str) -> Option<Rc<Template>> {
    catalog::by_slug(project, slug).filter(|template| caller.can_view(template))
}

/// Applies the members of a request to an attribute.
pub fn change(
    spi: &Connection,
    caller: &Caller,
    template: &Template,
    attribute: &Attribute,
    members: &json::Object,
    pointer: &str,
) -> Result<(), Error> {
    let table = template.table_sql();
    let slug = &attribute.slug;
    let mut options = attribute.options.clone();
    // Options first: a default in the same request is checked against the new options.
    if let Some((_, value)) = members.0.iter().find(|(name, _)| name == "options") {
        let here = format!("{pointer}/options");
        options = list_option::parse(value, &here)?;
        if attribute.kind != AttributeType::List && options.is_some() {
            return Err(Error::at(Code::InvalidValue, here, "only an attribute of type list has options"));
        }
        check_options_cover(spi, caller, template, attribute, options.as_deref(), &here)?;
        let json = options.as_deref().map(list_option::to_json);
        update_attribute(spi, attribute, "options", json.map(Jsonb).into_parameter());
    }
    for (name, value) in &members.0 {
        let here = format!("{pointer}/{}", pointer_step(name));
        match name.as_ref() {
            "slug" | "id" | "options" => {}
            "type" => {
                if AttributeType::named(&text_at(value, &here)?) != Some(attribute.kind) {
                    let message =
                        format!("the type of {slug} is {} and cannot be changed", attribute.kind.name());
                    return Err(Error::at(Code::InvalidValue, here, message)
                        .hint("Add another attribute and copy the values to it."));
                }
            }
            "template" => {
                let target = attribute.target.and_then(catalog::by_id).map(|target| target.slug.clone());
                if Some(text_at(value, &here)?) != target {
                    return Err(Error::at(
                        Code::InvalidValue,
                        here,
                        "the target of a reference cannot be changed",
                    ));
                }
            }
            "label" => {
                let label = member::parse_label(value, &here)?;
                spi.script(&ddl::comment_on_column(&table, slug, label.as_deref()));
                update_attribute(spi, attribute, "label", label.into_parameter());
            }
            "required" => {
                let required = json::boolean_at(value, &here)?;
                if required && attribute.kind == AttributeType::Metric {
                    return Err(Error::at(Code::InvalidValue, here, "a metric cannot be required"));
                }
                let action = if required { "set" } else { "drop" };
                spi.script(&format!("alter table {table} alter column \"{slug}\" {action} not null"));
                update_attribute(spi, attribute, "required", required.into_parameter());
            }
            "collation" => collation::set_of_attribute(spi, attribute, value, &here)?,
            "format" => set_format(spi, attribute, value, &here)?,
            "indexed" => set_indexed(spi, template, attribute, json::boolean_at(value, &here)?),
            "default" => set_default(spi, template, attribute, options.as_deref(), value, &here)?,
            _ => {
                return Err(unknown_member(name, &here).hint(
                    "Change only label, required, indexed, collation, format, options and default \
                     of an attribute.",
                ));
            }
        }
    }
    invalidation::announce(template.table);
    Ok(())
}

/// Rejects options that lack a value of a live record. The error discloses value and count only to callers that can read
/// all records.
fn check_options_cover(
    spi: &Connection,
    caller: &Caller,
    template: &Template,
    attribute: &Attribute,
    options: Option<&[ListOption]>,
    pointer: &str,
) -> Result<(), Error> {
    let Some(options) = options else { return Ok(()) };
    let texts = |options: &[&ListOption]| {
        let values = options.iter().map(|option| Some(option.value.as_str()));
        array(values)
    };
    let remains = |old: &&ListOption| options.iter().any(|option| option.value == old.value);
    // If the attribute had options before, only removed options can be missing. The GIN index finds their records.
    let (removed, condition) = match &attribute.options {
        None => (Vec::new(), "true".to_owned()),
        Some(before) => {
            let removed: Vec<&ListOption> = before.iter().filter(|old| !remains(old)).collect();
            if removed.is_empty() {
                return Ok(());
            }
            (removed, format!("t.\"{}\" && $2", attribute.slug))
        }
    };
    let sql = format!(
        "select e.value, count(*) from {} t, unnest(t.\"{}\") e (value) \
         where t.deleted_at is null and {condition} and e.value <> all ($1) group by 1 order by 2 desc limit 1",
        template.table_sql(),
        attribute.slug
    );
    let arguments = [texts(&options.iter().collect::<Vec<_>>()), texts(&removed)];
    let rows = spi.run_once(&sql, Snapshot::Latest, &arguments);
    if rows.is_empty() {
        return Ok(());
    }
    let message = if caller.reads_all(template) {
        let value = rows.get::<Option<String>>(0, 0).unwrap_or_default();
        let count = rows.get::<Option<i64>>(0, 1).unwrap_or_default();
        format!("{count} live records have the value {value:?}, which is not among the options")
    } else {
        "some live records have a value that is not among the options".to_owned()
    };
    Err(Error::at(Code::Conflict, pointer, message).hint("Keep the option, or change these records first."))
}

fn set_default(
    spi: &Connection,
    template: &Template,
    attribute: &Attribute,
    options: Option<&[ListOption]>,
    value: &RawValue,
    pointer: &str,
) -> Result<(), Error> {
    let (table, slug) = (template.table_sql(), &attribute.slug);
    if json::is_null(value) {
        spi.script(&format!("alter table {table} alter column \"{slug}\" drop default"));
        update_attribute(spi, attribute, "default_value", None::<Jsonb<&str>>.into_parameter());
        return Ok(());
    }
    let definition = Definition {
        slug: slug.clone(),
        kind: attribute.kind,
        label: None,
        required: attribute.required,
        indexed: attribute.indexed,
        collation: None,
        format: None,
        options: options.map(<[ListOption]>::to_vec),
        target: None,
        default: None,
    };
    let default = definition::check_default(&definition, value, pointer)?;
    let sql = ddl::default_sql(&definition, &default);
    spi.script(&format!("alter table {table} alter column \"{slug}\" set default {sql}"));
    update_attribute(spi, attribute, "default_value", Jsonb(&default).into_parameter());
    Ok(())
}

/// Creates or drops the attribute's indexes. Existing ones remain.
fn set_indexed(spi: &Connection, template: &Template, attribute: &Attribute, indexed: bool) {
    // A reference always keeps its index. An unfinished or failed index job is queued again.
    let is_unfinished = indexed && job::has_index(spi, attribute.id);
    if is_unfinished {
        job::add_index(spi, template, attribute.id);
    } else if indexed != attribute.indexed && attribute.kind != AttributeType::Reference {
        let (table, trigrams) = (template.table_sql(), text::table::trigram_class(spi));
        let order = &attribute.collations.order;
        match indexed {
            true if job::takes_index_long(spi, template.table) => {
                job::add_index(spi, template, attribute.id);
            }
            true => spi.script(
                &ddl::indexes(&table, &attribute.slug, attribute.kind, indexed, order, &trigrams).join("; "),
            ),
            false => {
                job::delete_index_job(spi, attribute.id);
                for index in index::of_column(spi, template.table, attribute.column) {
                    spi.script(&format!("drop index {}", index.sql));
                }
            }
        }
    }
    update_attribute(spi, attribute, "indexed", indexed.into_parameter());
}

/// Migration 4: creates missing trigram indexes of indexed string attributes.
pub fn create_missing_indexes(spi: &Connection) {
    let rows = spi.run_once(
        "select c.oid::regclass::text, a.slug from keyed_state.attribute a \
         join keyed_state.template t on t.id = a.template_id join keyed_state.project p on p.id = t.project_id \
         join pg_namespace n on n.nspname = p.slug join pg_class c on c.relnamespace = n.oid and c.relname = t.slug \
         join pg_attribute f on f.attrelid = c.oid and f.attname = a.slug \
         where a.type = 'string' and a.indexed and not exists (select from pg_index i \
         join pg_class x on x.oid = i.indexrelid join pg_am m on m.oid = x.relam \
         where i.indrelid = c.oid and i.indkey[0] = f.attnum and m.amname = 'gin') order by a.id",
        Snapshot::Latest,
        &[],
    );
    let name = |row, column| rows.get::<Option<String>>(row, column);
    for (table, slug) in (0..rows.len()).filter_map(|row| Some((name(row, 0)?, name(row, 1)?))) {
        spi.script(&ddl::trigram_index(&table, &slug, &text::table::trigram_class(spi)));
    }
}
