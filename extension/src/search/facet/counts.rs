//! Counts the records that have the words of a search, and how many of them have each value of a field, in one pass over the table
//! and without a statement.
//!
//! A statement would compare the words with each document once more for every field.

use super::counted_field::{CountedField, CountedValue, MOST_BYTES};
use crate::postgres::condition::Condition;
use crate::postgres::datum;
use crate::postgres::direct_access::Unfit;
use crate::postgres::table::Table;
use crate::search::query::facet::Facet;
use crate::template::Template;
use crate::value::standard_column::ID;
use foldhash::HashSet;
use uuid::Uuid;

/// What was counted.
pub struct Counts {
    /// How many records there are.
    pub total: i64,
    /// For each field its most frequent values, in the order of the answer; none where a statement has to count them.
    pub fields: Vec<Option<Vec<(CountedValue, i64)>>>,
}

/// Counts those of these live records that pass a condition, and their values in these fields.
pub fn count(
    template: &Template,
    records: &[Uuid],
    condition: Option<&str>,
    facets: &[Facet],
) -> Result<Counts, Unfit> {
    let condition =
        condition.map(|it| Condition::prepare(&template.table_sql(), it).ok_or(Unfit)).transpose()?;
    let records: HashSet<Uuid> = records.iter().copied().collect();
    Table::with(template.table, |table| {
        let mut fields: Vec<Option<CountedField>> =
            facets.iter().map(|facet| CountedField::of(table, template, facet)).collect();
        // A condition reads the columns that it names by itself.
        let columns = fields.iter().flatten().map(CountedField::column).max();
        let condition = condition.as_ref().map(Condition::ready);
        let (mut total, mut room) = (0, MOST_BYTES);
        table.rows(ID, None, |row| {
            let is_found = row.get(ID).is_some_and(|id| records.contains(&datum::read_uuid(id)));
            if is_found && condition.as_ref().is_none_or(|it| it.holds_for(row)) {
                total += 1;
                columns.into_iter().for_each(|columns| row.read_up_to(columns));
                for field in &mut fields {
                    if field.as_mut().is_some_and(|it| it.add(row, &mut room).is_none()) {
                        *field = None;
                    }
                }
            }
            None
        });
        let fields = fields.into_iter().map(|field| field.and_then(CountedField::most_frequent)).collect();
        Ok(Counts { total, fields })
    })
}

/// Whether a pass would count records that pass this condition, and which of these fields; none where it would count nothing.
pub fn fields_counted(template: &Template, condition: Option<&str>, facets: &[Facet]) -> Option<Vec<bool>> {
    condition.map_or(Some(()), |it| Condition::prepare(&template.table_sql(), it).map(|_| ()))?;
    let fields = Table::with(template.table, |table| {
        Ok(facets.iter().map(|facet| CountedField::of(table, template, facet).is_some()).collect())
    });
    fields.ok()
}
