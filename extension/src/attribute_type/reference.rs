//! References to records of another template.

use super::kind::{Family, Kind, Rules, cursor_text, must_be, string_at, write_quoted};
use crate::error::{Code, Error};
use crate::json;
use crate::postgres::datum;
use crate::value::change::{Change, Value};
use crate::value::constant::Constant;
use crate::value::file_format::unguarded;
use crate::value::operand::{Meaning, Operand, Sent};
use crate::value::{key, record_id};
use pgrx::pg_sys::{self, Datum, Oid};
use serde_json::value::RawValue;
use std::borrow::Cow;
use uuid::Uuid;

const EXPECTED: &str = "a record id as a string, or {\"external_key\": \"…\"}";

/// `uuid` with a foreign key to the target template.
pub(super) struct Type;

impl Kind for Type {
    const NAME: &'static str = "reference";
    const COLUMN_TYPE: &'static str = "uuid";
    const OID: Oid = pg_sys::UUIDOID;
    const ARRAY_OID: Oid = pg_sys::UUIDARRAYOID;
    const FAMILY: Family = Family::Discrete;
    const MAY_HAVE_DEFAULT: bool = false;

    fn parse<'a>(raw: &'a RawValue, rules: &Rules) -> Result<Change<'a>, Error> {
        if let Some(text) = json::string_at(raw, rules.pointer)? {
            let id = Uuid::parse_str(&text).map_err(|_| must_be(rules.pointer, EXPECTED))?;
            return Ok(Change::Set(Value::Reference(id)));
        }
        parse_key(raw, rules.pointer).map(|key| Change::Set(Value::ReferenceByKey(key)))
    }

    /// Parses the external key of the target, or its id, which contains the number of the target template.
    fn parse_cell<'a>(cell: &'a str, rules: &Rules) -> Result<Change<'a>, Error> {
        let cell = unguarded(cell);
        if cell.len() == 36
            && let Ok(id) = Uuid::parse_str(cell)
            && record_id::template_of(id) == rules.target
        {
            return Ok(Change::Set(Value::Reference(id)));
        }
        let key = key::normalize(cell);
        let key = key.map_err(|error| Error::at(error.code, rules.pointer, error.message))?;
        Ok(Change::Set(Value::ReferenceByKey(Cow::Borrowed(key))))
    }

    fn parse_operand(operand: &Operand, _rules: &Rules) -> Result<Meaning, Error> {
        if let Some(id) = operand.id() {
            return Ok(Meaning::Constant(Constant::id(id)));
        }
        let refuse = || operand.must_be(EXPECTED);
        let inside = match &operand.sent {
            Sent::Json(json) => return by_key(json, &operand.pointer),
            Sent::JsonInText(json) => json.get(),
            Sent::Text(text) => text.as_str(),
        };
        let json: &RawValue = serde_json::from_str(inside).map_err(|_| refuse())?;
        // The pointer of an error inside a string is that of the string.
        by_key(json, "").map_err(|error| match error.code {
            Code::InvalidExternalKey => Error::at(error.code, &operand.pointer, error.message),
            _ => refuse(),
        })
    }

    fn write_json(out: &mut String, value: Datum) {
        write_quoted(out, |out| Type::write_cell(out, value));
    }

    fn write_cell(out: &mut String, value: Datum) {
        let mut text = Uuid::encode_buffer();
        out.push_str(datum::read_uuid(value).hyphenated().encode_lower(&mut text));
    }

    fn cursor_sql(json: &RawValue) -> Option<String> {
        Some(Constant::id(Uuid::parse_str(&cursor_text(json)?).ok()?).typed(""))
    }
}

/// Parses a key as in a write.
fn by_key(json: &RawValue, pointer: &str) -> Result<Meaning, Error> {
    parse_key(json, pointer).map(|key| Meaning::Key(key.into_owned()))
}

/// `{"external_key": "…"}`.
fn parse_key<'a>(raw: &'a RawValue, pointer: &str) -> Result<Cow<'a, str>, Error> {
    if !raw.get().starts_with('{') {
        return Err(must_be(pointer, EXPECTED));
    }
    let members = json::object_at(raw, pointer)?.0;
    let [(name, key)] = members.as_slice() else { return Err(must_be(pointer, EXPECTED)) };
    if name != "external_key" {
        return Err(must_be(pointer, EXPECTED));
    }
    let here = format!("{pointer}/external_key");
    let key = string_at(key, &here, "a string")?;
    let normalized = key::normalize(&key).map_err(|error| Error::at(error.code, here, error.message))?;
    Ok(match &key {
        Cow::Borrowed(whole) => {
            let start = normalized.as_ptr() as usize - whole.as_ptr() as usize;
            Cow::Borrowed(&whole[start..start + normalized.len()])
        }
        Cow::Owned(_) => Cow::Owned(normalized.to_owned()),
    })
}
