//! Inbound endpoints and their deliveries.

use super::{AT, answered, count, flag, list_of, sent, text, text_or_null, time};
use serde_json::{Value, json};

pub(super) fn inbound() -> Value {
    let mapping = json!({"type": "object", "additionalProperties": {"type": ["string", "object"]},
                         "description": "`{attribute: jsonpath}`; for references also `{path, key_prefix}`."});
    let said = json!({
        "slug": text(), "template": text(), "items": text(), "external_key": text(), "key_prefix": text_or_null(),
        "mapping": mapping, "role": text_or_null(), "signed": flag(), "secret": text(), "enabled": flag(),
    });
    let mut changed = said.clone();
    for name in ["rotate_token", "rotate_secret"] {
        changed[name] = flag();
    }
    let mut shown = said.clone();
    for name in ["id", "project", "token"] {
        shown[name] = text();
    }
    for name in ["created_at", "updated_at"] {
        shown[name] = time();
    }
    let new = json!({"slug": "shop", "template": "customers", "external_key": "$.id", "mapping": {"name": "$.name"}});
    let delivery = json!({
        "id": {"type": ["string", "integer"]}, "webhook_id": text_or_null(), "received_at": time(),
        "status": {"enum": ["done", "failed"]}, "error": {"type": ["object", "null"]},
        "created": {"type": ["integer", "null"]}, "updated": {"type": ["integer", "null"]},
        "payload": {"description": "As it was sent."},
    });
    let line = json!({
        "id": "12", "webhook_id": "msg_1", "received_at": AT, "status": "done", "error": null, "created": 1, "updated": 0,
    });
    let counts = json!({"created": count(), "updated": count()});
    json!({
        "Payload": {"description": "Whatever the other system sends.", "examples": [{"id": 1, "name": "Ada"}]},
        "Delivered": answered(&["created", "updated"], counts, json!({"created": 1, "updated": 0})),
        "Kept": answered(
            &["delivery", "status", "code"],
            json!({"delivery": text(), "status": {"const": "failed"}, "code": text()}),
            json!({"delivery": "12", "status": "failed", "code": "invalid_value"}),
        ),
        "NewEndpoint": sent(&["slug", "template", "external_key"], said, new),
        "EndpointChange": sent(&[], changed, json!({"mapping": {"name": "$.full_name"}, "rotate_token": true})),
        "Endpoint": answered(
            &["id", "slug", "template"],
            shown,
            json!({
                "id": "1", "slug": "shop", "template": "customers", "project": "crm", "role": "keyed_admin", "items": "$",
                "external_key": "$.id", "key_prefix": null, "mapping": {"name": "$.name"}, "signed": true, "enabled": true,
                "created_at": AT, "updated_at": AT,
            }),
        ),
        "Endpoints": answered(&["endpoints"], json!({"endpoints": list_of("Endpoint")}), json!({"endpoints": []})),
        "Trial": sent(
            &["payload"],
            json!({"payload": {}, "items": text(), "external_key": text(), "key_prefix": text_or_null(), "mapping": mapping}),
            json!({"payload": {"id": 1, "name": "Ada"}}),
        ),
        "TrialResult": answered(
            &["items", "created", "updated", "error"],
            json!({
                "items": {"type": "array", "items": {"type": "object"}}, "created": count(), "updated": count(),
                "error": {"type": ["object", "null"]},
            }),
            json!({"items": [{"external_key": "1", "attributes": {"name": "Ada"}}], "created": 1, "updated": 0, "error": null}),
        ),
        "Delivery": answered(&["id", "status"], delivery, line.clone()),
        "Deliveries": answered(
            &["deliveries", "next_cursor"],
            json!({"deliveries": list_of("Delivery"), "next_cursor": text_or_null()}),
            json!({"deliveries": [line], "next_cursor": null}),
        ),
        "Replayed": answered(
            &["done", "failed", "next_cursor"],
            json!({"done": count(), "failed": count(), "next_cursor": text_or_null()}),
            json!({"done": 3, "failed": 0, "next_cursor": null}),
        ),
    })
}
