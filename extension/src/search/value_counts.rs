//! Counts the records that have the words of a search, and how many of them have each value of a field, in one pass over the table
//! and without a statement.
//!
//! A statement would compare the words with each document once more for every field.

use super::facet::{Facet, MOST_VALUES};
use super::first_items::FirstItems;
use crate::attribute_type::AttributeType;
use crate::postgres::condition::Condition;
use crate::postgres::datum;
use crate::postgres::direct_access::Unfit;
use crate::postgres::found::Found;
use crate::postgres::table::Table;
use crate::postgres::value_order::compare_texts;
use crate::template::Template;
use crate::value::standard_column::ID;
use foldhash::{HashMap, HashSet};
use pgrx::pg_sys::Datum;
use std::cmp::Ordering;
use uuid::Uuid;

/// So many bytes the different values of all fields take. A statement counts more, on disk if it has to.
const MOST_BYTES: usize = 32 << 20;
/// What an entry takes beside the bytes of its value.
const BYTES_OF_ENTRY: usize = 64;

/// What was counted.
pub struct Counts {
    /// How many records there are.
    pub total: i64,
    /// For each field its most frequent values, in the order of the answer; none where a statement has to count them.
    pub fields: Vec<Option<Vec<(Value, i64)>>>,
}

/// A value of a field, or of a list in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Value(Box<[u8]>);

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
        let mut fields: Vec<Option<Field>> =
            facets.iter().map(|facet| Field::of(table, template, facet)).collect();
        // A condition reads the columns that it names by itself.
        let columns = fields.iter().flatten().map(|field| field.column).max();
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
        let fields = fields.into_iter().map(|field| field.and_then(Field::most_frequent)).collect();
        Ok(Counts { total, fields })
    })
}

/// Whether the values of a field are counted here: bytes tell whether two of them are the same.
pub fn is_counted(facet: &Facet) -> bool {
    Kind::of(facet.column.kind()).is_some()
}

/// How values of a type are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// As the bytes of a text.
    Text,
    /// As the bytes of an array of texts.
    List,
    /// As the bytes of an id.
    Id,
    /// As the bytes of a datum that holds the value itself, compared as a whole number.
    ByValue,
}

/// A field while it is counted.
struct Field {
    column: i16,
    kind: Kind,
    /// How many records have each value.
    counts: HashMap<Box<[u8]>, i64>,
}

impl Field {
    /// None where a statement has to count.
    fn of(table: &Table, template: &Template, facet: &Facet) -> Option<Field> {
        let attribute = template.attributes.iter().find(|it| Some(it.id) == facet.column.attribute())?;
        let kind = Kind::of(attribute.kind)?;
        let is_text = matches!(kind, Kind::Text | Kind::List);
        let fits = !is_text || table.has_database_collation(attribute.column);
        fits.then(|| Field { column: attribute.column, kind, counts: HashMap::default() })
    }

    /// Counts the value of a row; none where there is no room for it.
    fn add(&mut self, row: &Found, room: &mut usize) -> Option<()> {
        let Some(value) = row.get(self.column) else { return Some(()) };
        match self.kind {
            Kind::Text | Kind::List => datum::with_bytes(value, |bytes| self.add_bytes(bytes, 1, room)),
            Kind::Id => self.add_bytes(datum::read_uuid(value).as_bytes(), 1, room),
            Kind::ByValue => self.add_bytes(&value.value().to_ne_bytes(), 1, room),
        }
    }

    fn add_bytes(&mut self, bytes: &[u8], records: i64, room: &mut usize) -> Option<()> {
        if let Some(count) = self.counts.get_mut(bytes) {
            *count += records;
        } else {
            *room = room.checked_sub(bytes.len() + BYTES_OF_ENTRY)?;
            self.counts.insert(bytes.into(), records);
        }
        Some(())
    }

    /// The most frequent values, those with as many records in their own order.
    fn most_frequent(self) -> Option<Vec<(Value, i64)>> {
        let field = if self.kind == Kind::List { self.elements()? } else { self };
        let compare = |one: &(i64, &[u8]), other: &(i64, &[u8])| {
            other.0.cmp(&one.0).then_with(|| field.kind.compare(one.1, other.1))
        };
        let mut first = FirstItems::new(MOST_VALUES);
        for (value, count) in &field.counts {
            pgrx::check_for_interrupts!();
            let key = (*count, &**value);
            if first.may_take(&key, compare) {
                first.take(key, key, compare);
            }
        }
        let mut values = first.into_items(compare);
        values.sort_unstable_by(compare);
        Some(values.into_iter().map(|(count, value)| (Value(value.into()), count)).collect())
    }

    /// The elements of lists: one that a list holds twice counts once. None where there is no room for them.
    fn elements(self) -> Option<Field> {
        let mut field = Field { kind: Kind::Text, counts: HashMap::default(), ..self };
        let mut room = MOST_BYTES;
        for (list, records) in &self.counts {
            pgrx::check_for_interrupts!();
            let elements = datum::text_elements(datum::bytea(list)?)?;
            let elements: HashSet<Vec<u8>> = elements.into_iter().flatten().map(datum::read_bytes).collect();
            for element in &elements {
                field.add_bytes(element, *records, &mut room)?;
            }
        }
        Some(field)
    }
}

impl Kind {
    /// None for numbers: 1.0 and 1.00 are the same.
    fn of(kind: AttributeType) -> Option<Kind> {
        match kind {
            AttributeType::String => Some(Kind::Text),
            AttributeType::List => Some(Kind::List),
            AttributeType::Reference => Some(Kind::Id),
            AttributeType::Boolean | AttributeType::Date | AttributeType::DateTime => Some(Kind::ByValue),
            AttributeType::Number | AttributeType::Metric => None,
        }
    }

    fn compare(self, one: &[u8], other: &[u8]) -> Ordering {
        match self {
            Kind::Text => compare_texts(one, other),
            Kind::List | Kind::Id => one.cmp(other),
            Kind::ByValue => datum::read_i64(by_value(one)).cmp(&datum::read_i64(by_value(other))),
        }
    }
}

fn by_value(bytes: &[u8]) -> Datum {
    Datum::from(usize::from_ne_bytes(bytes.try_into().unwrap_or_default()))
}

impl Value {
    /// As PostgreSQL has it, for a value of this type.
    pub fn datum(&self, kind: AttributeType) -> Option<Datum> {
        match kind {
            AttributeType::String | AttributeType::List => datum::bytea(&self.0),
            AttributeType::Reference => datum::uuid(Uuid::from_slice(&self.0).ok()?),
            _ => Some(by_value(&self.0)),
        }
    }
}
