//! Changing a template while others write: its lock makes them wait, and what they read next is the new definition.

use super::ddl::{self, NewColumn};
use super::definition::{self, Definition, Kind, ListOption, text_at, unknown_member};
use super::functions::{check_language, insert_attribute};
use super::{Attribute, Template, catalog};
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::json::{self, pointer_step};
use crate::metric;
use crate::postgres::guard::{as_owner_defining, subtransaction};
use crate::postgres::spi::{Access, Connection, connected};
use crate::postgres::{datum, invalidation};
use crate::slug::{self, Noun};
use pgrx::pg_sys::{self, Datum};
use pgrx::prelude::PgSqlErrorCode;
use serde_json::value::RawValue;
use std::rc::Rc;

/// Changes a template as a PATCH body says: `rename` first, then `drop`, then `attributes` (known slugs are
/// changed, new ones added), then label, display and language.
pub fn alter(template: &Template, body: &str) -> Result<Rc<Template>, Error> {
    Caller::current().require_admin("define templates")?;
    let body = json::object(body)?;
    let member = |wanted: &str| body.0.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value);
    for (name, _) in &body.0 {
        if !["label", "display", "language", "attributes", "rename", "drop"].contains(&name.as_ref()) {
            return Err(unknown_member(name, &format!("/{}", pointer_step(name)))
                .hint("a change has label, display, language, attributes, rename and drop"));
        }
    }
    let id = template.id;
    let outcome = subtransaction(|| {
        as_owner_defining(|| {
            connected(|spi| {
                // Writers wait here, and see the new definition when they go on.
                spi.script(&format!("lock table {} in access exclusive mode", template.table_sql()));
                let steps = || -> Result<(), Error> {
                    if let Some(renames) = member("rename") {
                        rename_all(spi, id, renames)?;
                    }
                    if let Some(dropped) = member("drop") {
                        for (position, slug) in json::array_at(dropped, "/drop")?.into_iter().enumerate() {
                            let pointer = format!("/drop/{position}");
                            drop_attribute(spi, &*current(id)?, &text_at(slug, &pointer)?, &pointer)?;
                        }
                    }
                    if let Some(attributes) = member("attributes") {
                        for (position, entry) in json::array_at(attributes, "/attributes")?.into_iter().enumerate() {
                            add_or_change(spi, &*current(id)?, entry, &format!("/attributes/{position}"))?;
                        }
                    }
                    set_template(spi, &*current(id)?, member("label"), member("display"), member("language"))
                };
                // An error undoes every step, like one that PostgreSQL raises.
                if let Err(error) = steps() {
                    error.raise();
                }
                invalidation::announce(template.table);
            })
        })
    });
    outcome.map_err(|caught| match caught.state {
        PgSqlErrorCode::ERRCODE_NOT_NULL_VIOLATION => {
            Error::at(Code::InvalidValue, "/attributes", "there are records without a value: it cannot be required yet")
                .hint("fill the attribute in every record first, deleted ones included; or add it with a default")
        }
        PgSqlErrorCode::ERRCODE_DUPLICATE_COLUMN => {
            Error::at(Code::Conflict, "/attributes", "there is an attribute or a column of that name already")
        }
        _ => caught.rethrow(),
    })?;
    catalog::by_id(id).ok_or_else(Error::not_found)
}

/// The PATCH body for changes of one attribute; a `slug` among them that differs renames it.
pub fn attribute_body(template: &Template, slug: &str, changes: &str) -> Result<String, Error> {
    find(template, slug, "/slug")?;
    let mut new_slug = slug.to_owned();
    let mut entry = String::new();
    for (name, value) in json::object(changes)?.0 {
        if name == "slug" {
            new_slug = text_at(value, "/slug")?;
            continue;
        }
        entry.push(',');
        json::write_string(&mut entry, &name);
        entry.push(':');
        entry.push_str(value.get());
    }
    let mut quoted = [String::new(), String::new()];
    json::write_string(&mut quoted[0], slug);
    json::write_string(&mut quoted[1], &new_slug);
    let [old, new] = quoted;
    Ok(format!("{{\"rename\":{{{old}:{new}}},\"attributes\":[{{\"slug\":{new}{entry}}}]}}"))
}

/// The template as the steps so far have left it.
fn current(id: i32) -> Result<Rc<Template>, Error> {
    // The steps of this very transaction are announced to this session only at the next command.
    // SAFETY: makes the transaction's own changes visible to its catalog look-ups.
    unsafe { pg_sys::CommandCounterIncrement() };
    catalog::by_id(id).ok_or_else(Error::not_found)
}

