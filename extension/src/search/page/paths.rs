//! Plan → the statements of its access paths. Pure text.
//!
//! PostgreSQL is left no choice between them: in a walk, the conditions stand outside of what limits the records that
//! are read; in a lookup, the order and all conditions but the leading ones are written so that no index serves them.

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

/// From more conditions on, planning takes longer than a look spares, and no two searches have the same form.
const MOST_CONDITIONS: usize = 20;

/// Of how many values of one condition the index is asked: a text and its normal forms.
const FEW_VALUES: usize = 3;

/// The access paths to the records of a segment.
pub struct Paths<'a> {
    template: &'a Template,
    plan: &'a Plan,
    segment: &'a Segment,
    /// Conditions on the key of the order, which bound a walk.
    on_key: Vec<Filter>,
    /// All others.
    parts: Vec<Filter>,
    /// The conditions that an index may serve.
    served: Vec<Served>,
    /// Whether there is an index of the order.
    pub may_walk: bool,
}

/// A part of a text that records must have.
#[derive(Clone, Copy)]
pub struct Part<'p> {
    /// The number of the column.
    pub column: i16,
    /// The pattern of the text.
    pub text: &'p str,
    /// Whether upper and lower case count as the same.
    pub ignores_case: bool,
}

/// A condition that an index may serve.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Served {
    /// One of the parts of the filter.
    Part(usize),
    /// What the caller sees.
    Visible,
}

impl<'a> Paths<'a> {
    /// The paths to choose from; none where there is no choice, or PostgreSQL knows best.
    pub fn of(template: &'a Template, plan: &'a Plan, segment: &'a Segment) -> Option<Paths<'a>> {
        // What looks into other tables may be a join, of which PostgreSQL knows more ways.
        let is_of_one_table = !plan.filter.looks_behind_references()
            && plan.scope.as_ref().is_none_or(|it| !it.looks_behind_references());
        if plan.lives != Lives::Live || !is_of_one_table || plan.filter.size() > MOST_CONDITIONS {
            return None;
        }
        // Behind a second key, records that are alike in the first one have to be sorted.
        let may_walk = !plan.must_sort && plan.keys.len() <= 1;
        let on_key = |part: &Filter| may_walk && plan.keys.iter().any(|key| part.is_on(&key.column));
        let (on_key, parts): (Vec<Filter>, Vec<Filter>) = plan.filter.parts().into_iter().partition(on_key);
        let is_served = |(number, part): (usize, &Filter)| part.is_served().then_some(Served::Part(number));
        let mut served: Vec<Served> = parts.iter().enumerate().filter_map(is_served).collect();
        served.extend(plan.scope.as_ref().filter(|scope| scope.is_served()).map(|_| Served::Visible));
        if parts.is_empty() && plan.scope.is_none() || served.is_empty() && !may_walk {
            return None;
        }
        Some(Paths { template, plan, segment, on_key, parts, served, may_walk })
    }

    /// The same over another segment.
    pub fn over<'s>(self, segment: &'s Segment) -> Paths<'s>
    where
        'a: 's,
    {
        Paths { segment, ..self }
    }

    /// How many conditions an index may serve.
    pub fn count_of_served(&self) -> usize {
        self.served.len()
    }

