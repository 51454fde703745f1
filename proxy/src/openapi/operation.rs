//! One operation: parameters, body and answers, said in few words.

use serde_json::{Map, Value, json};

/// An operation on its way into the document.
pub(super) struct Operation {
    method: &'static str,
    path: String,
    value: Value,
    writes: bool,
    links: Vec<(String, Value)>,
}

/// Begins an operation of the API, below `/v1`: `id` names it in generated clients.
pub(super) fn operation(method: &'static str, path: &str, tag: &str, id: &str, summary: &str) -> Operation {
    let mut operation = bare(method, &format!("/v1{path}"), tag, id, summary);
    operation.refuse("401", "Unauthorized").refuse("403", "Forbidden").refuse("default", "Problem");
    if path.contains('{') {
        operation.refuse("404", "NotFound");
    }
    if path.contains("{template}") || !path.contains("/entities/{id}") {
        operation.parameter(json!({"$ref": "#/components/parameters/Project"}));
    }
    operation
}

/// Begins an operation that needs no key.
pub(super) fn open(method: &'static str, path: &str, tag: &str, id: &str, summary: &str) -> Operation {
    let mut operation = bare(method, path, tag, id, summary);
    operation.value["security"] = json!([]);
    operation.refuse("default", "Problem");
    operation
}

fn bare(method: &'static str, path: &str, tag: &str, id: &str, summary: &str) -> Operation {
    let value =
        json!({"operationId": id, "tags": [tag], "summary": summary, "parameters": [], "responses": {}});
    let mut operation = Operation { method, path: path.to_owned(), value, writes: false, links: Vec::new() };
    operation.refuse("429", "RateLimited");
    for name in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
        let (schema, description) = path_parameter(path, name);
        operation.parameter(json!({
            "name": name, "in": "path", "required": true, "schema": schema, "description": description,
        }));
    }
    operation
}

fn path_parameter(path: &str, name: &str) -> (Value, &'static str) {
    let text = json!({"type": "string"});
    match name {
        "template" => (text, "The template, by slug or number."),
        "id" if path.contains("deliveries") => (text, "The number of the delivery."),
        "id" => (json!({"type": "string", "format": "uuid"}), "The id of the record."),
        "slug" if path.contains("views") => (text, "The slug of the view."),
        "slug" => (text, "The slug of the attribute."),
        "endpoint" => (text, "The endpoint, by slug or number."),
        "token" => (text, "What was told when the endpoint was made."),
        _ => (text, ""),
    }
}

impl Operation {
    fn parameter(&mut self, parameter: Value) -> &mut Self {
        if let Some(parameters) = self.value["parameters"].as_array_mut() {
            parameters.push(parameter);
        }
        self
    }

    fn refuse(&mut self, status: &str, response: &str) -> &mut Self {
        self.value["responses"][status] = json!({"$ref": format!("#/components/responses/{response}")});
        self
    }

    /// Answers 503 while requests cannot be served.
    pub(super) fn unready(mut self) -> Self {
        self.refuse("503", "Problem");
        self
    }

    /// Says more than the summary.
    pub(super) fn says(mut self, description: &str) -> Self {
        self.value["description"] = json!(description);
        self
    }

    /// Takes a parameter in the query string.
    pub(super) fn query(mut self, name: &str, schema: Value, description: &str) -> Self {
        self.parameter(json!({"name": name, "in": "query", "schema": schema, "description": description}));
        self
    }

    /// Takes one that must be there.
    pub(super) fn required_query(mut self, name: &str, schema: Value, description: &str) -> Self {
        self.parameter(
            json!({"name": name, "in": "query", "required": true, "schema": schema, "description": description}),
        );
        self
    }

    /// Takes the parameters of a list that is read page by page; how many entries a page has unless told otherwise, and
    /// the most.
    pub(super) fn pages(self, (default, most): (u32, u32)) -> Self {
        let limit = json!({"type": "integer", "minimum": 1, "maximum": most, "default": default});
        let limited = self.query("limit", limit, "How many at most.");
        limited.query("cursor", json!({"type": "string"}), "`next_cursor` of the page before.")
    }

    /// Says which operation goes on from what is answered: its name, and where each of its parameters is found.
    pub(super) fn leads_to(mut self, operation: &str, parameters: &[(&str, &str)]) -> Self {
        let parameters: Map<String, Value> =
            parameters.iter().map(|(name, place)| ((*name).to_owned(), json!(place))).collect();
        self.links.push((operation.to_owned(), json!({"operationId": operation, "parameters": parameters})));
        self
    }

