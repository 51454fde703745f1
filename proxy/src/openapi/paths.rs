//! Every path, by noun and in the order in which a reader needs them.

use serde_json::json;

use super::operation::{Operation, open, operation};

/// The nouns, and what each is about.
pub(super) const TAGS: [(&str, &str); 9] = [
    ("Records by key", "Records, by the id that another system gave them."),
    ("Records", "Records, by their own id."),
    ("Search", "Finding records."),
    ("Files", "Records in and out as CSV or NDJSON."),
    ("Templates", "What records of a kind look like."),
    ("Views", "Saved searches."),
    ("Inbound endpoints", "Deliveries of other systems."),
    ("Caller", "What an API key may do, and where."),
    ("Service", "The service itself."),
];

pub(super) fn all() -> Vec<Operation> {
    [by_key(), records(), search(), files(), templates(), views(), inbound(), caller(), service()]
        .into_iter()
        .flatten()
        .collect()
}

/// Where the id of a record is found in what is answered.
const RECORD: [(&str, &str); 1] = [("path.id", "$response.body#/id")];

/// Says what can be done with the record whose id is answered.
fn record(operation: Operation) -> Operation {
    ["getRecord", "patchRecord", "deleteRecord", "getHistory"]
        .into_iter()
        .fold(operation, |operation, next| operation.leads_to(next, &RECORD))
}

/// The parameters of a read of one record.
fn shaped(operation: Operation) -> Operation {
    operation
        .query(
            "fields",
            json!({"type": "string"}),
            "The names to keep, with commas; id, template_slug and external_key always come.",
        )
        .query(
            "verbose",
            json!({"type": "boolean"}),
            "Adds `attribute_values`, with types, labels and what references name.",
        )
}

fn by_key() -> Vec<Operation> {
    let (tag, path) = ("Records by key", "/entities/template/{template}/by-key");
    let key = |operation: Operation| {
        operation.required_query("key", json!({"type": "string"}), "The external key.")
    };
    vec![
        record(operation(
            "put",
            path,
            tag,
            "upsertRecord",
            "Create the record with this key, or update the one that holds it",
        ))
        .says("Sending the same key twice lands on the same record. An update changes only what is listed.")
        .query("mode", json!({"enum": ["upsert", "create", "update"]}), "Allows one branch only.")
        .query("return", json!({"const": "record"}), "Adds the whole record to the answer.")
        .body("Upsert")
        .writes()
        .if_match()
        .if_none_match()
        .answers(201, "Upserted", "A record was created.")
        .answers(200, "Upserted", "The record that holds the key was updated, or had these values already.")
        .shows_one_record(),
        shaped(key(record(operation(
            "get",
            path,
            tag,
            "getRecordByKey",
            "Read the live record that holds a key",
        ))))
        .answers(200, "Record", "The record.")
        .revalidates(),
        key(operation("delete", path, tag, "deleteRecordByKey", "Delete the live record that holds a key"))
            .writes()
            .if_match()
            .answers_nothing("It is deleted, and its key is free."),
    ]
}

fn records() -> Vec<Operation> {
    let tag = "Records";
    let id = "/entities/{id}";
    vec![
        record(operation("post", "/entities/template/{template}", tag, "createRecord", "Create a record"))
            .body("NewRecord")
            .writes()
            .answers(201, "Record", "The record.")
            .shows_one_record(),
        shaped(operation("get", id, tag, "getRecord", "Read a record"))
            .query("include_deleted", json!({"type": "boolean"}), "Deleted records too.")
            .answers(200, "Record", "The record.")
            .revalidates(),
        operation("patch", id, tag, "patchRecord", "Change what is listed")
            .says("A key is set by a string, cleared by null, and left alone when absent. `{\"$inc\": 1}` adds to a number.")
            .body("RecordChange")
            .writes()
            .if_match()
            .answers(200, "Record", "The record.")
            .shows_one_record(),
        operation("put", id, tag, "replaceRecord", "Replace all attribute values")
            .says("What is not listed becomes null; the key stays.")
            .body("Replacement")
            .writes()
            .if_match()
            .answers(200, "Record", "The record.")
            .shows_one_record(),
        operation("delete", id, tag, "deleteRecord", "Delete a record")
            .says("It is marked as deleted and releases its key; its history stays.")
            .writes()
            .if_match()
            .answers_nothing("It is deleted."),
        operation("post", "/entities/{id}/restore", tag, "restoreRecord", "Bring a deleted record back")
            .optional_body("Restoration")
            .writes()
            .if_match()
            .answers(200, "Record", "The record.")
            .shows_one_record(),
        operation("put", "/entities/{id}/embedding", tag, "setEmbedding", "Set a record's embedding")
            .body("Embedding")
            .writes()
            .if_match()
            .answers_nothing("It is set."),
        operation("delete", "/entities/{id}/embedding", tag, "deleteEmbedding", "Remove a record's embedding")
            .writes()
            .if_match()
            .answers_nothing("There is none any more."),
        operation("get", "/entities/{id}/history", tag, "getHistory", "What happened to a record, newest first")
            .pages((100, 1000))
            .leads_on()
            .answers(200, "History", "One page."),
        operation("get", "/entities/{id}/metrics/{slug}", tag, "getSeries", "The series of a metric, oldest first")
            .query("from", json!({"type": "string", "format": "date-time"}), "From then on.")
            .query("to", json!({"type": "string", "format": "date-time"}), "Before then.")
            .query("bucket", json!({"type": "string", "examples": ["30s", "5m", "1h", "1d"]}), "Points are gathered by this span of time.")
            .query("aggregate", json!({"enum": ["avg", "min", "max", "sum", "count", "last"]}), "What becomes of the points of a bucket.")
            .pages((1000, 10_000))
            .leads_on()
            .answers(200, "Series", "One page."),
        operation("post", "/entities/batch", tag, "runBatch", "Many operations at once")
            .says("With `atomic`, the first refused operation undoes all and is answered with its `failed_index`.")
            .body("Batch")
            .writes()
            .answers(200, "BatchReport", "What became of each operation, in their order."),
    ]
}

