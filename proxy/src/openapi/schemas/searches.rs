//! Searches, imports and exports.

use super::{count, described, flag, id, list_of, object, schema, text, text_or_null};
use serde_json::{Value, json};

pub(super) fn searches() -> Value {
    let operators = [
        "eq",
        "neq",
        "in",
        "not-in",
        "like",
        "not-like",
        "ilike",
        "starts-with",
        "gt",
        "gte",
        "lt",
        "lte",
        "between",
        "today",
        "empty",
        "not-empty",
    ];
    let condition = json!({"field": "city", "operator": "eq", "value": "Bern"});
    let group = json!({"oneOf": [{"type": "array", "items": schema("Condition")}, schema("Condition")]});
    let attribute_key = json!({"enum": ["slug", "id"], "description": "What fields are named by."});
    json!({
        "Condition": {
            "oneOf": [
                {
                    "type": "object", "required": ["field", "operator"], "additionalProperties": false,
                    "properties": {
                        "field": described("string", "An attribute, a standard field, or one behind references: `artist.name`."),
                        "operator": {"enum": operators},
                        "value": {"description": "JSON, or a string that says the same."},
                    },
                },
                {"type": "object", "required": ["and"], "additionalProperties": false, "properties": {"and": list_of("Condition")}},
                {"type": "object", "required": ["or"], "additionalProperties": false, "properties": {"or": list_of("Condition")}},
                {"type": "object", "required": ["not"], "additionalProperties": false, "properties": {"not": schema("Condition")}},
            ],
            "examples": [condition, {"or": [condition, {"not": condition}]}],
        },
        "Sort": {
            "description": "`\"-updated_at\"`, or up to five fields.",
            "oneOf": [
                text(),
                {"type": "array", "maxItems": 5, "items": {
                    "type": ["string", "object"], "required": ["field"], "additionalProperties": false,
                    "properties": {
                        "field": text(), "direction": {"enum": ["asc", "desc"]}, "nulls": {"enum": ["first", "last"]},
                    },
                }},
            ],
            "examples": ["-updated_at", [{"field": "name", "direction": "asc", "nulls": "last"}]],
        },
        "Search": object(
            &[],
            json!({
                "global_search": described("string", "Words that must all be found; `\"two words\"`, `-word`."),
                "query_vector": {"type": "array", "minItems": 768, "maxItems": 768, "items": {"type": "number"}},
                "query_text": described("string", "In place of the vector, where the service has an embedding provider."),
                "filters": {"type": "array", "items": schema("Condition"), "description": "All must hold."},
                "filter_groups": {"type": "array", "items": group, "description": "One group must hold, with all in it."},
                "attribute_key": attribute_key, "view": text(), "sort": schema("Sort"),
                "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}, "cursor": text_or_null(),
                "fields": {"type": ["array", "string"], "items": text()}, "verbose": flag(),
                "count": {"enum": ["none", "estimated", "exact"]}, "facets": {"type": "array", "items": text()},
                "time_zone": described("string", "Where a day begins, such as Europe/Zurich."),
            }),
            json!({"global_search": "ada", "filters": [condition], "sort": "-updated_at", "limit": 50, "count": "exact"}),
        ),
        "SearchResult": object(
            &["records", "next_cursor", "has_more", "total"],
            json!({
                "records": list_of("Record"), "next_cursor": text_or_null(), "has_more": flag(),
                "total": {"type": ["integer", "null"]}, "facets": {"type": "object"},
            }),
            json!({"records": [], "next_cursor": null, "has_more": false, "total": 0}),
        ),
        "SemanticSearch": object(
            &[],
            json!({
                "query_vector": {"type": "array", "minItems": 768, "maxItems": 768, "items": {"type": "number"}},
                "query_text": described("string", "In place of the vector, where the service has an embedding provider."),
                "template_id": described("string", "One template; all that may be read when absent."), "time_zone": text(), "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 10},
                "threshold": {"type": "number", "minimum": 0, "maximum": 1, "default": 0}, "attribute_key": attribute_key,
                "filters": {"type": "array", "items": schema("Condition")}, "filter_groups": {"type": "array", "items": group},
            }),
            json!({"template_id": "7", "query_vector": vec![0.5; 768], "limit": 5, "threshold": 0.5}),
        ),
        "SemanticResult": {
            "type": "array", "examples": [[]],
            "items": {
                "type": "object", "required": ["similarity_score", "entity"], "additionalProperties": false,
                "properties": {
                    "similarity_score": {"type": "number", "minimum": 0, "maximum": 1},
                    "entity": {
                        "type": "object", "required": ["id", "template_slug", "attribute_values"],
                        "properties": {
                            "id": id(), "template_id": text(), "template_slug": text(), "external_key": text_or_null(),
                            "attribute_values": {"type": "object", "additionalProperties": schema("VerboseValue")},
                        },
                    },
                },
            },
        },
    })
}

pub(super) fn files() -> Value {
    json!({"ImportReport": {
        "type": "object", "required": ["rows", "created", "updated", "unchanged", "failed", "errors"],
        "properties": {
            "rows": count(), "created": count(), "updated": count(), "unchanged": count(), "failed": count(),
            "errors": {"type": "array", "maxItems": 1000, "items": {
                "type": "object", "required": ["line", "code", "message"],
                "properties": {"line": count(), "column": text_or_null(), "code": text(), "message": text()},
            }},
        },
        "examples": [{"rows": 2, "created": 1, "updated": 0, "unchanged": 0, "failed": 1, "errors": [
            {"line": 3, "column": "credit", "code": "invalid_value", "message": "must be a number"},
        ]}],
    }})
}
