//! The order of strings: the member `collation` of a template and of an attribute.

use super::collation_change;
use super::rows::{is_migrated, update_attribute};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::job;
use crate::json;
use crate::postgres::guard::{self, as_owner};
use crate::postgres::parameter::{IntoParameter, params};
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::template::definition::{Definition, parse_collation};
use crate::template::{Attribute, Template};
use crate::value::collation::{BYTES, ROOT, name_in_catalog, name_in_sql};
use serde_json::value::RawValue;

/// The migration that adds the columns for collations.
const MIGRATION: i32 = 32;

/// The collation of a new template, and the collations of its attributes as SQL names. There are none before the
/// migration.
pub fn for_new_template(
    collation: Option<&str>,
    attributes: &[Definition],
) -> Result<(Option<String>, Vec<String>), Error> {
    as_owner(|| {
        connected(|spi| {
            if let Some(collation) = collation {
                require(spi, collation, "/collation")?;
            }
            let own = collation.map(str::to_owned);
            let of_template = own.or_else(|| is_migrated(spi, MIGRATION).then(|| of_database(spi)));
            let of_attribute = |(position, definition)| {
                for_new_attribute(spi, definition, of_template.as_deref(), &format!("/attributes/{position}"))
            };
            let of_attributes = attributes.iter().enumerate().map(of_attribute);
            let of_attributes = of_attributes.collect::<Result<_, Error>>()?;
            Ok((of_template, of_attributes))
        })
    })
}

/// The collation of a new attribute as an SQL name; empty for other types than string.
pub fn for_new_attribute(
    spi: &Connection,
    definition: &Definition,
    of_template: Option<&str>,
    pointer: &str,
) -> Result<String, Error> {
    if definition.kind != AttributeType::String {
        return Ok(String::new());
    }
    if let Some(own) = &definition.collation {
        require(spi, own, &format!("{pointer}/collation"))?;
    }
    let name = definition.collation.as_deref().or(of_template);
    Ok(name.map(name_in_sql).unwrap_or_default())
}

/// Rejects a collation that the database does not have.
fn require(spi: &Connection, name: &str, pointer: &str) -> Result<(), Error> {
    if !is_migrated(spi, MIGRATION) {
        return Err(guard::not_migrated());
    }
    if exists(spi, name) {
        return Ok(());
    }
    let message = format!("the collation {name:?} does not exist in this database");
    let hint = match exists(spi, ROOT) {
        true => {
            "Use und (Unicode order), C (byte order), or an ICU locale such as de, de-CH or sv: SELECT \
                 left(collname, -6) FROM pg_collation WHERE collname LIKE '%-x-icu' lists them."
        }
        false => "Use C (byte order). Other collations need a PostgreSQL that was built with ICU.",
    };
    Err(Error::at(Code::InvalidValue, pointer, message).hint(hint))
}

fn exists(spi: &Connection, name: &str) -> bool {
    let sql = "select from pg_catalog.pg_collation c where c.collname = $1::pg_catalog.name \
               and c.collnamespace = 'pg_catalog'::regnamespace and c.collisdeterministic \
               and c.collencoding in (-1, pg_catalog.pg_char_to_encoding(pg_catalog.getdatabaseencoding()))";
    // PostgreSQL would truncate a long name.
    let fits = !name.is_empty() && name.len() < 50;
    fits && !spi.run_once(sql, Snapshot::Latest, &params![name_in_catalog(name)]).is_empty()
}

/// Stores the collation of a template.
pub fn store_of_template(spi: &Connection, template: i32, collation: &str) {
    let sql = "update keyed_state.template set \"collation\" = $2 where id = $1";
    spi.run_once(sql, Snapshot::Latest, &params![template, collation]);
}

/// Changes the collation of a template; null for the default of new templates.
pub fn set(spi: &Connection, template: &Template, value: &RawValue) -> Result<(), Error> {
    let pointer = "/collation";
    let collation = match parse_collation(value, pointer)? {
        Some(name) => {
            require(spi, &name, pointer)?;
            name
        }
        None if is_migrated(spi, MIGRATION) => of_database(spi),
        None => return Err(guard::not_migrated()),
    };
    store_of_template(spi, template.id, &collation);
    Ok(())
}

/// Changes the collation of an attribute; null for that of its template.
pub fn set_of_attribute(
    spi: &Connection,
    attribute: &Attribute,
    value: &RawValue,
    pointer: &str,
) -> Result<(), Error> {
    let collation = parse_collation(value, pointer)?;
    if attribute.kind != AttributeType::String && collation.is_some() {
        let message = "only an attribute of type string has a collation";
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    if let Some(name) = &collation {
        require(spi, name, pointer)?;
    } else if !is_migrated(spi, MIGRATION) {
        return Ok(());
    }
    update_attribute(spi, attribute, "\"collation\"", collation.into_parameter());
    Ok(())
}

/// Whether a request sets a collation, of the template or of one of these attributes.
pub fn is_set(of_template: Option<&RawValue>, attributes: Option<&RawValue>) -> bool {
    let entries = attributes.and_then(|it| json::array_at(it, "").ok()).unwrap_or_default();
    let is_in = |entry: &RawValue| {
        json::object_at(entry, "").is_ok_and(|entry| entry.0.iter().any(|(name, _)| name == "collation"))
    };
    of_template.is_some() || entries.into_iter().any(is_in)
}

/// Rebuilds the indexes whose collation differs from the definition: immediately, or by a job for large tables. The table is
/// locked.
pub fn rebuild_indexes(spi: &Connection, template: &Template) {
    for attribute in template.attributes.iter().filter(|attribute| !attribute.collations.agree()) {
        match job::takes_index_long(spi, template.table) {
            true => job::add_index(spi, template, attribute.id),
            false => collation_change::rebuild_index(spi, template, attribute),
        }
    }
}

/// The collation of new templates: Unicode order, or byte order without ICU.
fn of_database(spi: &Connection) -> String {
    if exists(spi, ROOT) { ROOT } else { BYTES }.to_owned()
}
