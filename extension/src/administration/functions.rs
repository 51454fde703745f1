//! The HTTP functions of administration.

use super::{api_keys, background, checksums, doctor, grants, projects};
use crate::postgres::function::{ReturnValue, sql_functions};
use crate::template::catalog;

sql_functions! {
    /// `keyed_http.list_api_keys(page_size integer, cursor text) returns text`.
    keyed_http_list_api_keys => |call| {
        api_keys::list(call.integer(0), call.text(1).as_deref()).map(ReturnValue::Text)
    };

    /// `keyed_http.register_api_key(body text) returns text[]`.
    keyed_http_register_api_key => |call| {
        api_keys::register(&call.required_text(0, "body")?).map(ReturnValue::Written)
    };

    /// `keyed_http.create_api_key(body text) returns text[]`.
    keyed_http_create_api_key => |call| {
        api_keys::create(&call.required_text(0, "body")?).map(ReturnValue::Written)
    };

    /// `keyed_http.revoke_api_key(id text) returns text[]`.
    keyed_http_revoke_api_key => |call| api_keys::revoke(&call.required_text(0, "id")?).map(ReturnValue::Written);

    /// `keyed_http.list_roles(page_size integer, cursor text) returns text`.
    keyed_http_list_roles => |call| {
        grants::roles(call.integer(0), call.text(1).as_deref()).map(ReturnValue::Text)
    };

    /// `keyed_http.list_grants(role text, target text, page_size integer, cursor text) returns text`.
    keyed_http_list_grants => |call| {
        catalog::refresh();
        let (role, target, cursor) = (call.text(0), call.text(1), call.text(3));
        grants::list(role.as_deref(), target.as_deref(), call.integer(2), cursor.as_deref()).map(ReturnValue::Text)
    };

    /// `keyed_http.grant_access(body text) returns text[]`.
    keyed_http_grant_access => |call| grants::put(&call.required_text(0, "body")?).map(ReturnValue::Written);

    /// `keyed_http.revoke_access(role text, target text) returns text[]`.
    keyed_http_revoke_access => |call| {
        let (role, target) = (call.required_text(0, "role")?, call.required_text(1, "target")?);
        grants::revoke(&role, &target).map(ReturnValue::Written)
    };

    /// `keyed_http.explain_access(id text, role text) returns text`.
    keyed_http_explain_access => |call| {
        let (id, role) = (call.required_text(0, "id")?, call.required_text(1, "role")?);
        grants::explain(&id, &role).map(ReturnValue::Text)
    };

    /// `keyed_http.create_project(body text) returns text[]`.
    keyed_http_create_project => |call| projects::create(&call.required_text(0, "body")?).map(ReturnValue::Written);

    /// `keyed_http.list_quotas() returns text`.
    keyed_http_list_quotas => |_| projects::quotas().map(ReturnValue::Text);

    /// `keyed_http.set_quota(name text, body text) returns text[]`.
    keyed_http_set_quota => |call| {
        let (name, body) = (call.required_text(0, "name")?, call.required_text(1, "body")?);
        projects::set_quota(&name, &body).map(ReturnValue::Written)
    };

    /// `keyed_http.list_jobs() returns text`.
    keyed_http_list_jobs => |_| Ok(ReturnValue::Text(background::jobs()));

    /// `keyed_http.retry_jobs() returns text[]`.
    keyed_http_retry_jobs => |_| background::retry_jobs().map(ReturnValue::Written);

    /// `keyed_http.embedding_status() returns text`.
    keyed_http_embedding_status => |_| background::embedding_status().map(ReturnValue::Text);

    /// `keyed_http.embedding_failures(template text, page_size integer) returns text`.
    keyed_http_embedding_failures => |call| {
        background::embedding_failures(call.text(0).as_deref(), call.integer(1)).map(ReturnValue::Text)
    };

    /// `keyed_http.retry_embeddings(template text) returns text[]`.
    keyed_http_retry_embeddings => |call| {
        background::retry_embeddings(call.text(0).as_deref()).map(ReturnValue::Written)
    };

    /// `keyed_http.suggest_indexes(template text) returns text`.
    keyed_http_suggest_indexes => |call| {
        background::suggest_indexes(&call.required_text(0, "template")?).map(ReturnValue::Text)
    };

    /// `keyed.checksum_report(template regclass) returns jsonb`.
    keyed_checksum_report => |call| {
        let template = call.oid(0).map(catalog::by_table).transpose()?;
        checksums::report(template.as_deref()).map(ReturnValue::Json)
    };

    /// `keyed_http.examine() returns text`.
    keyed_http_examine => |_| doctor::examine().map(ReturnValue::Text);
}
