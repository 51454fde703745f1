//! The SQL and HTTP functions that define templates.

use super::access_functions::require_proxy;
use super::creation::{NewTemplate, create};
use super::{alter, dry_run, project, removal, setup, shard};
use crate::access::lookup::template_by_name;
use crate::access::{Caller, definition_lock, template_list};
use crate::error::{Code, Error};
use crate::json;
use crate::postgres::function::{Call, ReturnValue, sql_functions};
use crate::postgres::parameter::ToSql;
use crate::postgres::{guard, invalidation, preload, trigger};
use crate::template::describe::describe;
use crate::template::shard::current as current_shard;
use crate::template::{Template, catalog, definition};
use crate::value::member::{self, missing, text_at};
use crate::value::written::{Subject, Written};
use pgrx::pg_sys::Datum;
use std::rc::Rc;

sql_functions! {
    /// `keyed.init(preload boolean, shard integer) returns integer`.
    keyed_init => |call| {
        setup::init(call.flag(0), call.integer(1)).map(|version| ReturnValue::Datum(Datum::from(version)))
    };

    /// `keyed.shard() returns integer`.
    keyed_shard => |_| Ok(current_shard().map_or(ReturnValue::Null, |shard| ReturnValue::Datum(Datum::from(shard))));

    /// `keyed_http.shard(known text) returns text[]`.
    keyed_http_shard => |call| {
        require_proxy("read the directory of a shard")?;
        Ok(ReturnValue::Texts(shard::directory(call.text(0).as_deref())))
    };

    /// `keyed.is_preloaded() returns boolean`.
    keyed_is_preloaded => |_| Ok(ReturnValue::Datum(Datum::from(preload::is_preloaded())));

    /// `keyed.pending_migrations() returns integer[]`.
    keyed_pending_migrations => |_| {
        Ok(setup::pending().to_datum().map_or(ReturnValue::Null, ReturnValue::Datum))
    };

    /// `keyed.migrate() returns integer`.
    keyed_migrate => |_| setup::migrate().map(|version| ReturnValue::Datum(Datum::from(version)));

    /// `keyed.is_defining() returns boolean`.
    keyed_is_defining => |_| Ok(ReturnValue::Datum(Datum::from(guard::is_defining())));

    /// `keyed.create_project(slug text, name text) returns integer`.
    keyed_create_project => |call| {
        let slug = call.required_text(0, "slug")?;
        project::create(&slug, call.text(1).as_deref(), None).map(|id| ReturnValue::Datum(Datum::from(id)))
    };

    /// `keyed.drop_project(project text, with_records boolean) returns void`.
    keyed_drop_project => |call| {
        let project = call.required_text(0, "project")?;
        removal::drop_project(&project, call.flag(1)).map(|()| ReturnValue::Void)
    };

    /// `keyed.set_time_zone(project text, time_zone text) returns void`.
    keyed_set_time_zone => |call| {
        let project = call.required_text(0, "project")?;
        project::set_time_zone(&project, call.text(1).as_deref()).map(|()| ReturnValue::Void)
    };

    /// `keyed.create_template(project text, slug text, attributes jsonb, label text, embed text[], dry_run boolean)
    /// returns jsonb`.
    keyed_create_template => |call| {
        let project = call.required_text(0, "project")?;
        let slug = call.required_text(1, "slug")?;
        let attributes = call.json(2).unwrap_or_else(|| "[]".to_owned());
        let attributes = serde_json::from_str(&attributes)
            .map_err(|error| Error::new(Code::MalformedRequest, error.to_string()))?;
        let definitions = definition::parse_all(attributes, "/attributes")?;
        let label = member::check_label(call.text(3), "/label")?;
        let embed = call.texts(4, "embed")?;
        let new = NewTemplate { slug, label, definitions, embed, ..NewTemplate::default() };
        if call.flag(5) {
            return dry_run::plan(|| dry_run::change(None, || create(&project, &new))).map(ReturnValue::Json);
        }
        create(&project, &new).map(to_return_value)
    };

    /// `keyed_http.create_template(body text, dry_run boolean) returns text[]`.
    keyed_http_create_template => |call| {
        let body = call.required_text(0, "body")?;
        let caller = Caller::current();
        let project = caller.project().ok_or_else(|| {
            Error::new(Code::ProjectRequired, "the request does not specify a project")
                .hint("Send the header X-Service-Project-Id.")
        })?;
        let (project, new) = (project.to_string(), NewTemplate::parse(&body)?);
        if call.flag(1) {
            return dry_run::plan(|| dry_run::change(None, || create(&project, &new))).map(planned);
        }
        let template = create(&project, &new)?;
        Ok(ReturnValue::Written(shown(201, &template).created(Some(template.id))))
    };

    /// `keyed_http.get_template(template text) returns text`.
    keyed_http_get_template => |call| {
        let name = call.required_text(0, "template")?;
        let caller = Caller::current();
        let template = template_by_name(&caller, &name)?;
        caller.require_any(&template)?;
        Ok(ReturnValue::Text(template.to_json()))
    };

    /// `keyed_http.list_templates() returns text`.
    keyed_http_list_templates => |_| Ok(ReturnValue::Text(list(&Caller::current())));

    /// `keyed.alter_template(template regclass, changes jsonb, dry_run boolean) returns jsonb`.
    keyed_alter_template => |call| {
        let changes = call.required_json(1, "changes")?;
        alter_by_sql(call, call.flag(2), |_| Ok(changes.clone()))
    };

    /// `keyed.add_attribute(template regclass, attribute jsonb, dry_run boolean) returns jsonb`.
    keyed_add_attribute => |call| {
        let attribute = call.required_json(1, "attribute")?;
        alter_by_sql(call, call.flag(2), |template| {
            let slug = attribute_slug(&attribute)?;
            if template.position(&slug).is_some() {
                return Err(alter::attribute_taken(template, &slug, "/slug"));
            }
            Ok(format!("{{\"attributes\":[{attribute}]}}"))
        })
    };

    /// `keyed.alter_attribute(template regclass, slug text, changes jsonb, dry_run boolean) returns jsonb`.
    keyed_alter_attribute => |call| {
        let (slug, changes) = (call.required_text(1, "slug")?, call.required_json(2, "changes")?);
        alter_by_sql(call, call.flag(3), |template| alter::attribute_body(template, &slug, &changes))
    };

    /// `keyed.drop_attribute(template regclass, slug text, dry_run boolean) returns jsonb`.
    keyed_drop_attribute => |call| {
        let body = serde_json::json!({"drop": [call.required_text(1, "slug")?]}).to_string();
        alter_by_sql(call, call.flag(2), |_| Ok(body.clone()))
    };

    /// `keyed.drop_template(template regclass, with_records boolean) returns void`.
    keyed_drop_template => |call| {
        definition_lock::of_table(call.oid(0), || removal::drop_template(&*catalog::by_argument(call)?, call.flag(1)))
            .map(|()| ReturnValue::Void)
    };

    /// `keyed_http.alter_template(template text, body text, dry_run boolean) returns text[]`.
    keyed_http_alter_template => |call| {
        let (name, body) = (call.required_text(0, "template")?, call.required_text(1, "body")?);
        if call.flag(2) {
            let change = || {
                let template = template_by_name(&Caller::current(), &name)?;
                dry_run::change(Some(Rc::clone(&template)), || alter::alter(&template, &body))
            };
            return dry_run::plan(|| definition_lock::of_name(&name, change)).map(planned);
        }
        let template = definition_lock::of_name(&name, || {
            alter::alter(&*template_by_name(&Caller::current(), &name)?, &body)
        })?;
        Ok(ReturnValue::Written(shown(200, &template)))
    };

    /// `keyed_http.drop_template(template text) returns text[]`.
    keyed_http_drop_template => |call| {
        let name = call.required_text(0, "template")?;
        definition_lock::of_name(&name, || {
            removal::drop_template(&*template_by_name(&Caller::current(), &name)?, false)
        })?;
        Ok(ReturnValue::Written(Written::no_content()))
    };

    /// `keyed.announce_change() returns trigger`.
    keyed_announce_change => |call| {
        invalidation::announce(trigger::table_of(call)?);
        Ok(ReturnValue::Datum(Datum::from(0usize)))
    };
}

