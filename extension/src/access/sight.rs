//! A template as one caller sees it: what the catalog and the caller's rights say to a filter.

use super::{Caller, Right};
use crate::filter::render::Lives;
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
pub fn rows(caller: &Caller, template: &Template, alias: &str) -> Option<String> {
    caller.rows(Right::Read, template, alias)
}

/// The same among live and deleted records alike, for what finds a record by its id: no index serves it.
pub fn rows_of_any(caller: &Caller, template: &Template, alias: &str) -> Option<String> {
    caller.rows_of(Lives::Any, Right::Read, template, alias)
}

/// The condition under which a caller sees a record of any template; `None` when the caller may read nothing there.
pub fn condition(caller: &Caller, template: &Template, alias: &str) -> Option<String> {
    caller.require(Right::Read, template).ok()?;
    Some(rows(caller, template, alias).unwrap_or_else(|| "true".to_owned()))
}

/// What stands around the records that a caller may write, as conditions over `t`; `None` for every record.
#[derive(Clone, Debug, Default)]
pub struct Fence {
    /// The records that are there for the caller: those it may read, or where it may not read, those of `within`. Any
    /// other answers as a missing one.
    pub seen: Option<String>,
    /// The records that it may do this to, and what they must be afterwards. Another that is seen is refused.
    pub within: Option<String>,
}

impl Fence {
    /// What stands around the records that a caller may do this to. The right itself must have been required.
    pub fn of(caller: &Caller, right: Right, template: &Template) -> Fence {
        Fence::around(Lives::Live, caller, right, template)
    }

    /// The same around live records, deleted ones, or both.
    pub fn around(lives: Lives, caller: &Caller, right: Right, template: &Template) -> Fence {
        let own = caller.rows_of(lives, right, template, ALIAS);
        // A new record need not be one that its maker may read: a letter box has no window.
        if right == Right::Create || caller.require(Right::Read, template).is_err() {
            return Fence { seen: own.clone(), within: own };
        }
        let seen = caller.rows_of(lives, Right::Read, template, ALIAS);
        let within = match (&seen, own) {
            (None, own) => own,
            (Some(seen), Some(own)) if own != *seen => Some(format!("({seen} and {own})")),
            (seen, _) => (*seen).clone(),
        };
        Fence { seen, within }
    }

    /// Whether it stands around everything.
    pub fn is_open(&self) -> bool {
        self.seen.is_none() && self.within.is_none()
    }
}

/// What stands around the records of an upsert: around those it creates, and around those it updates.
#[derive(Debug, Default)]
pub struct Fences {
    /// Around new records.
    pub create: Fence,
    /// Around records that are there.
    pub update: Fence,
}

impl Fences {
    /// Whether they stand around everything.
    pub fn are_open(&self) -> bool {
        self.create.is_open() && self.update.is_open()
    }

    /// Two further columns of what a statement returns: whether the row may be created, and whether it may be updated.
    pub fn verdicts(&self) -> String {
        if self.are_open() {
            return String::new();
        }
        verdict(self.create.within.as_deref()) + &verdict(self.update.within.as_deref())
    }
}

/// The alias of the template's table in every statement on records.
const ALIAS: &str = "t";

/// A condition as a further part of a chain.
pub fn and(condition: Option<&str>) -> String {
    condition.map(|condition| format!(" and {condition}")).unwrap_or_default()
}

/// A condition as a further column of what a statement returns: whether it holds for the row.
pub fn verdict(condition: Option<&str>) -> String {
    format!(", {} is true", condition.unwrap_or("true"))
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
