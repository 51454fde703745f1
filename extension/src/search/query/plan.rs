//! Body + template → the parts of its statements: condition, order, and the contents of the cursor. Pure text.

use super::body::{Count, DEFAULT_LIMIT, SearchQuery};
use super::cursor::{self, CursorKey, Position};
use super::facet::Facet;
use super::keyset::{Expression, Order};
use super::sort::{self, Direction, Nulls, SortKey};
use crate::access::visibility::{CallerSchema, ReadScope};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::filter::field::Column;
use crate::filter::render::{Lives, Options};
use crate::filter::schema::Schema;
use crate::filter::{Filter, check, parse, render};
use crate::search::assistance::correction;
use crate::search::assistance::synonyms;
use crate::search::text::query::TextQuery;
use crate::value::quote::identifier;
use crate::value::standard_column::RELEASED_KEY;
use crate::value::table_name::RECORD;

/// The number of characters of strings that determine the order; the index contains as many.
pub const COMPARED: usize = 200;
/// The version of the rank order. A cursor of an earlier version would skip records.
const ORDER_OF_RANKS: &str = "names first";

/// A search that was checked against its template.
#[derive(Debug)]
pub struct Plan {
    /// The conditions of `filters` and `filter_groups`.
    pub filter: Filter,
    /// Whether live records are searched, deleted ones, or both.
    pub lives: Lives,
    /// The full-text terms that records must have.
    pub terms: Option<TextQuery>,
    /// The sort keys.
    pub keys: Vec<SortKey>,
    /// The tables: the template's, and those of the sort keys.
    pub from: String,
    /// The condition on the records found, regardless of the page.
    pub condition: String,
    /// The scope of the caller; `None` for all records.
    pub scope: Option<ReadScope>,
    /// Their order.
    pub order: Order,
    /// The types of the values in a cursor.
    pub cursor_keys: Vec<CursorKey>,
    /// Identifies the search in its cursors.
    pub fingerprint: String,
    /// The corrections that follow the cursors of this search.
    pub cursor_suffix: String,
    /// The last record of the previous page.
    pub position: Option<Position>,
    /// The maximum number of records of the page.
    pub limit: usize,
    /// Whether all records found are counted.
    pub count: Count,
    /// Fields whose values are counted.
    pub facets: Vec<Facet>,
    /// Whether all records found have to be sorted, because no index has their order.
    pub must_sort: bool,
    /// Whether only full-text terms determine the records.
    pub has_terms_only: bool,
}

impl Plan {
    /// The plan of a search without conditions: all live records that are visible to the caller.
    pub fn of_all(schema: &CallerSchema) -> Result<Plan, Error> {
        Plan::new(&SearchQuery::default(), schema, "UTC")
    }

    /// Whether records are ordered by id, which is the order of their creation.
    pub fn is_ordered_by_id(&self) -> bool {
        self.terms.is_none()
            && match self.keys.as_slice() {
                [] => true,
                [key] => key.path.is_empty() && key.column == Column::Id,
                _ => false,
            }
    }

    /// Whether indexes find the records that pass its condition, with few others, without a scan.
    pub fn is_indexable(&self) -> bool {
        self.filter.parts().iter().any(Filter::is_indexable)
            || self.scope.as_ref().is_some_and(ReadScope::is_indexable)
    }

