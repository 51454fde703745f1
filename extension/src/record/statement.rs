//! Statements on the records of a template. Pure. Values are parameters, names are checked slugs.
//!
//! A write is checked against the new row: the statement returns whether the row is in the writer's scope, and an
//! error rolls back a row that is not. So the scope applies to the final values of defaults, increments and
//! references.

use super::released;
use crate::access::visibility::{UpsertScopes, WriteScope, and, condition_column};

use crate::template::{Attribute, Template};
use crate::value::change::{Change, Changes, Point, Value};
use crate::value::table_name::SideTable;
use std::fmt::Write as _;

/// The result columns for a live record: the standard columns, then the attributes in order.
pub fn columns(template: &Template) -> String {
    columns_with("t.external_key", template)
}

/// The same for a live or deleted record.
pub fn columns_of_any(template: &Template) -> String {
    columns_with(&released::shown_sql(template), template)
}

fn columns_with(key: &str, template: &Template) -> String {
    let mut sql = format!("t.id, {key}, t.created_at, t.updated_at, t.deleted_at");
    for attribute in &template.attributes {
        let _ = write!(sql, ", t.\"{}\"", attribute.slug);
    }
    sql
}

/// The statements with a cache key ([`Assignments::cache_key`]).
#[derive(Clone, Copy)]
pub enum Verb {
    /// [`insert`] with the id as result.
    Insert,
    /// [`upsert`].
    Upsert,
    /// [`update_by_key`].
    UpdateByKey,
}

/// The assignments of a statement.
pub struct Assignments<'c> {
    items: Vec<Assignment<'c>>,
}

/// An assignment to a column.
pub struct Assignment<'c> {
    /// The column.
    pub attribute: &'c Attribute,
    /// The new value.
    pub assigned: Assigned<'c>,
}

/// The new value of a column.
#[derive(Clone, Copy)]
pub enum Assigned<'c> {
    /// A value.
    Set(&'c Value<'c>),
    /// The sum of the stored value and this number.
    Increment(&'c str),
    /// The value of the latest point by time: this point, or a later one in the series. A second parameter is its time.
    Latest(&'c Point),
}

impl Assigned<'_> {
    fn is_set(self) -> bool {
        matches!(self, Assigned::Set(_))
    }

    /// The number of the variant in a cache key.
    fn number(self) -> u8 {
        match self {
            Assigned::Set(_) => 0,
            Assigned::Increment(_) => 1,
            Assigned::Latest(_) => 2,
        }
    }
}

impl Assignment<'_> {
    /// The expression in an UPDATE of `t`, with the number of its parameter.
    fn new_value(&self, template: &Template, number: usize) -> String {
        let Attribute { slug, id, .. } = self.attribute;
        match self.assigned {
            Assigned::Set(_) => format!("${number}"),
            Assigned::Increment(_) => format!("coalesce(t.\"{slug}\", 0) + ${number}"),
            Assigned::Latest(_) => format!(
                "coalesce((select m.value from {} m where m.record_id = t.id and m.attribute_id = {id} \
                 and m.at > ${} order by m.at desc, m.id desc limit 1), ${number})",
                SideTable::Series.sql(template.id),
                number + 1,
            ),
        }
    }
}

impl<'c> Assignments<'c> {
    /// The assignments of checked changes. References by key must have been resolved.
    pub fn new(template: &'c Template, changes: &'c Changes<'c>) -> Self {
        let assignment = |(position, change): &'c (usize, Change<'c>)| {
            let assigned = match change {
                Change::Set(value) => Assigned::Set(value),
                Change::Increment(amount) => Assigned::Increment(amount),
                Change::Append(points) => Assigned::Latest(latest(points)?),
                Change::Keep(..) => unreachable!("`kept::settle` removes these"),
            };
            Some(Assignment { attribute: &template.attributes[*position], assigned })
        };
        Assignments { items: changes.iter().filter_map(assignment).collect() }
    }

    /// The assignments in the order of their parameters.
    pub fn iter(&self) -> std::slice::Iter<'_, Assignment<'c>> {
        self.items.iter()
    }

    /// Whether no new value depends on the stored one.
    pub fn set_only(&self) -> bool {
        self.items.iter().all(|item| item.assigned.is_set())
    }

    /// The cache key of a statement with these assignments, shorter than its text.
    pub fn cache_key(&self, verb: Verb) -> Vec<u8> {
        // The first byte is smaller than a letter, so that the key differs from all strings of statements.
        let mut key = Vec::with_capacity(1 + 3 * self.items.len());
        key.push(verb as u8);
        for item in &self.items {
            key.extend_from_slice(&item.attribute.column.to_le_bytes());
            key.push(item.assigned.number());
        }
        key
    }

    /// Whether nothing is assigned.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn numbered(&self, first: usize) -> impl Iterator<Item = (&Assignment<'c>, usize)> {
        let mut next = first;
        self.items.iter().map(move |item| {
            let number = next;
            next += if matches!(item.assigned, Assigned::Latest(_)) { 2 } else { 1 };
            (item, number)
        })
    }

    /// `, "a", "b"` and `, $3, $4` for an INSERT.
    fn inserted(&self, first: usize) -> (String, String) {
        let (mut names, mut values) = (String::new(), String::new());
        for (item, number) in self.numbered(first) {
            let _ = write!(names, ", \"{}\"", item.attribute.slug);
            let _ = write!(values, ", ${number}");
            if matches!(item.assigned, Assigned::Latest(_)) {
                // The series of a new record is empty, so the time is not used. The comment makes the text differ from
                // that of a statement with one parameter less.
                let _ = write!(values, " /* ${} */", number + 1);
            }
        }
        (names, values)
    }

    /// `"a" = $3, "n" = coalesce(t."n", 0) + $4` for an UPDATE.
    fn updated(&self, template: &Template, first: usize) -> String {
        let mut sql = String::new();
        for (item, number) in self.numbered(first) {
            let _ = write!(sql, "\"{}\" = {}, ", item.attribute.slug, item.new_value(template, number));
        }
        sql.push_str("updated_at = now()");
        sql
    }

    /// `t."a" is distinct from $3 or …`: whether an UPDATE would change a value.
    pub fn differ(&self, template: &Template, first: usize) -> String {
        let differs = self
            .numbered(first)
            .map(|(item, number)| differs(item.attribute, &item.new_value(template, number)));
        differs.collect::<Vec<_>>().join(" or ")
    }

    /// ` and (…)`, so that equal values are not written.
    fn changed(&self, first: usize) -> String {
        if self.items.is_empty() || !self.set_only() {
            return String::new();
        }
        let differs =
            self.numbered(first).map(|(item, number)| differs(item.attribute, &format!("${number}")));
        format!(" and ({})", differs.collect::<Vec<_>>().join(" or "))
    }
}