/// Applies a PATCH body to the template of the first argument, or returns the plan of a dry run. `body` builds the body
/// for the template.
fn alter_by_sql(
    call: &Call,
    is_dry_run: bool,
    body: impl Fn(&Template) -> Result<String, Error>,
) -> Result<ReturnValue, Error> {
    let template = || catalog::by_argument(call);
    let change = |template: &Template| alter::alter(template, &body(template)?);
    if is_dry_run {
        let dry_change = || {
            let template = template()?;
            dry_run::change(Some(Rc::clone(&template)), || change(&template))
        };
        return dry_run::plan(|| definition_lock::of_table(call.oid(0), dry_change)).map(ReturnValue::Json);
    }
    definition_lock::of_table(call.oid(0), || change(&*template()?)).map(to_return_value)
}

/// The response to a dry run, which is not stored for replay.
fn planned(plan: String) -> ReturnValue {
    ReturnValue::Written(Written::new(200, plan, Subject::NotStored))
}

fn to_return_value(template: Rc<Template>) -> ReturnValue {
    ReturnValue::Json(template.to_json())
}

fn shown(status: u16, template: &Template) -> Written {
    Written::new(status, template.to_json(), Subject::Template(template.id))
}

fn attribute_slug(attribute: &str) -> Result<String, Error> {
    let members = json::object(attribute)?.0;
    let slug = members.iter().find(|(name, _)| name == "slug").ok_or_else(|| missing("slug", ""))?;
    text_at(slug.1, "/slug")
}

fn list(caller: &Caller) -> String {
    let ids: Vec<i32> = template_list::templates(caller).iter().map(|template| template.id).collect();
    format!("{{\"templates\":[{}]}}", describe(&ids).join(","))
}
