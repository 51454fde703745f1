//! A field whose values are counted while rows are read.

use crate::attribute_type::AttributeType;
use crate::postgres::datum;
use crate::postgres::memory::in_scratch;
use crate::postgres::table::{Found, Table};
use crate::postgres::value_order::compare_texts;
use crate::search::page::top_n::TopN;
use crate::search::query::facet::{Facet, MAX_VALUES};
use crate::template::Template;
use crate::value::decimal;
use crate::value::normal_form::composed;
use foldhash::{HashMap, HashSet};
use pgrx::pg_sys::{Datum, Oid};
use std::borrow::Cow;
use std::cmp::Ordering;
use uuid::Uuid;

/// The memory limit for the distinct values of all fields, in bytes. Above it, a statement counts them, because it can
/// spill to disk.
pub const MAX_BYTES: usize = 32 << 20;
/// The size of an entry without the bytes of its value.
const BYTES_OF_ENTRY: usize = 64;

/// A value of a field, or of a list in it.
#[derive(Debug, PartialEq, Eq)]
pub struct CountedValue(Box<[u8]>);

/// The representation of values while they are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Storage {
    /// As the bytes of a string.
    Text,
    /// As the bytes of an array of strings.
    List,
    /// As the bytes of an id.
    Id,
    /// As the bytes of a `numeric`. Those of 1.0 and 1.00 differ.
    Numeric,
    /// As the digits that PostgreSQL writes.
    Decimal,
    /// As the bytes of a datum that holds a floating-point number.
    Double,
    /// As the bytes of a datum that holds the value itself, compared as a whole number.
    ByValue,
}

/// A field while it is counted.
pub struct CountedField {
    column: i16,
    storage: Storage,
    /// The collation of equally frequent strings; 0 for that of the database.
    collation: Oid,
    /// The number of records with each value.
    counts: HashMap<Box<[u8]>, i64>,
}

impl CountedField {
    /// A field to count; `None` if a statement has to count it.
    pub fn of(table: &Table, template: &Template, facet: &Facet) -> Option<CountedField> {
        let attribute = template.attributes.iter().find(|it| Some(it.id) == facet.column.attribute())?;
        let storage = Storage::of(attribute.kind);
        let is_text = matches!(storage, Storage::Text | Storage::List);
        let fits = !is_text || table.has_database_collation(attribute.column);
        let (column, collation) = (attribute.column, attribute.order);
        fits.then(|| CountedField { column, storage, collation, counts: HashMap::default() })
    }

    /// The number of its column.
    pub fn column(&self) -> i16 {
        self.column
    }

    /// Counts the value of a row; none if the limit of memory is reached.
    pub fn add(&mut self, row: &Found, capacity: &mut usize) -> Option<()> {
        let Some(value) = row.get(self.column) else { return Some(()) };
        match self.storage {
            Storage::Id => self.add_bytes(datum::read_uuid(value).as_bytes(), 1, capacity),
            Storage::ByValue => self.add_bytes(&value.value().to_ne_bytes(), 1, capacity),
            Storage::Double => {
                let number = datum::read_f64(value);
                // Both zeros are equal, and so are all NaNs. Rows that were written with triggers disabled can contain
                // NaN.
                let bits = if number.is_nan() { f64::NAN } else { number + 0.0 }.to_bits();
                self.add_bytes(&(bits as usize).to_ne_bytes(), 1, capacity)
            }
            _ => datum::with_bytes(value, |bytes| self.add_bytes(bytes, 1, capacity)),
        }
    }

    fn add_bytes(&mut self, bytes: &[u8], records: i64, capacity: &mut usize) -> Option<()> {
        if let Some(count) = self.counts.get_mut(bytes) {
            *count += records;
        } else {
            *capacity = capacity.checked_sub(bytes.len() + BYTES_OF_ENTRY)?;
            self.counts.insert(bytes.into(), records);
        }
        Some(())
    }

    /// The most frequent values, equally frequent ones in their own order.
    pub fn most_frequent(self) -> Option<Vec<(CountedValue, i64)>> {
        let field = match self.storage {
            Storage::List => self.elements()?.composed(),
            Storage::Text => self.composed(),
            Storage::Numeric => in_scratch(|| self.decimals())?,
            _ => self,
        };
        let compare = |one: &(i64, &[u8]), other: &(i64, &[u8])| {
            other.0.cmp(&one.0).then_with(|| field.compare(one.1, other.1))
        };
        let mut first = TopN::new(MAX_VALUES);
        for (value, count) in &field.counts {
            pgrx::check_for_interrupts!();
            let key = (*count, &**value);
            if first.may_take(&key, compare) {
                first.take(key, key, compare);
            }
        }
        let mut values = first.into_items(compare);
        values.sort_unstable_by(compare);
        Some(values.into_iter().map(|(count, value)| (CountedValue(value.into()), count)).collect())
    }

