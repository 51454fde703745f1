//! The fields of facets.

use crate::error::{Code, Error};
use crate::filter::field::{self, Column, Field};
use crate::filter::schema::{AttributeKey, Schema};
use std::borrow::Cow;
use std::collections::HashSet;

/// The maximum number of values of a field in a response.
pub const MAX_VALUES: usize = 100;

/// A field whose values are counted.
#[derive(Debug)]
pub struct Facet {
    /// As the request names it.
    pub name: String,
    /// Its column.
    pub column: Column,
}

impl Facet {
    /// Parses the names. Only fields of the template itself are supported, and only types whose values repeat.
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
}
