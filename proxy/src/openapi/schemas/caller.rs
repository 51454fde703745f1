//! Who asks, and what is told when something is refused.

use super::{ID, count, described, flag, object, schema, text, text_or_null};
use serde_json::{Value, json};

pub(super) fn caller() -> Value {
    json!({
        "Me": {
            "type": "object", "required": ["key", "role", "admin", "project", "projects", "templates"],
            "properties": {
                "key": {"type": ["object", "null"]}, "role": text(), "admin": flag(), "project": text_or_null(),
                "projects": {"type": ["array", "null"], "items": text()},
                "templates": {"type": "array", "items": {"type": "object", "required": ["id", "template", "privileges", "scoped"]}},
            },
            "examples": [{"key": {"id": 3, "label": "erp sync"}, "role": "erp", "admin": false, "project": "crm",
                          "projects": ["crm"], "templates": []}],
        },
        "Projects": {
            "type": "object", "required": ["projects"], "examples": [{"projects": []}],
            "properties": {"projects": {"type": "array", "items": {"type": "object", "required": ["id", "slug"]}}},
        },
        "Alive": object(&["status"], json!({"status": {"const": "ok"}}), json!({"status": "ok"})),
        "Ready": object(
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
    let quota = object(
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
        "detail": "another live record of crm.customers holds the external_key \"erp:4711\"",
        "instance": format!("urn:uuid:{ID}"), "code": "external_key_taken", "retryable": false, "existing_id": ID,
    });
    let mut of_operation = example.clone();
    if let Some(members) = of_operation.as_object_mut() {
        members.remove("instance");
        members.remove("retryable");
    }
    json!({
        "Problem": object(
            &["type", "title", "status", "detail", "instance", "code", "retryable"], members.clone(), example,
        ),
        "OperationProblem": object(&["type", "title", "status", "detail", "code"], members, of_operation),
    })
}