    /// The part of a text that records must have, if an index serves it and nothing else decides on which are found.
    pub fn only_part(&self) -> Option<Part<'_>> {
        let (true, None, [condition]) = (self.on_key.is_empty(), &self.plan.scope, self.parts.as_slice())
        else {
            return None;
        };
        let leaf = condition.single().filter(|_| !self.served.is_empty())?;
        let Test::Like { pattern, ignores_case } = &leaf.test else { return None };
        let attribute = self.template.attributes.iter().find(|it| Some(it.id) == leaf.column.attribute())?;
        Some(Part { column: attribute.column, text: pattern, ignores_case: *ignores_case })
    }

    /// The conditions that a field has one of few values, such as the normal forms of a text, each with its place among those
    /// that an index may serve.
    pub fn equalities(&self) -> impl Iterator<Item = (usize, &Column, &[Constant])> {
        self.served.iter().enumerate().filter_map(|(place, served)| {
            let Served::Part(number) = served else { return None };
            let leaf = self.parts[*number].single()?;
            let Test::OneOf(constants) = &leaf.test else { return None };
            (constants.len() <= FEW_VALUES).then_some((place, &leaf.column, constants.as_slice()))
        })
    }

    /// Whether the records on the page are those that the index of the only condition finds.
    pub fn is_single(&self) -> bool {
        match self.parts.as_slice() {
            _ if self.served.is_empty() => true,
            [] => true,
            [part] => self.plan.scope.is_none() && part.is_found_exactly(),
            _ => false,
        }
    }

    /// Whether fewer records than all may be in the segment.
    pub fn is_bounded(&self) -> bool {
        !self.on_key.is_empty() || self.segment.condition.is_some()
    }

    /// Counts the first records of the segment, up to a number. The index of the order tells them alone.
    pub fn extent(&self, among: u64, arguments: Option<&Arguments>) -> String {
        let (table, condition) = (self.template.table_sql(), self.first_condition(arguments));
        let order_by = self.segment.order_by(|by| self.plan.order.sql(by));
        format!(
            "select count(*) from (select from {table} {RECORD}{condition} order by {order_by} limit {among}) f"
        )
    }

    /// Whether a statement about this segment differs from others by its arguments alone, so that it is worth keeping.
    pub fn may_be_kept(&self) -> bool {
        self.plan.position.as_ref().is_none_or(|position| position.values.is_empty())
    }

    /// So many of the records at these places, the first in the order of a segment; of those alone that belong to it, if some may
    /// not.
    pub fn first_at(&self, places: &str, segment: &Segment, may_be_others: bool, most: usize) -> String {
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
            "with p as materialized (select {RECORD}.ctid{keys} from {from} where {RECORD}.ctid = any ({places}){and} \
             order by {inner} limit {most}) \
             select {columns}{names} from p join {table} {RECORD} on {RECORD}.ctid = p.ctid order by {outer}"
        )
    }

    /// The records of a page among the first in its order; among all without a number.
    pub fn walk(&self, among: Option<u64>, most: usize, arguments: Option<&Arguments>) -> String {
        let source = self.first(among, arguments);
        let condition = self.tested(arguments);
        let keys: String = self.keys().map(|(name, _)| format!(", {RECORD}.{name}")).collect();
        let (columns, order_by, most) =
            (columns(self.template), self.order_of(RECORD), limit(most, arguments));
        format!(
            "select {columns}{keys} from ({source}) {RECORD} where {condition} order by {order_by} limit {most}"
        )
    }

    /// Counts, among the first records, all of them, those on the page, and those that pass each served condition.
    pub fn look(&self, among: u64, arguments: Option<&Arguments>) -> String {
        let source = match self.may_walk {
            true => self.first(Some(among), arguments),
            false => {
                let table = self.template.table_sql();
                format!("select {RECORD}.* from {table} {RECORD} order by {RECORD}.id desc limit {among}")
            }
        };
        let mut counted = vec![self.tested(arguments)];
        counted.extend(self.served.iter().map(|served| match served {
            Served::Part(number) => self.render(&self.parts[*number].found(), true, arguments),
            Served::Visible => self.visible(arguments).unwrap_or_default(),
        }));
        let counts: String =
            counted.iter().map(|condition| format!(", count(*) filter (where {condition})")).collect();
        format!("select count(*){counts} from ({source}) {RECORD}")
    }

    /// The records of a page, found by the indexes of the leading conditions.
    pub fn lookup(&self, leading: &[usize], most: usize, arguments: Option<&Arguments>) -> String {
        let leads = |wanted: Served| leading.iter().any(|place| self.served.get(*place) == Some(&wanted));
        let tested = |condition: String| format!("({condition}) is true");
        let mut conditions = vec![format!("{RECORD}.deleted_at is null")];
        for (number, part) in self.parts.iter().enumerate() {
            conditions.push(match leads(Served::Part(number)) {
                true => self.render(part, false, arguments),
                false => tested(self.render(part, true, arguments)),
            });
        }
        if let Some(visible) = self.visible(arguments) {
            conditions.push(if leads(Served::Visible) { visible } else { tested(visible) });
        }
        conditions.extend(self.on_key.iter().map(|part| tested(self.render(part, true, arguments))));
        conditions.extend(self.bounds(arguments).map(tested));
        let keys: String = self.keys().map(|(name, sql)| format!(", {sql} as {name}")).collect();
        let names: String = self.keys().map(|(name, _)| format!(", p.{name}")).collect();
        let (from, table, columns) = (&self.plan.from, self.template.table_sql(), columns(self.template));
        let (condition, inner, outer) = (conditions.join(" and "), self.order_of("f"), self.order_of("p"));
        let most = limit(most, arguments);
        // `offset 0` keeps the order outside, so that no index of it is walked.
        format!(
            "with p as materialized (select f.* from (select {RECORD}.id{keys} from {from} where {condition} \
             offset 0) f order by {inner} limit {most}) \
             select {columns}{names} from p join {table} {RECORD} on {RECORD}.id = p.id order by {outer}"
        )
    }

    /// The first records of the segment, in its order: live or not, whatever they hold.
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
        conditions.extend(self.parts.iter().map(|part| self.render(part, true, arguments)));
        conditions.join(" and ")
    }

    /// What the caller sees.
    fn visible(&self, arguments: Option<&Arguments>) -> Option<String> {
        self.plan.scope.as_ref().map(|scope| scope.condition(RECORD, arguments))
    }

    fn render(&self, part: &Filter, one_by_one: bool, arguments: Option<&Arguments>) -> String {
        let options = Options { lives: self.plan.lives, one_by_one, ..Options::default() };
        render_with(part, RECORD, options, arguments)
    }

    /// Where the segment begins.
    fn bounds(&self, arguments: Option<&Arguments>) -> Option<String> {
        let condition = format!("({})", self.segment.condition.as_ref()?);
        let position = self.plan.position.as_ref().filter(|_| self.may_be_kept());
        let (Some(position), Some(arguments)) = (position, arguments) else { return Some(condition) };
        // The id is all that differs from the page before.
        let id = arguments.constant(&Constant::id(position.uuid));
        Some(id.map_or(condition.clone(), |id| condition.replace(&position.id, &id)))
    }

    /// What the records are sorted by, under names that no attribute has.
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

/// How many are wanted, which differs from segment to segment.
fn limit(most: usize, arguments: Option<&Arguments>) -> String {
    let parameter = |it: &Arguments| it.constant(&Constant::Typed(most.to_string(), "bigint"));
    arguments.and_then(parameter).unwrap_or_else(|| most.to_string())
}

fn name_of(number: usize) -> String {
    format!("_key{number}")
}
