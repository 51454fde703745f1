//! Changes a template during concurrent writes. Writers wait for the lock and then use the new definition.

use super::creation::check_language;
use super::rows::{update_attribute, update_template};
use super::{attribute, collation, dependents, embed, synonyms};
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::json;
use crate::json::pointer_step;
use crate::postgres::guard::{as_owner_defining, subtransaction};
use crate::postgres::invalidation;
use crate::postgres::parameter::{IntoParameter, params};
use crate::postgres::raise::Raise;
use crate::postgres::snapshot;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::table_lock::{lock_exclusively, lock_with_views};
use crate::postgres::transaction::begin_command;
use crate::template::{Attribute, Template, catalog, definition, in_use};
use crate::value::member::{self, text_at, unknown_member};
use crate::value::quote::literal;
use crate::value::slug::{self, Noun};
use crate::vectors::table;
use pgrx::prelude::PgSqlErrorCode;
use serde_json::value::RawValue;
use std::rc::Rc;

/// The members of a change.
const MEMBERS: [&str; 9] =
    ["label", "display", "language", "collation", "embed", "synonyms", "attributes", "rename", "drop"];

/// Applies a PATCH body to a template, in this order: `rename`, `drop`, `attributes` (existing slugs are changed, new
/// ones added), then label, display, language, collation, embed and synonyms.
pub fn alter(template: &Template, body: &str) -> Result<Rc<Template>, Error> {
    // Before the switch to the owner.
    let caller = Caller::current();
    caller.require_define(template)?;
    let body = json::object(body)?;
    let member = |requested: &str| body.0.iter().find(|(name, _)| name == requested).map(|(_, value)| *value);
    for (name, _) in &body.0 {
        if !MEMBERS.contains(&name.as_ref()) {
            return Err(unknown_member(name, &format!("/{}", pointer_step(name))).hint(
                "Use the members label, display, language, collation, embed, synonyms, attributes, rename \
                 and drop.",
            ));
        }
    }
    let id = template.id;
    let outcome = subtransaction(|| {
        as_owner_defining(|| {
            connected(|spi| {
                lock_with_views(&[template.table_sql()], &dependents::relations(spi, template));
                let steps = || -> Result<(), Error> {
                    if let Some(renames) = member("rename") {
                        rename_all(spi, id, renames)?;
                    }
                    if let Some(dropped) = member("drop") {
                        for (position, slug) in json::array_at(dropped, "/drop")?.into_iter().enumerate() {
                            let pointer = format!("/drop/{position}");
                            drop_attribute(
                                spi,
                                &caller,
                                &*current(id)?,
                                &text_at(slug, &pointer)?,
                                &pointer,
                            )?;
                        }
                    }
                    if let Some(attributes) = member("attributes") {
                        for (position, entry) in
                            json::array_at(attributes, "/attributes")?.into_iter().enumerate()
                        {
                            let pointer = format!("/attributes/{position}");
                            add_or_change(spi, &caller, &*current(id)?, entry, &pointer)?;
                        }
                    }
                    set_template(
                        spi,
                        &*current(id)?,
                        member("label"),
                        member("display"),
                        member("language"),
                    )?;
                    if let Some(collation) = member("collation") {
                        collation::set(spi, &*current(id)?, collation)?;
                        invalidation::announce(template.table);
                    }
                    if collation::is_set(member("collation"), member("attributes")) {
                        collation::rebuild_indexes(spi, &*current(id)?);
                    }
                    if let Some(embed) = member("embed") {
                        set_embed(spi, &*current(id)?, embed)?;
                    }
                    if let Some(sets) = member("synonyms") {
                        synonyms::set(spi, template, &synonyms::parse(sets, "/synonyms")?)?;
                    }
                    invalidation::announce(template.table);
                    dependents::after_change(spi, &caller, template, &*current(id)?)
                };
                // Raised, so that the subtransaction rolls back.
                if let Err(error) = steps() {
                    error.raise();
                }
            });
        });
    });
    outcome.catch(|caught| {
        Some(match caught.state {
            PgSqlErrorCode::ERRCODE_NOT_NULL_VIOLATION => Error::at(
                Code::InvalidValue,
                "/attributes",
                "a required attribute has no value in some records",
            )
            .hint(
                "Set the attribute in every record first, including deleted ones, or add it with a \
                 default.",
            ),
            PgSqlErrorCode::ERRCODE_DUPLICATE_COLUMN => Error::at(
                Code::Conflict,
                "/attributes",
                "an attribute or a column with this name already exists",
            ),
            // FEATURE_NOT_SUPPORTED: a column of another table has the row type of this table.
            PgSqlErrorCode::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST
            | PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED => {
                in_use::error(&template.full_name(), template.table, caught)
            }
            _ => return None,
        })
    })?;
    catalog::by_id(id).ok_or_else(Error::not_found)
}

/// The PATCH body for changes of one attribute. Another `slug` renames it.
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

