//! A template as one caller sees it: what the catalog and the caller's rights say to a filter.

use super::{Caller, Right};
use crate::filter::schema::{Attribute, Schema};
use crate::template::{Template, catalog};
use std::rc::Rc;

/// A template in the eyes of a caller, who must have been found to have the right to read it.
pub struct Sight {
    caller: Caller,
    template: Rc<Template>,
}

impl Sight {
    /// What this caller sees of a template.
    pub fn new(caller: &Caller, template: Rc<Template>) -> Sight {
        Sight { caller: caller.clone(), template }
    }
}

/// The rows of a template that a caller who may read it sees, as a condition in SQL over its table under this alias;
/// `None` for all. The one place from which the caller's predicate joins a statement.
fn rows(_caller: &Caller, _template: &Template, _alias: &str) -> Option<String> {
    // Rights are given on whole tables: who may read one sees all of its rows.
    None
}

/// The condition under which a caller sees a record of any template; `None` when the caller may read nothing there.
pub fn condition(caller: &Caller, template: &Template, alias: &str) -> Option<String> {
    caller.require(Right::Read, template).ok()?;
    Some(rows(caller, template, alias).unwrap_or_else(|| "true".to_owned()))
}

impl Schema for Sight {
    fn id(&self) -> i32 {
        self.template.id
    }

    fn slug(&self) -> &str {
        &self.template.slug
    }

    fn full_name(&self) -> String {
        self.template.full_name()
    }

    fn table(&self) -> String {
        self.template.table_sql()
    }

    fn attributes(&self) -> Box<dyn Iterator<Item = Attribute<'_>> + '_> {
        Box::new(self.template.attributes.iter().map(|attribute| Attribute {
            id: attribute.id,
            slug: &attribute.slug,
            kind: attribute.kind,
            exact: true,
            indexed: attribute.indexed,
            options: attribute.options.as_deref(),
        }))
    }

    fn target(&self, attribute: i32) -> Option<Rc<dyn Schema>> {
        let reference = self.template.attributes.iter().find(|it| it.id == attribute)?;
        let target = catalog::by_id(reference.target?)?;
        self.caller.require(Right::Read, &target).ok()?;
        Some(Rc::new(Sight::new(&self.caller, target)))
    }

    fn display(&self) -> Option<Attribute<'_>> {
        let slug = self.template.display_slug()?;
        self.attributes().find(|attribute| attribute.slug == slug)
    }

    fn visible(&self, alias: &str) -> Option<String> {
        rows(&self.caller, &self.template, alias)
    }
}
