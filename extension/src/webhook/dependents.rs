//! Updates filters and templates of endpoints when definitions change.

use super::endpoint::{Endpoint, disable, find, table_exists};
use crate::access::dependent::{Dependent, in_use, rename_in_conditions};
use crate::access::{Caller, scope};
use crate::error::{Code, Error};
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::template::catalog::{self, REFERRING};
use crate::template::{Attribute, Template};
use std::rc::Rc;

/// The filters and templates of webhook endpoints.
pub struct WebhookEndpoints;

/// The endpoints with a filter that may refer to a template, each with its own template and its filter.
fn filtered(spi: &Connection, template: i32) -> Vec<(Endpoint, Rc<Template>, String)> {
    if !table_exists() {
        return Vec::new();
    }
    let sql = format!("with recursive {REFERRING} select id from referring");
    let referring: Vec<i32> = spi.run_once(&sql, Snapshot::Latest, &params![template]).column().collect();
    let arguments = params![referring];
    let endpoints = find(spi, "e.filter is not null and e.templates && $1", "order by e.id", &arguments);
    let with_filter = |endpoint: Endpoint| {
        let (template, filter) = endpoint.filtered()?;
        let (template, filter) = (catalog::by_id(template)?, filter.to_owned());
        Some((endpoint, template, filter))
    };
    endpoints.into_iter().filter_map(with_filter).collect()
}

fn user(caller: &Caller, endpoint: &Endpoint) -> String {
    if caller.is_admin() {
        format!("the filter of the webhook endpoint {:?}", endpoint.slug)
    } else {
        "the filter of a webhook endpoint".to_owned()
    }
}

impl Dependent for WebhookEndpoints {
    fn before_rename(
        &self,
        spi: &Connection,
        changed: &Template,
        attribute: &Attribute,
        new: &str,
    ) -> Result<(), Error> {
        let filtered = filtered(spi, changed.id)
            .into_iter()
            .map(|(endpoint, template, filter)| (endpoint.id, template, filter));
        rename_in_conditions(spi, ("webhook_endpoint", "filter"), filtered, attribute, new)
    }

    fn require_unused(
        &self,
        spi: &Connection,
        caller: &Caller,
        changed: &Template,
        attribute: &Attribute,
        pointer: &str,
    ) -> Result<(), Error> {
        for (endpoint, template, filter) in filtered(spi, changed.id) {
            let uses = scope::compile(&template, &filter)?.uses();
            if uses.iter().any(|used| used.attribute == Some(attribute.id)) {
                return Err(in_use(pointer, &user(caller, &endpoint), &attribute.slug, REMEDY));
            }
        }
        Ok(())
    }

    /// Rejects a change after which a filter does not compile.
    fn after_change(
        &self,
        spi: &Connection,
        caller: &Caller,
        _before: &Template,
        after: &Template,
    ) -> Result<(), Error> {
        for (endpoint, template, filter) in filtered(spi, after.id) {
            if let Err(error) = scope::compile(&template, &filter) {
                let mut message = format!("the change would break {}", user(caller, &endpoint));
                // The underlying error contains parts of the filter.
                if caller.is_admin() {
                    message.push_str(": ");
                    message.push_str(&error.message);
                }
                return Err(Error::new(Code::Conflict, message).hint(REMEDY));
            }
        }
        Ok(())
    }

    /// An endpoint without templates would deliver changes of all templates, so the endpoint is disabled when its
    /// last template is dropped.
    fn after_removal(&self, _spi: &Connection, template: &Template) {
        if !table_exists() {
            return;
        }
        let id = template.id;
        connected(|spi| {
            let delete = "delete from keyed_state.webhook_delivery d where d.template_id = $1";
            spi.run_once(delete, Snapshot::Latest, &params![id]);
            let sole = "select e.id from keyed_state.webhook_endpoint e where e.templates = array[$1]";
            let sole: Vec<i32> = spi.run_once(sole, Snapshot::Latest, &params![id]).column().collect();
            for endpoint in sole {
                disable(spi, endpoint, "its template was dropped");
            }
            let others = "update keyed_state.webhook_endpoint e set templates = array_remove(e.templates, $1) \
                          where $1 = any (e.templates) and e.templates <> array[$1]";
            spi.run_once(others, Snapshot::Latest, &params![id]);
        });
    }
}

const REMEDY: &str = "Change its filter first: keyed.alter_webhook_endpoint(id, '{\"filter\": {…}}').";