    /// Checks a body against a template as it is visible to the caller. `time_zone` is a valid one.
    pub fn new(query: &SearchQuery, schema: &CallerSchema, time_zone: &str) -> Result<Plan, Error> {
        let mut filter = filter(query, schema, time_zone)?;
        let mut terms = terms(query, schema)?;
        match (&query.within, &query.view) {
            (Some(view), _) => {
                let within = |error| of_view(query, error);
                filter = self::filter(view, schema, time_zone).map_err(within)?.and(filter);
                terms = self::terms(view, schema).map_err(within)?.and(terms);
            }
            (None, Some(_)) => return Err(Error::new(Code::Internal, "the view of a search was not read")),
            (None, None) => {}
        }
        let of_source = |source: &SearchQuery| {
            let is_view = !std::ptr::eq(source, query);
            move |error| if is_view { of_view(query, error) } else { error }
        };
        let source = query.source("sort");
        let mut keys = sort::parse(source.sort, schema, source.attribute_key).map_err(of_source(source))?;
        let source = query.source("facets");
        let facets = Facet::parse(&source.facets, schema, source.attribute_key).map_err(of_source(source))?;
        let lives = lives(query, schema, &filter, &terms)?;
        if lives == Lives::Deleted && keys.is_empty() {
            // The newest deletions come first. In the order of ids, a page of few deleted records would read all live
            // ones.
            keys.push(SortKey {
                path: Vec::new(),
                column: Column::DeletedAt,
                direction: Direction::Descending,
                nulls: Nulls::Last,
            });
        }
        let rendered = render::render(&filter, RECORD, Options { lives, ..Options::default() });

        let mut from = format!("{} {RECORD}", schema.table());
        let mut expressions = Vec::with_capacity(keys.len());
        for (number, key) in keys.iter().enumerate() {
            let alias = join(&mut from, number, key);
            // If a condition requires a value, there is no second segment of records without one.
            let has_value = key.path.is_empty() && filter.needs_value(&key.column);
            expressions.push(expression(key, &alias, has_value, lives));
        }
        let must_sort = keys.first().is_some_and(|key| !has_index(key, lives));
        let tie = keys.last().map_or(Direction::Descending, |key| key.direction);
        let order = Order { keys: expressions, id: format!("{RECORD}.id"), tie };
        let terms = correction::corrected(terms, &query.corrections);
        let corrected: Vec<&str> = correction::words(&query.corrections).collect();
        let terms = synonyms::expanded_with(schema.template(), terms, &corrected);
        let cursor_suffix = correction::cursor_suffix(&query.corrections);
        let terms = Some(terms).filter(|terms| !terms.is_empty());
        let mut cursor_keys: Vec<CursorKey> = keys.iter().map(CursorKey::from).collect();
        if terms.is_some() && keys.is_empty() {
            cursor_keys.push(CursorKey::Rank);
        }

        let mut conditions = Vec::from_iter(match lives {
            Lives::Live => Some(format!("{RECORD}.deleted_at is null")),
            Lives::Deleted => Some(format!("{RECORD}.deleted_at is not null")),
            Lives::Any => None,
        });
        let visible = schema.visible_over(lives, RECORD);
        let scope = visible.as_ref().map(|_| schema.read_scope());
        conditions.extend(visible);
        if !filter.is_always_true() || conditions.is_empty() {
            conditions.push(rendered.clone());
        }
        let has_terms_only = terms.is_some() && conditions.len() == 1;
        let text = terms.as_ref().map(|terms| terms.text.as_str()).unwrap_or_default();
        let (name, order_text) = (schema.full_name(), format!("{order:?}"));
        let mut parts = vec![name.as_str(), &rendered, &from, &order_text, text];
        if cursor_keys.contains(&CursorKey::Rank) {
            parts.push(ORDER_OF_RANKS);
        }
        if lives != Lives::Live {
            parts.push("deleted");
        }
        if !cursor_suffix.is_empty() {
            parts.push(&cursor_suffix);
        }
        let fingerprint = cursor::fingerprint(&parts);
        let position = match &query.cursor {
            Some(cursor) => Some(cursor::decode(cursor, &fingerprint, &cursor_keys)?),
            None => None,
        };
        Ok(Plan {
            filter,
            lives,
            terms,
            keys,
            from,
            condition: conditions.join(" and "),
            scope,
            order,
            cursor_keys,
            fingerprint,
            cursor_suffix,
            position,
            limit: query.limit.unwrap_or(DEFAULT_LIMIT),
            count: query.count,
            facets,
            must_sort,
            has_terms_only,
        })
    }
}

fn filter(query: &SearchQuery, schema: &CallerSchema, time_zone: &str) -> Result<Filter, Error> {
    let conditions = parse::body(query.filters, query.filter_groups)?;
    let settings = check::Settings { attribute_key: query.attribute_key, time_zone };
    check::check(&conditions, schema, settings)
}

