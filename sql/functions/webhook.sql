-- Webhook endpoints. Each function needs keyed_admin.

create function keyed.create_webhook_endpoint(project text, definition jsonb) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_create_webhook_endpoint';
comment on function keyed.create_webhook_endpoint(text, jsonb) is
  'Creates an endpoint to which changes of a project are delivered as Standard Webhooks. definition: {"slug", "url", "templates"?: [slug] (all), "operations"?: [create|update|delete|restore|gone] (all), "filter"?: as a scope, with exactly one template, "role"?: whose rights decide what is delivered (default: that of the caller; keyed_admin for a superuser), "include_record"? (false), "enabled"? (true), "secret"?, "from"?: "now" or "start" ("now")}. Returns it with its secret, which is shown once. Errors: 22023 with a pointer to each error, 23505 if the project already has an endpoint with this slug. Needs keyed_admin.';

create function keyed.list_webhook_endpoints(project text default null) returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_list_webhook_endpoints';
comment on function keyed.list_webhook_endpoints(text) is
  'Lists the webhook endpoints of a project (null: all): {"endpoints": [{"id", "slug", "project", "url", "templates", "operations", "filter", "role", "include_record", "enabled", "disabled_at", "disabled_reason", "last_success_at", "failing_since", "pending", "failed", "previous_secret_until", "created_at", "updated_at"}]}. Needs keyed_admin.';

create function keyed.alter_webhook_endpoint(id integer, changes jsonb) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_alter_webhook_endpoint';
comment on function keyed.alter_webhook_endpoint(integer, jsonb) is
  'Changes the listed members, as in create_webhook_endpoint. "rotate_secret": true generates a new secret; deliveries are signed with the old one as well for 24 hours. "enabled": true continues where the endpoint was disabled. "from": "now" drops what waits and continues with new changes; "start" delivers everything again. Returns the endpoint, with a new secret. Error P0002 if the endpoint does not exist. Needs keyed_admin.';

create function keyed.drop_webhook_endpoint(id integer) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_drop_webhook_endpoint';
comment on function keyed.drop_webhook_endpoint(integer) is
  'Drops a webhook endpoint and its deliveries. Error P0002 if the endpoint does not exist. Needs keyed_admin.';

create function keyed.test_webhook_endpoint(id integer) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_test_webhook_endpoint';
comment on function keyed.test_webhook_endpoint(integer) is
  'Queues a delivery of the type test, which is sent once, also to a disabled endpoint. Returns its entry in the log; keyed.webhook_deliveries shows the outcome. Error P0002 if the endpoint does not exist. Needs keyed_admin.';

create function keyed.webhook_deliveries(
  id integer, state text default null, page_size integer default null, cursor text default null)
  returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_webhook_deliveries';
comment on function keyed.webhook_deliveries(integer, text, integer, text) is
  'Lists the deliveries to a webhook endpoint, newest first: {"deliveries": [{"id", "record_id", "operation", "state", "attempts", "next_attempt_at", "last_status", "last_error", "response", "duration_ms", "created_at", "finished_at"}], "next_cursor"}. state: pending, running, done or failed; page_size: 1 to 500 (50). The last 1,000 that are done and the last 10,000 that failed are kept. Needs keyed_admin.';

create function keyed.replay_webhook_delivery(id uuid) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_replay_webhook_delivery';
comment on function keyed.replay_webhook_delivery(uuid) is
  'Sends a delivery again, or one that waits for its next attempt at once. Returns its entry in the log. Errors: P0002 if the delivery does not exist, 23505 if it is being sent. Needs keyed_admin.';

create function keyed_http.create_webhook_endpoint(body text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_create_webhook_endpoint';
comment on function keyed_http.create_webhook_endpoint(text) is 'POST /webhook-endpoints.';

create function keyed_http.list_webhook_endpoints() returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_list_webhook_endpoints';
comment on function keyed_http.list_webhook_endpoints() is 'GET /webhook-endpoints.';

create function keyed_http.get_webhook_endpoint(endpoint text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_get_webhook_endpoint';
comment on function keyed_http.get_webhook_endpoint(text) is 'GET /webhook-endpoints/{endpoint}.';

create function keyed_http.alter_webhook_endpoint(endpoint text, body text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_alter_webhook_endpoint';
comment on function keyed_http.alter_webhook_endpoint(text, text) is 'PATCH /webhook-endpoints/{endpoint}.';

create function keyed_http.drop_webhook_endpoint(endpoint text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_drop_webhook_endpoint';
comment on function keyed_http.drop_webhook_endpoint(text) is 'DELETE /webhook-endpoints/{endpoint}.';

create function keyed_http.test_webhook_endpoint(endpoint text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_test_webhook_endpoint';
comment on function keyed_http.test_webhook_endpoint(text) is 'POST /webhook-endpoints/{endpoint}/test.';

create function keyed_http.webhook_deliveries(endpoint text, state text, page_size integer, cursor text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_webhook_deliveries';
comment on function keyed_http.webhook_deliveries(text, text, integer, text) is
  'GET /webhook-endpoints/{endpoint}/deliveries.';

create function keyed_http.get_webhook_delivery(endpoint text, id text) returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_get_webhook_delivery';
comment on function keyed_http.get_webhook_delivery(text, text) is 'GET /webhook-endpoints/{endpoint}/deliveries/{id}.';

create function keyed_http.replay_webhook_delivery(endpoint text, id text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_replay_webhook_delivery';
comment on function keyed_http.replay_webhook_delivery(text, text) is
  'POST /webhook-endpoints/{endpoint}/deliveries/{id}/replay.';

create function keyed_http.queue_webhooks() returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_queue_webhooks';
comment on function keyed_http.queue_webhooks() is
  'For a worker that delivers webhooks: queues the deliveries of new changes. {queued, has_more}. Needs keyed_admin.';

create function keyed_http.claim_webhooks(max_deliveries integer, lease integer, max_in_flight integer default 10)
  returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_claim_webhooks';
comment on function keyed_http.claim_webhooks(integer, integer, integer) is
  'Claims up to max_deliveries due deliveries for lease seconds, so that an endpoint has at most max_in_flight (1 to 10) in flight: {claim, deliveries: [{id, endpoint, url, body, secrets}], is_settled}. A delivery is due when no earlier one of the same record to the same endpoint is unfinished. Needs keyed_admin.';

create function keyed_http.finish_webhook(
  claim text, id text, status integer, error text, response text, retry_after integer, duration integer)
  returns boolean
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_finish_webhook';
comment on function keyed_http.finish_webhook(text, text, integer, text, text, integer, integer) is
  'Stores the outcome of a claimed delivery: the HTTP status of the response, or why there is none, and the beginning of the response. Returns false and stores nothing if the claim was lost. Needs keyed_admin.';
