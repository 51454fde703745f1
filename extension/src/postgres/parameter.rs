//! Typed arguments of statements.
//!
//! `params![template.id, slug, &ids]` makes the arguments of a statement. The types of its parameters follow from the Rust
//! types, so types and values always agree. pgrx's `IntoDatum` cannot be implemented for `uuid::Uuid`, and it takes
//! strings and arrays by value.

use super::datum::{self, Argument};
use super::raise::Raise;
use crate::error::{Code, Error};
use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::CString;
use uuid::Uuid;

/// An argument of a statement.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    type_oid: Oid,
    value: Argument,
}

impl Parameter {
    /// A value of a type known only at run time. The datum must be of this type.
    pub fn of_type(type_oid: Oid, value: Argument) -> Parameter {
        Parameter { type_oid, value }
    }

    /// A value in text form, of a type of `pg_catalog`.
    pub fn read(text: &str, sql_type: &str) -> Parameter {
        let type_oid = type_of(sql_type);
        Parameter { type_oid, value: read(text, type_oid) }
    }

    /// An array of values in text form.
    pub fn read_array(texts: &[String], element_type: &str) -> Parameter {
        let element = type_of(element_type);
        let values = texts.iter().map(|text| read(text, element));
        // SAFETY: reads the catalog.
        let type_oid = unsafe { pg_sys::get_array_type(element) };
        Parameter { type_oid, value: datum::array_from(values, element) }
    }

    /// The type of the parameter.
    pub fn type_oid(self) -> Oid {
        self.type_oid
    }

    /// The value, or null.
    pub fn value(self) -> Argument {
        self.value
    }
}

/// The OID of a constant's type, by its SQL name.
fn type_of(sql_type: &str) -> Oid {
    match sql_type {
        "text" => pg_sys::TEXTOID,
        "numeric" => pg_sys::NUMERICOID,
        "double precision" => pg_sys::FLOAT8OID,
        "date" => pg_sys::DATEOID,
        "timestamptz" => pg_sys::TIMESTAMPTZOID,
        "uuid" => pg_sys::UUIDOID,
        "boolean" => pg_sys::BOOLOID,
        "bigint" => pg_sys::INT8OID,
        other => Error::new(Code::Internal, format!("constants of type {other} cannot be arguments")).raise(),
    }
}

/// Calls the input function of a type.
fn read(text: &str, type_oid: Oid) -> Argument {
    if type_oid == pg_sys::TEXTOID {
        return datum::text(text);
    }
    let input = CString::new(text).ok()?;
    let (mut function, mut parameter) = (Oid::INVALID, Oid::INVALID);
    // SAFETY: the type exists; its input function takes a C string and does not retain it.
    unsafe {
        pg_sys::getTypeInputInfo(type_oid, &mut function, &mut parameter);
        Some(pg_sys::OidInputFunctionCall(function, input.as_ptr().cast_mut(), parameter, -1))
    }
}

/// The arguments of a statement, in the order of `$1`, `$2`, …
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        [$($crate::postgres::parameter::IntoParameter::into_parameter($value)),*]
    };
}
pub(crate) use params;

/// A value that [`params!`] accepts.
pub trait IntoParameter {
    /// The argument, in the current memory context.
    fn into_parameter(self) -> Parameter;
}

impl IntoParameter for Parameter {
    fn into_parameter(self) -> Parameter {
        self
    }
}

impl<T: ToSql> IntoParameter for T {
    fn into_parameter(self) -> Parameter {
        Parameter { type_oid: T::TYPE, value: self.to_datum() }
    }
}

/// A Rust type that maps to one SQL type.
pub trait ToSql {
    /// The type.
    const TYPE: Oid;

    /// The value, in the current memory context.
    fn to_datum(&self) -> Argument;
}

/// A type that has an array type.
pub trait Element: ToSql {
    /// The array type.
    const ARRAY: Oid;
}

/// A `timestamptz`: microseconds since 2000-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug)]
pub struct Timestamp(pub i64);

/// An `interval`, as PostgreSQL passed it.
#[derive(Clone, Copy, Debug)]
pub struct Interval(pub Datum);

/// A `jsonb` from JSON text that is known to be valid.
#[derive(Clone, Copy, Debug)]
pub struct Jsonb<T>(pub T);

/// A `regclass`.
#[derive(Clone, Copy, Debug)]
pub struct RegClass(pub Oid);

/// A `regrole`.
#[derive(Clone, Copy, Debug)]
pub struct RegRole(pub Oid);

macro_rules! to_sql {
    ($($type:ty: $oid:ident, $array:ident, $value:ident => $datum:expr;)*) => { $(
        impl ToSql for $type {
            const TYPE: Oid = pg_sys::$oid;

            fn to_datum(&self) -> Argument {
                let $value = self;
                $datum
            }
        }

        impl Element for $type {
            const ARRAY: Oid = pg_sys::$array;
        }
    )* };
}

