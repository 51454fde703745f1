-- Functions that keyed-proxy calls. Request and response bodies are text that the proxy passes unchanged. A function that
-- writes returns {status, id for Location or null, body or null, entity tag if the body shows a record, subject}; see
-- extension/src/value/written.rs for the subject. if_match and if_none_match are the values of these headers. Each function
-- uses the principal that keyed.authenticate has set.

create schema keyed_http;
comment on schema keyed_http is 'The functions behind the HTTP routes of keyed-proxy. SQL users use those of the schema keyed.';
grant usage on schema keyed_http to public;

create function keyed_http.name_request(request_id text) returns boolean
  language c volatile parallel restricted as 'MODULE_PATHNAME', 'keyed_http_name_request';
comment on function keyed_http.name_request(text) is
  'Shows the id of an HTTP request in pg_stat_activity.application_name, as "keyed <id>", until the transaction ends. Returns true. For the logins of keyed_proxy, and superusers.';

create function keyed_http.key_owner() returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_key_owner';
comment on function keyed_http.key_owner() is
  'The API key of this transaction: {id, role, project if it is limited to one}, or null without a key. For the access log of the proxy.';

create function keyed_http.create_template(body text, dry_run boolean default false) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_create_template';
comment on function keyed_http.create_template(text, boolean) is 'POST /templates.';