fn search() -> Vec<Operation> {
    let tag = "Search";
    vec![
        operation("post", "/entities/search/{template}", tag, "search", "Find records by words and filters")
            .body("Search")
            .answers(200, "SearchResult", "One page."),
        operation("post", "/entities/semantic-search", tag, "semanticSearch", "Find records by meaning")
            .body("SemanticSearch")
            .answers(200, "SemanticResult", "The most similar first."),
    ]
}

fn files() -> Vec<Operation> {
    let tag = "Files";
    let format = json!({"enum": ["csv", "ndjson"]});
    let types = ["text/csv", "application/x-ndjson"];
    let path = "/entities/template/{template}/export";
    vec![
        operation("post", "/entities/template/{template}/import", tag, "importRecords", "Import a file of any size")
            .says("Rows with keys are safe to send again. An `Idempotency-Key` does not count here.")
            .query("dry_run", json!({"type": "boolean"}), "Applies every rule, and writes nothing.")
            .query("on_error", json!({"enum": ["abort", "skip"]}), "Whether one refused row refuses all.")
            .query("mapping", json!({"type": "string", "contentMediaType": "application/json"}), "`{\"Column\": \"slug\"}`")
            .query("key_column", json!({"type": "string"}), "The column that holds the key.")
            .query("key_prefix", json!({"type": "string"}), "What every key begins with.")
            .query("delimiter", json!({"type": "string"}), "What stands between the cells of a CSV file.")
            .query("encoding", json!({"type": "string"}), "The encoding of the file, such as windows-1252.")
            .file(&types)
            .answers(200, "ImportReport", "What became of the rows.")
            .answers_file(200, &types, "What became of the rows; as it happens when `Accept` asks for NDJSON, the refused rows when it asks for CSV."),
        operation("get", path, tag, "exportRecords", "Export records as a file")
            .query("format", format.clone(), "The form of the file.")
            .query("view", json!({"type": "string"}), "Only the records of a saved view.")
            .answers_file(200, &types, "The file."),
        operation("post", path, tag, "exportSearch", "Export what a search finds as a file")
            .query("format", format, "The form of the file.")
            .optional_body("ExportedSearch")
            .answers_file(200, &types, "The file."),
    ]
}

fn templates() -> Vec<Operation> {
    let (tag, one) = ("Templates", "/templates/{template}");
    vec![
        operation("get", "/templates", tag, "listTemplates", "The templates that the caller may know")
            .answers(200, "Templates", "All of them."),
        operation("post", "/templates", tag, "createTemplate", "Define a template")
            .body("NewTemplate")
            .writes()
            .leads_to("getTemplate", &[("path.template", "$response.body#/id")])
            .leads_to("createRecord", &[("path.template", "$response.body#/id")])
            .leads_to("upsertRecord", &[("path.template", "$response.body#/id")])
            .answers(201, "Template", "The template."),
        operation("get", one, tag, "getTemplate", "Read a template").answers(
            200,
            "Template",
            "The template.",
        ),
        operation("patch", one, tag, "alterTemplate", "Change a template while others write")
            .body("TemplateChange")
            .writes()
            .answers(200, "Template", "The template."),
        operation("delete", one, tag, "dropTemplate", "Remove a template without live records")
            .writes()
            .answers_nothing("It is gone."),
    ]
}

