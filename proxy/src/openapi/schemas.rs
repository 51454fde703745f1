//! What bodies look like, each with an example.

use serde_json::{Map, Value, json};

const ID: &str = "01931f3e-5b2a-8c00-8000-000710f2a9c4";
const AT: &str = "2026-01-31T12:00:00.000000Z";

pub(super) fn all() -> Value {
    let mut schemas = Map::new();
    for part in [records(), searches(), files(), templates(), views(), inbound(), caller(), problems()] {
        if let Value::Object(part) = part {
            schemas.extend(part);
        }
    }
    Value::Object(schemas)
}

/// An object with exactly these properties.
fn object(required: &[&str], properties: Value, example: Value) -> Value {
    json!({
        "type": "object", "required": required, "properties": properties, "additionalProperties": false,
        "examples": [example],
    })
}

fn schema(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn list_of(name: &str) -> Value {
    json!({"type": "array", "items": schema(name)})
}

fn described(kind: &str, description: &str) -> Value {
    json!({"type": kind, "description": description})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn text_or_null() -> Value {
    json!({"type": ["string", "null"]})
}

fn time() -> Value {
    json!({"type": "string", "format": "date-time"})
}

fn time_or_null() -> Value {
    json!({"type": ["string", "null"], "format": "date-time"})
}

fn id() -> Value {
    json!({"type": "string", "format": "uuid"})
}

fn count() -> Value {
    json!({"type": "integer", "minimum": 0})
}

fn flag() -> Value {
    json!({"type": "boolean"})
}

/// What a record is written with.
fn written(required: &[&str], example: Value) -> Value {
    let properties = json!({
        "external_key": schema("ExternalKey"), "attributes": schema("Attributes"), "embedding": schema("VectorOrNull"),
    });
    object(required, properties, example)
}

fn records() -> Value {
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
            "type": ["string", "number", "array", "object", "null"], "examples": ["Ada", 80.5, ["a"], {"$inc": 1}, null],
        },
        "Attributes": {
            "type": "object", "additionalProperties": schema("Value"), "examples": [attributes],
            "description": "Values by the slugs of their attributes.",
        },
        "Record": object(
            &["id", "external_key"],
            json!({
                "id": id(), "template_id": text(), "template_slug": text(), "external_key": text_or_null(),
                "created_at": time(), "updated_at": time(), "deleted_at": time_or_null(),
                "attributes": schema("Attributes"),
                "attribute_values": {"type": "object", "additionalProperties": schema("VerboseValue")},
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
        "Replacement": object(&["attributes"], json!({"attributes": schema("Attributes")}), json!({"attributes": {"name": "Ada"}})),
        "Restoration": object(&[], json!({"external_key": schema("ExternalKey")}), json!({"external_key": "erp:4712"})),
        "Embedding": object(&["vector"], json!({"vector": vector}), json!({"vector": vec![0.5; 768]})),
        "Upsert": written(&["external_key"], json!({"external_key": "erp:4711", "attributes": {"credit": 80.5}})),
        "Upserted": object(
            &["id", "created"],
            json!({"id": id(), "created": flag(), "record": schema("Record")}),
            json!({"id": ID, "created": true}),
        ),
        "Operation": object(
            &["op", "template"],
            json!({
                "op": {"enum": ["create", "update", "upsert", "delete"]}, "template": text(), "id": id(),
                "external_key": schema("ExternalKey"), "attributes": schema("Attributes"), "embedding": schema("VectorOrNull"),
            }),
            json!({"op": "upsert", "template": "customers", "external_key": "erp:4711", "attributes": {"name": "Ada"}}),
        ),
        "Batch": object(
            &["operations"],
            json!({
                "operations": {"type": "array", "maxItems": 1000, "items": schema("Operation")}, "atomic": flag(),
            }),
            json!({"atomic": true, "operations": [{"op": "delete", "template": "customers", "external_key": "erp:1"}]}),
        ),
        "BatchReport": object(
            &["errors", "results"],
            json!({"errors": flag(), "results": {"type": "array", "items": {
                "type": "object", "required": ["index", "status", "id", "created"], "additionalProperties": false,
                "properties": {
                    "index": count(), "status": {"type": "integer"}, "id": {"type": ["string", "null"], "format": "uuid"},
                    "created": flag(), "error": schema("OperationProblem"),
                },
            }}}),
            json!({"errors": false, "results": [{"index": 0, "status": 201, "id": ID, "created": true}]}),
        ),
        "History": object(
            &["history", "next_cursor"],
            json!({
                "history": {"type": "array", "items": {
                    "type": "object", "additionalProperties": false,
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
        "Series": object(
            &["points", "next_cursor"],
            json!({
                "points": {"type": "array", "items": object(
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

fn searches() -> Value {
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

fn files() -> Value {
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

fn templates() -> Value {
    let kinds =
        json!({"enum": ["string", "dimension", "number", "metric", "list", "date", "datetime", "reference"]});
    let option = json!({"type": ["string", "object"], "required": ["value"], "additionalProperties": false,
                        "properties": {"value": text(), "label": text_or_null()}});
    let attribute = json!({
        "id": text(), "slug": text(), "type": kinds, "label": text_or_null(), "required": flag(), "indexed": flag(),
        "options": {"type": ["array", "null"], "items": option},
        "template": described("string", "The target of a reference."), "default": schema("Value"),
    });
    let shown = json!({"id": "1", "slug": "name", "type": "string", "label": "Name", "required": false, "indexed": false});
    let mut changed = attribute.clone();
    changed["type"] = kinds.clone();
    let embed = json!({"type": ["array", "null"], "items": text(), "description": "The attributes that are embedded."});
    json!({
        "Attribute": object(&["id", "slug", "type", "label", "required", "indexed"], attribute.clone(), shown.clone()),
        "NewAttribute": object(&["slug", "type"], attribute, json!({"slug": "name", "type": "string", "label": "Name"})),
        "AttributeChange": object(&["slug"], changed, json!({"slug": "name", "label": "Full name"})),
        "Template": object(
            &["id", "slug", "label", "project", "display", "language", "attributes", "created_at", "updated_at"],
            json!({
                "id": text(), "slug": text(), "label": text_or_null(), "project": text(), "display": text_or_null(),
                "language": text(), "embed": embed, "attributes": list_of("Attribute"), "created_at": time(), "updated_at": time(),
            }),
            json!({
                "id": "7", "slug": "customers", "label": "Customers", "project": "crm", "display": "name",
                "language": "english", "attributes": [shown], "created_at": AT, "updated_at": AT,
            }),
        ),
        "NewTemplate": object(
            &["slug"],
            json!({
                "id": text(), "slug": text(), "label": text_or_null(), "project": text(), "display": text_or_null(),
                "language": text(), "embed": embed, "attributes": list_of("NewAttribute"), "created_at": time(), "updated_at": time(),
            }),
            json!({"slug": "customers", "attributes": [{"slug": "name", "type": "string"}]}),
        ),
        "TemplateChange": object(
            &[],
            json!({
                "label": text_or_null(), "display": text_or_null(), "language": text(), "embed": embed,
                "attributes": list_of("AttributeChange"),
                "rename": {"type": "object", "additionalProperties": text()}, "drop": {"type": "array", "items": text()},
            }),
            json!({"rename": {"name": "full_name"}, "drop": ["fax"], "attributes": [{"slug": "city", "type": "string"}]}),
        ),
        "Templates": object(&["templates"], json!({"templates": list_of("Template")}), json!({"templates": []})),
    })
}

fn views() -> Value {
    let query = json!({"filters": [{"field": "city", "operator": "eq", "value": "Bern"}]});
    json!({
        "NewView": object(
            &["query"],
            json!({
                "slug": text(), "label": text_or_null(), "query": schema("Search"), "sql_view": text_or_null(),
                "created_at": time(), "updated_at": time(),
            }),
            json!({"slug": "bernese", "label": "From Bern", "query": query}),
        ),
        "View": object(
            &["slug", "label", "query", "sql_view", "created_at", "updated_at"],
            json!({
                "slug": text(), "label": text_or_null(), "query": schema("Search"),
                "sql_view": json!({"type": ["string", "null"], "description": "The view of PostgreSQL that shows the same."}),
                "created_at": time(), "updated_at": time(),
            }),
            json!({
                "slug": "bernese", "label": "From Bern", "query": query, "sql_view": "crm.customers__bernese",
                "created_at": AT, "updated_at": AT,
            }),
        ),
        "Views": object(&["views"], json!({"views": list_of("View")}), json!({"views": []})),
    })
}

fn inbound() -> Value {
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
        "Delivered": object(&["created", "updated"], counts, json!({"created": 1, "updated": 0})),
        "Kept": {"type": "object", "description": "What was wrong with it.", "examples": [{}]},
        "NewEndpoint": object(&["slug", "template", "external_key"], said, new),
        "EndpointChange": object(&[], changed, json!({"mapping": {"name": "$.full_name"}, "rotate_token": true})),
        "Endpoint": object(
            &["id", "slug", "template"],
            shown,
            json!({
                "id": "1", "slug": "shop", "template": "customers", "project": "crm", "role": "keyed_admin", "items": "$",
                "external_key": "$.id", "key_prefix": null, "mapping": {"name": "$.name"}, "signed": true, "enabled": true,
                "created_at": AT, "updated_at": AT,
            }),
        ),
        "Endpoints": object(&["endpoints"], json!({"endpoints": list_of("Endpoint")}), json!({"endpoints": []})),
        "Trial": object(
            &["payload"],
            json!({"payload": {}, "items": text(), "external_key": text(), "key_prefix": text_or_null(), "mapping": mapping}),
            json!({"payload": {"id": 1, "name": "Ada"}}),
        ),
        "TrialResult": object(
            &["items", "created", "updated", "error"],
            json!({
                "items": {"type": "array", "items": {"type": "object"}}, "created": count(), "updated": count(),
                "error": {"type": ["object", "null"]},
            }),
            json!({"items": [{"external_key": "1", "attributes": {"name": "Ada"}}], "created": 1, "updated": 0, "error": null}),
        ),
        "Delivery": object(&["id", "status"], delivery, line.clone()),
        "Deliveries": object(
            &["deliveries", "next_cursor"],
            json!({"deliveries": list_of("Delivery"), "next_cursor": text_or_null()}),
            json!({"deliveries": [line], "next_cursor": null}),
        ),
        "Replayed": object(
            &["done", "failed", "next_cursor"],
            json!({"done": count(), "failed": count(), "next_cursor": text_or_null()}),
            json!({"done": 3, "failed": 0, "next_cursor": null}),
        ),
    })
}

fn caller() -> Value {
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

fn problems() -> Value {
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
