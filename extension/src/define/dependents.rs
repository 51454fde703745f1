//! The dependents of a definition, in the order in which a change calls them.

use super::embed::EmbeddedTexts;
use super::view::dependents::Views;
use crate::access::Caller;
use crate::access::dependent::Dependent;
use crate::access::scopes::Scopes;
use crate::embedding::queue::definition::Queue;
use crate::error::Error;
use crate::inbound::dependents::Mappings;
use crate::metric::removal::Series;
use crate::postgres::spi::Connection;
use crate::quota::definition::AttributeQuota;
use crate::search::text::rebuild::Documents;
use crate::template::{Attribute, Template};
use crate::webhook::dependents::WebhookEndpoints;
use pgrx::pg_sys::Oid;

/// Dependents that can reject a change come first, cheapest first: a quota compares two numbers, a scope is compiled, a
/// view is recreated in PostgreSQL. The first error is reported. Dependents that write for each record come last. The
/// list of embedded attributes comes before the queue, which reads it.
const ALL: [&dyn Dependent; 9] = [
    &AttributeQuota,
    &Scopes,
    &WebhookEndpoints,
    &Views,
    &Mappings,
    &Series,
    &EmbeddedTexts,
    &Documents,
    &Queue,
];

pub(super) fn after_creation(spi: &Connection, template: &Template) -> Result<(), Error> {
    ALL.iter().try_for_each(|it| it.after_creation(spi, template))
}

pub(super) fn relations(spi: &Connection, template: &Template) -> Vec<Oid> {
    ALL.iter().flat_map(|it| it.relations(spi, template)).collect()
}

pub(super) fn before_rename(
    spi: &Connection,
    template: &Template,
    attribute: &Attribute,
    new: &str,
) -> Result<(), Error> {
    ALL.iter().try_for_each(|it| it.before_rename(spi, template, attribute, new))
}

/// Every dependent checks the drop before any dependent drops an object.
pub(super) fn before_drop_of(
    spi: &Connection,
    caller: &Caller,
    template: &Template,
    attribute: &Attribute,
    pointer: &str,
) -> Result<(), Error> {
    ALL.iter().try_for_each(|it| it.require_unused(spi, caller, template, attribute, pointer))?;
    before_drop(spi, template);
    Ok(())
}

pub(super) fn before_drop(spi: &Connection, template: &Template) {
    ALL.iter().for_each(|it| it.before_drop(spi, template));
}

pub(super) fn after_drop_of(spi: &Connection, template: &Template, attribute: &Attribute) {
    ALL.iter().for_each(|it| it.after_drop(spi, template, attribute));
}

pub(super) fn after_change(
    spi: &Connection,
    caller: &Caller,
    before: &Template,
    after: &Template,
) -> Result<(), Error> {
    ALL.iter().try_for_each(|it| it.after_change(spi, caller, before, after))
}

pub(super) fn after_removal(spi: &Connection, template: &Template) {
    ALL.iter().for_each(|it| it.after_removal(spi, template));
}

pub(super) fn after_grants(spi: &Connection, templates: &[i32]) {
    ALL.iter().for_each(|it| it.after_grants(spi, templates));
}
