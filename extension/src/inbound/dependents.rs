//! Updates mappings when attributes change.

use super::endpoint::{Endpoint, find, table_exists};
use crate::access::Caller;
use crate::access::dependent::{Dependent, in_use, store};
use crate::error::Error;
use crate::postgres::parameter::params;
use crate::postgres::spi::Connection;
use crate::template::{Attribute, Template};

/// The endpoints whose mapping contains an attribute.
fn writing(spi: &Connection, template: &Template, slug: &str) -> Vec<Endpoint> {
    if !table_exists() {
        return Vec::new();
    }
    let id = params![template.id];
    let mut endpoints = find(spi, "e.template_id = $1", &id);
    endpoints.retain(|endpoint| endpoint.mapping.sources.iter().any(|source| source.slug == slug));
    endpoints
}

/// Mappings of endpoints.
pub struct Mappings;

impl Dependent for Mappings {
    fn before_rename(
        &self,
        spi: &Connection,
        template: &Template,
        attribute: &Attribute,
        new: &str,
    ) -> Result<(), Error> {
        for mut endpoint in writing(spi, template, &attribute.slug) {
            for source in endpoint.mapping.sources.iter_mut().filter(|source| source.slug == attribute.slug) {
                new.clone_into(&mut source.slug);
            }
            store(spi, "inbound_endpoint", "mapping", endpoint.id, &endpoint.mapping.sources_json());
        }
        Ok(())
    }

    fn require_unused(
        &self,
        spi: &Connection,
        caller: &Caller,
        template: &Template,
        attribute: &Attribute,
        pointer: &str,
    ) -> Result<(), Error> {
        let endpoints = writing(spi, template, &attribute.slug);
        let Some(endpoint) = endpoints.first() else { return Ok(()) };
        let user = match endpoint.require_configurer(caller) {
            Ok(()) => format!("the inbound endpoint {:?}", endpoint.slug),
            Err(_) => "an inbound endpoint".to_owned(),
        };
        Err(in_use(pointer, &user, &attribute.slug, REMEDY))
    }
}

const REMEDY: &str = "Change its mapping first: keyed.alter_inbound_endpoint(id, '{\"mapping\": {…}}').";