    /// The elements of lists, each once per list. None if the limit of memory is reached.
    fn elements(self) -> Option<CountedField> {
        let mut field = CountedField { storage: Storage::Text, counts: HashMap::default(), ..self };
        let mut capacity = MAX_BYTES;
        for (list, records) in &self.counts {
            pgrx::check_for_interrupts!();
            let elements = datum::text_elements(datum::bytea(list)?)?;
            let elements: HashSet<Vec<u8>> = elements.into_iter().flatten().map(datum::read_bytes).collect();
            for element in &elements {
                field.add_bytes(element, *records, &mut capacity)?;
            }
        }
        Some(field)
    }

    /// Strings with all normal forms as one value.
    fn composed(mut self) -> CountedField {
        let other = |text: &[u8]| match composed(std::str::from_utf8(text).ok()?) {
            Cow::Borrowed(_) => None,
            Cow::Owned(composed) => Some(composed),
        };
        let others: Vec<(Box<[u8]>, String)> =
            self.counts.keys().filter_map(|text| Some((text.clone(), other(text)?))).collect();
        for (text, composed) in others {
            let count = self.counts.remove(&text).unwrap_or_default();
            *self.counts.entry(composed.into_bytes().into()).or_default() += count;
        }
        self
    }

    /// Numbers, each in its most frequent notation. None if the limit of memory is reached.
    fn decimals(self) -> Option<CountedField> {
        /// The number of records with a number, and the number of records with its most frequent
        /// notation.
        struct Number {
            records: i64,
            most: i64,
            written: Box<str>,
        }
        let mut numbers: HashMap<Box<str>, Number> = HashMap::default();
        let mut capacity = MAX_BYTES;
        for (bytes, records) in &self.counts {
            pgrx::check_for_interrupts!();
            let mut written = String::new();
            datum::write_numeric(&mut written, datum::bytea(bytes)?);
            capacity = capacity.checked_sub(2 * written.len() + BYTES_OF_ENTRY)?;
            let number = Number { records: *records, most: *records, written: written.into() };
            let key = decimal::without_trailing_zeros(&number.written);
            match numbers.get_mut(key) {
                None => {
                    numbers.insert(key.into(), number);
                }
                Some(known) => {
                    known.records += number.records;
                    // The shorter of two equally frequent notations, so that the result is deterministic.
                    if (known.most, number.written.len()) < (number.most, known.written.len()) {
                        (known.most, known.written) = (number.most, number.written);
                    }
                }
            }
        }
        let counts = numbers.into_values().map(|it| (it.written.into_boxed_bytes(), it.records)).collect();
        Some(CountedField { storage: Storage::Decimal, counts, ..self })
    }
}

impl CountedField {
    fn compare(&self, one: &[u8], other: &[u8]) -> Ordering {
        match self.storage {
            Storage::Text => compare_texts(one, other, self.collation),
            storage => storage.compare(one, other),
        }
    }
}

impl Storage {
    fn of(kind: AttributeType) -> Storage {
        match kind {
            AttributeType::String => Storage::Text,
            AttributeType::List => Storage::List,
            AttributeType::Reference => Storage::Id,
            AttributeType::Number => Storage::Numeric,
            AttributeType::Metric => Storage::Double,
            AttributeType::Boolean | AttributeType::Date | AttributeType::DateTime => Storage::ByValue,
        }
    }

    fn compare(self, one: &[u8], other: &[u8]) -> Ordering {
        match self {
            Storage::Text | Storage::List | Storage::Id | Storage::Numeric => one.cmp(other),
            Storage::Decimal => {
                let [one, other] = [one, other].map(|it| std::str::from_utf8(it).unwrap_or_default());
                decimal::compare(one, other)
            }
            // `add` maps every NaN to the positive one, which comes last.
            Storage::Double => {
                let [one, other] = [one, other].map(|it| datum::read_f64(by_value(it)));
                one.total_cmp(&other)
            }
            Storage::ByValue => datum::read_i64(by_value(one)).cmp(&datum::read_i64(by_value(other))),
        }
    }
}

fn by_value(bytes: &[u8]) -> Datum {
    Datum::from(usize::from_ne_bytes(bytes.try_into().unwrap_or_default()))
}

impl CountedValue {
    /// As in PostgreSQL, for a value of this type.
    pub fn datum(&self, kind: AttributeType) -> Option<Datum> {
        match kind {
            AttributeType::String | AttributeType::List => datum::bytea(&self.0),
            AttributeType::Number => datum::numeric(std::str::from_utf8(&self.0).ok()?),
            AttributeType::Reference => datum::uuid(Uuid::from_slice(&self.0).ok()?),
            _ => Some(by_value(&self.0)),
        }
    }
}
