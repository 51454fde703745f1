//! The templates that a request follows, and what its caller may read of them.

use super::cursor::{Fingerprint, Scope, fingerprint};
use super::rows::Change;
use crate::access::privilege::Privilege;
use crate::access::visibility::{CallerSchema, ReadScope};
use crate::access::{Action, Caller, scope, template_list, visibility};
use crate::error::{Code, Error};
use crate::filter::Filter;
use crate::filter::behind::Behind;
use crate::filter::possible::{Sense, Unsettled, render_sense};
use crate::filter::render::{Lives, Options, render};
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
    /// The read scope of the caller; `None` where it is all.
    read_scope: Option<ReadScope>,
    /// What the reader wants of these.
    filter: Option<Filter>,
    /// What it depends on of the record itself.
    pub uses: OwnUses,
    /// What it depends on of others.
    pub behind: Vec<Behind>,
}

impl Followed {
    /// Whether a live record under this alias is seen, as a condition.
    pub fn condition(&self, alias: &str) -> String {
        let scope = self.read_scope.as_ref().map(|scope| scope.condition(alias, None));
        let filter = self.filter.as_ref().map(|filter| render(filter, alias, Options::default()));
        all_of(scope.into_iter().chain(filter))
    }

    /// Whether a record is seen, as far as other states of records leave that open.
    pub fn in_sense(&self, sense: Sense, alias: &str, unsettled: Unsettled) -> String {
        let scope = self.read_scope.as_ref().map(|scope| scope.in_sense(sense, alias, unsettled));
        let filter = self.filter.as_ref().map(|filter| render_sense(filter, alias, sense, unsettled));
        all_of(scope.into_iter().chain(filter))
    }
}

fn all_of(conditions: impl Iterator<Item = String>) -> String {
    let conditions: Vec<String> = conditions.collect();
    if conditions.is_empty() { "true".to_owned() } else { format!("({})", conditions.join(" and ")) }
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
        let templates = readable(caller, project.id).into_iter();
        let templates =
            templates.map(|template| followed(caller, template, None)).collect::<Result<Vec<_>, _>>()?;
        if templates.is_empty() && !caller.is_admin() {
            return Err(Error::new(
                Code::Forbidden,
                format!("your role cannot read any template in project {:?}", project.slug),
            )
            .hint("Ask an administrator for read access: keyed.grant_access(role, project, '{read}')."));
        }
        Ok(Following::of(Scope::Project(project.id), templates))
    }

    /// One template.
    pub fn template(caller: &Caller, template: Rc<Template>) -> Result<Following, Error> {
        caller.require(Action::Read, &template)?;
        let scope = Scope::Template(template.id);
        Ok(Following::of(scope, vec![followed(caller, template, None)?]))
    }

    /// Those of the templates of a project that the caller may read, and of the one with a filter, written as a scope, what
    /// passes it.
    pub fn selected(
        caller: &Caller,
        project: i32,
        is_selected: impl Fn(i32) -> bool,
        filter: Option<(i32, &str)>,
    ) -> Result<Following, Error> {
        let mut templates = Vec::new();
        for template in readable(caller, project).into_iter().filter(|it| is_selected(it.id)) {
            let filter = filter.filter(|(filtered, _)| *filtered == template.id);
            let filter = filter.map(|(_, filter)| scope::compile(&template, filter)).transpose()?;
            templates.push(followed(caller, template, filter)?);
        }
        Ok(Following::of(Scope::Project(project), templates))
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

/// The templates of a project that the caller may read, by number.
fn readable(caller: &Caller, project: i32) -> Vec<Rc<Template>> {
    let listed = template_list::templates(caller);
    let is_read = |it: &&template_list::ListedTemplate| it.project == project && it.holds(Privilege::Read);
    let mut numbers: Vec<i32> = listed.iter().filter(is_read).map(|it| it.id).collect();
    numbers.sort_unstable();
    let templates = numbers.into_iter().filter_map(catalog::by_id);
    templates.filter(|it| caller.require(Action::Read, it).is_ok()).collect()
}

fn followed(caller: &Caller, template: Rc<Template>, filter: Option<Filter>) -> Result<Followed, Error> {
    if template.history_position.is_none() || template.released_key.is_none() {
        return Err(guard::not_migrated());
    }
    let own = visibility::rows_over(Lives::Any, caller, &template, "t");
    let read_scope = own.is_some().then(|| CallerSchema::new(caller, Rc::clone(&template)).read_scope());
    let wanted = filter.as_ref().map(|filter| {
        let options = Options { lives: Lives::Any, ..Options::default() };
        render(filter, "t", options)
    });
    let scope = match (own, wanted) {
        (Some(own), Some(wanted)) => Some(format!("({own} and {wanted})")),
        (own, wanted) => own.or(wanted),
    };
    let (mut uses, mut behind) = (OwnUses::default(), Vec::new());
    if scope.is_some() {
        let filters = read_scope.as_ref().map_or(&[][..], ReadScope::filters);
        let filters = filters.iter().chain(&filter);
        behind.extend(filters.clone().flat_map(Filter::behind));
        let own = filters.flat_map(Filter::uses).filter(|used| used.template == template.id);
        for used in own {
            match (used.attribute, used.field.as_str()) {
                (Some(_), _) if !uses.attributes.contains(&used.field) => uses.attributes.push(used.field),
                (None, "external_key") => uses.external_key = true,
                (None, "updated_at") => uses.updated_at = true,
                _ => {}
            }
        }
    }
    Ok(Followed { template, scope, read_scope, filter, uses, behind })
}
