//! The SQL and HTTP functions that save views.

use super::NewView;
use crate::access::lookup::template_by_name;
use crate::access::{Caller, definition_lock};
use crate::error::{Code, Error};
use crate::json;
use crate::postgres::function::{Call, ReturnValue, must_not_be_null, sql_functions};
use crate::template::{Template, catalog};
use crate::value::member::{self, missing, text_at, unknown_member};
use crate::value::written::{Subject, Written};
use crate::view::stored;
use std::rc::Rc;

sql_functions! {
    /// `keyed.save_view(template regclass, slug text, query jsonb, label text, presentation boolean) returns jsonb`.
    keyed_save_view => |call| {
        let slug = call.required_text(1, "slug")?;
        let label = member::check_label(call.text(3), "/label")?;
        let (body, presentation) = (call.required_json(2, "query")?, call.boolean(4));
        let new = NewView { slug, body, label, presentation };
        definition_lock::of_table(call.oid(0), || {
            super::save(&Caller::current(), &catalog::by_argument(call)?, &new, true)
        })
        .map(|(view, _)| ReturnValue::Json(view.to_json()))
    };

    /// `keyed.get_view(template regclass, slug text) returns jsonb`.
    keyed_get_view => |call| {
        let template = catalog::by_argument(call)?;
        let slug = call.required_text(1, "slug")?;
        stored::get(&Caller::current(), &template, &slug).map(|view| ReturnValue::Json(view.to_json()))
    };

    /// `keyed.list_views(template regclass) returns jsonb`.
    keyed_list_views => |call| {
        stored::list(&Caller::current(), &*catalog::by_argument(call)?).map(ReturnValue::Json)
    };

    /// `keyed.drop_view(template regclass, slug text) returns void`.
    keyed_drop_view => |call| {
        let slug = call.text(1).ok_or_else(|| must_not_be_null("slug"))?;
        definition_lock::of_table(call.oid(0), || {
            super::drop(&Caller::current(), &catalog::by_argument(call)?, &slug)
        })
        .map(|()| ReturnValue::Void)
    };

    /// `keyed_http.list_views(template text) returns text`.
    keyed_http_list_views => |call| {
        let (caller, template) = named(call)?;
        stored::list(&caller, &template).map(ReturnValue::Text)
    };

    /// `keyed_http.get_view(template text, slug text) returns text`.
    keyed_http_get_view => |call| {
        let (caller, template) = named(call)?;
        let slug = call.required_text(1, "slug")?;
        stored::get(&caller, &template, &slug).map(|view| ReturnValue::Text(view.to_json()))
    };

    /// `keyed_http.save_view(template text, slug text, body text) returns text[]`. The slug is null for a new view, whose
    /// body contains it.
    keyed_http_save_view => |call| {
        let slug = call.text(1);
        let may_replace = slug.is_some();
        let body = call.required_text(2, "body")?;
        let (view, is_new) = definition_lock::of_name(&call.required_text(0, "template")?, || {
            let (caller, template) = named(call)?;
            super::save(&caller, &template, &parse(&body, slug.clone())?, may_replace)
        })?;
        let written = Written::new(if is_new { 201 } else { 200 }, view.to_json(), Subject::View(view.template.id));
        Ok(ReturnValue::Written(written.created(Some(format!("{}/views/{}", view.template.id, view.slug)))))
    };

    /// `keyed_http.drop_view(template text, slug text) returns text[]`.
    keyed_http_drop_view => |call| {
        let slug = call.required_text(1, "slug")?;
        definition_lock::of_name(&call.required_text(0, "template")?, || {
            let (caller, template) = named(call)?;
            super::drop(&caller, &template, &slug)
        })?;
        Ok(ReturnValue::Written(Written::no_content()))
    };
}

/// The caller, and the template that the first argument names.
fn named(call: &Call) -> Result<(Caller, Rc<Template>), Error> {
    let caller = Caller::current();
    let template = template_by_name(&caller, &call.required_text(0, "template")?)?;
    Ok((caller, template))
}

/// Parses `{slug, label?, query, presentation?}`. `slug` is optional if the path contains it.
fn parse(body: &str, path_slug: Option<String>) -> Result<NewView, Error> {
    let (mut slug, mut label, mut query, mut presentation) = (None, None, None, None);
    for (name, value) in json::object(body)?.0 {
        let here = format!("/{}", json::pointer_step(&name));
        match name.as_ref() {
            "slug" => slug = Some(text_at(value, &here)?),
            "label" => label = member::parse_label(value, &here)?,
            "query" => {
                json::object_at(value, &here)?;
                query = Some(value.get().to_owned());
            }
            "presentation" => presentation = Some(json::boolean_at(value, &here)?),
            // Responses have these members; a client may send a response back.
            "sql_view" | "created_at" | "updated_at" => {}
            _ => {
                return Err(
                    unknown_member(&name, &here).hint("Use the members slug, label, query and presentation.")
                );
            }
        }
    }
    let slug = match (slug, path_slug) {
        (Some(slug), Some(path_slug)) if slug != path_slug => {
            return Err(Error::at(Code::InvalidValue, "/slug", "the slug of a view cannot be changed")
                .hint("Save the view under the new slug, and delete the old view."));
        }
        (slug, path_slug) => slug.or(path_slug).ok_or_else(|| missing("slug", ""))?,
    };
    Ok(NewView { slug, label, body: query.ok_or_else(|| missing("query", ""))?, presentation })
}
