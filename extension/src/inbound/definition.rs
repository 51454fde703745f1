//! Parses the definition of an endpoint.

use super::path_check;
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json::{self, pointer_step};
use crate::json_write::to_json;
use crate::template::Template;
use crate::value::member::{text_at, unknown_member};
use crate::value::slug::{self, Noun};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// The maximum number of items in a delivery.
pub const MAX_ITEMS: usize = 10_000;

/// The maximum size of a prefix, which leaves space for a key.
const MAX_PREFIX: usize = 200;

/// The path of an attribute's values in an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The attribute's slug.
    pub slug: String,
    /// The jsonpath.
    pub path: String,
    /// The prefix of the target's keys, for a reference.
    pub key_prefix: String,
}

/// Serializes sources: `{slug: path}`, or with a prefix `{slug: {path, key_prefix}}`.
pub struct Sources<'a>(pub &'a [Source]);

impl Serialize for Sources<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Place<'a> {
            Path(&'a str),
            Prefixed { path: &'a str, key_prefix: &'a str },
        }
        serializer.collect_map(self.0.iter().map(|Source { slug, path, key_prefix }| {
            let is_bare = key_prefix.is_empty();
            (slug, if is_bare { Place::Path(path) } else { Place::Prefixed { path, key_prefix } })
        }))
    }
}

/// The mapping of items to records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// The path to the items.
    pub items: String,
    /// The path to the key in an item.
    pub external_key: String,
    /// The prefix of keys.
    pub key_prefix: String,
    /// The paths to the values in an item.
    pub sources: Vec<Source>,
}

/// The members of a request.
#[derive(Debug, Default)]
pub struct Given<'a> {
    /// Its name.
    pub slug: Option<String>,
    /// The template's slug or id.
    pub template: Option<String>,
    /// The role of the endpoint.
    pub role: Option<String>,
    /// Whether deliveries must be signed.
    pub signed: Option<bool>,
    /// Whether deliveries are accepted.
    pub enabled: Option<bool>,
    /// The secret of the sender.
    pub secret: Option<String>,
    /// Whether to generate a new secret.
    pub rotate_secret: bool,
    /// Whether to generate a new token.
    pub rotate_token: bool,
    /// A payload for a dry run.
    pub payload: Option<&'a RawValue>,
    items: Option<String>,
    external_key: Option<String>,
    key_prefix: Option<String>,
    mapping: Option<&'a RawValue>,
}

