//! The sort order: names → columns, of this template or through references.

use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::filter::field::{self, Column, Field, Step};
use crate::filter::schema::{AttributeKey, Schema};
use crate::json::{self, text_at};
use crate::value::member::{missing, unknown_member};
use serde_json::value::RawValue;

/// The maximum number of sort keys.
pub const MAX_KEYS: usize = 5;

/// Which values come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The smallest.
    Ascending,
    /// The largest.
    Descending,
}

/// The position of records without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// Before all others.
    First,
    /// After all others, in either direction: users rarely look for a missing value.
    Last,
}

/// A sort key.
#[derive(Clone, Debug)]
pub struct SortKey {
    /// The references that lead to the column.
    pub path: Vec<Step>,
    /// The column.
    pub column: Column,
    /// Which values come first.
    pub direction: Direction,
    /// The position of records without a value.
    pub nulls: Nulls,
}

/// Reads the member `sort`: `"name,-updated_at"`, or an array of such names and of `{field, direction?, nulls?}`.
pub fn parse(sort: Option<&RawValue>, schema: &dyn Schema, key: AttributeKey) -> Result<Vec<SortKey>, Error> {
    let Some(sort) = sort else { return Ok(Vec::new()) };
    let mut keys = Vec::new();
    if let Some(text) = json::string_at(sort, "/sort")? {
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            keys.extend(named(name, schema, key, "/sort")?);
            // The text may have a million names.
            if keys.len() > MAX_KEYS {
                return Err(too_many());
            }
        }
    } else {
        let elements = json::array_at_most(sort, MAX_KEYS + 1, "/sort")?;
        for (index, element) in elements.iter().enumerate().take(MAX_KEYS) {
            let here = format!("/sort/{index}");
            keys.extend(match json::string_at(element, &here)? {
                Some(name) => named(&name, schema, key, &here)?,
                None => described(element, schema, key, &here)?,
            });
        }
        if elements.len() > MAX_KEYS {
            return Err(too_many());
        }
    }
    if keys.len() > MAX_KEYS { Err(too_many()) } else { Ok(keys) }
}

fn too_many() -> Error {
    Error::at(Code::InvalidValue, "/sort", format!("records are sorted by at most {MAX_KEYS} fields"))
}

fn named(
    name: &str,
    schema: &dyn Schema,
    key: AttributeKey,
    pointer: &str,
) -> Result<Option<SortKey>, Error> {
    let (name, direction) = match name.strip_prefix('-') {
        Some(name) => (name, Direction::Descending),
        None => (name, Direction::Ascending),
    };
    find(name, direction, Nulls::Last, schema, key, pointer)
}

fn described(
    element: &RawValue,
    schema: &dyn Schema,
    key: AttributeKey,
    pointer: &str,
) -> Result<Option<SortKey>, Error> {
    let (mut field, mut direction, mut nulls) = (None, Direction::Ascending, Nulls::Last);
    for (name, value) in json::object_at(element, pointer)?.0 {
        let here = format!("{pointer}/{}", json::pointer_step(&name));
        match name.as_ref() {
            "field" => field = Some(text_at(value, &here)?),
            "direction" => {
                direction =
                    one_of(value, &here, [("asc", Direction::Ascending), ("desc", Direction::Descending)])?;
            }
            "nulls" => nulls = one_of(value, &here, [("first", Nulls::First), ("last", Nulls::Last)])?,
            _ => return Err(unknown_member(&name, &here).hint("Use the members field, direction and nulls.")),
        }
    }
    let field = field.ok_or_else(|| missing("field", pointer))?;
    find(&field, direction, nulls, schema, key, &format!("{pointer}/field"))
}

fn one_of<T>(value: &RawValue, pointer: &str, choices: [(&str, T); 2]) -> Result<T, Error> {
    let text = json::string_at(value, pointer)?.unwrap_or_default();
    let message = format!("must be {:?} or {:?}", choices[0].0, choices[1].0);
    let choice = choices.into_iter().find(|(name, _)| *name == text);
    choice.map(|(_, choice)| choice).ok_or_else(|| Error::at(Code::InvalidValue, pointer, message))
}

/// The column of a name; none for a field that is the same in all records of a template.
fn find(
    name: &str,
    direction: Direction,
    nulls: Nulls,
    schema: &dyn Schema,
    key: AttributeKey,
    pointer: &str,
) -> Result<Option<SortKey>, Error> {
    let (mut path, field) = field::find(schema, key, name, pointer)?;
    let Field::Column(column) = field else { return Ok(None) };
    let owner = field::owner(schema, &path);
    let column = match &column {
        // References are sorted by the display value of their target.
        Column::Attribute { id, slug, kind: AttributeType::Reference, .. } => match owner.target(*id) {
            Some(target) => {
                let shown = target.display().map_or(Column::ExternalKey, Column::from);
                path.push(Step { attribute: *id, slug: slug.clone(), target });
                shown
            }
            None => column,
        },
        _ => column,
    };
    Ok(Some(SortKey { path, column, direction, nulls }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::tests::schema::works;
    use crate::json::arbitrary::{points_into, value};
    use proptest::prelude::*;

    fn sort(json: &str) -> Result<Vec<SortKey>, Error> {
        let sort: &RawValue = serde_json::from_str(json).expect("JSON");
        parse(Some(sort), &*works(), AttributeKey::default())
    }

    #[test]
    fn no_field_is_read_after_the_last_allowed_one() {
        for json in [
            r#""name,name,name,name,name,name,nonsense""#,
            r#"["name","name","name","name","name","name","nonsense"]"#,
        ] {
            let error = sort(json).expect_err(json);
            assert_eq!(
                (error.code, error.violations[0].pointer.as_str()),
                (Code::InvalidValue, "/sort"),
                "{json}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_value_sorts_by_few_columns_or_is_rejected_with_its_pointer(json in prop_oneof![
            value(),
            "\"(-?(name|price|artist|artist\\.name|id|template_id|external_key|nonsense|),){0,8}\"",
            prop::collection::vec(value(), 0..7).prop_map(|items| format!("[{}]", items.join(","))),
            ("name|made|artist|x", "asc|desc|up", "first|last|0").prop_map(|(field, direction, nulls)| {
                format!(r#"[{{"field":"{field}","direction":"{direction}","nulls":"{nulls}"}}]"#)
            }),
        ]) {
            match sort(&json) {
                Ok(keys) => prop_assert!(keys.len() <= MAX_KEYS),
                Err(error) => prop_assert!(points_into(&format!("{{\"sort\":{json}}}"), &error), "{:?}", error.violations),
            }
        }
    }
}
