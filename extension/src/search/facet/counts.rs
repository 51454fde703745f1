//! Counts the records of a full-text search, and how many of them have each value of a field, in one pass over the table
//! without a statement.
//!
//! A statement would compare the terms with each document again for every field.

use super::counted_field::{CountedField, CountedValue, MAX_BYTES};
use crate::postgres::condition::Condition;
use crate::postgres::datum;
use crate::postgres::direct_access::Unsupported;
use crate::postgres::relation;
use crate::postgres::table::Table;
use crate::search::page::search::Search;
use crate::search::page::selection::Selection;
use crate::search::query::body::Count;
use crate::search::query::facet::Facet;
use crate::template::Template;
use crate::value::standard_column::ID;
use foldhash::HashSet;
use std::cell::OnceCell;
use uuid::Uuid;

/// Below one record in this many, a lookup of the matches takes less time than a scan of the table.
const ROWS_SCANNED_PER_LOOKUP: f64 = 20.0;

/// The results of one pass.
struct Counts {
    /// The number of records.
    total: i64,
    /// The most frequent values of each field, in the order of the response; `None` if a statement has to count them.
    fields: Vec<Option<Vec<(CountedValue, i64)>>>,
}

/// The counts of a search. The pass runs when the first of them is needed.
pub struct Counter<'s> {
    search: &'s Search<'s>,
    counts: OnceCell<Option<Counts>>,
}

impl<'s> Counter<'s> {
    /// The counts of a search.
    pub fn new(search: &'s Search<'s>) -> Counter<'s> {
        Counter { search, counts: OnceCell::new() }
    }

    /// The number of records found; `None` if a statement has to count them.
    pub fn total(&self) -> Option<i64> {
        let (selection, plan) = (self.search.selection.as_ref()?, self.search.plan);
        let by_terms = || plan.has_terms_only.then(|| selection.matches.count() as i64);
        if plan.facets.is_empty() && plan.has_terms_only {
            return by_terms();
        }
        self.counts().map(|counts| counts.total).or_else(by_terms)
    }

    /// The values of the facet at this position; `None` if a statement has to count them.
    pub fn values(&self, position: usize) -> Option<&[(CountedValue, i64)]> {
        self.counts()?.fields[position].as_deref()
    }

    /// The facets that one pass counts, together with the total; `None` if statements count everything.
    pub fn fields_counted(&self) -> Option<Vec<bool>> {
        let search = self.search;
        let selection = search.selection.as_ref()?;
        let fields = || fields_counted(search.template, self.filters(), &search.plan.facets);
        self.is_counted_in_one_pass(selection).then(fields).flatten()
    }

    fn counts(&self) -> Option<&Counts> {
        let Search { spi, template, plan, selection, .. } = self.search;
        let count = || {
            let selection = selection.as_ref()?;
            let counts = || count(template, selection.ids(spi), self.filters(), &plan.facets).ok();
            let is_of_use = |fields: Vec<bool>| plan.count == Count::Exact || fields.contains(&true);
            self.fields_counted().is_some_and(is_of_use).then(counts).flatten()
        };
        self.counts.get_or_init(count).as_ref()
    }

    /// Whether one pass over the table costs less than looking the records up. If filters may leave few of some matches, a
    /// statement finds those by an index.
    fn is_counted_in_one_pass(&self, selection: &Selection) -> bool {
        let Search { spi, template, plan, .. } = self.search;
        let rows = relation::estimated_rows(template.table);
        (plan.has_terms_only || selection.matches.are_many())
            && selection.ids(spi).len() as f64 * ROWS_SCANNED_PER_LOOKUP >= rows
    }

    /// The condition of the plan, if it contains more than the terms.
    fn filters(&self) -> Option<&str> {
        let plan = self.search.plan;
        (!plan.has_terms_only).then_some(plan.condition.as_str())
    }
}

/// Counts those of these live records that pass a condition, and their values in these fields.
fn count(
    template: &Template,
    records: &[Uuid],
    condition: Option<&str>,
    facets: &[Facet],
) -> Result<Counts, Unsupported> {
    let condition =
        condition.map(|it| Condition::prepare(&template.table_sql(), it).ok_or(Unsupported)).transpose()?;
    let records: HashSet<Uuid> = records.iter().copied().collect();
    Table::with(template.table, |table| {
        let mut fields: Vec<Option<CountedField>> =
            facets.iter().map(|facet| CountedField::of(table, template, facet)).collect();
        // A condition reads its columns itself.
        let columns = fields.iter().flatten().map(CountedField::column).max();
        let condition = condition.as_ref().map(Condition::ready);
        let (mut total, mut capacity) = (0, MAX_BYTES);
        table.rows(ID, None, |row| {
            let is_found = row.get(ID).is_some_and(|id| records.contains(&datum::read_uuid(id)));
            if is_found && condition.as_ref().is_none_or(|it| it.holds_for(row)) {
                total += 1;
                columns.into_iter().for_each(|columns| row.read_up_to(columns));
                for field in &mut fields {
                    if field.as_mut().is_some_and(|it| it.add(row, &mut capacity).is_none()) {
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

/// The fields that a pass counts over the records that pass this condition; `None` if it counts nothing.
fn fields_counted(template: &Template, condition: Option<&str>, facets: &[Facet]) -> Option<Vec<bool>> {
    condition.map_or(Some(()), |it| Condition::prepare(&template.table_sql(), it).map(|_| ()))?;
    let fields = Table::with(template.table, |table| {
        Ok(facets.iter().map(|facet| CountedField::of(table, template, facet).is_some()).collect())
    });
    fields.ok()
}