fn rename_all(spi: &Connection, template: i32, renames: &RawValue) -> Result<(), Error> {
    for (old, new) in json::object_at(renames, "/rename")?.0 {
        let pointer = format!("/rename/{}", pointer_step(&old));
        rename(spi, &*current(template)?, &old, &text_at(new, &pointer)?, &pointer)?;
    }
    Ok(())
}

fn rename(spi: &Connection, template: &Template, old: &str, new: &str, pointer: &str) -> Result<(), Error> {
    let attribute = find(template, old, pointer)?;
    slug::check(Noun::Attribute, new, pointer)?;
    if old == new {
        return Ok(());
    }
    if template.position(new).is_some() {
        return Err(Error::at(Code::Conflict, pointer, format!("there is an attribute {new:?} already")));
    }
    spi.script(&format!("alter table {} rename column \"{old}\" to \"{new}\"", template.table_sql()));
    update_attribute(spi, attribute, "slug", pg_sys::TEXTOID, datum::text(new));
    if template.display.as_deref() == Some(old) {
        update_template(spi, template, "display", datum::text(new));
    }
    invalidation::announce(template.table);
    Ok(())
}

fn drop_attribute(spi: &Connection, template: &Template, slug: &str, pointer: &str) -> Result<(), Error> {
    let attribute = find(template, slug, pointer)?;
    spi.script(&format!("alter table {} drop column \"{slug}\"", template.table_sql()));
    let by_id = [(pg_sys::INT4OID, Some(Datum::from(attribute.id)))];
    spi.run_once("delete from keyed_state.attribute where id = $1", Access::Latest, &by_id);
    if attribute.kind == Kind::Metric {
        let sql = format!("delete from {} where attribute_id = $1", metric::table_sql(template.id));
        spi.run_once(&sql, Access::Latest, &by_id);
    }
    if template.display.as_deref() == Some(slug) {
        update_template(spi, template, "display", None);
    }
    invalidation::announce(template.table);
    Ok(())
}

fn add_or_change(spi: &Connection, template: &Template, entry: &RawValue, pointer: &str) -> Result<(), Error> {
    let members = json::object_at(entry, pointer)?;
    let slug = members.0.iter().find(|(name, _)| name == "slug").map(|(_, value)| *value);
    let slug = text_at(slug.ok_or_else(|| definition::missing("slug", pointer))?, &format!("{pointer}/slug"))?;
    match template.position(&slug) {
        Some(position) => change(spi, template, &template.attributes[position], &members, pointer),
        None => add(spi, template, &definition::parse(entry, pointer)?, pointer),
    }
}

fn add(spi: &Connection, template: &Template, new: &Definition, pointer: &str) -> Result<(), Error> {
    if template.attributes.len() >= definition::MAX_ATTRIBUTES {
        let message = format!("a template may have at most {} attributes", definition::MAX_ATTRIBUTES);
        return Err(Error::at(Code::PayloadTooLarge, pointer, message));
    }
    let target = match &new.target {
        None => None,
        Some(slug) => Some(catalog::by_slug(template.project_id, slug).ok_or_else(|| {
            Error::at(Code::InvalidValue, format!("{pointer}/template"), format!("the project has no template {slug:?}"))
        })?),
    };
    let table = template.table_sql();
    let column = NewColumn { definition: new, target_table: target.as_ref().map(|target| target.table_sql()) };
    spi.script(&format!("alter table {table} add column {}; {}", ddl::column(&column), ddl::after_column(&table, &column)));
    if new.kind == Kind::Metric && !template.attributes.iter().any(|attribute| attribute.kind == Kind::Metric) {
        let name = metric::table_sql(template.id);
        let exists = spi.run_once(
            "select from pg_class where oid = to_regclass($1)",
            Access::Latest,
            &[(pg_sys::TEXTOID, datum::text(&name))],
        );
        if exists.is_empty() {
            spi.script(&metric::create_table(template.id, &template.full_name()));
        }
    }
    let position = spi.run_once(
        "select coalesce(max(position), 0) + 1 from keyed_state.attribute where template_id = $1",
        Access::Latest,
        &[(pg_sys::INT4OID, Some(Datum::from(template.id)))],
    );
    let position = position.get(0, 0).map_or(1, datum::read_i32);
    insert_attribute(spi, template.id, position, new, target.map(|target| target.id));
    invalidation::announce(template.table);
    Ok(())
}

