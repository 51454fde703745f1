//! Quotas on templates and attributes.

use super::{Name, Reached, of_project, usage};
use crate::access::Caller;
use crate::access::dependent::Dependent;
use crate::error::Error;
use crate::postgres::spi::Connection;
use crate::template::Template;
use crate::template::catalog::{self, Project};

/// Rejects another template in a project that has reached its quota.
pub fn check_templates(project: &Project) -> Result<(), Error> {
    let Some(maximum) = of_project(project.id).maximum(Name::Templates) else { return Ok(()) };
    let used = usage::templates(project.id);
    if used < maximum {
        return Ok(());
    }
    Err(Reached { name: Name::Templates, maximum, used: Some(used), requested: 1 }.to_error(&project.slug))
}

/// Rejects a template with more attributes than the quota allows.
pub fn check_attributes(project: &Project, before: usize, after: usize) -> Result<(), Error> {
    let Some(maximum) = of_project(project.id).maximum(Name::AttributesPerTemplate) else { return Ok(()) };
    if after <= before || after as i64 <= maximum {
        return Ok(());
    }
    let requested = (after - before) as i64;
    Err(Reached { name: Name::AttributesPerTemplate, maximum, used: Some(before as i64), requested }
        .to_error(&project.slug))
}

/// The quota of attributes.
pub struct AttributeQuota;

impl Dependent for AttributeQuota {
    fn after_change(
        &self,
        _spi: &Connection,
        _caller: &Caller,
        before: &Template,
        after: &Template,
    ) -> Result<(), Error> {
        let project = catalog::project_by_id(after.project_id).ok_or_else(Error::not_found)?;
        check_attributes(&project, before.attributes.len(), after.attributes.len())
    }
}