    /// Says so of the next page.
    pub(super) fn leads_on(self) -> Self {
        let operation = self.value["operationId"].as_str().unwrap_or_default().to_owned();
        let mut parameters = vec![("query.cursor".to_owned(), "$response.body#/next_cursor".to_owned())];
        for name in self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            parameters.push((format!("path.{name}"), format!("$request.path.{name}")));
        }
        let parameters: Vec<(&str, &str)> =
            parameters.iter().map(|(name, place)| (name.as_str(), place.as_str())).collect();
        self.leads_to(&operation, &parameters)
    }

    /// Takes a header.
    pub(super) fn header(mut self, name: &str, description: &str) -> Self {
        self.parameter(
            json!({"name": name, "in": "header", "schema": {"type": "string"}, "description": description}),
        );
        self
    }

    /// Takes a JSON body.
    pub(super) fn body(self, schema: &str) -> Self {
        self.any_body(schema, true)
    }

    /// Takes a JSON body that may be missing.
    pub(super) fn optional_body(self, schema: &str) -> Self {
        self.any_body(schema, false)
    }

    fn any_body(mut self, schema: &str, required: bool) -> Self {
        self.value["requestBody"] = json!({
            "required": required,
            "content": {"application/json": {"schema": {"$ref": format!("#/components/schemas/{schema}")}}},
        });
        self.refuse("400", "Malformed").refuse("413", "TooLarge").refuse("415", "UnsupportedMediaType");
        self.refuse("422", "Invalid");
        self
    }

    /// Takes a file.
    pub(super) fn file(mut self, types: &[&str]) -> Self {
        let content: Map<String, Value> = types
            .iter()
            .map(|kind| ((*kind).to_owned(), json!({"schema": {"type": "string", "format": "binary"}})))
            .collect();
        self.value["requestBody"] = json!({"required": true, "content": content});
        self.refuse("400", "Malformed").refuse("415", "UnsupportedMediaType").refuse("422", "Invalid");
        self
    }

    /// Writes: it may be sent again with an Idempotency-Key, and may meet others.
    pub(super) fn writes(mut self) -> Self {
        self.writes = true;
        self.parameter(json!({"$ref": "#/components/parameters/IdempotencyKey"}));
        self.refuse("409", "Conflict").refuse("422", "Invalid");
        self
    }

    /// Writes only to a record in a state that the caller knows.
    pub(super) fn if_match(mut self) -> Self {
        self.parameter(json!({"$ref": "#/components/parameters/IfMatch"}));
        self.refuse("412", "PreconditionFailed");
        self
    }

    /// Creates only, when asked to.
    pub(super) fn if_none_match(mut self) -> Self {
        self.parameter(json!({"$ref": "#/components/parameters/IfNoneMatch"}));
        self
    }

    /// Reads one record: the answer may be that the caller has it already.
    pub(super) fn revalidates(self) -> Self {
        let mut operation = self.if_none_match();
        operation.answer(304, json!({"description": "The caller has this answer already."}));
        operation.shows_one_record()
    }

    /// Answers with one record and its entity tag, or may do so.
    pub(super) fn shows_one_record(mut self) -> Self {
        for (status, response) in self.value["responses"].as_object_mut().into_iter().flatten() {
            if status.starts_with('2') || status == "304" {
                response["headers"]["ETag"] = json!({"$ref": "#/components/headers/ETag"});
            }
        }
        self
    }

    /// Answers JSON.
    pub(super) fn answers(mut self, status: u16, schema: &str, description: &str) -> Self {
        let schema = json!({"$ref": format!("#/components/schemas/{schema}")});
        self.answer(
            status,
            json!({
                "description": description, "content": {"application/json": {"schema": schema}},
            }),
        );
        self
    }

    /// Answers a file of one of these types.
    pub(super) fn answers_file(mut self, status: u16, types: &[&str], description: &str) -> Self {
        let content: Map<String, Value> =
            types.iter().map(|kind| ((*kind).to_owned(), json!({"schema": {"type": "string"}}))).collect();
        let mut response = json!({"description": description, "content": content});
        if let Some(known) = self.value["responses"][status.to_string()]["content"].as_object() {
            for (kind, schema) in known {
                response["content"][kind] = schema.clone();
            }
        }
        self.answer(status, response);
        self
    }

    /// Answers without a body.
    pub(super) fn answers_nothing(mut self, description: &str) -> Self {
        self.answer(204, json!({"description": description}));
        self
    }

    fn answer(&mut self, status: u16, mut response: Value) {
        if status == 201 {
            response["headers"]["Location"] = json!({"$ref": "#/components/headers/Location"});
        }
        if self.writes {
            response["headers"]["Idempotency-Replayed"] =
                json!({"$ref": "#/components/headers/IdempotencyReplayed"});
        }
        self.value["responses"][status.to_string()] = response;
    }

    /// Path, method, and everything else.
    pub(super) fn into_parts(mut self) -> (String, &'static str, Value) {
        let responses = self.value["responses"].as_object_mut().into_iter().flatten();
        for (_, response) in responses.filter(|(status, _)| status.starts_with('2')) {
            for (name, link) in &self.links {
                response["links"][name] = link.clone();
            }
        }
        (self.path, self.method, self.value)
    }
}