to_sql! {
    bool: BOOLOID, BOOLARRAYOID, value => Some(Datum::from(*value));
    i16: INT2OID, INT2ARRAYOID, value => Some(Datum::from(*value));
    i32: INT4OID, INT4ARRAYOID, value => Some(Datum::from(*value));
    i64: INT8OID, INT8ARRAYOID, value => Some(Datum::from(*value));
    f32: FLOAT4OID, FLOAT4ARRAYOID, value => Some(Datum::from(value.to_bits() as usize));
    f64: FLOAT8OID, FLOAT8ARRAYOID, value => datum::double(*value);
    str: TEXTOID, TEXTARRAYOID, value => datum::text(value);
    String: TEXTOID, TEXTARRAYOID, value => datum::text(value);
    Uuid: UUIDOID, UUIDARRAYOID, value => datum::uuid(*value);
    Oid: OIDOID, OIDARRAYOID, value => Some(Datum::from(*value));
    RegClass: REGCLASSOID, REGCLASSARRAYOID, value => Some(Datum::from(value.0));
    RegRole: REGROLEOID, REGROLEARRAYOID, value => Some(Datum::from(value.0));
    Timestamp: TIMESTAMPTZOID, TIMESTAMPTZARRAYOID, value => Some(Datum::from(value.0));
    Interval: INTERVALOID, INTERVALARRAYOID, value => Some(value.0);
    [u8]: BYTEAOID, BYTEAARRAYOID, value => datum::bytea(value);
}

impl<T: AsRef<str>> ToSql for Jsonb<T> {
    const TYPE: Oid = pg_sys::JSONBOID;

    fn to_datum(&self) -> Argument {
        datum::jsonb(self.0.as_ref())
    }
}

impl<T: AsRef<str>> Element for Jsonb<T> {
    const ARRAY: Oid = pg_sys::JSONBARRAYOID;
}

impl<const LENGTH: usize> ToSql for [u8; LENGTH] {
    const TYPE: Oid = pg_sys::BYTEAOID;

    fn to_datum(&self) -> Argument {
        datum::bytea(self)
    }
}

impl<T: ToSql + ?Sized> ToSql for &T {
    const TYPE: Oid = T::TYPE;

    fn to_datum(&self) -> Argument {
        T::to_datum(self)
    }
}

impl<T: Element + ?Sized> Element for &T {
    const ARRAY: Oid = T::ARRAY;
}

/// `None` is null.
impl<T: ToSql> ToSql for Option<T> {
    const TYPE: Oid = T::TYPE;

    fn to_datum(&self) -> Argument {
        self.as_ref().and_then(T::to_datum)
    }
}

impl<T: Element> Element for Option<T> {
    const ARRAY: Oid = T::ARRAY;
}

impl<T: Element> ToSql for [T] {
    const TYPE: Oid = T::ARRAY;

    fn to_datum(&self) -> Argument {
        datum::array_from(self.iter().map(T::to_datum), T::TYPE)
    }
}

impl<T: Element> ToSql for Vec<T> {
    const TYPE: Oid = T::ARRAY;

    fn to_datum(&self) -> Argument {
        self.as_slice().to_datum()
    }
}

/// An array of the items of an iterator, without an intermediate `Vec`.
pub fn array<T: Element>(values: impl ExactSizeIterator<Item = T>) -> Parameter {
    Parameter { type_oid: T::ARRAY, value: datum::array_from(values.map(|value| value.to_datum()), T::TYPE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_of<T: ToSql + ?Sized>(_: &T) -> Oid {
        T::TYPE
    }

    #[test]
    fn null_parameter_has_the_type_of_its_rust_type() {
        assert_eq!(type_of(&7), pg_sys::INT4OID);
        assert_eq!(type_of(&None::<i64>), pg_sys::INT8OID);
        assert_eq!(type_of(&Some("a")), pg_sys::TEXTOID);
        assert_eq!(type_of(&Some(&"a".to_owned())), pg_sys::TEXTOID);
        assert_eq!(type_of(&None::<Timestamp>), pg_sys::TIMESTAMPTZOID);
        assert_eq!(type_of(&Jsonb("{}")), pg_sys::JSONBOID);
    }

    #[test]
    fn vec_is_an_array_and_byte_slice_is_a_bytea() {
        assert_eq!(type_of(&vec![Some("a"), None]), pg_sys::TEXTARRAYOID);
        assert_eq!(type_of(&[Uuid::nil()][..]), pg_sys::UUIDARRAYOID);
        assert_eq!(type_of(&[1u8, 2][..]), pg_sys::BYTEAOID);
        assert_eq!(type_of(&[1u8, 2]), pg_sys::BYTEAOID);
    }
}
