//! Templates and saved views.

use super::{AT, answered, described, flag, list_of, schema, sent, text, text_or_null, time};
use serde_json::{Value, json};

pub(super) fn templates() -> Value {
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
    let mut answer = attribute.clone();
    answer["options"]["items"] = json!({"type": "object", "required": ["value"], "properties": {"value": text(), "label": text_or_null()}});
    let embed = json!({"type": ["array", "null"], "items": text(), "description": "The attributes that are embedded."});
    json!({
        "Attribute": answered(&["id", "slug", "type", "label", "required", "indexed"], answer, shown.clone()),
        "NewAttribute": sent(&["slug", "type"], attribute, json!({"slug": "name", "type": "string", "label": "Name"})),
        "AttributeChange": sent(&["slug"], changed, json!({"slug": "name", "label": "Full name"})),
        "Template": answered(
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
        "NewTemplate": sent(
            &["slug"],
            json!({
                "id": text(), "slug": text(), "label": text_or_null(), "project": text(), "display": text_or_null(),
                "language": text(), "embed": embed, "attributes": list_of("NewAttribute"), "created_at": time(), "updated_at": time(),
            }),
            json!({"slug": "customers", "attributes": [{"slug": "name", "type": "string"}]}),
        ),
        "TemplateChange": sent(
            &[],
            json!({
                "label": text_or_null(), "display": text_or_null(), "language": text(), "embed": embed,
                "attributes": list_of("AttributeChange"),
                "rename": {"type": "object", "additionalProperties": text()}, "drop": {"type": "array", "items": text()},
            }),
            json!({"rename": {"name": "full_name"}, "drop": ["fax"], "attributes": [{"slug": "city", "type": "string"}]}),
        ),
        "Templates": answered(&["templates"], json!({"templates": list_of("Template")}), json!({"templates": []})),
    })
}

pub(super) fn views() -> Value {
    let query = json!({"filters": [{"field": "city", "operator": "eq", "value": "Bern"}]});
    json!({
        "NewView": sent(
            &["query"],
            json!({
                "slug": text(), "label": text_or_null(), "query": schema("Search"), "sql_view": text_or_null(),
                "created_at": time(), "updated_at": time(),
            }),
            json!({"slug": "bernese", "label": "From Bern", "query": query}),
        ),
        "View": answered(
            &["slug", "label", "query", "sql_view", "created_at", "updated_at"],
            json!({
                "slug": text(), "label": text_or_null(), "query": schema("SavedSearch"),
                "sql_view": json!({"type": ["string", "null"], "description": "The view of PostgreSQL that shows the same."}),
                "created_at": time(), "updated_at": time(),
            }),
            json!({
                "slug": "bernese", "label": "From Bern", "query": query, "sql_view": "crm.customers__bernese",
                "created_at": AT, "updated_at": AT,
            }),
        ),
        "Views": answered(&["views"], json!({"views": list_of("View")}), json!({"views": []})),
    })
}