/// The template after the steps so far.
fn current(id: i32) -> Result<Rc<Template>, Error> {
    // Makes own changes visible, and invalidates caches.
    begin_command();
    catalog::by_id(id).ok_or_else(Error::not_found)
}

fn rename_all(spi: &Connection, template: i32, renames: &RawValue) -> Result<(), Error> {
    for (old, new) in json::object_at(renames, "/rename")?.0 {
        let pointer = format!("/rename/{}", pointer_step(&old));
        rename(spi, &*current(template)?, &old, &text_at(new, &pointer)?, &pointer)?;
    }
    Ok(())
}

/// The error for an attribute slug that already exists.
pub fn attribute_taken(template: &Template, slug: &str, pointer: &str) -> Error {
    let error = Error::at(Code::Conflict, pointer, format!("attribute {slug:?} already exists"));
    let row = "select from keyed_state.attribute where template_id = $1 and slug = $2";
    snapshot::newer_row_error(error, row, &params![template.id, slug])
}

fn rename(spi: &Connection, template: &Template, old: &str, new: &str, pointer: &str) -> Result<(), Error> {
    let attribute = find(template, old, pointer)?;
    slug::check(Noun::Attribute, new, pointer)?;
    if old == new {
        return Ok(());
    }
    if template.position(new).is_some() {
        return Err(attribute_taken(template, new, pointer));
    }
    dependents::before_rename(spi, template, attribute, new)?;
    spi.script(&format!("alter table {} rename column \"{old}\" to \"{new}\"", template.table_sql()));
    update_attribute(spi, attribute, "slug", new.into_parameter());
    if template.display.as_deref() == Some(old) {
        update_template(spi, template, "display", Some(new));
    }
    invalidation::announce(template.table);
    Ok(())
}

fn drop_attribute(
    spi: &Connection,
    caller: &Caller,
    template: &Template,
    slug: &str,
    pointer: &str,
) -> Result<(), Error> {
    let attribute = find(template, slug, pointer)?;
    dependents::before_drop_of(spi, caller, template, attribute, pointer)?;
    if let Some(target) = attribute.target.filter(|target| *target != template.id).and_then(catalog::by_id) {
        // Dropping the foreign key locks the referenced table.
        lock_exclusively(&[target.table_sql()]);
    }
    spi.script(&format!("alter table {} drop column \"{slug}\"", template.table_sql()));
    let by_id = params![attribute.id];
    spi.run_once("delete from keyed_state.attribute where id = $1", Snapshot::Latest, &by_id);
    if template.display.as_deref() == Some(slug) {
        update_template(spi, template, "display", None);
    }
    dependents::after_drop_of(spi, template, attribute);
    invalidation::announce(template.table);
    Ok(())
}

fn add_or_change(
    spi: &Connection,
    caller: &Caller,
    template: &Template,
    entry: &RawValue,
    pointer: &str,
) -> Result<(), Error> {
    let members = json::object_at(entry, pointer)?;
    let slug = members.0.iter().find(|(name, _)| name == "slug").map(|(_, value)| *value);
    let slug = text_at(slug.ok_or_else(|| member::missing("slug", pointer))?, &format!("{pointer}/slug"))?;
    match template.position(&slug) {
        Some(position) => {
            attribute::change(spi, caller, template, &template.attributes[position], &members, pointer)
        }
        None => attribute::add(spi, caller, template, &definition::parse(entry, pointer)?, pointer),
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
        let label = member::parse_label(label, "/label")?;
        let comment = literal(label.as_deref().unwrap_or(&template.slug));
        spi.script(&format!("comment on table {} is {comment}", template.table_sql()));
        update_template(spi, template, "label", label.as_deref());
    }
    if let Some(display) = display {
        let display = member::parse_label(display, "/display")?;
        if let Some(slug) = &display {
            find(template, slug, "/display")?;
        }
        update_template(spi, template, "display", display.as_deref());
    }
    if let Some(language) = language {
        let language = text_at(language, "/language")?;
        check_language(&language)?;
        update_template(spi, template, "language", Some(&language));
    }
    spi.run_once(
        "update keyed_state.template set updated_at = now() where id = $1",
        Snapshot::Latest,
        &params![template.id],
    );
    Ok(())
}

fn set_embed(spi: &Connection, template: &Template, value: &RawValue) -> Result<(), Error> {
    let slugs = embed::parse(value, "/embed")?;
    if let Some(slugs) = &slugs {
        table::require(template)?;
        embed::check(slugs, |slug| {
            template.position(slug).map(|position| template.attributes[position].kind)
        })?;
    }
    embed::set(spi, template.id, slugs.as_deref());
    invalidation::announce(template.table);
    Ok(())
}

fn find<'t>(template: &'t Template, slug: &str, pointer: &str) -> Result<&'t Attribute, Error> {
    template.position(slug).map(|position| &template.attributes[position]).ok_or_else(|| {
        Error::at(
            Code::UnknownAttribute,
            pointer,
            format!("{} has no attribute {slug:?}", template.full_name()),
        )
    })
}
