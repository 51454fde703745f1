//! The statements of the access paths of a plan. Pure.
//!
//! Each allows one plan only. In an ordered scan, the conditions are outside of the limit on the records read. In a lookup,
//! the order and all other conditions are written so that they cannot use an index.

use crate::filter::Filter;
use crate::filter::arguments::Arguments;
use crate::filter::field::Column;
use crate::filter::predicate::Test;
use crate::filter::render::{Lives, Options, render_with};
use crate::record::statement::columns;
use crate::search::query::keyset::{Segment, Sorted};
use crate::search::query::plan::Plan;
use crate::template::Template;
use crate::value::constant::Constant;
use crate::value::table_name::RECORD;

/// Above this number of conditions, planning takes longer than a sample saves, and searches rarely share a cached
/// statement.
const MAX_CONDITIONS: usize = 20;

/// The maximum number of values of a condition whose index entries are counted: a string and its normal forms.
const MAX_VALUES: usize = 3;

/// The access paths to the records of a segment.
pub struct Paths<'a> {
    template: &'a Template,
    plan: &'a Plan,
    segment: &'a Segment,
    /// Conditions on the sort key, which bound an ordered scan.
    on_key: Vec<Filter>,
    /// All other conditions.
    conditions: Vec<Filter>,
    /// The indexable conditions.
    indexable: Vec<Indexable>,
    /// Whether an index has the order.
    pub has_ordered_scan: bool,
}

/// A substring that a field of the records must have.
#[derive(Clone, Copy)]
pub struct Substring<'p> {
    /// The number of the column.
    pub column: i16,
    /// The pattern of the text.
    pub text: &'p str,
    /// Whether the match is case-insensitive.
    pub ignores_case: bool,
}

/// An indexable condition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Indexable {
    /// The condition at this position.
    Condition(usize),
    /// The scope of the caller.
    Scope,
}

impl<'a> Paths<'a> {
    /// The paths to choose from; none if PostgreSQL chooses.
    pub fn of(template: &'a Template, plan: &'a Plan, segment: &'a Segment) -> Option<Paths<'a>> {
        // A condition on other tables may become a join, for which PostgreSQL has more paths.
        let is_of_one_table = !plan.filter.reads_through_references()
            && plan.scope.as_ref().is_none_or(|it| !it.reads_through_references());
        if plan.lives != Lives::Live || !is_of_one_table || plan.filter.size() > MAX_CONDITIONS {
            return None;
        }
        // With a second sort key, records with equal values of the first one have to be sorted.
        let has_ordered_scan = !plan.must_sort && plan.keys.len() <= 1;
        let on_key = |part: &Filter| has_ordered_scan && plan.keys.iter().any(|key| part.is_on(&key.column));
        let (on_key, conditions): (Vec<Filter>, Vec<Filter>) =
            plan.filter.parts().into_iter().partition(on_key);
        let is_indexable =
            |(number, part): (usize, &Filter)| part.is_indexable().then_some(Indexable::Condition(number));
        let mut indexable: Vec<Indexable> = conditions.iter().enumerate().filter_map(is_indexable).collect();
        indexable.extend(plan.scope.as_ref().filter(|scope| scope.is_indexable()).map(|_| Indexable::Scope));
        if conditions.is_empty() && plan.scope.is_none() || indexable.is_empty() && !has_ordered_scan {
            return None;
        }
        Some(Paths { template, plan, segment, on_key, conditions, indexable, has_ordered_scan })
    }

    /// The same over another segment.
    pub fn over<'s>(self, segment: &'s Segment) -> Paths<'s>
    where
        'a: 's,
    {
        Paths { segment, ..self }
    }

    /// The number of indexable conditions.
    pub fn count_of_indexable(&self) -> usize {
        self.indexable.len()
    }

