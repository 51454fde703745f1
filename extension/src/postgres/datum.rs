//! Conversion between Rust values and PostgreSQL's `Datum`.

use crate::json::binary;
use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::{CStr, CString};
use uuid::Uuid;

/// An argument of a statement: a datum of a known type, or null.
pub type Argument = Option<Datum>;

/// A `text` datum in the current memory context.
pub fn text(value: &str) -> Argument {
    // SAFETY: the pointer and length come from one str; PostgreSQL copies the bytes.
    let pointer = unsafe { pg_sys::cstring_to_text_with_len(value.as_ptr().cast(), value.len() as i32) };
    Some(Datum::from(pointer))
}

/// A `text` datum or null.
pub fn optional_text(value: Option<&str>) -> Argument {
    value.and_then(text)
}

/// A `bytea` datum in the current memory context.
pub fn bytea(bytes: &[u8]) -> Argument {
    // SAFETY: text and bytea have the same layout; the bytes are copied.
    let pointer = unsafe { pg_sys::cstring_to_text_with_len(bytes.as_ptr().cast(), bytes.len() as i32) };
    Some(Datum::from(pointer))
}

/// A `uuid` datum in the current memory context.
pub fn uuid(value: Uuid) -> Argument {
    // SAFETY: 16 bytes are allocated and all of them written; pg_uuid_t is a plain array of 16 bytes.
    unsafe {
        let pointer = pg_sys::palloc(16).cast::<[u8; 16]>();
        pointer.write(*value.as_bytes());
        Some(Datum::from(pointer))
    }
}

/// A `numeric` datum from digits that were validated before.
pub fn numeric(digits: &str) -> Argument {
    call_input_function(pg_sys::numeric_in, digits)
}

/// A `jsonb` datum from JSON text.
pub fn jsonb(json: &str) -> Argument {
    let Some(stored) = binary::to_jsonb(json) else { return call_input_function(pg_sys::jsonb_in, json) };
    // SAFETY: as many bytes are allocated as are written. They begin with the header that states their number.
    unsafe {
        let pointer = pg_sys::palloc(stored.len()).cast::<u8>();
        pointer.copy_from_nonoverlapping(stored.as_ptr(), stored.len());
        Some(Datum::from(pointer))
    }
}

fn call_input_function(function: unsafe fn(pg_sys::FunctionCallInfo) -> Datum, input: &str) -> Argument {
    let Ok(input) = CString::new(input) else { return None };
    let arguments = [Some(Datum::from(input.as_ptr())), Some(Datum::from(0usize)), Some(Datum::from(-1i32))];
    // SAFETY: an input function takes a C string, a type OID, which these two ignore, and a type modifier.
    unsafe { pgrx::direct_function_call_as_datum(function, &arguments) }
}

/// A one-dimensional array datum of elements of this type, in the current memory context; `None` is a null element.
pub fn array_from(values: impl ExactSizeIterator<Item = Argument>, element_type: Oid) -> Argument {
    let mut nulls = Vec::with_capacity(values.len());
    let mut elements: Vec<Datum> = Vec::with_capacity(values.len());
    for value in values {
        nulls.push(value.is_none());
        elements.push(value.unwrap_or(Datum::from(0usize)));
    }
    array(elements, nulls, element_type)
}

/// A `text` datum with an array literal: `{a,"b c"}`.
pub fn array_literal(array: Argument) -> Argument {
    let array = array?;
    // SAFETY: array_out caches lookups in the function info, so it must be called with one. The C string lives in the current
    // memory context.
    let written =
        unsafe { CStr::from_ptr(pg_sys::OidOutputFunctionCall(Oid::from(pg_sys::F_ARRAY_OUT), array)) };
    text(&written.to_string_lossy())
}

fn array(mut elements: Vec<Datum>, mut nulls: Vec<bool>, element_type: Oid) -> Argument {
    let (mut dimension, mut lower) = (elements.len() as i32, 1);
    let (mut length, mut by_value, mut align) = (0i16, false, 0i8);
    // SAFETY: both vectors have `dimension` entries. Each element has the stated type, whose storage properties come from the
    // catalog. An empty array has no dimensions.
    let array = unsafe {
        pg_sys::get_typlenbyvalalign(element_type, &mut length, &mut by_value, &mut align);
        pg_sys::construct_md_array(
            elements.as_mut_ptr(),
            nulls.as_mut_ptr(),
            i32::from(dimension > 0),
            &mut dimension,
            &mut lower,
            element_type,
            i32::from(length),
            by_value,
            align,
        )
    };
    Some(Datum::from(array))
}