create function keyed_http.get_template(template text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_get_template';
comment on function keyed_http.get_template(text) is 'GET /templates/{template}.';

create function keyed_http.list_templates() returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_list_templates';
comment on function keyed_http.list_templates() is 'GET /templates.';

create function keyed_http.create_record(template text, body text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_create_record';
comment on function keyed_http.create_record(text, text) is 'POST /entities/template/{template}.';

create function keyed_http.get_record(
  id text, fields text, verbose boolean, include_deleted boolean, if_none_match text default null)
  returns text[]
  language c stable as 'MODULE_PATHNAME', 'keyed_http_get_record';
comment on function keyed_http.get_record(text, text, boolean, boolean, text) is
  'GET /entities/{id}: {entity tag, body, or null if if_none_match has the tag}.';

create function keyed_http.patch_record(
  id text, body text, if_match text default null, if_none_match text default null)
  returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_patch_record';
comment on function keyed_http.patch_record(text, text, text, text) is 'PATCH /entities/{id}.';

create function keyed_http.replace_attributes(
  id text, body text, if_match text default null, if_none_match text default null)
  returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_replace_attributes';
comment on function keyed_http.replace_attributes(text, text, text, text) is 'PUT /entities/{id}.';

create function keyed_http.delete_record(
  id text, if_match text default null, if_none_match text default null)
  returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_delete_record';
comment on function keyed_http.delete_record(text, text, text) is 'DELETE /entities/{id}.';

create function keyed_http.restore_record(
  id text, body text, if_match text default null, if_none_match text default null)
  returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_restore_record';
comment on function keyed_http.restore_record(text, text, text, text) is 'POST /entities/{id}/restore.';

create function keyed_http.set_embedding(
  id text, body text, if_match text default null, if_none_match text default null)
  returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_set_embedding';
comment on function keyed_http.set_embedding(text, text, text, text) is 'PUT /entities/{id}/embedding.';

create function keyed_http.delete_embedding(
  id text, if_match text default null, if_none_match text default null)
  returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_delete_embedding';
comment on function keyed_http.delete_embedding(text, text, text) is 'DELETE /entities/{id}/embedding.';

create function keyed_http.history(id text, page_size integer, cursor text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_history';
comment on function keyed_http.history(text, integer, text) is 'GET /entities/{id}/history.';

create function keyed_http.metric_series(
  id text, slug text, "from" text, "to" text, bucket text, aggregate text, page_size integer, cursor text)
  returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_metric_series';
comment on function keyed_http.metric_series(text, text, text, text, text, text, integer, text) is
  'GET /entities/{id}/metrics/{slug}.';

create function keyed_http.replace_metric_points(
  id text, slug text, body text, if_match text default null, if_none_match text default null)
  returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_replace_metric_points';
comment on function keyed_http.replace_metric_points(text, text, text, text, text) is
  'PUT /entities/{id}/metrics/{slug}.';

create function keyed_http.delete_metric_points(
  id text, slug text, at text, "from" text, "to" text, if_match text default null, if_none_match text default null)
  returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_delete_metric_points';
comment on function keyed_http.delete_metric_points(text, text, text, text, text, text, text) is
  'DELETE /entities/{id}/metrics/{slug}.';

create function keyed_http.upsert_by_key(
  template text, body text, mode text, return_record boolean, if_match text default null, if_none_match text default null)
  returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_upsert_by_key';
comment on function keyed_http.upsert_by_key(text, text, text, boolean, text, text) is 'PUT /entities/template/{template}/by-key.';

create function keyed_http.get_by_key(
  template text, external_key text, fields text, verbose boolean, if_none_match text default null)
  returns text[]
  language c stable as 'MODULE_PATHNAME', 'keyed_http_get_by_key';
comment on function keyed_http.get_by_key(text, text, text, boolean, text) is
  'GET /entities/template/{template}/by-key: {entity tag, body, or null if if_none_match has the tag}.';

create function keyed_http.get_by_keys(template text, body text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_get_by_keys';
comment on function keyed_http.get_by_keys(text, text) is 'POST /entities/template/{template}/by-keys.';

create function keyed_http.delete_by_key(
  template text, external_key text, if_match text default null, if_none_match text default null)
  returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_delete_by_key';
comment on function keyed_http.delete_by_key(text, text, text, text) is 'DELETE /entities/template/{template}/by-key.';

create function keyed_http.alter_template(template text, body text, dry_run boolean default false) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_alter_template';
comment on function keyed_http.alter_template(text, text, boolean) is 'PATCH /templates/{template}.';

create function keyed_http.drop_template(template text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_drop_template';
comment on function keyed_http.drop_template(text) is 'DELETE /templates/{template}.';

create function keyed_http.batch(body text, return_record boolean default false, versions boolean default false)
  returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_batch';
comment on function keyed_http.batch(text, boolean, boolean) is 'POST /entities/batch.';

create function keyed_http.search(template text, body text) returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_search';
comment on function keyed_http.search(text, text) is 'POST /entities/search/{templateId}.';

create function keyed_http.suggest(template text, body text) returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_suggest';
comment on function keyed_http.suggest(text, text) is 'POST /entities/search/{template}/suggest.';

create function keyed_http.semantic_search(body text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_semantic_search';
comment on function keyed_http.semantic_search(text) is
  'POST /entities/semantic-search: {whether the result is exact, whether it is complete, body}.';

create function keyed_http.check_search(template text, body text) returns boolean
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_check_search';
comment on function keyed_http.check_search(text, text) is
  'Validates a search as keyed_http.search does, without running it; called before the query text is embedded. Returns true.';

create function keyed_http.check_semantic_search(body text) returns boolean
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_check_semantic_search';
comment on function keyed_http.check_semantic_search(text) is
  'Validates a search as keyed_http.semantic_search does, without running it; called before the query text is embedded. Returns true.';

create function keyed_http.me(query_text boolean default false) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_me';
comment on function keyed_http.me(boolean) is 'GET /me. query_text: whether the service embeds the texts of searches.';

create function keyed_http.list_projects() returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_list_projects';
comment on function keyed_http.list_projects() is 'GET /projects.';

create function keyed_http.list_views(template text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_list_views';
comment on function keyed_http.list_views(text) is 'GET /templates/{template}/views.';

create function keyed_http.get_view(template text, slug text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_get_view';
comment on function keyed_http.get_view(text, text) is 'GET /templates/{template}/views/{slug}.';

create function keyed_http.save_view(template text, slug text, body text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_save_view';
comment on function keyed_http.save_view(text, text, text) is
  'POST /templates/{template}/views, with a null slug; PUT /templates/{template}/views/{slug}.';

create function keyed_http.drop_view(template text, slug text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_drop_view';
comment on function keyed_http.drop_view(text, text) is 'DELETE /templates/{template}/views/{slug}.';

create function keyed_http.deliver(
  token_hash bytea, webhook_id text, webhook_timestamp text, webhook_signature text, body text)
  returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_deliver';
comment on function keyed_http.deliver(bytea, text, text, text, text) is
  'POST /inbound/{token}. Writes as the role of the endpoint with this token (SHA-256), and only what its mapping allows. Only keyed_proxy and superusers may execute it.';
-- keyed.init() grants EXECUTE to keyed_proxy.
revoke execute on function keyed_http.deliver(bytea, text, text, text, text) from public;

create function keyed_http.knows_delivery_token(token_hash bytea) returns boolean
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_knows_delivery_token';
comment on function keyed_http.knows_delivery_token(bytea) is
  'Whether an endpoint, enabled or not, has the token with this SHA-256; called before the body of a delivery is read.';
revoke execute on function keyed_http.knows_delivery_token(bytea) from public;

create function keyed_http.identify_delivery_token(token_hash bytea) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_identify_delivery_token';
comment on function keyed_http.identify_delivery_token(bytea) is
  'The endpoint, enabled or not, that has the token with this SHA-256: {slug, project}, or null. For the log of the proxy.';

create function keyed_http.create_inbound_endpoint(body text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_create_inbound_endpoint';
comment on function keyed_http.create_inbound_endpoint(text) is 'POST /inbound-endpoints.';

create function keyed_http.list_inbound_endpoints() returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_list_inbound_endpoints';
comment on function keyed_http.list_inbound_endpoints() is 'GET /inbound-endpoints.';

create function keyed_http.get_inbound_endpoint(endpoint text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_get_inbound_endpoint';
comment on function keyed_http.get_inbound_endpoint(text) is 'GET /inbound-endpoints/{endpoint}.';

create function keyed_http.alter_inbound_endpoint(endpoint text, body text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_alter_inbound_endpoint';
comment on function keyed_http.alter_inbound_endpoint(text, text) is 'PATCH /inbound-endpoints/{endpoint}.';

create function keyed_http.drop_inbound_endpoint(endpoint text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_drop_inbound_endpoint';
comment on function keyed_http.drop_inbound_endpoint(text) is 'DELETE /inbound-endpoints/{endpoint}.';

create function keyed_http.dry_run_inbound(endpoint text, body text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_dry_run_inbound';
comment on function keyed_http.dry_run_inbound(text, text) is 'POST /inbound-endpoints/{endpoint}/dry-run.';

create function keyed_http.inbound_deliveries(endpoint text, status text, page_size integer, cursor text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_inbound_deliveries';
comment on function keyed_http.inbound_deliveries(text, text, integer, text) is
  'GET /inbound-endpoints/{endpoint}/deliveries.';

create function keyed_http.get_delivery(endpoint text, id text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_get_delivery';
comment on function keyed_http.get_delivery(text, text) is 'GET /inbound-endpoints/{endpoint}/deliveries/{id}.';

create function keyed_http.replay_delivery(endpoint text, id text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_replay_delivery';
comment on function keyed_http.replay_delivery(text, text) is
  'POST /inbound-endpoints/{endpoint}/deliveries/{id}/replay.';

create function keyed_http.replay_failed_deliveries(endpoint text, cursor text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_replay_failed_deliveries';
comment on function keyed_http.replay_failed_deliveries(text, text) is
  'POST /inbound-endpoints/{endpoint}/deliveries/replay.';

create function keyed_http.import_rows(template text, options text, rows text) returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_import_rows';
comment on function keyed_http.import_rows(text, text, text) is
  'POST /entities/template/{template}/import, a chunk of complete rows: {created, updated, unchanged, waiting, errors}. With {"is_whole": true, "waits": false} in the options, {waits_for: {process, transaction, role, since}} while another file is imported as one transaction. With {"mode": "mirror", "is_whole": true, "filter": …, "max_deleted_share": …} in the options of each chunk, and after the last one {"ends_after": rows} without rows, repeatedly until is_complete: deletes the records that the file does not have, {is_complete, deleted, matching, share, keys, exceeds}.';

create function keyed_http.find_import(template text) returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_find_import';
comment on function keyed_http.find_import(text) is
  'DELETE /entities/template/{template}/import, before its process is ended: the import of a file as one transaction into this template, {process, transaction, role, since}. Needs the privilege define. Errors: P0002 if there is none.';

create function keyed_http.export_open(template text, format text, body text, view text default null) returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_export_open';
comment on function keyed_http.export_open(text, text, text, text) is
  'GET and POST /entities/template/{template}/export: starts an export of the results of a search, and returns its first lines. format: csv, ndjson, or {format, delimiter, is_typed}, where an object as format says how the cells of CSV are written, and is_typed makes arrays of cells with types, for a spreadsheet. view: exports a saved view; P0002 if it does not exist. Needs its own transaction, which has one export at a time: another one ends the first.';

create function keyed_http.export_next() returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_export_next';
comment on function keyed_http.export_next() is
  'The next lines of the export of this transaction; null at its end.';

create function keyed_http.shard(known text default null) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_shard';
comment on function keyed_http.shard(text) is
  'What the proxy needs to route requests to this shard: {shard, version, projects, moved}. projects: [{"id", "slug"}]; moved: the ids that another shard assigned, {"templates": [id], "projects": [id], "inbound_endpoints": [id], "webhook_endpoints": [id], "api_keys": [id]}; both are null if known is the current version. Only keyed_proxy and superusers may call it.';
