//! Facets: how many of the records found hold each value of a field, for the chips of a list.

use super::plan::RECORD;
use crate::error::{Code, Error};
use crate::filter::field::{self, Column, Field};
use crate::filter::schema::{AttributeKey, Schema};
use crate::template::definition::Kind;
use std::borrow::Cow;
use std::collections::HashSet;

/// The most values of a field that are counted; the most frequent ones.
pub const MOST_VALUES: usize = 100;

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
    pub fn parse(names: &[Cow<str>], sight: &dyn Schema, key: AttributeKey) -> Result<Vec<Facet>, Error> {
        let parse = |(index, name): (usize, &Cow<str>)| {
            let pointer = format!("/facets/{index}");
            match field::find(sight, key, name, &pointer)? {
                (path, Field::Column(column @ Column::Attribute { .. })) if path.is_empty() => {
                    Ok(Facet { name: name.clone().into_owned(), column })
                }
                _ => Err(Error::at(Code::InvalidValue, pointer, format!("{name:?} cannot be counted"))
                    .hint("facets are attributes of the template itself")),
            }
        };
        let mut facets = names.iter().enumerate().map(parse).collect::<Result<Vec<Facet>, Error>>()?;
        let mut seen = HashSet::new();
        facets.retain(|facet| seen.insert(facet.name.clone()));
        Ok(facets)
    }

    /// The statement that counts: value and number, the most frequent first.
    pub fn sql(&self, table: &str, condition: &str) -> String {
        let column = self.column.sql(RECORD);
        let (value, elements) = match self.column.kind() {
            // A record that holds a value twice counts once.
            Kind::List => (
                "f.value".to_owned(),
                format!(
                    " join pg_catalog.unnest({column}) with ordinality f (value, n) \
                     on pg_catalog.array_position({column}, f.value) = f.n"
                ),
            ),
            _ => (column, String::new()),
        };
        format!(
            "select {value}, count(*) from {table} {RECORD}{elements} where {condition} and {value} is not null \
             group by 1 order by 2 desc, 1 limit {MOST_VALUES}"
        )
    }
}
