//! A search by a vector, with or without full-text terms: ranks records by each, and returns the best.
//!
//! Scores of terms and vectors are not comparable, so ranks are combined (reciprocal rank fusion): a record gets 1 /
//! (60 + rank) for each list that contains it.

use super::find;
use super::strategy::VectorSearch;
use crate::error::Error;
use crate::json_write::write_double;
use crate::postgres::parameter::{array, params};
use crate::postgres::spi::{Connection, Snapshot};
use crate::record::read;
use crate::record::shape::Projection;
use crate::record::statement::columns;
use crate::search::page::records::Page;
use crate::search::page::search::Search;
use crate::search::query::body::MAX_BY_VECTOR;
use crate::search::query::plan::Plan;
use crate::template::Template;
use crate::value::table_name::RECORD;
use crate::value::vector::Vector;
use std::collections::HashMap;
use uuid::Uuid;

/// The constant of reciprocal rank fusion; the value of its authors.
const RANK_CONSTANT: f64 = 60.0;

/// A record with its positions in the two lists, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fused {
    id: Uuid,
    keyword: Option<usize>,
    semantic: Option<usize>,
    score: f64,
}

/// The records closest to a vector, together with the records that full-text terms select, if any. There is only one page,
/// because both rankings are meaningless beyond it.
pub fn page(search: &Search, vector: &Vector, projection: &Projection) -> Result<Page, Error> {
    let Search { spi, caller, template, plan, .. } = search;
    let mut fused = Vec::new();
    if !plan.filter.is_never_true() {
        let limit = if search.selection.is_some() { MAX_BY_VECTOR } else { plan.limit };
        let requested = VectorSearch::of(caller, template, plan, vector, limit, 0.0);
        let found = find::find(spi, &requested)?.neighbours;
        fused = match &search.selection {
            Some(selection) => {
                let semantic: Vec<Uuid> = found.iter().map(|neighbour| neighbour.id).collect();
                fuse(&selection.first_ids(spi, MAX_BY_VECTOR), &semantic)
            }
            None => found
                .iter()
                .enumerate()
                .map(|(position, it)| Fused {
                    id: it.id,
                    keyword: None,
                    semantic: Some(position + 1),
                    score: it.similarity(),
                })
                .collect(),
        };
    }
    fused.truncate(plan.limit);
    let mut page = Page::default();
    for record in records(spi, template, plan, &fused, projection) {
        page.push(&record);
    }
    Ok(page)
}

/// Adds up the ranks of two lists.
fn fuse(keyword: &[Uuid], semantic: &[Uuid]) -> Vec<Fused> {
    let mut all: HashMap<Uuid, Fused> = HashMap::with_capacity(keyword.len() + semantic.len());
    let new = |id| Fused { id, keyword: None, semantic: None, score: 0.0 };
    let value = |place: usize| 1.0 / (RANK_CONSTANT + place as f64 + 1.0);
    for (place, id) in keyword.iter().enumerate() {
        let record = all.entry(*id).or_insert_with(|| new(*id));
        record.keyword = Some(place + 1);
        record.score += value(place);
    }
    for (place, id) in semantic.iter().enumerate() {
        let record = all.entry(*id).or_insert_with(|| new(*id));
        record.semantic = Some(place + 1);
        record.score += value(place);
    }
    let mut fused: Vec<Fused> = all.into_values().collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    fused
}

/// The records, each with its score and ranks, in the order of the list.
fn records(
    spi: &Connection,
    template: &Template,
    plan: &Plan,
    fused: &[Fused],
    projection: &Projection,
) -> Vec<String> {
    let sql = format!(
        "select {} from {} {RECORD} where {RECORD}.id = any ($1) and {}",
        columns(template),
        template.table_sql(),
        plan.condition
    );
    let rows = spi.run_once(&sql, Snapshot::Active, &params![array(fused.iter().map(|it| it.id))]);
    let place = |row: usize| (rows.get::<Option<Uuid>>(row, 0).unwrap_or_default(), row);
    let places: HashMap<Uuid, usize> = (0..rows.len()).map(place).collect();
    let record = |it: &Fused| {
        let mut record = read::to_json(template, &rows, *places.get(&it.id)?, projection);
        record.pop();
        record.push_str(",\"score\":");
        write_double(&mut record, it.score);
        let rank = |place: Option<usize>| place.map_or_else(|| "null".to_owned(), |place| place.to_string());
        let (keyword, semantic) = (rank(it.keyword), rank(it.semantic));
        record.push_str(&format!(",\"ranks\":{{\"keyword\":{keyword},\"semantic\":{semantic}}}}}"));
        Some(record)
    };
    fused.iter().filter_map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_in_both_lists_ranks_before_those_in_one() {
        let [a, b, c] = [1, 2, 3].map(Uuid::from_u128);
        let fused = fuse(&[a, b], &[c, b]);
        let places: Vec<_> = fused.iter().map(|it| (it.id, it.keyword, it.semantic)).collect();
        assert_eq!(places, [(b, Some(2), Some(2)), (a, Some(1), None), (c, None, Some(1))]);
        assert!((fused[0].score - 2.0 / 62.0).abs() < 1e-12);
        assert!((fused[1].score - 1.0 / 61.0).abs() < 1e-12);
    }

    #[test]
    fn empty_lists_return_no_records() {
        assert_eq!(fuse(&[], &[]), []);
    }
}
