//! What bodies look like, each with an example.

/// Who asks, and what is told when something is refused.
mod caller;
/// Templates and saved views.
mod definitions;
/// Inbound endpoints and their deliveries.
mod inbound;
/// Records, their history and their series.
mod records;
/// Searches, imports and exports.
mod searches;

use serde_json::{Map, Value, json};

const ID: &str = "01931f3e-5b2a-8c00-8000-000710f2a9c4";
const AT: &str = "2026-01-31T12:00:00.000000Z";

pub(super) fn all() -> Value {
    let mut schemas = Map::new();
    for part in [
        records::records(),
        searches::searches(),
        searches::files(),
        definitions::templates(),
        definitions::views(),
        inbound::inbound(),
        caller::caller(),
        caller::problems(),
    ] {
        if let Value::Object(part) = part {
            schemas.extend(part);
        }
    }
    Value::Object(schemas)
}

/// What a caller sends: an object with exactly these properties, since a name that is not known is refused.
fn sent(required: &[&str], properties: Value, example: Value) -> Value {
    json!({
        "type": "object", "required": required, "properties": properties, "additionalProperties": false,
        "examples": [example],
    })
}

/// What is answered: an object with these properties. A later version may add some, which no client may stumble over; the
/// tests of this version allow none.
fn answered(required: &[&str], properties: Value, example: Value) -> Value {
    json!({"type": "object", "required": required, "properties": properties, "examples": [example]})
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
