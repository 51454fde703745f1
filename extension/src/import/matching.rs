//! References that identify their target by a string attribute: `match={"artist": "name"}`.

use super::options::Options;
use crate::access::{Action, Caller};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json;
use crate::template::{Attribute, Template, catalog};
use crate::value::change::{Change, Value};
use std::rc::Rc;

/// The references of a template that identify their targets by a string attribute.
#[derive(Default)]
pub struct Matching {
    /// By the position of the reference.
    pub(super) references: Vec<(usize, Match)>,
    /// The positions of the template's own attributes by which rows of the file reference each other.
    own: Vec<usize>,
}

/// The matched attribute of the target.
pub struct Match {
    /// The template of the target.
    pub target: Rc<Template>,
    position: usize,
}

impl Match {
    /// The attribute.
    pub fn attribute(&self) -> &Attribute {
        &self.target.attributes[self.position]
    }
}

impl Matching {
    /// Parses the options. All errors are reported together.
    pub fn of(caller: &Caller, template: &Template, options: &Options) -> Result<Matching, Error> {
        let (mut matching, mut errors) = (Matching::default(), Vec::new());
        for (slug, matched) in &options.matching {
            match find(caller, template, slug, matched) {
                Ok((reference, found)) => {
                    if found.target.id == template.id && !matching.own.contains(&found.position) {
                        matching.own.push(found.position);
                    }
                    matching.references.push((reference, found));
                }
                Err(error) => errors.push(error),
            }
        }
        Error::join(errors).map_or(Ok(matching), Err)
    }

    /// The id of the attribute that identifies the target of the reference at this position; `None` if the
    /// external key does.
    pub fn get(&self, position: usize) -> Option<i32> {
        self.at(position).map(|it| it.attribute().id)
    }

    /// The positions of the references.
    pub fn positions(&self) -> impl Iterator<Item = usize> {
        self.references.iter().map(|it| it.0)
    }

    /// The positions of the attributes by which rows of the file may reference each other.
    pub(super) fn own(&self) -> &[usize] {
        &self.own
    }

    fn at(&self, position: usize) -> Option<&Match> {
        self.references.iter().find(|it| it.0 == position).map(|it| &it.1)
    }
}

fn find(caller: &Caller, template: &Template, slug: &str, matched: &str) -> Result<(usize, Match), Error> {
    let pointer = || format!("/match/{}", json::pointer_step(slug));
    let references = || {
        let references = template.attributes.iter().filter(|it| it.target.is_some());
        format!("Use one of its references: {}.", shown(references))
    };
    let Some(position) = template.position(slug) else {
        let message = format!("match: {} has no attribute {slug:?}", template.full_name());
        return Err(Error::at(Code::UnknownAttribute, pointer(), message).hint(references()));
    };
    let Some(target) = template.attributes[position].target.and_then(catalog::by_id) else {
        let kind = template.attributes[position].kind.name();
        let message = format!("match: {} of {} is a {kind}, not a reference", slug, template.full_name());
        return Err(Error::at(Code::InvalidValue, pointer(), message).hint(references()));
    };
    caller.require(Action::Read, &target)?;
    let strings = || {
        let strings = target.attributes.iter().filter(|it| it.kind == AttributeType::String);
        format!("Match a reference by a string of its target: {}.", shown(strings))
    };
    match target.position(matched) {
        Some(matched) if target.attributes[matched].kind == AttributeType::String => {
            Ok((position, Match { target, position: matched }))
        }
        Some(other) => {
            let kind = target.attributes[other].kind.name();
            let message = format!("match: {matched} of {} is a {kind}, not a string", target.full_name());
            Err(Error::at(Code::InvalidValue, pointer(), message).hint(strings()))
        }
        None => {
            let message = format!("match: {} has no attribute {matched:?}", target.full_name());
            Err(Error::at(Code::UnknownAttribute, pointer(), message).hint(strings()))
        }
    }
}

fn shown<'a>(attributes: impl Iterator<Item = &'a Attribute>) -> String {
    const MAX: usize = 30;
    let mut slugs: Vec<&str> = attributes.map(|it| it.slug.as_str()).take(MAX + 1).collect();
    if slugs.len() > MAX {
        slugs[MAX] = "…";
    }
    if slugs.is_empty() { "there are none".to_owned() } else { slugs.join(", ") }
}

/// The change of a reference whose target has this text in the matched attribute.
pub fn by_text(change: Change, attribute: i32) -> Change {
    match change {
        Change::Set(Value::Text(text)) => Change::Set(Value::ReferenceByText(attribute, text)),
        other => other,
    }
}