impl<'a> Given<'a> {
    /// Parses a body with these optional members.
    pub fn parse(body: &'a str, accepted: &[&str]) -> Result<Given<'a>, Error> {
        let mut given = Given::default();
        for (name, value) in json::object(body)?.0 {
            let here = format!("/{}", pointer_step(&name));
            // Responses contain these members, so that a client can send back what it has read.
            if ["id", "project", "created_at", "updated_at"].contains(&name.as_ref()) {
                continue;
            }
            if !accepted.contains(&name.as_ref()) {
                return Err(
                    unknown_member(&name, &here).hint(format!("Use the members {}.", accepted.join(", ")))
                );
            }
            match name.as_ref() {
                // Null removes the prefix, but does not change the role.
                "key_prefix" if json::is_null(value) => given.key_prefix = Some(String::new()),
                "role" if json::is_null(value) => {}
                "slug" => given.slug = Some(text_at(value, &here)?),
                "template" => given.template = Some(text_at(value, &here)?),
                "role" => given.role = Some(text_at(value, &here)?),
                "signed" => given.signed = Some(json::boolean_at(value, &here)?),
                "enabled" => given.enabled = Some(json::boolean_at(value, &here)?),
                "secret" => given.secret = Some(text_at(value, &here)?),
                "rotate_secret" => given.rotate_secret = json::boolean_at(value, &here)?,
                "rotate_token" => given.rotate_token = json::boolean_at(value, &here)?,
                "payload" => given.payload = Some(value),
                "items" => given.items = Some(text_at(value, &here)?),
                "external_key" => given.external_key = Some(text_at(value, &here)?),
                "key_prefix" => given.key_prefix = Some(text_at(value, &here)?),
                _ => given.mapping = Some(value),
            }
        }
        if let Some(slug) = &given.slug {
            slug::check(Noun::Endpoint, slug, "/slug")?;
        }
        Ok(given)
    }

    /// Applies the members to an existing mapping, or creates a new one.
    pub fn mapping(&self, template: &Template, before: Option<&Mapping>) -> Result<Mapping, Error> {
        let root = || "$".to_owned();
        let items = self.items.clone().or_else(|| before.map(|it| it.items.clone())).unwrap_or_else(root);
        let key = self.external_key.clone().or_else(|| before.map(|it| it.external_key.clone()));
        let prefix = self.key_prefix.clone().or_else(|| before.map(|it| it.key_prefix.clone()));
        let sources = match (self.mapping, before) {
            (Some(mapping), _) => parse_sources(template, mapping)?,
            (None, Some(before)) => before.sources.clone(),
            (None, None) => Vec::new(),
        };
        let key = key.ok_or_else(|| {
            Error::at(Code::InvalidValue, "", "external_key is missing")
                .hint("Set the path of the key in an item, for example \"$.id\".")
        })?;
        let key_prefix = prefix.unwrap_or_default();
        check_prefix(&key_prefix, "/key_prefix")?;
        // Checks only the given paths, because earlier versions accepted paths that are rejected now.
        if self.items.is_some() {
            path_check::check(&items, "/items")?;
        }
        if self.external_key.is_some() {
            path_check::check(&key, "/external_key")?;
        }
        for source in sources.iter().filter(|_| self.mapping.is_some()) {
            path_check::check(&source.path, &place(&source.slug))?;
        }
        Ok(Mapping { items, external_key: key, key_prefix, sources })
    }
}

/// Parses `{slug: path}`, or for a reference `{slug: {path, key_prefix?}}`.
fn parse_sources(template: &Template, mapping: &RawValue) -> Result<Vec<Source>, Error> {
    let mut sources = Vec::new();
    for (slug, value) in json::object_at(mapping, "/mapping")?.0 {
        let here = place(&slug);
        let Some(position) = template.position(&slug) else {
            let message = format!("{} has no attribute {slug:?}", template.full_name());
            return Err(Error::at(Code::UnknownAttribute, here, message));
        };
        let mut source = Source { slug: slug.into_owned(), path: String::new(), key_prefix: String::new() };
        if value.get().starts_with('{') && template.attributes[position].kind == AttributeType::Reference {
            for (name, value) in json::object_at(value, &here)?.0 {
                let here = format!("{here}/{}", pointer_step(&name));
                match name.as_ref() {
                    "path" => source.path = text_at(value, &here)?,
                    "key_prefix" if json::is_null(value) => {}
                    "key_prefix" => source.key_prefix = text_at(value, &here)?,
                    _ => {
                        return Err(unknown_member(&name, &here).hint("Use the members path and key_prefix."));
                    }
                }
            }
            check_prefix(&source.key_prefix, &format!("{here}/key_prefix"))?;
        } else {
            source.path = text_at(value, &here)?;
        }
        sources.push(source);
    }
    Ok(sources)
}

fn place(slug: &str) -> String {
    format!("/mapping/{}", pointer_step(slug))
}

fn check_prefix(prefix: &str, pointer: &str) -> Result<(), Error> {
    if prefix.len() <= MAX_PREFIX && !prefix.chars().any(char::is_control) {
        return Ok(());
    }
    let message = format!("a key_prefix has at most {MAX_PREFIX} bytes and no control characters");
    Err(Error::at(Code::InvalidValue, pointer, message))
}

impl Mapping {
    /// All paths: items, key and attributes.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let sources = self.sources.iter().map(|source| source.path.as_str());
        [self.items.as_str(), self.external_key.as_str()].into_iter().chain(sources)
    }

    /// The JSON of the sources, `{slug: path, …}`.
    pub fn sources_json(&self) -> String {
        to_json(&Sources(&self.sources))
    }

    /// Parses the result of [`Mapping::sources_json`].
    pub fn read_sources(json: &str) -> Vec<Source> {
        let members = json::object(json).map(|members| members.0).unwrap_or_default();
        let text =
            |value: &RawValue| json::string_at(value, "").ok().flatten().unwrap_or_default().into_owned();
        let source = |(slug, value): (std::borrow::Cow<str>, &RawValue)| {
            let mut source = Source { slug: slug.into_owned(), path: text(value), key_prefix: String::new() };
            for (name, value) in json::object_at(value, "").map(|members| members.0).unwrap_or_default() {
                match name.as_ref() {
                    "path" => source.path = text(value),
                    _ => source.key_prefix = text(value),
                }
            }
            source
        };
        members.into_iter().map(source).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapping_round_trips() {
        let source = |slug: &str, path: &str, key_prefix: &str| Source {
            slug: slug.to_owned(),
            path: path.to_owned(),
            key_prefix: key_prefix.to_owned(),
        };
        let sources = vec![source("name", "$.\"full name\"", ""), source("company", "$.company.id", "shop:")];
        let mapping = Mapping { sources: sources.clone(), ..Mapping::default() };
        assert_eq!(Mapping::read_sources(&mapping.sources_json()), sources);
    }

    #[test]
    fn unknown_member_is_rejected() {
        let error = Given::parse(r#"{"token": "x"}"#, &["slug"]).expect_err("unknown");
        assert_eq!(error.violations[0].pointer, "/token");
        let given = Given::parse(r#"{"id": "7", "slug": "shop", "signed": true}"#, &["slug", "signed"]);
        assert_eq!(given.map(|given| given.signed).ok(), Some(Some(true)));
    }
}
