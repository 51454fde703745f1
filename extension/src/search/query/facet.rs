//! Facets: how many of the found records have each value of a field.

use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::filter::field::{self, Column, Field};
use crate::filter::schema::{AttributeKey, Schema};
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::Template;
use crate::value::normal_form::composed_sql;
use crate::value::table_name::RECORD;
use std::borrow::Cow;
use std::collections::HashSet;

/// The most values of a field that are counted; the most frequent ones.
pub const MOST_VALUES: usize = 100;

/// The maximum number of distinct lists that are grouped before their values are counted; more would cost more than
/// this saves.
const MOST_LISTS: u32 = 10_000;

/// A field whose values are counted.
#[derive(Debug)]
pub struct Facet {
    /// As the request names it.
    pub name: String,
    /// Its column.
    pub column: Column,
}

impl Facet {
    /// Reads the names. Only fields of the template itself are counted, and only such as have values in common.
    pub fn parse(names: &[Cow<str>], schema: &dyn Schema, key: AttributeKey) -> Result<Vec<Facet>, Error> {
        let parse = |(index, name): (usize, &Cow<str>)| {
            let pointer = format!("/facets/{index}");
            match field::find(schema, key, name, &pointer)? {
                (path, Field::Column(column @ Column::Attribute { .. })) if path.is_empty() => {
                    Ok(Facet { name: name.clone().into_owned(), column })
                }
                _ => Err(Error::at(Code::InvalidValue, pointer, format!("{name:?} cannot be a facet"))
                    .hint("Use attributes of the searched template as facets.")),
            }
        };
        let mut facets = names.iter().enumerate().map(parse).collect::<Result<Vec<Facet>, Error>>()?;
        let mut seen = HashSet::new();
        facets.retain(|facet| seen.insert(facet.name.clone()));
        Ok(facets)
    }

    /// Whether many records hold the same list in this column, as far as PostgreSQL's statistics know.
    pub fn has_shared_lists(&self, spi: &Connection, template: &Template) -> bool {
        if self.column.kind() != AttributeType::List {
            return false;
        }
        let sql = format!(
            "select from pg_stats s where s.schemaname = $1 and s.tablename = $2 and s.attname = $3 \
             and s.n_distinct > 0 and s.n_distinct <= {MOST_LISTS}"
        );
        !spi.run_once(
            &sql,
            Snapshot::Active,
            &params![&template.project_slug, &template.slug, self.column.name()],
        )
        .is_empty()
    }

    /// The statement that counts: value and number, the most frequent first. Where many records hold the same list, each
    /// list is taken apart once, with the number of its records.
    pub fn sql(&self, table: &str, condition: &str, are_lists_alike: bool) -> String {
        let column = self.column.sql(RECORD);
        let counted = match self.column.kind() {
            AttributeType::List if are_lists_alike => format!(
                "select f.value, pg_catalog.sum(l.n) from (select {column} as list, count(*) as n \
                 from {table} {RECORD} where {condition} group by 1) l{} where f.value is not null group by 1",
                elements("l.list")
            ),
            AttributeType::List => format!(
                "select f.value, count(*) from {table} {RECORD}{} where {condition} and f.value is not null group by 1",
                elements(&column)
            ),
            _ => format!(
                "select {column}, count(*) from {table} {RECORD} where {condition} and {column} is not null group by 1"
            ),
        };
        let tail = format!("order by 2 desc, 1 limit {MOST_VALUES}");
        match self.column.kind() {
            // The normal forms of a text are one value. They are composed once for each value, not for each record.
            AttributeType::String | AttributeType::List => format!(
                "select ({}){}, pg_catalog.sum(c.n)::bigint from ({counted}) c (value, n) group by 1 {tail}",
                composed_sql("c.value"),
                self.column.order()
            ),
            _ => format!("{counted} {tail}"),
        }
    }
}

/// The elements of a list; one that it holds twice comes once.
fn elements(list: &str) -> String {
    format!(
        " join pg_catalog.unnest({list}) with ordinality f (value, n) \
         on pg_catalog.array_position({list}, f.value) - pg_catalog.array_lower({list}, 1) + 1 = f.n"
    )
}
