//! Attribute types. Each has a file with a struct `Type` that implements `Kind`.
//!
//! The registry generates [`AttributeType`], whose methods dispatch by `match`.

mod boolean;
mod date;
mod datetime;
mod kind;
/// Lists of strings.
pub mod list;
/// Metrics: the latest value of a time series.
pub mod metric;
/// Numbers with every digit.
pub mod number;
mod reference;
/// Strings.
pub mod string;
#[cfg(test)]
mod tests;

use crate::error::{Code, Error};
use crate::json;
use crate::value::change::{Change, Value};
use crate::value::operand::{Meaning, Operand};
use kind::Kind;
pub use kind::{Family, Rules};
use pgrx::pg_sys::{Datum, Oid};
use serde_json::value::RawValue;

macro_rules! registry {
    ($($variant:ident = $file:ident),+ $(,)?) => {
        /// The type of an attribute.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum AttributeType {
            $(#[doc = concat!("`", stringify!($file), "`")] $variant,)+
        }

        impl AttributeType {
            /// Every type.
            pub const ALL: &'static [AttributeType] = &[$(AttributeType::$variant),+];

            /// Its name in the API.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $file::Type::NAME,)+ }
            }

            fn alias(self) -> Option<&'static str> {
                match self { $(Self::$variant => $file::Type::ALIAS,)+ }
            }

            /// The type of its column, as SQL writes it.
            pub fn column_type(self) -> &'static str {
                match self { $(Self::$variant => $file::Type::COLUMN_TYPE,)+ }
            }

            /// The OID of its column type.
            pub fn oid(self) -> Oid {
                match self { $(Self::$variant => $file::Type::OID,)+ }
            }

            /// The array type for a statement that writes several rows.
            pub fn array_oid(self) -> Oid {
                match self { $(Self::$variant => $file::Type::ARRAY_OID,)+ }
            }

            /// The family, which determines the operators.
            pub fn family(self) -> Family {
                match self { $(Self::$variant => $file::Type::FAMILY,)+ }
            }

            /// Whether an attribute may have a default.
            pub fn may_have_default(self) -> bool {
                match self { $(Self::$variant => $file::Type::MAY_HAVE_DEFAULT,)+ }
            }

            /// Whether its values are strings, for full-text search and embedding.
            pub fn is_text(self) -> bool {
                match self { $(Self::$variant => $file::Type::IS_TEXT,)+ }
            }

            fn parse_value<'a>(self, raw: &'a RawValue, rules: &Rules) -> Result<Change<'a>, Error> {
                match self { $(Self::$variant => $file::Type::parse(raw, rules),)+ }
            }

            fn parse_filled_cell<'a>(self, cell: &'a str, rules: &Rules) -> Result<Change<'a>, Error> {
                match self { $(Self::$variant => $file::Type::parse_cell(cell, rules),)+ }
            }

            /// Parses an operand of a condition.
            pub fn parse_operand(self, operand: &Operand, rules: &Rules) -> Result<Meaning, Error> {
                match self { $(Self::$variant => $file::Type::parse_operand(operand, rules),)+ }
            }

            /// Checks a value beyond its column type, in the row trigger.
            pub fn check_stored(self, value: Datum, rules: &Rules) -> Result<(), Error> {
                match self { $(Self::$variant => $file::Type::check_stored(value, rules),)+ }
            }

            /// Like [`AttributeType::check_stored`], for a value that replaces another.
            pub fn check_replaced(self, old: Datum, new: Datum, rules: &Rules) -> Result<(), Error> {
                match self { $(Self::$variant => $file::Type::check_replaced(old, new, rules),)+ }
            }

            /// Whether two values with different binary images are equal.
            pub fn are_equal(self, left: Datum, right: Datum) -> bool {
                match self { $(Self::$variant => $file::Type::are_equal(left, right),)+ }
            }

            /// Appends a stored value as JSON.
            pub fn write_json(self, out: &mut String, value: Datum) {
                match self { $(Self::$variant => $file::Type::write_json(out, value),)+ }
            }

            /// Appends a stored value as a cell of a file.
            pub fn write_cell(self, out: &mut String, value: Datum) {
                match self { $(Self::$variant => $file::Type::write_cell(out, value),)+ }
            }

            /// Appends a stored value to a cursor as JSON, exactly, even if responses show it clamped.
            pub fn write_cursor(self, out: &mut String, value: Datum) {
                match self { $(Self::$variant => $file::Type::write_cursor(out, value),)+ }
            }

            /// The SQL expression for a value of a cursor; `None` if it is invalid.
            pub fn cursor_sql(self, json: &RawValue) -> Option<String> {
                match self { $(Self::$variant => $file::Type::cursor_sql(json),)+ }
            }

            /// The SQL expression for a column default; `None` if the value cannot be one.
            pub fn default_sql(self, value: &Value) -> Option<String> {
                match self { $(Self::$variant => $file::Type::default_sql(value),)+ }
            }
        }
    };
}

registry! {
    String = string,
    Number = number,
    Metric = metric,
    List = list,
    Date = date,
    DateTime = datetime,
    Reference = reference,
    Boolean = boolean,
}

impl AttributeType {
    /// The type with this name or alias, ignoring case.
    pub fn named(name: &str) -> Option<AttributeType> {
        let is_name = |own: &str| own.eq_ignore_ascii_case(name);
        AttributeType::ALL.iter().copied().find(|it| is_name(it.name()) || it.alias().is_some_and(is_name))
    }

    /// All names of types for messages, with aliases last.
    pub fn names() -> String {
        let names: Vec<&str> = AttributeType::ALL.iter().map(|it| it.name()).collect();
        let aliases = AttributeType::ALL
            .iter()
            .filter_map(|it| it.alias().map(|alias| format!(" and {alias}, an alias of {}", it.name())));
        names.join(", ") + &aliases.collect::<String>()
    }

    /// Parses the change of an attribute from JSON. Null clears it.
    pub fn parse<'a>(self, raw: &'a RawValue, rules: &Rules) -> Result<Change<'a>, Error> {
        if json::is_null(raw) { Ok(Change::Set(Value::Null)) } else { self.parse_value(raw, rules) }
    }

    /// Parses the change of an attribute from a cell. An empty cell clears it; a single `'` is the empty text.
    pub fn parse_cell<'a>(self, cell: &'a str, rules: &Rules) -> Result<Change<'a>, Error> {
        if cell.is_empty() {
            return Ok(Change::Set(Value::Null));
        }
        if cell.contains('\0') {
            return Err(Error::at(
                Code::InvalidValue,
                rules.pointer,
                "must not contain the character U+0000",
            ));
        }
        self.parse_filled_cell(cell, rules)
    }
}
