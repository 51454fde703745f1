//! Looks up the template or the project that a request names.

use super::Caller;
use crate::error::{Code, Error};
use crate::template::Template;
use crate::template::catalog::{self, Project, by_id, by_slug};
use std::rc::Rc;

/// The template that a request names by slug, within the caller's project, or by id.
pub fn template_by_name(caller: &Caller, name: &str) -> Result<Rc<Template>, Error> {
    let found = if name.starts_with(|first: char| first.is_ascii_digit()) {
        name.parse().ok().and_then(by_id)
    } else {
        let project = caller.project().ok_or_else(|| {
            Error::new(Code::ProjectRequired, "the request does not specify a project")
                .hint("Send the header X-Service-Project-Id, or use the id of the template.")
        })?;
        by_slug(project, name)
    };
    found.filter(|template| caller.can_access_project(template.project_id)).ok_or_else(Error::not_found)
}

/// The project that an administrator names by slug or id.
pub fn project_named(project: &str) -> Result<Project, Error> {
    let caller = Caller::current();
    catalog::refresh();
    catalog::project_by_name_or_id(project)
        .filter(|project| caller.can_access_project(project.id))
        .ok_or_else(|| Error::new(Code::NotFound, format!("project {project:?} does not exist")))
}