/// Whether a column of `t` differs from a new value. Numbers are compared by value, so 1.10 equals 1.1.
pub fn differs(attribute: &Attribute, new: &str) -> String {
    format!("t.\"{}\" is distinct from {new}", attribute.slug)
}

/// Creates a record: $1 id, $2 key, then the values. A taken key inserts nothing.
pub fn insert(template: &Template, assignments: &Assignments, returning: &str) -> String {
    let (names, values) = assignments.inserted(3);
    format!(
        "insert into {} as t (id, external_key{names}) values ($1, $2{values}) \
         on conflict (external_key) do nothing returning {returning}",
        template.table_sql()
    )
}

/// Creates a record or updates the live one with the key: $1 id, $2 key, then the values. Returns the id of the
/// written record, or no row if the values are unchanged or the record is outside of the write scope.
pub fn upsert(template: &Template, assignments: &Assignments, write_scopes: &UpsertScopes) -> String {
    let (names, values) = assignments.inserted(3);
    let action = if assignments.is_empty() {
        "nothing".to_owned()
    } else {
        format!(
            "update set {} where t.deleted_at is null{}{}",
            assignments.updated(template, 3),
            assignments.changed(3),
            and(write_scopes.update.writable.as_deref())
        )
    };
    format!(
        "insert into {} as t (id, external_key{names}) values ($1, $2{values}) \
         on conflict (external_key) do {action} returning t.id{}",
        template.table_sql(),
        write_scopes.condition_columns()
    )
}

/// Updates the live record with the key: $1 key, then the values.
pub fn update_by_key(template: &Template, assignments: &Assignments, write_scope: &WriteScope) -> String {
    format!(
        "update {} t set {} where t.external_key = $1 and t.deleted_at is null{}{} returning t.id{}",
        template.table_sql(),
        assignments.updated(template, 2),
        assignments.changed(2),
        and(write_scope.writable.as_deref()),
        condition_column(write_scope.writable.as_deref())
    )
}

/// The assignment of a PATCH to the key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum KeyAssignment {
    /// No assignment.
    Keep,
    /// $2, which may be null.
    Set,
}

/// Updates a live record: $1 id, $2 key (only with [`KeyAssignment::Set`]), then the values. Returns the columns of
/// the record and whether it is still in the write scope.
pub fn update_by_id(
    template: &Template,
    key: KeyAssignment,
    assignments: &Assignments,
    write_scope: &WriteScope,
) -> String {
    let (set_key, changed) = match key {
        KeyAssignment::Keep => ("", assignments.changed(2)),
        KeyAssignment::Set => {
            let others = match assignments.changed(3) {
                changed if assignments.is_empty() => changed,
                changed if changed.is_empty() => " or true".to_owned(),
                changed => changed.replacen(" and ", " or ", 1),
            };
            ("external_key = $2, ", format!(" and (t.external_key is distinct from $2{others})"))
        }
    };
    let first = if key == KeyAssignment::Set { 3 } else { 2 };
    format!(
        "update {} t set {set_key}{} where t.id = $1 and t.deleted_at is null{changed}{} returning {}{}",
        template.table_sql(),
        assignments.updated(template, first),
        and(write_scope.writable.as_deref()),
        columns(template),
        condition_column(write_scope.writable.as_deref())
    )
}

/// The latest point by time; of equal times, the last one.
fn latest(points: &[Point]) -> Option<&Point> {
    points.iter().max_by_key(|point| point.at)
}
