//! Conditions that a field has a value: the index of the field tells how many records have it.

use super::access_path::{self, Question};
use super::paths::Paths;
use crate::attribute_type::AttributeType;
use crate::filter::field::Column;
use crate::filter::render::INDEXED_CHARACTERS;
use crate::postgres::ordered_index::IndexedValue;
use crate::postgres::parameter::Parameter;
use crate::postgres::table::Table;
use crate::template::Template;
use crate::value::constant::Constant;

/// A condition whose index finds few records.
pub struct RareValue {
    /// Its place among the conditions that an index may serve.
    pub place: usize,
    /// How many entries the index has for it.
    pub entries: u64,
}

/// The condition whose index has the fewest entries for its value; none where a walk may be less work than to look those up.
pub fn find(template: &Template, paths: &Paths, question: Question) -> Option<RareValue> {
    let mut most = access_path::most_entries(question);
    let found = Table::with(template.table, |table| {
        let mut rarest = None;
        for (place, column, constants) in paths.equalities() {
            let entries = constants.iter().try_fold(0, |entries, constant| {
                let (indexed, value) = sought(template, column, constant)?;
                Some(entries + table.index_entries(indexed, value, most).ok()?)
            });
            if let Some(entries) = entries
                && entries < most
            {
                (most, rarest) = (entries, Some(RareValue { place, entries }));
            }
        }
        Ok(rarest)
    });
    found.ok().flatten()
}

/// What the index of a field holds, and what is looked for in it; none where no index holds values one by one.
fn sought(template: &Template, column: &Column, constant: &Constant) -> Option<(IndexedValue, Parameter)> {
    let attribute = template.attributes.iter().find(|it| Some(it.id) == column.attribute())?;
    let indexed = match attribute.kind {
        AttributeType::List => return None,
        AttributeType::String => IndexedValue::Beginning(attribute.column, INDEXED_CHARACTERS as i32),
        _ => IndexedValue::Whole(attribute.column),
    };
    let value = match constant.beginning(INDEXED_CHARACTERS) {
        Constant::Text(text) => Parameter::read(&text, "text"),
        Constant::Typed(text, sql_type) => Parameter::read(&text, sql_type),
        Constant::Midnight(_) => return None,
    };
    Some((indexed, value))
}