fn change(
    spi: &Connection,
    template: &Template,
    attribute: &Attribute,
    members: &json::Object,
    pointer: &str,
) -> Result<(), Error> {
    let table = template.table_sql();
    let slug = &attribute.slug;
    let mut options = attribute.options.clone();
    // Options come first, so that a default of the same request is held against the new ones.
    if let Some((_, value)) = members.0.iter().find(|(name, _)| name == "options") {
        let here = format!("{pointer}/options");
        options = definition::parse_options(value, &here)?;
        if attribute.kind != Kind::List && options.is_some() {
            return Err(Error::at(Code::InvalidValue, here, "only an attribute of type list has options"));
        }
        check_options_cover(spi, template, attribute, options.as_deref(), &here)?;
        let json = options.as_deref().map(definition::options_json);
        update_attribute(spi, attribute, "options", pg_sys::JSONBOID, json.and_then(|json| datum::jsonb(&json)));
    }
    for (name, value) in &members.0 {
        let here = format!("{pointer}/{}", pointer_step(name));
        match name.as_ref() {
            "slug" | "id" | "options" => {}
            "type" => {
                if Kind::parse(&text_at(value, &here)?) != Some(attribute.kind) {
                    let message = format!("{slug} is of type {}: that cannot change", attribute.kind.name());
                    return Err(Error::at(Code::InvalidValue, here, message)
                        .hint("add another attribute and move the values over"));
                }
            }
            "template" => {
                let target = attribute.target.and_then(catalog::by_id).map(|target| target.slug.clone());
                if Some(text_at(value, &here)?) != target {
                    return Err(Error::at(Code::InvalidValue, here, "the target of a reference cannot change"));
                }
            }
            "label" => {
                let label = definition::parse_label(value, &here)?;
                spi.script(&ddl::comment_on_column(&table, slug, label.as_deref()));
                update_attribute(spi, attribute, "label", pg_sys::TEXTOID, datum::optional_text(label.as_deref()));
            }
            "required" => {
                let required = json::boolean_at(value, &here)?;
                if required && attribute.kind == Kind::Metric {
                    return Err(Error::at(Code::InvalidValue, here, "a metric cannot be required"));
                }
                let action = if required { "set" } else { "drop" };
                spi.script(&format!("alter table {table} alter column \"{slug}\" {action} not null"));
                update_attribute(spi, attribute, "required", pg_sys::BOOLOID, Some(Datum::from(required)));
            }
            "indexed" => set_indexed(spi, template, attribute, json::boolean_at(value, &here)?),
            "default" => set_default(spi, template, attribute, options.as_deref(), value, &here)?,
            _ => return Err(unknown_member(name, &here)),
        }
    }
    invalidation::announce(template.table);
    Ok(())
}

fn check_options_cover(
    spi: &Connection,
    template: &Template,
    attribute: &Attribute,
    options: Option<&[ListOption]>,
    pointer: &str,
) -> Result<(), Error> {
    let Some(options) = options else { return Ok(()) };
    let rows = spi.run_once(
        &format!(
            "select e.value, count(*) from {} t, unnest(t.\"{}\") e (value) \
             where t.deleted_at is null and e.value <> all ($1) group by 1 order by 2 desc limit 1",
            template.table_sql(),
            attribute.slug
        ),
        Access::Latest,
        &[(pg_sys::TEXTARRAYOID, datum::text_array(options.iter().map(|option| Some(option.value.as_str()))))],
    );
    if rows.is_empty() {
        return Ok(());
    }
    let value = rows.get(0, 0).map(datum::read_text).unwrap_or_default();
    let count = rows.get(0, 1).map_or(0, datum::read_i64);
    Err(Error::at(Code::Conflict, pointer, format!("{count} live records hold {value:?}, which is not among the options"))
        .hint("keep the option, or change those records first"))
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
        update_attribute(spi, attribute, "default_value", pg_sys::JSONBOID, None);
        return Ok(());
    }
    let definition = Definition {
        slug: slug.clone(),
        kind: attribute.kind,
        label: None,
        required: attribute.required,
        indexed: attribute.indexed,
        options: options.map(<[ListOption]>::to_vec),
        target: None,
        default: None,
    };
    let default = definition::check_default(&definition, value, pointer)?;
    let sql = ddl::default_sql(&definition, &default);
    spi.script(&format!("alter table {table} alter column \"{slug}\" set default {sql}"));
    update_attribute(spi, attribute, "default_value", pg_sys::JSONBOID, datum::jsonb(&default));
    Ok(())
}

/// Makes or drops the attribute's index; one that is there already is kept.
fn set_indexed(spi: &Connection, template: &Template, attribute: &Attribute, indexed: bool) {
    if indexed != attribute.indexed {
        let table = template.table_sql();
        let before = ddl::index(&table, &attribute.slug, attribute.kind, attribute.indexed);
        let after = ddl::index(&table, &attribute.slug, attribute.kind, indexed);
        match (before, after) {
            (None, Some(sql)) => spi.script(&sql),
            (Some(_), None) => drop_indexes(spi, template, attribute),
            _ => {}
        }
    }
    update_attribute(spi, attribute, "indexed", pg_sys::BOOLOID, Some(Datum::from(indexed)));
}

