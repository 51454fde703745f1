//! The SQL and HTTP functions of the feed.

use super::followed::Following;
use super::page::{Request, page};
use super::{generation, horizon, key_history};
use crate::access::Caller;
use crate::access::lookup::{project_named, template_by_name};
use crate::error::{Code, Error};
use crate::postgres::function::{Call, ReturnValue, sql_functions};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::template::{Template, catalog};

sql_functions! {
    /// `keyed.changes(project text, template regclass, after text, page_size integer, include_record boolean) returns jsonb`.
    keyed_changes => |call| {
        catalog::refresh();
        let project = call.required_text(0, "project")?;
        let caller = Caller::current();
        let project = project_named(&project)?;
        let following = match call.oid(1) {
            None => Following::project(&caller, &project)?,
            Some(table) => {
                let template = catalog::by_table(table)?;
                if template.project_id != project.id {
                    return Err(Error::not_found());
                }
                Following::template(&caller, template)?
            }
        };
        let request = Request { after: call.text(2), limit: call.integer(3), with_record: call.flag(4), until: None };
        page(&following, &request).map(ReturnValue::Json)
    };

    /// `keyed_http.changes(template text, after text, page_size integer, include_record boolean, until text) returns text`.
    keyed_http_changes => |call| {
        catalog::refresh();
        let caller = Caller::current();
        let following = match call.text(0) {
            Some(template) => Following::template(&caller, template_by_name(&caller, &template)?)?,
            None => {
                let project = caller.project().and_then(catalog::project_by_id).ok_or_else(|| {
                    Error::new(Code::ProjectRequired, "the request does not specify a project")
                        .hint("Send the header X-Service-Project-Id, or identify a template by id.")
                })?;
                Following::project(&caller, &project)?
            }
        };
        let request = Request { after: call.text(1), limit: call.integer(2), with_record: call.flag(3), until: call.text(4) };
        page(&following, &request).map(ReturnValue::Text)
    };

    /// `keyed_http.change_horizon(project text) returns text`.
    keyed_http_change_horizon => |call| {
        catalog::refresh();
        Caller::current().require_maintenance("wait for changes")?;
        let project = catalog::project_by_name_or_id(&call.required_text(0, "project")?);
        let newest = project.map(|project| horizon::newest_settled(project.id)).transpose()?.flatten();
        Ok(newest.map_or(ReturnValue::Null, |newest| ReturnValue::Text(newest.to_string())))
    };

    /// `keyed.continue_changes() returns void`.
    keyed_continue_changes => |_| {
        let caller = Caller::current();
        caller.require_admin("continue the feed of changes after a restore")?;
        caller.require_all_projects("continue the feed of changes after a restore")?;
        continue_changes();
        Ok(ReturnValue::Void)
    };

    /// `keyed.key_history_report(template regclass, external_key text) returns jsonb`.
    keyed_key_history_report => |call| {
        let template = catalog::by_argument(call)?;
        held(call, &template).map(ReturnValue::Json)
    };

    /// `keyed_http.key_history(template text, external_key text) returns text`.
    keyed_http_key_history => |call| {
        let template = template_by_name(&Caller::current(), &call.required_text(0, "template")?)?;
        held(call, &template).map(ReturnValue::Text)
    };
}

fn held(call: &Call, template: &Template) -> Result<String, Error> {
    let key = call.required_text(1, "key")?;
    key_history::of_key(&Caller::current(), template, &key)
}

/// The new generation includes everything that the previous one issued.
fn continue_changes() {
    as_owner(|| {
        connected(|spi| {
            let present = generation::current(spi);
            let sql = "update keyed_state.change_generation set continues = true, written_by = 0 where generation = $1::bigint";
            spi.run_once(sql, Snapshot::Latest, &params![present]);
            generation::sign(spi);
        });
    });
}