fn terms(query: &SearchQuery, schema: &CallerSchema) -> Result<TextQuery, Error> {
    let terms = query.global_search.as_deref().map_or_else(|| Ok(TextQuery::default()), TextQuery::parse)?;
    Ok(synonyms::expanded(schema.template(), terms))
}

/// Whether live or deleted records are searched. Only live records have documents and vectors.
fn lives(
    query: &SearchQuery,
    schema: &CallerSchema,
    filter: &Filter,
    terms: &TextQuery,
) -> Result<Lives, Error> {
    if !query.include_deleted {
        return Ok(Lives::Live);
    }
    if !terms.is_empty() {
        let message = "global_search finds live records only";
        return Err(Error::at(Code::InvalidValue, "/include_deleted", message).hint(
            "Omit global_search. To find text in deleted records, use ilike on an attribute, \
             or like on external_key.",
        ));
    }
    schema.require_released_keys()?;
    Ok(if filter.needs_value(&Column::DeletedAt) { Lives::Deleted } else { Lives::Any })
}

/// An error of a view points into the view, so the error of the search only names the view.
fn of_view(query: &SearchQuery, error: Error) -> Error {
    let name = query.view.as_deref().unwrap_or_default();
    Error::at(error.code, "/view", format!("the view {name:?} cannot be used: {}", error.message))
        .hint(
            "Check your grants: a view runs with the grants of its reader, and may use a template that you may not \
             read.",
        )
}

/// Joins the tables between the record and the column of a sort key. A reference to a deleted or hidden record gives no value.
/// Returns the alias of the column's table.
fn join(from: &mut String, number: usize, key: &SortKey) -> String {
    let mut alias = RECORD.to_owned();
    for (depth, step) in key.path.iter().enumerate() {
        let next = format!("s{number}_{depth}");
        let visible = step.target.visible(&next).map(|visible| format!(" and {visible}")).unwrap_or_default();
        from.push_str(&format!(
            " left join {} {next} on {next}.id = {alias}.{} and {next}.deleted_at is null{visible}",
            step.target.table(),
            identifier(&step.slug)
        ));
        alias = next;
    }
    alias
}

/// Whether an index has the order of this key.
fn has_index(key: &SortKey, lives: Lives) -> bool {
    let is_indexed = match &key.column {
        Column::Attribute { indexed, kind, collations, .. } => {
            *indexed && *kind != AttributeType::List && collations.agree()
        }
        // The indexes of all ids, and of live records' keys.
        Column::Id | Column::ExternalKey => lives == Lives::Live,
        Column::CreatedAt | Column::UpdatedAt | Column::DeletedAt => false,
    };
    is_indexed && key.path.is_empty()
}

fn expression(key: &SortKey, alias: &str, has_value: bool, lives: Lives) -> Expression {
    let column = match &key.column {
        Column::ExternalKey if lives != Lives::Live && key.path.is_empty() => {
            format!("coalesce({alias}.external_key, {alias}.{RELEASED_KEY})")
        }
        column => column.sql(alias),
    };
    let is_indexed = matches!(&key.column, Column::Attribute { indexed: true, .. });
    let collation = key.column.order();
    let sql = match &key.column {
        // The expression of the index: only prefixes up to this length are compared.
        Column::Attribute { kind: AttributeType::String, .. } if is_indexed && key.path.is_empty() => {
            format!("pg_catalog.left({column}, {COMPARED}){collation}")
        }
        // The same, without counting characters if the byte length is short enough: twice as fast.
        Column::Attribute { kind: AttributeType::String, .. } => format!(
            "(case when pg_catalog.octet_length({column}) <= {COMPARED} then {column} \
             else pg_catalog.left({column}, {COMPARED}) end){collation}"
        ),
        _ => format!("{column}{collation}"),
    };
    let is_standard = matches!(key.column, Column::Id | Column::CreatedAt | Column::UpdatedAt);
    Expression {
        // If an index has the expression, it can evaluate the condition; otherwise the bare column costs
        // less.
        presence: if is_indexed { sql.clone() } else { column },
        sql,
        direction: key.direction,
        nulls: key.nulls,
        is_nullable: !(has_value || is_standard && key.path.is_empty()),
    }
}
