//! Suggests formats for the cells of a file, column by column.

use super::cells::Cell;
use super::columns::Column;
use crate::attribute_type::AttributeType;
use crate::error::Error;
use crate::format::suggest::{Forms, forms};
use crate::search::query::time_zone;
use crate::template::Template;

/// The maximum number of example cells of a column.
const MAX_EXAMPLES: usize = 10;

/// The maximum number of columns with examples.
const MAX_COLUMNS_WITH_EXAMPLES: usize = 50;

/// The formats for the columns of these rows, for types that have formats.
pub fn of(
    template: &Template,
    header: &[String],
    columns: &[Column],
    rows: &[Vec<Cell<'_>>],
    has_examples: bool,
) -> Result<Vec<Forms>, Error> {
    let zone = time_zone::of_project(template)?;
    let mut found: Vec<Forms> = Vec::new();
    for (position, (column, name)) in columns.iter().zip(header).enumerate() {
        pgrx::check_for_interrupts!();
        let cells = || rows.iter().filter_map(|row| row.get(position)?.text());
        let kind = match column {
            Column::Attribute(attribute) => {
                let attribute = &template.attributes[*attribute];
                let rules = attribute.rules();
                let is_shown = has_examples && found.len() < MAX_COLUMNS_WITH_EXAMPLES;
                let limit = if is_shown { MAX_EXAMPLES } else { 0 };
                found.extend(forms(name, attribute.kind, &rules, zone.as_deref(), limit, cells()));
                attribute.kind
            }
            Column::Key => AttributeType::String,
            _ => continue,
        };
        if matches!(kind, AttributeType::String | AttributeType::Reference | AttributeType::List) {
            found.extend(Forms::of_texts(name, cells()));
        }
    }
    Ok(found)
}
