//! The templates that a request follows, and what its caller may read of them.

use super::cursor::{Fingerprint, Scope, fingerprint};
use super::rows::Change;
use crate::access::privilege::Privilege;
use crate::access::visibility::{CallerSchema, ReadScope};
use crate::access::{Action, Caller, template_list, visibility};
use crate::error::{Code, Error};
use crate::filter::Filter;
use crate::filter::behind::Behind;
use crate::filter::render::Lives;
use crate::postgres::guard;
use crate::template::Template;
use crate::template::catalog::{self, Project};
use std::rc::Rc;

/// What a scope asks of a record itself.
#[derive(Default)]
pub struct OwnUses {
    /// The slugs of attributes.
    pub attributes: Vec<String>,
    /// Whether its key.
    pub external_key: bool,
    /// Whether the time of its last change.
    pub updated_at: bool,
}

impl OwnUses {
    /// Whether an update changed one of them.
    pub fn are_changed_by(&self, change: &Change) -> bool {
        let is_used =
            |name: &String| self.attributes.contains(name) || self.external_key && name == "external_key";
        self.updated_at || change.changed.iter().any(is_used)
    }
}

/// A template that is followed.
pub struct Followed {
    /// The template.
    pub template: Rc<Template>,
    /// The records that the caller sees, live or deleted, as a condition over `t`; `None` for all.
    pub scope: Option<String>,
    /// The same, where it is not all.
    pub read_scope: ReadScope,
    /// What it depends on of the record itself.
    pub uses: OwnUses,
    /// What it depends on of others.
    pub behind: Vec<Behind>,
}

/// What a request follows.
pub struct Following {
    /// A project or a template.
    pub scope: Scope,
    /// The templates, by number.
    pub templates: Vec<Followed>,
    /// The other templates on whose records the scopes depend.
    pub behind: Vec<Rc<Template>>,
}

impl Following {
    /// All templates of a project that the caller may read.
    pub fn project(caller: &Caller, project: &Project) -> Result<Following, Error> {
        let listed = template_list::templates(caller);
        let is_read =
            |it: &&template_list::ListedTemplate| it.project == project.id && it.holds(Privilege::Read);
        let mut numbers: Vec<i32> = listed.iter().filter(is_read).map(|it| it.id).collect();
        numbers.sort_unstable();
        let templates = numbers.into_iter().filter_map(catalog::by_id);
        let templates = templates.filter(|it| caller.require(Action::Read, it).is_ok());
        let templates =
            templates.map(|template| followed(caller, template)).collect::<Result<Vec<_>, _>>()?;
        if templates.is_empty() && !caller.is_admin() {
            return Err(Error::new(
                Code::Forbidden,
                format!("there is nothing to read in project {:?}", project.slug),
            )
            .hint("Ask an administrator to grant it: keyed.grant_access(role, project, '{read}')."));
        }
        Ok(Following::of(Scope::Project(project.id), templates))
    }

    /// One template.
    pub fn template(caller: &Caller, template: Rc<Template>) -> Result<Following, Error> {
        caller.require(Action::Read, &template)?;
        let scope = Scope::Template(template.id);
        Ok(Following::of(scope, vec![followed(caller, template)?]))
    }

    fn of(scope: Scope, templates: Vec<Followed>) -> Following {
        let is_followed = |id: i32| templates.iter().any(|it| it.template.id == id);
        let mut behind: Vec<i32> = templates.iter().flat_map(|it| &it.behind).map(Behind::template).collect();
        behind.retain(|id| !is_followed(*id));
        behind.sort_unstable();
        behind.dedup();
        let behind = behind.into_iter().filter_map(catalog::by_id).collect();
        Following { scope, templates, behind }
    }

    /// The templates whose histories are read: those that are followed, then the others.
    pub fn read(&self) -> impl Iterator<Item = &Template> {
        self.templates.iter().map(|it| &it.template).chain(&self.behind).map(|template| &**template)
    }

    /// What the caller may read of the templates up to this number. It changes when one of them is dropped, and when a grant
    /// or a scope changes; a new template does not change it.
    pub fn rights(&self, newest: i32) -> Fingerprint {
        let old = self.templates.iter().filter(|it| it.template.id <= newest);
        let texts: Vec<[String; 2]> =
            old.map(|it| [it.template.id.to_string(), it.scope.clone().unwrap_or_default()]).collect();
        fingerprint(texts.iter().flatten().map(String::as_str))
    }
}

fn followed(caller: &Caller, template: Rc<Template>) -> Result<Followed, Error> {
    if template.history_position.is_none() || template.released_key.is_none() {
        return Err(guard::not_migrated());
    }
    let scope = visibility::rows_over(Lives::Any, caller, &template, "t");
    let read_scope = CallerSchema::new(caller, Rc::clone(&template)).read_scope();
    let (mut uses, mut behind) = (OwnUses::default(), Vec::new());
    if scope.is_some() {
        let filters = read_scope.filters();
        behind.extend(filters.iter().flat_map(Filter::behind));
        let own = filters.iter().flat_map(Filter::uses).filter(|used| used.template == template.id);
        for used in own {
            match (used.attribute, used.field.as_str()) {
                (Some(_), _) if !uses.attributes.contains(&used.field) => uses.attributes.push(used.field),
                (None, "external_key") => uses.external_key = true,
                (None, "updated_at") => uses.updated_at = true,
                _ => {}
            }
        }
    }
    Ok(Followed { template, scope, read_scope, uses, behind })
}
