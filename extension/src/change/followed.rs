//! The templates of a request, and the caller's read access to them.

use super::cursor::{Fingerprint, Scope, fingerprint};
use super::rows::Change;
use crate::access::privilege::Privilege;
use crate::access::visibility::{CallerSchema, ReadScope};
use crate::access::{Action, Caller, scope, template_list, visibility};
use crate::error::{Code, Error};
use crate::filter::Filter;
use crate::filter::possible::{Certainty, Unsettled, render_sense};
use crate::filter::referenced_field::ReferencedField;
use crate::filter::render::{Lives, Options, render};
use crate::postgres::guard;
use crate::template::Template;
use crate::template::catalog::{self, Project};
use std::rc::Rc;

/// The fields of a record on which its scope has conditions.
#[derive(Default)]
pub struct OwnUses {
    /// The slugs of attributes.
    pub attributes: Vec<String>,
    /// Whether the scope uses the key.
    pub external_key: bool,
    /// Whether the scope uses the time of the last change.
    pub updated_at: bool,
}

impl OwnUses {
    /// Whether an update changed at least one of these fields.
    pub fn are_changed_by(&self, change: &Change) -> bool {
        let is_used =
            |name: &String| self.attributes.contains(name) || self.external_key && name == "external_key";
        self.updated_at || change.changed.iter().any(is_used)
    }
}

/// A template whose changes are read.
pub struct Followed {
    /// The template.
    pub template: Rc<Template>,
    /// The condition over `t` for the records that are visible to the caller, live or deleted;
    /// `None` for all.
    pub scope: Option<String>,
    /// The caller's read scope; `None` for all records.
    read_scope: Option<ReadScope>,
    /// The requested parts of records.
    filter: Option<Filter>,
    /// The fields of the record on which the scope has conditions.
    pub uses: OwnUses,
    /// The fields of other records on which the scope has conditions.
    pub behind: Vec<ReferencedField>,
}

impl Followed {
    /// The condition that a live record under this alias is visible.
    pub fn condition(&self, alias: &str) -> String {
        let scope = self.read_scope.as_ref().map(|scope| scope.condition(alias, None));
        let filter = self.filter.as_ref().map(|filter| render(filter, alias, Options::default()));
        all_of(scope.into_iter().chain(filter))
    }

    /// The condition that a record is possibly or certainly visible, if other records may have been
    /// in other states.
    pub fn with_certainty(&self, sense: Certainty, alias: &str, unsettled: Unsettled) -> String {
        let scope = self.read_scope.as_ref().map(|scope| scope.with_certainty(sense, alias, unsettled));
        let filter = self.filter.as_ref().map(|filter| render_sense(filter, alias, sense, unsettled));
        all_of(scope.into_iter().chain(filter))
    }
}

fn all_of(conditions: impl Iterator<Item = String>) -> String {
    let conditions: Vec<String> = conditions.collect();
    if conditions.is_empty() { "true".to_owned() } else { format!("({})", conditions.join(" and ")) }
}

/// The templates of a request.
pub struct Following {
    /// The requested project or template.
    pub scope: Scope,
    /// The templates, ordered by id.
    pub templates: Vec<Followed>,
    /// Other templates, whose records the scopes use.
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

    /// The templates of a project that the caller may read, restricted to these. A template with a filter is restricted to
    /// the records that match it.
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
        let mut behind: Vec<i32> =
            templates.iter().flat_map(|it| &it.behind).map(ReferencedField::template).collect();
        behind.retain(|id| !is_followed(*id));
        behind.sort_unstable();
        behind.dedup();
        let behind = behind.into_iter().filter_map(catalog::by_id).collect();
        Following { scope, templates, behind }
    }

    /// The templates whose histories are read: the followed templates, then those that their scopes
    /// use.
    pub fn read(&self) -> impl Iterator<Item = &Template> {
        self.templates.iter().map(|it| &it.template).chain(&self.behind).map(|template| &**template)
    }

    /// A fingerprint of the caller's read access to the templates up to this id. It changes when one of them is dropped and
    /// when a grant or a scope changes, but not when a template is created.
    pub fn access_fingerprint(&self, newest: i32) -> Fingerprint {
        let old = self.templates.iter().filter(|it| it.template.id <= newest);
        let texts: Vec<[String; 2]> =
            old.map(|it| [it.template.id.to_string(), it.scope.clone().unwrap_or_default()]).collect();
        fingerprint(texts.iter().flatten().map(String::as_str))
    }
}

/// The templates of a project that the caller may read, ordered by id.
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
    let requested = filter.as_ref().map(|filter| {
        let options = Options { lives: Lives::Any, ..Options::default() };
        render(filter, "t", options)
    });
    let scope = match (own, requested) {
        (Some(own), Some(requested)) => Some(format!("({own} and {requested})")),
        (own, requested) => own.or(requested),
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
