//! Records, their history and their series.

use super::{
    AT, ID, answered, count, described, flag, id, list_of, schema, sent, text, text_or_null, time,
    time_or_null,
};
use serde_json::{Value, json};

/// What a record is written with.
fn written(required: &[&str], example: Value) -> Value {
    let properties = json!({
        "external_key": schema("ExternalKey"), "attributes": schema("Attributes"), "embedding": schema("VectorOrNull"),
    });
    sent(required, properties, example)
}

pub(super) fn records() -> Value {
    let attributes =
        json!({"name": "Ada", "credit": 80.5, "tags": ["a", "b"], "born": "1815-12-10", "company": null});
    let record = json!({
        "id": ID, "template_id": "7", "template_slug": "customers", "external_key": "erp:4711", "created_at": AT,
        "updated_at": AT, "deleted_at": null, "attributes": attributes,
    });
    let change = json!({"attributes": {"credit": {"$inc": -20}}});
    let vector = json!({"type": "array", "minItems": 768, "maxItems": 768, "items": {"type": "number"},
                        "description": "768 finite numbers, not all zero."});
    json!({
        "ExternalKey": {
            "type": ["string", "null"], "examples": ["erp:4711"],
            "description": "The id that another system uses: opaque, case-sensitive, 1 to 255 characters after outer \
                spaces are trimmed, no control characters; unique among the live records of a template.",
        },
        "Value": {
            "description": "By the attribute's type. string: a string. number: a number, exact, or `{\"$inc\": n}`. metric: \
                a number (now), `{value, at}`, or an array of these. list: strings, or one. date: YYYY-MM-DD. datetime: \
                RFC 3339. reference: an id, or `{\"external_key\": …}` of the target. null clears.",
            "type": ["string", "number", "array", "object", "null"], "items": {}, "additionalProperties": true,
            "examples": ["Ada", 80.5, ["a"], {"$inc": 1}, null],
        },
        "Attributes": {
            "type": "object", "additionalProperties": schema("Value"), "examples": [attributes],
            "description": "Values by the slugs of their attributes.",
        },
        "Record": answered(
            &["id", "external_key"],
            json!({
                "id": id(), "template_id": text(), "template_slug": text(), "external_key": text_or_null(),
                "created_at": time(), "updated_at": time(), "deleted_at": time_or_null(),
                "attributes": schema("Attributes"),
                "attribute_values": {"type": "object", "additionalProperties": schema("VerboseValue")},
                "score": described("number", "Of a search with `query_vector`: what it is ordered by."),
                "ranks": {
                    "type": "object", "additionalProperties": {"type": ["integer", "null"]},
                    "description": "Of a search with `query_vector`: its places by `keyword` and `semantic`.",
                },
            }),
            record.clone(),
        ),
        "VerboseValue": {
            "type": "object", "required": ["value"], "examples": [{"value": "Ada", "type": "string", "label": "Name"}],
            "properties": {
                "value": schema("Value"), "type": text(), "label": text_or_null(), "display": text_or_null(),
                "labels": {"type": ["array", "null"], "items": text_or_null()}, "external_key": text_or_null(),
                "template_slug": text_or_null(), "at": time_or_null(),
            },
        },
        "VectorOrNull": {"anyOf": [vector, {"type": "null"}], "examples": [null]},
        "NewRecord": written(&[], json!({"external_key": "erp:4711", "attributes": {"name": "Ada", "credit": 100.5}})),
        "RecordChange": written(&[], change.clone()),
        "Replacement": {
            "description": "The values in a member `attributes`, or bare. A template with an attribute of that name, or one named \
                `embedding`, needs the member.",
            "anyOf": [
                sent(&["attributes"], json!({"attributes": schema("Attributes")}), json!({"attributes": {"name": "Ada"}})),
                schema("Attributes"),
            ],
            "examples": [{"attributes": {"name": "Ada"}}, {"name": "Ada"}],
        },
        "Restoration": sent(&[], json!({"external_key": schema("ExternalKey")}), json!({"external_key": "erp:4712"})),
        "Embedding": sent(&["vector"], json!({"vector": vector}), json!({"vector": vec![0.5; 768]})),
        "Upsert": written(&["external_key"], json!({"external_key": "erp:4711", "attributes": {"credit": 80.5}})),
        "Upserted": answered(
            &["id", "created"],
            json!({"id": id(), "created": flag(), "record": schema("Record")}),
            json!({"id": ID, "created": true}),
        ),
        "Operation": sent(
            &["op", "template"],
            json!({
                "op": {"enum": ["create", "update", "upsert", "delete"]}, "template": text(), "id": id(),
                "external_key": schema("ExternalKey"), "attributes": schema("Attributes"), "embedding": schema("VectorOrNull"),
            }),
            json!({"op": "upsert", "template": "customers", "external_key": "erp:4711", "attributes": {"name": "Ada"}}),
        ),
        "Batch": sent(
            &["operations"],
            json!({
                "operations": {"type": "array", "description": "At most 1000, unless the database sets keyed.max_operations_per_batch.", "items": schema("Operation")}, "atomic": flag(),
                "conflict": {
                    "enum": ["fail", "wait"],
                    // No default: a generated client would send it with every batch, and one that is not atomic refuses it.
                    "description": "Of an atomic batch: what an upsert does that finds its key taken by another writer since the \
                        batch began. `fail`, which holds when absent: the batch fails with 409, `retryable`. `wait`: the record is updated.",
                },
            }),
            json!({"atomic": true, "operations": [{"op": "delete", "template": "customers", "external_key": "erp:1"}]}),
        ),
        "BatchReport": answered(
            &["errors", "results"],
            json!({"errors": flag(), "results": list_of("OperationResult")}),
            json!({"errors": false, "results": [{"index": 0, "status": 201, "id": ID, "created": true}]}),
        ),
        "OperationResult": answered(
            &["index", "status", "id", "created"],
            json!({
                "index": count(), "status": {"type": "integer"}, "id": {"type": ["string", "null"], "format": "uuid"},
                "created": flag(), "error": schema("OperationProblem"),
            }),
            json!({"index": 0, "status": 201, "id": ID, "created": true}),
        ),
        "History": answered(
            &["history", "next_cursor"],
            json!({
                "history": {"type": "array", "items": {
                    "type": "object",
                    "required": ["version", "at", "actor", "source", "operation", "external_key", "changes"],
                    "properties": {
                        "version": count(), "at": time(), "actor": text(), "source": text(),
                        "operation": {"enum": ["create", "update", "delete", "restore", "purge"]},
                        "external_key": text_or_null(),
                        "changes": {"type": "object", "additionalProperties": {
                            "type": "object", "required": ["old", "new"],
                            "properties": {"old": schema("Value"), "new": schema("Value")},
                        }},
                    },
                }},
                "next_cursor": text_or_null(),
            }),
            json!({"next_cursor": null, "history": [{
                "version": 1, "at": AT, "actor": "erp sync (key 3)", "source": "api", "operation": "create",
                "external_key": "erp:4711", "changes": {"name": {"old": null, "new": "Ada"}},
            }]}),
        ),
        "Series": answered(
            &["points", "next_cursor"],
            json!({
                "points": {"type": "array", "items": answered(
                    &["at", "value"],
                    json!({"at": time(), "value": {"type": ["number", "null"]}}),
                    json!({"at": AT, "value": 21.5}),
                )},
                "next_cursor": text_or_null(),
            }),
            json!({"points": [{"at": AT, "value": 21.5}], "next_cursor": null}),
        ),
    })
}