/// The bytes of a varlena datum (`text`, `bytea`), copied out.
pub fn read_bytes(datum: Datum) -> Vec<u8> {
    with_bytes(datum, <[u8]>::to_vec)
}

/// A `text` datum, copied out. The database encoding is UTF-8, as [`super::require_utf8`] ensures.
pub fn read_text(datum: Datum) -> String {
    with_text(datum, str::to_owned)
}

/// A `name` datum, copied out.
pub fn read_name(datum: Datum) -> String {
    // SAFETY: a name is a NUL-terminated string of at most 64 bytes.
    unsafe { CStr::from_ptr(datum.cast_mut_ptr()) }.to_string_lossy().into_owned()
}

/// Passes the text of a `text` datum to `read`. It is copied only if it is compressed or stored out of line.
pub fn with_text<R>(datum: Datum, read: impl FnOnce(&str) -> R) -> R {
    with_bytes(datum, |bytes| {
        // SAFETY: a UTF-8 database validates every text.
        read(unsafe { std::str::from_utf8_unchecked(bytes) })
    })
}

/// Passes the bytes of a varlena datum to `read`.
pub fn with_bytes<R>(datum: Datum, read: impl FnOnce(&[u8]) -> R) -> R {
    // SAFETY: the datum is a non-null varlena. A detoasted copy is allocated in the current memory context and freed here.
    unsafe {
        let stored: *mut pg_sys::varlena = datum.cast_mut_ptr();
        let is_plain =
            pgrx::varatt_is_4b_u(stored) || pgrx::varatt_is_1b(stored) && !pgrx::varatt_is_1b_e(stored);
        let plain = if is_plain { stored } else { pg_sys::pg_detoast_datum_packed(stored) };
        let length = pgrx::varsize_any_exhdr(plain);
        let result = read(std::slice::from_raw_parts(pgrx::vardata_any(plain).cast(), length));
        if plain != stored {
            pg_sys::pfree(plain.cast());
        }
        result
    }
}

/// A `uuid` datum.
pub fn read_uuid(datum: Datum) -> Uuid {
    // SAFETY: a uuid datum points to 16 bytes.
    Uuid::from_bytes(unsafe { *datum.cast_mut_ptr::<[u8; 16]>() })
}

/// The block number of a `tid` datum.
pub fn read_page(datum: Datum) -> u32 {
    // SAFETY: a tid datum points to an item pointer, whose block number has two halves.
    let page = unsafe { (*datum.cast_mut_ptr::<pg_sys::ItemPointerData>()).ip_blkid };
    u32::from(page.bi_hi) << 16 | u32::from(page.bi_lo)
}

/// A `boolean` datum.
pub fn read_bool(datum: Datum) -> bool {
    datum.value() & 0xff != 0
}

/// An `integer` or `date` datum.
pub fn read_i32(datum: Datum) -> i32 {
    datum.value() as i32
}

/// A `bigint` or `timestamptz` datum.
pub fn read_i64(datum: Datum) -> i64 {
    datum.value() as i64
}

/// A `double precision` datum.
pub fn read_f64(datum: Datum) -> f64 {
    f64::from_bits(datum.value() as u64)
}

/// A `double precision` datum.
pub fn double(value: f64) -> Argument {
    Some(Datum::from(value.to_bits() as usize))
}

/// Appends the digits of a `numeric` datum.
pub fn write_numeric(out: &mut String, datum: Datum) {
    call_output_function(pg_sys::numeric_out, datum, |digits| out.push_str(digits));
}

/// The text of a `jsonb` datum.
pub fn read_jsonb(datum: Datum) -> String {
    call_output_function(pg_sys::jsonb_out, datum, str::to_owned)
}

fn call_output_function<R>(
    function: unsafe fn(pg_sys::FunctionCallInfo) -> Datum,
    datum: Datum,
    read: impl FnOnce(&str) -> R,
) -> R {
    // SAFETY: the datum has the type of the function. The caller frees the C string.
    unsafe {
        let output =
            pgrx::direct_function_call_as_datum(function, &[Some(datum)]).unwrap_or(Datum::from(0usize));
        let pointer: *mut std::ffi::c_char = output.cast_mut_ptr();
        if pointer.is_null() {
            return read("");
        }
        let result = read(std::str::from_utf8_unchecked(CStr::from_ptr(pointer).to_bytes()));
        pg_sys::pfree(pointer.cast());
        result
    }
}

