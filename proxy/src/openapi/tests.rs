//! The document is consistent: references resolve, and examples are valid.

use std::collections::HashSet;

use keyed_errors::Code;
use serde_json::json;

use super::*;

/// Every operation, with its path and method.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let paths = document["paths"].as_object().expect("paths");
    paths
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().expect("methods").iter();
            methods.map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
        })
        .collect()
}

fn references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn every_reference_resolves_and_every_component_is_used() {
    let document = document();
    let mut found = Vec::new();
    references(&document, &mut found);
    for reference in &found {
        let pointer = reference.strip_prefix('#').expect("a reference within the document");
        assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
    for (kind, components) in document["components"].as_object().expect("components") {
        for name in components.as_object().expect("components").keys().filter(|_| kind != "securitySchemes") {
            let reference = format!("#/components/{kind}/{name}");
            assert!(found.contains(&reference.as_str()), "nothing refers to {reference}");
        }
    }
}

#[test]
fn document_describes_every_error_code_and_status() {
    let document = document();
    for schema in ["Problem", "OperationProblem"] {
        let codes = &document["components"]["schemas"][schema]["properties"]["code"]["x-extensible-enum"];
        let codes = codes.as_array().expect("a list of codes");
        for code in Code::ALL {
            assert!(codes.contains(&json!(code.name())), "{schema} does not list {}", code.name());
        }
    }
    let mut described = HashSet::new();
    for (path, method, operation) in operations(&document) {
        for (status, response) in operation["responses"].as_object().expect("responses") {
            let Some(response) = response["$ref"].as_str() else { continue };
            assert!(response.starts_with("#/components/responses/"), "{method} {path}: {response}");
            described.insert(status.clone());
        }
    }
    // These codes are covered by `default`: they concern the service, not the request.
    let general = [405, 408, 500, 504];
    for code in Code::ALL.iter().filter(|code| !general.contains(&code.status())) {
        assert!(described.contains(&code.status().to_string()), "no operation returns {}", code.status());
    }
}

#[test]
fn operation_lists_its_errors() {
    let document = document();
    for (path, method, operation) in operations(&document) {
        let has = |status: &str| !operation["responses"][status].is_null();
        let takes = |name: &str| {
            let reference = format!("#/components/parameters/{name}");
            operation["parameters"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|it| it["$ref"] == reference.as_str())
        };
        let mut needed = vec!["429", "default"];
        let needs_key = operation["security"].is_null();
        if needs_key {
            needed.extend(["401", "403"]);
            if path.contains('{') {
                needed.push("404");
            }
        }
        if !operation["requestBody"].is_null() {
            needed.extend(["400", "415", "422"]);
        }
        if takes("IdempotencyKey") {
            needed.extend(["409", "422"]);
        }
        if takes("IfMatch") {
            needed.push("412");
        }
        for status in needed {
            assert!(has(status), "{method} {path} does not describe {status}");
        }
    }
}

#[test]
fn every_operation_has_a_unique_id_a_tag_and_a_response() {
    let document = document();
    let tags: Vec<&Value> =
        document["tags"].as_array().expect("tags").iter().map(|tag| &tag["name"]).collect();
    let mut names = HashSet::new();
    for (path, method, operation) in operations(&document) {
        let name = operation["operationId"].as_str().expect("a name");
        assert!(names.insert(name), "{name} is given twice");
        assert!(tags.contains(&&operation["tags"][0]), "{method} {path}");
        let responses = operation["responses"].as_object().expect("responses");
        assert!(responses.keys().any(|status| status.starts_with('2')), "{method} {path}");
        assert!(responses.contains_key("default"), "{method} {path}");
    }
}

#[test]
fn path_parameters_match_the_path() {
    let document = document();
    for (path, method, operation) in operations(&document) {
        let in_path: Vec<&str> =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        let parameters = operation["parameters"].as_array().expect("parameters").iter();
        let described: Vec<&str> =
            parameters.filter(|it| it["in"] == "path").filter_map(|it| it["name"].as_str()).collect();
        assert_eq!(described, in_path, "{method} {path}");
    }
}

#[test]
fn every_link_has_an_operation_and_its_parameters() {
    let document = document();
    let mut count = 0;
    for (path, method, operation) in operations(&document) {
        for response in operation["responses"].as_object().expect("responses").values() {
            for link in response["links"].as_object().into_iter().flatten().map(|(_, link)| link) {
                count += 1;
                let target = operations(&document).into_iter().map(|(_, _, it)| it);
                let target = target.into_iter().find(|it| it["operationId"] == link["operationId"]);
                let target = target.unwrap_or_else(|| panic!("{method} {path}: {link} leads nowhere"));
                for name in link["parameters"].as_object().expect("parameters").keys() {
                    let (location, name) = name.split_once('.').expect("a location and a name");
                    let mut known = target["parameters"].as_array().expect("parameters").iter();
                    assert!(
                        known.any(|it| it["in"] == location && it["name"] == name),
                        "{method} {path}: {link}"
                    );
                }
            }
        }
    }
    assert!(count > 20, "{count}");
}

/// The schemas that responses use, by reference.
fn response_schemas(document: &Value) -> HashSet<String> {
    let mut found = Vec::new();
    for (_, _, operation) in operations(document) {
        references(&operation["responses"], &mut found);
    }
    let mut names = HashSet::new();
    while let Some(reference) = found.pop() {
        if names.insert(reference.to_owned()) {
            let pointer = reference.strip_prefix('#').expect("a reference within the document");
            references(document.pointer(pointer).expect("it is there"), &mut found);
        }
    }
    names
}

#[test]
fn response_schemas_allow_additional_members() {
    fn is_closed(schema: &Value) -> bool {
        match schema {
            Value::Object(members) => {
                members.get("additionalProperties") == Some(&Value::Bool(false))
                    || members.values().any(is_closed)
            }
            Value::Array(items) => items.iter().any(is_closed),
            _ => false,
        }
    }
    let document = document();
    // Schemas of request members that responses repeat stay closed.
    let echoed = ["Comparison", "AllOf", "AnyOf", "Negation", "SortField", "AttributeFormat"];
    for reference in response_schemas(&document) {
        let name = reference.rsplit('/').next().expect("a name");
        let schema = document.pointer(&reference[1..]).expect("it is there");
        assert!(echoed.contains(&name) || !is_closed(schema), "{name} allows no additional members");
    }
}

#[test]
fn idempotency_key_pattern_equals_the_parser() {
    let document = document();
    let schema = &document["components"]["parameters"]["IdempotencyKey"]["schema"];
    let validator = jsonschema::validator_for(schema).expect("a schema");
    for key in ["a", "8e03978e-40d5", "\"a b\"", "\"a\\\"b\"", &"x".repeat(255)] {
        assert!(validator.is_valid(&json!(key)), "{key}");
    }
    for key in ["", "a b", "\"\"", "\"a\"b\"", "ä", &"x".repeat(256)] {
        assert!(!validator.is_valid(&json!(key)), "{key}");
    }
}

#[test]
fn every_schema_has_a_valid_example() {
    let document = document();
    for (name, schema) in document["components"]["schemas"].as_object().expect("schemas") {
        let examples = schema["examples"].as_array().unwrap_or_else(|| panic!("{name} has no example"));
        let root =
            json!({"$ref": format!("#/components/schemas/{name}"), "components": document["components"]});
        let validator = jsonschema::draft202012::options().should_validate_formats(true).build(&root);
        let validator = validator.unwrap_or_else(|error| panic!("{name} is not a schema: {error}"));
        for example in examples {
            let errors: Vec<String> = validator.iter_errors(example).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{name}: {errors:?}");
        }
    }
}

#[cfg(not(feature = "ui"))]
#[test]
fn reference_page_shows_every_operation_without_scripts() {
    let page = page::render(&document());
    for (path, _, operation) in operations(&document()) {
        let name = operation["operationId"].as_str().expect("a name");
        assert!(page.contains(&format!("<details id=\"{name}\">")) && page.contains(path), "{name}");
    }
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("https://"));
}