/// Drops the indexes that stand on this column alone, by its number or inside an expression.
fn drop_indexes(spi: &Connection, template: &Template, attribute: &Attribute) {
    let rows = spi.run_once(
        "select i.indexrelid::regclass::text from pg_index i where i.indrelid = $1 and not i.indisunique \
         and exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid \
         and d.refobjid = $1 and d.refobjsubid = $2) \
         and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid \
         and d.refobjid = $1 and d.refobjsubid <> $2)",
        Access::Latest,
        &[
            (pg_sys::OIDOID, Some(Datum::from(template.table))),
            (pg_sys::INT4OID, Some(Datum::from(i32::from(attribute.column)))),
        ],
    );
    let names: Vec<String> = (0..rows.len()).filter_map(|row| rows.get(row, 0).map(datum::read_text)).collect();
    for name in names {
        spi.script(&format!("drop index {name}"));
    }
}

fn set_template(
    spi: &Connection,
    template: &Template,
    label: Option<&RawValue>,
    display: Option<&RawValue>,
    language: Option<&RawValue>,
) -> Result<(), Error> {
    if let Some(label) = label {
        let label = definition::parse_label(label, "/label")?;
        let comment = ddl::literal(label.as_deref().unwrap_or(&template.slug));
        spi.script(&format!("comment on table {} is {comment}", template.table_sql()));
        update_template(spi, template, "label", datum::optional_text(label.as_deref()));
    }
    if let Some(display) = display {
        let display = definition::parse_label(display, "/display")?;
        if let Some(slug) = &display {
            find(template, slug, "/display")?;
        }
        update_template(spi, template, "display", datum::optional_text(display.as_deref()));
    }
    if let Some(language) = language {
        let language = text_at(language, "/language")?;
        check_language(&language)?;
        update_template(spi, template, "language", datum::text(&language));
    }
    spi.run_once(
        "update keyed_state.template set updated_at = now() where id = $1",
        Access::Latest,
        &[(pg_sys::INT4OID, Some(Datum::from(template.id)))],
    );
    Ok(())
}

fn find<'t>(template: &'t Template, slug: &str, pointer: &str) -> Result<&'t Attribute, Error> {
    template.position(slug).map(|position| &template.attributes[position]).ok_or_else(|| {
        Error::at(Code::UnknownAttribute, pointer, format!("{} has no attribute {slug:?}", template.full_name()))
    })
}

fn update_attribute(spi: &Connection, attribute: &Attribute, column: &str, kind: pg_sys::Oid, value: datum::Argument) {
    spi.run_once(
        &format!("update keyed_state.attribute set {column} = $2 where id = $1"),
        Access::Latest,
        &[(pg_sys::INT4OID, Some(Datum::from(attribute.id))), (kind, value)],
    );
}

fn update_template(spi: &Connection, template: &Template, column: &str, value: datum::Argument) {
    spi.run_once(
        &format!("update keyed_state.template set {column} = $2 where id = $1"),
        Access::Latest,
        &[(pg_sys::INT4OID, Some(Datum::from(template.id))), (pg_sys::TEXTOID, value)],
    );
}

/// Removes a template with its table, history and series. One that holds live records is kept unless
/// `with_records` says otherwise; one that others refer to is kept in any case.
pub fn drop_template(template: &Template, with_records: bool) -> Result<(), Error> {
    Caller::current().require_admin("define templates")?;
    let name = template.full_name();
    let outcome = subtransaction(|| {
        as_owner_defining(|| {
            connected(|spi| {
                let table = template.table_sql();
                spi.script(&format!("lock table {table} in access exclusive mode"));
                let live = spi.run_once(
                    &format!("select from {table} t where t.deleted_at is null limit 1"),
                    Access::Latest,
                    &[],
                );
                if !live.is_empty() && !with_records {
                    Error::new(Code::Conflict, format!("{name} holds live records"))
                        .hint("delete them first, or call keyed.drop_template(template, with_records => true)")
                        .raise();
                }
                spi.script(&format!(
                    "drop table {table}; drop table {}; drop table if exists {}; \
                     delete from keyed_state.template where id = {}",
                    ddl::history_sql(template.id),
                    metric::table_sql(template.id),
                    template.id
                ));
            })
        })
    });
    outcome.map_err(|caught| match caught.state {
        PgSqlErrorCode::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST | PgSqlErrorCode::ERRCODE_FOREIGN_KEY_VIOLATION => {
            Error::new(Code::Conflict, format!("{name} is still in use: {}", caught.message))
                .hint("drop the attributes and views that refer to it first")
        }
        _ => caught.rethrow(),
    })
}
