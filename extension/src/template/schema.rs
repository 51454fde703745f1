//! The schema of a template for filters without privileges: all live records are visible.

use super::{Template, catalog};
use crate::filter::schema::{Attribute, Schema};
use std::rc::Rc;

/// A template in which all live records are visible, even through references.
pub struct Unrestricted(pub Rc<Template>);

/// The attributes of a template.
pub fn attributes(template: &Template) -> Box<dyn Iterator<Item = Attribute<'_>> + '_> {
    Box::new(template.attributes.iter().map(|attribute| Attribute {
        id: attribute.id,
        slug: &attribute.slug,
        kind: attribute.kind,
        indexed: attribute.indexed,
        options: attribute.options.as_deref(),
        collations: &attribute.collations,
    }))
}

/// The template that a reference points to.
pub fn target(template: &Template, attribute: i32) -> Option<Rc<Template>> {
    let reference = template.attributes.iter().find(|it| it.id == attribute)?;
    catalog::by_id(reference.target?)
}

/// The attribute shown for a record.
pub fn display(template: &Template) -> Option<Attribute<'_>> {
    let slug = template.display_slug()?;
    attributes(template).find(|attribute| attribute.slug == slug)
}

impl Schema for Unrestricted {
    fn id(&self) -> i32 {
        self.0.id
    }

    fn slug(&self) -> &str {
        &self.0.slug
    }

    fn full_name(&self) -> String {
        self.0.full_name()
    }

    fn table(&self) -> String {
        self.0.table_sql()
    }

    fn attributes(&self) -> Box<dyn Iterator<Item = Attribute<'_>> + '_> {
        attributes(&self.0)
    }

    fn target(&self, attribute: i32) -> Option<Rc<dyn Schema>> {
        target(&self.0, attribute).map(|target| Rc::new(Unrestricted(target)) as Rc<dyn Schema>)
    }

    fn display(&self) -> Option<Attribute<'_>> {
        display(&self.0)
    }

    fn visible(&self, _alias: &str) -> Option<String> {
        None
    }
}
