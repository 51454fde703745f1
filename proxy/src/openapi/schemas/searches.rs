//! Searches, imports and exports.

use super::{answered, count, described, flag, id, list_of, schema, sent, text, text_or_null};
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
        "ends-with",
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
    let search = json!({
        "global_search": described("string", "Words that must all be found; `\"two words\"`, `-word`."),
        "query_vector": {"type": "array", "minItems": 768, "maxItems": 768, "items": {"type": "number"}},
        "query_text": described("string", "In place of the vector, where the service has an embedding provider."),
        "mode": {
            "enum": ["keyword", "semantic", "hybrid"],
            "description": "What records are ranked by: words, a vector, or both. What is sent decides where it is absent.",
        },
        "filters": {"type": "array", "items": schema("Condition"), "description": "All must hold."},
        "filter_groups": {"type": "array", "items": group, "description": "One group must hold, with all in it."},
        "attribute_key": attribute_key, "view": text(), "sort": schema("Sort"),
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "100 when absent."}, "cursor": text_or_null(),
        "fields": {"type": ["array", "string"], "items": text()}, "verbose": flag(),
        "count": {"enum": ["none", "estimated", "exact"]},
        "facets": {"type": "array", "maxItems": 20, "items": text()},
        "time_zone": described("string", "Where a day begins, such as Europe/Zurich."),
    });
    let mut exported = search.clone();
    if let Some(members) = exported.as_object_mut() {
        // An export has no closest records.
        members.retain(|name, _| !["query_vector", "query_text", "mode"].contains(&name.as_str()));
    }
    json!({
        "Condition": {
            "oneOf": [schema("Comparison"), schema("AllOf"), schema("AnyOf"), schema("Negation")],
            "examples": [condition, {"or": [condition, {"not": condition}]}],
        },
        "Comparison": sent(
            &["field", "operator"],
            json!({
                "field": described("string", "An attribute, a standard field, or one behind references: `artist.name`."),
                "operator": {"enum": operators},
                "value": {"description": "JSON, or a string that says the same."},
            }),
            condition.clone(),
        ),
        "AllOf": sent(&["and"], json!({"and": list_of("Condition")}), json!({"and": [condition]})),
        "AnyOf": sent(&["or"], json!({"or": list_of("Condition")}), json!({"or": [condition]})),
        "Negation": sent(&["not"], json!({"not": schema("Condition")}), json!({"not": condition})),
        "Sort": {
            "description": "`\"-updated_at\"`, or up to five fields.",
            "oneOf": [text(), {"type": "array", "maxItems": 5, "items": {"oneOf": [text(), schema("SortField")]}}],
            "examples": ["-updated_at", [{"field": "name", "direction": "asc", "nulls": "last"}]],
        },
        "SortField": sent(
            &["field"],
            json!({"field": text(), "direction": {"enum": ["asc", "desc"]}, "nulls": {"enum": ["first", "last"]}}),
            json!({"field": "name", "direction": "asc", "nulls": "last"}),
        ),
        "Search": sent(
            &[],
            search.clone(),
            json!({"global_search": "ada", "filters": [condition], "sort": "-updated_at", "limit": 50, "count": "exact"}),
        ),
        "SavedSearch": answered(&[], search, json!({"filters": [condition]})),
        "ExportedSearch": sent(&[], exported, json!({"filters": [condition], "sort": "name", "fields": ["name"]})),
        "SearchResult": answered(
            &["records", "next_cursor", "has_more", "total"],
            json!({
                "records": list_of("Record"), "next_cursor": text_or_null(), "has_more": flag(),
                "total": {"type": ["integer", "null"]}, "facets": {"type": "object", "additionalProperties": true, "description": "How often each value of a field occurs."},
            }),
            json!({"records": [], "next_cursor": null, "has_more": false, "total": 0}),
        ),
        "SemanticSearch": sent(
            &[],
            json!({
                "query_vector": {"type": "array", "minItems": 768, "maxItems": 768, "items": {"type": "number"}},
                "query_text": described("string", "In place of the vector, where the service has an embedding provider."),
                "template_id": described("string", "One template; all that may be read when absent."), "time_zone": text(), "limit": {"type": "integer", "minimum": 1, "maximum": 200, "description": "10 when absent."},
                "threshold": {"type": "number", "minimum": 0, "maximum": 1, "description": "0 when absent."}, "attribute_key": attribute_key,
                "filters": {"type": "array", "items": schema("Condition")}, "filter_groups": {"type": "array", "items": group},
            }),
            json!({"template_id": "7", "query_vector": vec![0.5; 768], "limit": 5, "threshold": 0.5}),
        ),
        "SemanticResult": {
            "type": "array", "examples": [[]],
            "items": {
                "type": "object", "required": ["similarity_score", "entity"],
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
            "dry_run": flag(), "encoding": text(), "delimiter": text(),
            "warnings": {"type": "array", "items": text(), "description": "What was done, and may not be what was meant."},
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