/// Whether two `numeric` datums are equal numbers, regardless of trailing zeros.
pub fn numerics_are_equal(left: Datum, right: Datum) -> bool {
    // SAFETY: both datums have the type of the function, which keeps no state.
    let equal =
        unsafe { pgrx::direct_function_call_as_datum(pg_sys::numeric_eq, &[Some(left), Some(right)]) };
    equal.is_some_and(read_bool)
}

/// The elements of a one-dimensional `text[]` datum; `None` if an element is null or the array has more dimensions.
pub fn read_text_array(datum: Datum) -> Option<Vec<String>> {
    let elements = read_array(datum, pg_sys::TEXTOID)?;
    elements.into_iter().map(|element| element.map(read_text)).collect()
}

/// The elements of a one-dimensional `text[]` datum as datums; `None` if the array has more dimensions.
pub fn text_elements(datum: Datum) -> Option<Vec<Argument>> {
    read_array(datum, pg_sys::TEXTOID)
}

/// The elements of a one-dimensional `integer[]` datum; `None` if an element is null or the array has more dimensions.
pub fn read_i32_array(datum: Datum) -> Option<Vec<i32>> {
    let elements = read_array(datum, pg_sys::INT4OID)?;
    elements.into_iter().map(|element| element.map(read_i32)).collect()
}

/// The elements of a one-dimensional `uuid[]` datum; `None` if an element is null or the array has more dimensions.
pub fn read_uuid_array(datum: Datum) -> Option<Vec<Uuid>> {
    let elements = read_array(datum, pg_sys::UUIDOID)?;
    elements.into_iter().map(|element| element.map(read_uuid)).collect()
}

/// The elements of a one-dimensional `real[]` datum; `None` if an element is null or the array has more dimensions.
pub fn read_real_array(datum: Datum) -> Option<Vec<f32>> {
    let elements = read_array(datum, pg_sys::FLOAT4OID)?;
    elements.into_iter().map(|element| element.map(|it| f32::from_bits(it.value() as u32))).collect()
}

/// The number of elements of an array datum of any type and any number of dimensions.
pub fn array_length(datum: Datum) -> usize {
    // SAFETY: the header of an array has the number and the lengths of its dimensions.
    let length = unsafe {
        let array = pg_sys::pg_detoast_datum(datum.cast_mut_ptr()).cast::<pg_sys::ArrayType>();
        let dimensions = array.cast::<u8>().add(size_of::<pg_sys::ArrayType>()).cast::<i32>();
        pg_sys::ArrayGetNItems((*array).ndim, dimensions)
    };
    usize::try_from(length).unwrap_or_default()
}

/// The elements of an array datum with this element type; `None` if the array has several dimensions.
fn read_array(datum: Datum, element_type: Oid) -> Option<Vec<Argument>> {
    let (mut elements, mut nulls, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
    let (mut length, mut by_value, mut align) = (0i16, false, 0i8);
    // SAFETY: the datum is an array of that type, whose storage properties come from the catalog. deconstruct_array allocates
    // both arrays with `count` entries.
    unsafe {
        let array = pg_sys::pg_detoast_datum(datum.cast_mut_ptr()).cast::<pg_sys::ArrayType>();
        if (*array).ndim > 1 {
            return None;
        }
        pg_sys::get_typlenbyvalalign(element_type, &mut length, &mut by_value, &mut align);
        pg_sys::deconstruct_array(
            array,
            element_type,
            i32::from(length),
            by_value,
            align,
            &mut elements,
            &mut nulls,
            &mut count,
        );
        Some((0..count as usize).map(|i| (!*nulls.add(i)).then(|| *elements.add(i))).collect())
    }
}

/// Whether two `text` datums have the same bytes.
pub fn is_same_text(left: Datum, right: Datum) -> bool {
    same_image(left, right, false, -1)
}

/// Whether two datums of one type have the same binary image. 1.1 and 1.10 differ, as do 0.0 and -0.0.
pub fn same_image(left: Datum, right: Datum, by_value: bool, length: i16) -> bool {
    if by_value {
        return left.value() == right.value();
    }
    if length > 0 {
        // SAFETY: a datum of fixed length that is passed by reference points to that many bytes.
        return unsafe {
            let bytes =
                |datum: Datum| std::slice::from_raw_parts(datum.cast_mut_ptr::<u8>(), length as usize);
            bytes(left) == bytes(right)
        };
    }
    with_bytes(left, |left| with_bytes(right, |right| left == right))
}