    /// The substring of a search whose only condition is an indexable substring condition.
    pub fn only_substring(&self) -> Option<Substring<'_>> {
        let (true, None, [condition]) =
            (self.on_key.is_empty(), &self.plan.scope, self.conditions.as_slice())
        else {
            return None;
        };
        let leaf = condition.single().filter(|_| !self.indexable.is_empty())?;
        let Test::Like { pattern, ignores_case } = &leaf.test else { return None };
        let attribute = self.template.attributes.iter().find(|it| Some(it.id) == leaf.column.attribute())?;
        Some(Substring { column: attribute.column, text: pattern, ignores_case: *ignores_case })
    }

    /// The conditions that a field has one of few values, such as the normalization forms of a string, each with its position
    /// among the indexable conditions.
    pub fn equalities(&self) -> impl Iterator<Item = (usize, &Column, &[Constant])> {
        self.indexable.iter().enumerate().filter_map(|(place, indexable)| {
            let Indexable::Condition(number) = indexable else { return None };
            let leaf = self.conditions[*number].single()?;
            let Test::OneOf(constants) = &leaf.test else { return None };
            (constants.len() <= MAX_VALUES).then_some((place, &leaf.column, constants.as_slice()))
        })
    }

    /// Whether the index of the only condition finds exactly the records on the page.
    pub fn is_single(&self) -> bool {
        match self.conditions.as_slice() {
            _ if self.indexable.is_empty() => true,
            [] => true,
            [part] => self.plan.scope.is_none() && part.is_found_exactly(),
            _ => false,
        }
    }

    /// Whether the segment may have fewer records than the table.
    pub fn is_bounded(&self) -> bool {
        !self.on_key.is_empty() || self.segment.condition.is_some()
    }

    /// Counts the first records of the segment, up to a maximum, with the sort index only.
    pub fn extent(&self, among: u64, arguments: Option<&Arguments>) -> String {
        let (table, condition) = (self.template.table_sql(), self.first_condition(arguments));
        let order_by = self.segment.order_by(|by| self.plan.order.sql(by));
        format!(
            "select count(*) from (select from {table} {RECORD}{condition} order by {order_by} limit {among}) f"
        )
    }

    /// Whether a statement over this segment differs from others only by its arguments, so that a session caches it.
    pub fn is_cacheable(&self) -> bool {
        self.plan.position.as_ref().is_none_or(|position| position.values.is_empty())
    }

    /// The first `limit` of the records with these TIDs, in the order of a segment. Records outside of the segment are
    /// excluded if `may_be_others`.
    pub fn first_at(&self, tids: &str, segment: &Segment, may_be_others: bool, limit: usize) -> String {
        let keys: String = self.keys().map(|(name, sql)| format!(", {sql} as {name}")).collect();
        let names: String = self.keys().map(|(name, _)| format!(", p.{name}")).collect();
        let (from, table, columns) = (&self.plan.from, self.template.table_sql(), columns(self.template));
        let and = if may_be_others { segment.and_condition() } else { String::new() };
        let inner = segment.order_by(|by| self.plan.order.sql(by));
        let outer = segment.order_by(|by| match by {
            Sorted::Key(number) => format!("p.{}", name_of(number)),
            Sorted::Id => format!("{RECORD}.id"),
        });
        format!(
            "with p as materialized (select {RECORD}.ctid{keys} from {from} where {RECORD}.ctid = any ({tids}){and} \
             order by {inner} limit {limit}) \
             select {columns}{names} from p join {table} {RECORD} on {RECORD}.ctid = p.ctid order by {outer}"
        )
    }

    /// The records of a page among the first records in its order; among all if the number is
    /// `None`.
    pub fn ordered_scan(&self, among: Option<u64>, limit: usize, arguments: Option<&Arguments>) -> String {
        let source = self.first(among, arguments);
        let condition = self.tested(arguments);
        let keys: String = self.keys().map(|(name, _)| format!(", {RECORD}.{name}")).collect();
        let (columns, order_by, limit) =
            (columns(self.template), self.order_of(RECORD), limit_sql(limit, arguments));
        format!(
            "select {columns}{keys} from ({source}) {RECORD} where {condition} order by {order_by} limit {limit}"
        )
    }

    /// Counts, in an ordered sample of this size, all records and those that the index of each indexable condition finds.
    pub fn sample(&self, size: u64, arguments: Option<&Arguments>) -> String {
        let source = self.first(Some(size), arguments);
        let counts: String = self
            .indexable
            .iter()
            .map(|indexable| match indexable {
                Indexable::Condition(number) => {
                    self.render(&self.conditions[*number].found(), true, arguments)
                }
                Indexable::Scope => self.visible(arguments).unwrap_or_default(),
            })
            .map(|condition| format!(", count(*) filter (where {condition})"))
            .collect();
        format!("select count(*){counts} from ({source}) {RECORD}")
    }

    /// The records of a page, found by the indexes of these conditions.
    pub fn lookup(&self, leading: &[usize], limit: usize, arguments: Option<&Arguments>) -> String {
        let leads =
            |requested: Indexable| leading.iter().any(|place| self.indexable.get(*place) == Some(&requested));
        let tested = |condition: String| format!("({condition}) is true");
        let mut conditions = vec![format!("{RECORD}.deleted_at is null")];
        for (number, part) in self.conditions.iter().enumerate() {
            conditions.push(match leads(Indexable::Condition(number)) {
                true => self.render(part, false, arguments),
                false => tested(self.render(part, true, arguments)),
            });
        }
        if let Some(visible) = self.visible(arguments) {
            conditions.push(if leads(Indexable::Scope) { visible } else { tested(visible) });
        }
        conditions.extend(self.on_key.iter().map(|part| tested(self.render(part, true, arguments))));
        conditions.extend(self.bounds(arguments).map(tested));
        let keys: String = self.keys().map(|(name, sql)| format!(", {sql} as {name}")).collect();
        let names: String = self.keys().map(|(name, _)| format!(", p.{name}")).collect();
        let (from, table, columns) = (&self.plan.from, self.template.table_sql(), columns(self.template));
        let (condition, inner, outer) = (conditions.join(" and "), self.order_of("f"), self.order_of("p"));
        let limit = limit_sql(limit, arguments);
        // `offset 0` keeps the order outside of the subquery, so that the sort index is not read.
        format!(
            "with p as materialized (select f.* from (select {RECORD}.id{keys} from {from} where {condition} \
             offset 0) f order by {inner} limit {limit}) \
             select {columns}{names} from p join {table} {RECORD} on {RECORD}.id = p.id order by {outer}"
        )
    }

    /// The first records of the segment in its order, including deleted ones.
    fn first(&self, among: Option<u64>, arguments: Option<&Arguments>) -> String {
        let condition = self.first_condition(arguments);
        let keys: String = self.keys().map(|(name, sql)| format!(", {sql} as {name}")).collect();
        let (table, order_by) =
            (self.template.table_sql(), self.segment.order_by(|by| self.plan.order.sql(by)));
        let limit = among.map(|among| format!(" limit {among}")).unwrap_or_default();
        format!("select {RECORD}.*{keys} from {table} {RECORD}{condition} order by {order_by}{limit}")
    }

    fn first_condition(&self, arguments: Option<&Arguments>) -> String {
        let on_key = self.on_key.iter().map(|part| self.render(part, false, arguments));
        let conditions: Vec<String> = self.bounds(arguments).into_iter().chain(on_key).collect();
        match conditions.is_empty() {
            true => String::new(),
            false => format!(" where {}", conditions.join(" and ")),
        }
    }

    /// The condition that a record of the segment is on the page.
    fn tested(&self, arguments: Option<&Arguments>) -> String {
        let mut conditions = vec![format!("{RECORD}.deleted_at is null")];
        conditions.extend(self.visible(arguments));
        conditions.extend(self.conditions.iter().map(|part| self.render(part, true, arguments)));
        conditions.join(" and ")
    }

    /// The scope of the caller.
    fn visible(&self, arguments: Option<&Arguments>) -> Option<String> {
        self.plan.scope.as_ref().map(|scope| scope.condition(RECORD, arguments))
    }

    fn render(&self, part: &Filter, one_by_one: bool, arguments: Option<&Arguments>) -> String {
        let options = Options { lives: self.plan.lives, one_by_one, ..Options::default() };
        render_with(part, RECORD, options, arguments)
    }

    /// The start of the segment.
    fn bounds(&self, arguments: Option<&Arguments>) -> Option<String> {
        let condition = format!("({})", self.segment.condition.as_ref()?);
        let position = self.plan.position.as_ref().filter(|_| self.is_cacheable());
        let (Some(position), Some(arguments)) = (position, arguments) else { return Some(condition) };
        // Only the id differs from the previous page.
        let id = arguments.constant(&Constant::id(position.uuid));
        Some(id.map_or(condition.clone(), |id| condition.replace(&position.id, &id)))
    }

    /// The sort keys, under names that no attribute has.
    fn keys(&self) -> impl Iterator<Item = (String, &str)> {
        self.plan.order.keys.iter().enumerate().map(|(number, key)| (name_of(number), key.sql.as_str()))
    }

    fn order_of(&self, alias: &str) -> String {
        self.segment.order_by(|by| match by {
            Sorted::Key(number) => format!("{alias}.{}", name_of(number)),
            Sorted::Id => format!("{alias}.id"),
        })
    }
}

/// The limit, which differs from segment to segment.
fn limit_sql(limit: usize, arguments: Option<&Arguments>) -> String {
    let parameter = |it: &Arguments| it.constant(&Constant::Typed(limit.to_string(), "bigint"));
    arguments.and_then(parameter).unwrap_or_else(|| limit.to_string())
}

fn name_of(number: usize) -> String {
    format!("_key{number}")
}
