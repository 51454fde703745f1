//! Who asks, and what is told when something is refused.

use super::{AT, ID, answered, count, described, flag, schema, text, text_or_null, time};
use serde_json::{Value, json};

pub(super) fn caller() -> Value {
    let privileges =
        json!({"type": "array", "items": {"enum": ["read", "create", "update", "delete", "define"]}});
    json!({
        "Me": answered(
            &["key", "role", "admin", "project", "projects", "templates"],
            json!({
                "key": {"anyOf": [
                    {
                        "type": "object", "required": ["id", "label"],
                        "properties": {"id": {"type": "integer"}, "label": text()},
                    },
                    {"type": "null"},
                ]},
                "role": text(), "admin": flag(), "project": text_or_null(),
                "projects": {"type": ["array", "null"], "items": text(), "description": "Those that the key is bound to; null where it is bound to none."},
                "templates": {"type": "array", "items": {
                    "type": "object", "required": ["id", "template", "privileges", "scoped"],
                    "properties": {
                        "id": text(), "template": described("string", "Project and slug: `crm.customers`."),
                        "privileges": privileges, "scoped": privileges,
                    },
                }},
            }),
            json!({"key": {"id": 3, "label": "erp sync"}, "role": "erp", "admin": false, "project": "crm", "projects": ["crm"],
                   "templates": [{"id": "7", "template": "crm.customers", "privileges": ["read"], "scoped": ["read"]}]}),
        ),
        "Projects": answered(
            &["projects"],
            json!({"projects": {"type": "array", "items": {
                "type": "object", "required": ["id", "slug", "name", "created_at"],
                "properties": {"id": text(), "slug": text(), "name": text(), "created_at": time()},
            }}}),
            json!({"projects": [{"id": "1", "slug": "crm", "name": "CRM", "created_at": AT}]}),
        ),
        "Alive": answered(&["status"], json!({"status": {"const": "ok"}}), json!({"status": "ok"})),
        "Ready": answered(
            &["status", "version", "extension_version"],
            json!({"status": {"const": "ready"}, "version": text(), "extension_version": text()}),
            json!({"status": "ready", "version": "0.1.0", "extension_version": "0.1.0"}),
        ),
        "Document": {"type": "object", "required": ["openapi"], "examples": [{"openapi": "3.1.0"}]},
    })
}

pub(super) fn problems() -> Value {
    let faults = json!({"type": "array", "items": {
        "type": "object", "required": ["pointer", "code", "detail"],
        "properties": {
            "pointer": described("string", "Where in the request (RFC 6901)."), "code": text(), "detail": text(),
        },
    }});
    let quota = answered(
        &["name", "maximum"],
        json!({
            "name": {"enum": ["live_records", "templates", "attributes_per_template", "writes_per_day"]},
            "maximum": count(), "used": {"type": "integer"},
        }),
        json!({"name": "live_records", "maximum": 1000, "used": 1000}),
    );
    let members = json!({
        "type": text(), "title": text(), "status": {"type": "integer"}, "detail": text(), "instance": text(),
        "code": described("string", "What a program can act on."), "retryable": flag(), "hint": text(), "errors": faults,
        "existing_id": {"type": "string", "format": "uuid", "description": "The record that holds the key."},
        "failed_index": count(), "quota": quota, "report": schema("ImportReport"),
        "outcome": {"const": "unknown", "description": "The write may have happened."},
    });
    let example = json!({
        "type": "urn:problem-type:keyed:external_key_taken", "title": "External key taken", "status": 409,
        "detail": "another live record of crm.customers has the external_key \"erp:4711\"",
        "instance": format!("urn:uuid:{ID}"), "code": "external_key_taken", "retryable": false, "existing_id": ID,
    });
    let mut of_operation = example.clone();
    if let Some(members) = of_operation.as_object_mut() {
        members.remove("instance");
        members.remove("retryable");
    }
    json!({
        "Problem": answered(
            &["type", "title", "status", "detail", "instance", "code", "retryable"], members.clone(), example,
        ),
        "OperationProblem": answered(&["type", "title", "status", "detail", "code"], members, of_operation),
    })
}