/// What the header Idempotency-Key is.
const IDEMPOTENCY_KEY: &str = r#"^([!#-~][!-~]{0,254}|"([ !#-\[\]-~]|\\["\\]){1,255}")$"#;

pub(super) fn shared_parameters() -> Value {
    json!({
        "Project": {
            "name": "X-Service-Project-Id", "in": "header", "schema": {"type": "string"}, "example": "crm",
            "description": "The project, by slug or number: needed wherever a template is named by its slug, unless the \
                API key is bound to one project.",
        },
        "IfMatch": {
            "name": "If-Match", "in": "header", "schema": {"type": "string"},
            "example": "\"44136fa355b3678a1146ad16f7e8649e\"",
            "description": "Entity tags as `ETag` gave them: the request is refused, and nothing is written, unless the \
                record is in a state with one of them. `*`: in any state, but there.",
        },
        "IfNoneMatch": {
            "name": "If-None-Match", "in": "header", "schema": {"type": "string"}, "example": "*",
            "description": "Of a read: entity tags of answers that the caller has; 304 when this would be one of them. Of \
                an upsert: `*`, and the record is created or the request refused.",
        },
        "IdempotencyKey": {
            "name": "Idempotency-Key", "in": "header",
            "schema": {"type": "string", "pattern": IDEMPOTENCY_KEY}, "example": "8e03978e-40d5-43dd-bc93",
            "description": "1 to 255 visible characters of ASCII, or a string in double quotes. Makes sending the request again harmless: it has one effect, and the same answer for 24 hours.",
        },
    })
}

pub(super) fn shared_headers() -> Value {
    json!({
        "Location": {"description": "Where what was created is found.", "schema": {"type": "string"}},
        "IdempotencyReplayed": {
            "description": "`true` when the request was run before, and this is what was answered then; of a record, \
                template or delivery that the caller may no longer see only `id` (a delivery: and `status`), of a view `slug`.",
            "schema": {"type": "string", "const": "true"},
        },
        "ETag": {
            "description": "The entity tag of the record: the same for the same state, another for every other. Where the \
                answer shows a record.",
            "schema": {"type": "string"},
        },
        "RateLimitLimit": {
            "description": "How many may be: requests of the key per second or at once, or failed authentications of \
                the address per minute.",
            "schema": {"type": "string"},
        },
        "RateLimitRemaining": {"description": "How many more may be now: none.", "schema": {"type": "string"}},
        "RateLimitReset": {"description": "Seconds until the whole allowance is there again.", "schema": {"type": "string"}},
        "RetryAfter": {"description": "In how many seconds to send the next request; obey this one.", "schema": {"type": "string"}},
        "WwwAuthenticate": {"description": "How to ask.", "schema": {"type": "string"}},
    })
}

pub(super) fn shared_responses() -> Value {
    let problem = |description: &str| {
        json!({
            "description": description,
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        })
    };
    let mut responses = json!({
        "Malformed": problem("`malformed_request`, `project_required`: it cannot be read as a request."),
        "Unauthorized": problem("`unauthorized`: the API key is missing, unknown, revoked or expired."),
        "Forbidden": problem("`forbidden`: the key's role lacks the right. `quota_exceeded`: the project has as much as it may have."),
        "NotFound": problem("`not_found`: missing, deleted, or out of the caller's sight."),
        "Conflict": problem("`external_key_taken`, `conflict`; `request_in_progress`: a request with this Idempotency-Key is being run."),
        "PreconditionFailed": problem("`precondition_failed`: the record is in another state than If-Match or If-None-Match allows; nothing was written."),
        "TooLarge": problem("`payload_too_large`: beyond a limit."),
        "UnsupportedMediaType": problem("`unsupported_media_type`: the body is not of a type that is read here."),
        "Invalid": problem("It was read and refused; `errors` points at each fault. `idempotency_key_reused`: the Idempotency-Key came with another request before."),
        "RateLimited": problem("`rate_limited`: more than one API key may send or have in flight, or too many wrong keys from one address. Nothing was done; send it again after `Retry-After`."),
        "Problem": problem("Any other refusal or failure; 503 and 504 may be sent again."),
    });
    responses["Unauthorized"]["headers"]["WWW-Authenticate"] =
        json!({"$ref": "#/components/headers/WwwAuthenticate"});
    for (name, header) in [
        ("RateLimit-Limit", "RateLimitLimit"),
        ("RateLimit-Remaining", "RateLimitRemaining"),
        ("RateLimit-Reset", "RateLimitReset"),
    ] {
        let header = json!({"$ref": format!("#/components/headers/{header}")});
        responses["RateLimited"]["headers"][name] = header;
    }
    for name in ["Conflict", "RateLimited", "Problem"] {
        responses[name]["headers"]["Retry-After"] = json!({"$ref": "#/components/headers/RetryAfter"});
    }
    responses
}