fn views() -> Vec<Operation> {
    let (tag, all) = ("Views", "/templates/{template}/views");
    let one = "/templates/{template}/views/{slug}";
    vec![
        operation("get", all, tag, "listViews", "The saved views of a template").answers(
            200,
            "Views",
            "All of them.",
        ),
        operation("post", all, tag, "createView", "Save a search under a name")
            .body("NewView")
            .writes()
            .leads_to(
                "getView",
                &[("path.template", "$request.path.template"), ("path.slug", "$response.body#/slug")],
            )
            .answers(201, "View", "The view."),
        operation("get", one, tag, "getView", "Read a saved view").answers(200, "View", "The view."),
        operation("put", one, tag, "saveView", "Save a search in place of the one of this name")
            .body("NewView")
            .writes()
            .answers(200, "View", "The view.")
            .answers(201, "View", "There was none of that name."),
        operation("delete", one, tag, "dropView", "Remove a saved view")
            .writes()
            .answers_nothing("It is gone."),
    ]
}

fn inbound() -> Vec<Operation> {
    let (tag, all) = ("Inbound endpoints", "/inbound-endpoints");
    let one = "/inbound-endpoints/{endpoint}";
    let log = "/inbound-endpoints/{endpoint}/deliveries";
    vec![
        open("post", "/v1/inbound/{token}", tag, "deliver", "Deliver a payload")
            .says("For the other system. With the same `webhook-id` again it has no second effect.")
            .header("webhook-id", "Tells a delivery from others.")
            .header("webhook-timestamp", "When it was signed, in seconds since 1970.")
            .header("webhook-signature", "`v1,` and the HMAC-SHA256 of id, timestamp and body, as Standard Webhooks has it.")
            .body("Payload")
            .answers(200, "Delivered", "It was written, now or the first time it came.")
            .answers(202, "Kept", "It was refused, and is kept to be replayed."),
        operation("get", all, tag, "listEndpoints", "The endpoints that the caller may configure")
            .answers(200, "Endpoints", "All of them."),
        operation("post", all, tag, "createEndpoint", "Make an address to which another system delivers")
            .says("Token and secret are told now and never again: an `Idempotency-Key` does not keep this answer.")
            .body("NewEndpoint")
            .leads_to("getEndpoint", &[("path.endpoint", "$response.body#/id")])
            .leads_to("listDeliveries", &[("path.endpoint", "$response.body#/id")])
            .leads_to("deliver", &[("path.token", "$response.body#/token")])
            .answers(201, "Endpoint", "The endpoint."),
        operation("get", one, tag, "getEndpoint", "Read an endpoint").answers(200, "Endpoint", "The endpoint."),
        operation("patch", one, tag, "alterEndpoint", "Change an endpoint")
            .body("EndpointChange")
            .answers(200, "Endpoint", "The endpoint, with its new token or secret."),
        operation("delete", one, tag, "dropEndpoint", "Remove an endpoint with its log")
            .writes()
            .answers_nothing("It is gone."),
        operation("post", "/inbound-endpoints/{endpoint}/dry-run", tag, "dryRun", "See what a payload would become")
            .body("Trial")
            .answers(200, "TrialResult", "Nothing of it stays."),
        operation("get", log, tag, "listDeliveries", "What was delivered, newest first")
            .query("status", json!({"enum": ["done", "failed"]}), "Only these.")
            .pages((50, 500))
            .leads_on()
            .answers(200, "Deliveries", "One page."),
        operation("get", "/inbound-endpoints/{endpoint}/deliveries/{id}", tag, "getDelivery", "A delivery with its payload")
            .answers(200, "Delivery", "The delivery."),
        operation("post", "/inbound-endpoints/{endpoint}/deliveries/{id}/replay", tag, "replayDelivery", "Take a failed delivery again")
            .writes()
            .answers(200, "Delivery", "It is done.")
            .answers(202, "Delivery", "It failed again."),
        operation("post", "/inbound-endpoints/{endpoint}/deliveries/replay", tag, "replayFailed", "Take up to 100 failed deliveries again, oldest first")
            .query("cursor", json!({"type": "string"}), "`next_cursor` of the call before.")
            .writes()
            .leads_on()
            .answers(200, "Replayed", "How they went."),
    ]
}

fn caller() -> Vec<Operation> {
    vec![
        operation("get", "/me", "Caller", "getMe", "What this API key may do").answers(
            200,
            "Me",
            "Its role and rights.",
        ),
        operation("get", "/projects", "Caller", "listProjects", "The projects that this API key sees")
            .answers(200, "Projects", "All of them."),
    ]
}

fn service() -> Vec<Operation> {
    let tag = "Service";
    vec![
        open("get", "/healthz", tag, "isAlive", "Whether the process runs").answers(200, "Alive", "It does."),
        open(
            "get",
            "/readyz",
            tag,
            "isReady",
            "Whether requests can be served: the database answers, is migrated, and has a version that fits",
        )
        .answers(200, "Ready", "They can.")
        .unready(),
        open("get", "/openapi.json", tag, "getDocument", "This document").answers(
            200,
            "Document",
            "OpenAPI 3.1.",
        ),
        open("get", "/docs", tag, "getPage", "This document as a page").answers_file(
            200,
            &["text/html"],
            "HTML.",
        ),
    ]
}
