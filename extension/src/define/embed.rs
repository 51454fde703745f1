//! The embedded attributes of a template: the member `embed` of its definition.

use crate::access::dependent::Dependent;
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::{Attribute, Template};
use crate::value::member::text_at;
use serde_json::value::RawValue;

/// Parses the member: an array of slugs, or null for none.
pub fn parse(value: &RawValue, pointer: &str) -> Result<Option<Vec<String>>, Error> {
    if json::is_null(value) {
        return Ok(None);
    }
    let slugs = json::array_at(value, pointer)?.into_iter().enumerate();
    slugs
        .map(|(position, slug)| text_at(slug, &format!("{pointer}/{position}")))
        .collect::<Result<_, _>>()
        .map(Some)
}

/// Rejects attributes that cannot be embedded. `kind_of` returns the type of an attribute.
pub fn check(slugs: &[String], kind_of: impl Fn(&str) -> Option<AttributeType>) -> Result<(), Error> {
    if slugs.is_empty() {
        return Err(Error::at(Code::InvalidValue, "/embed", "embed names no attribute")
            .hint("Name at least one attribute, or send null to embed nothing."));
    }
    let violation = |(position, slug): (usize, &String)| {
        let pointer = format!("/embed/{position}");
        match kind_of(slug) {
            None => {
                Some(Error::at(Code::UnknownAttribute, pointer, format!("attribute {slug:?} does not exist")))
            }
            Some(kind) if !kind.is_text() => {
                let message = format!("{slug:?} of type {} cannot be embedded", kind.name());
                Some(
                    Error::at(Code::InvalidValue, pointer, message)
                        .hint("Use attributes of type string (dimension) or list."),
                )
            }
            Some(_) if slugs[..position].contains(slug) => {
                Some(Error::at(Code::InvalidValue, pointer, format!("{slug:?} is listed twice")))
            }
            Some(_) => None,
        }
    };
    Error::join(slugs.iter().enumerate().filter_map(violation).collect()).map_or(Ok(()), Err)
}

/// Stores the embedded attributes of a template. The rows of the attributes must exist.
pub fn set(spi: &Connection, template: i32, slugs: Option<&[String]>) {
    spi.run_once(
        "update keyed_state.template set embed = (select array_agg(a.id order by array_position($2, a.slug)) \
         from keyed_state.attribute a where a.template_id = $1 and a.slug = any ($2)) where id = $1",
        Snapshot::Latest,
        &params![template, slugs],
    );
}

/// The list of embedded attributes in the definition of a template.
pub struct EmbeddedTexts;

impl Dependent for EmbeddedTexts {
    fn after_drop(&self, spi: &Connection, template: &Template, attribute: &Attribute) {
        if template.embed.contains(&attribute.id) {
            spi.run_once(
                "update keyed_state.template set embed = nullif(array_remove(embed, $2), '{}') where id = $1",
                Snapshot::Latest,
                &params![template.id, attribute.id,],
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_and_check(text: &str) -> Result<Option<Vec<String>>, Error> {
        let raw: Box<RawValue> = serde_json::from_str(text).expect("JSON");
        let slugs = parse(&raw, "/embed")?;
        let kind_of = |slug: &str| match slug {
            "title" => Some(AttributeType::String),
            "medium" => Some(AttributeType::List),
            "year" => Some(AttributeType::Number),
            _ => None,
        };
        if let Some(slugs) = &slugs {
            check(slugs, kind_of)?;
        }
        Ok(slugs)
    }

    #[test]
    fn embed_keeps_the_order_of_texts_and_lists() {
        let embed = parse_and_check(r#"["medium","title"]"#);
        assert_eq!(embed, Ok(Some(vec!["medium".to_owned(), "title".to_owned()])));
        assert_eq!(parse_and_check("null"), Ok(None));
    }

    #[test]
    fn error_has_the_pointer_of_the_invalid_element() {
        for (text, pointer, code) in [
            ("[]", "/embed", Code::InvalidValue),
            (r#""title""#, "/embed", Code::InvalidValue),
            (r#"["title",1]"#, "/embed/1", Code::InvalidValue),
            (r#"["title","nothing"]"#, "/embed/1", Code::UnknownAttribute),
            (r#"["year"]"#, "/embed/0", Code::InvalidValue),
            (r#"["title","title"]"#, "/embed/1", Code::InvalidValue),
        ] {
            let error = parse_and_check(text).expect_err(text);
            assert_eq!(
                (error.violations[0].pointer.as_str(), error.violations[0].code),
                (pointer, code),
                "{text}"
            );
        }
    }
}
