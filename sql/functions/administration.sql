-- Functions that keyed-proxy calls for administrators, with text as bodies, as in http.sql. Each function checks its caller.
-- A key that is limited to projects can see and change only objects of these projects.

create function keyed_http.list_api_keys(page_size integer default null, cursor text default null) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_list_api_keys';
comment on function keyed_http.list_api_keys(integer, text) is
  'GET /api-keys.';

create function keyed_http.create_api_key(body text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_create_api_key';
comment on function keyed_http.create_api_key(text) is
  'POST /api-keys. The sixth element of the result is the body that is stored: without the secret.';

create function keyed_http.register_api_key(body text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_register_api_key';
comment on function keyed_http.register_api_key(text) is
  'Registers an API key that another shard issued. body: {key, role, projects, label, expires_at}. See keyed.register_api_key.';

create function keyed_http.revoke_api_key(id text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_revoke_api_key';
comment on function keyed_http.revoke_api_key(text) is
  'DELETE /api-keys/{id}.';

create function keyed_http.list_roles(page_size integer default null, cursor text default null) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_list_roles';
comment on function keyed_http.list_roles(integer, text) is
  'GET /roles.';

create function keyed_http.list_grants(role text, target text, page_size integer default null, cursor text default null) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_list_grants';
comment on function keyed_http.list_grants(text, text, integer, text) is
  'GET /grants.';

create function keyed_http.grant_access(body text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_grant_access';
comment on function keyed_http.grant_access(text) is
  'PUT /grants.';

create function keyed_http.revoke_access(role text, target text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_revoke_access';
comment on function keyed_http.revoke_access(text, text) is
  'DELETE /grants.';

create function keyed_http.explain_access(id text, role text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_explain_access';
comment on function keyed_http.explain_access(text, text) is
  'GET /entities/{id}/access.';

create function keyed_http.create_project(body text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_create_project';
comment on function keyed_http.create_project(text) is
  'POST /projects.';

create function keyed_http.list_quotas() returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_list_quotas';
comment on function keyed_http.list_quotas() is
  'GET /quotas.';

create function keyed_http.set_quota(name text, body text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_set_quota';
comment on function keyed_http.set_quota(text, text) is
  'PUT /quotas/{name}.';

create function keyed_http.list_jobs() returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_list_jobs';
comment on function keyed_http.list_jobs() is
  'GET /jobs.';

create function keyed_http.retry_jobs() returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_retry_jobs';
comment on function keyed_http.retry_jobs() is
  'POST /jobs/retry.';

create function keyed_http.embedding_status() returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_embedding_status';
comment on function keyed_http.embedding_status() is
  'GET /embeddings/status.';

create function keyed_http.embedding_failures(template text, page_size integer) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_embedding_failures';
comment on function keyed_http.embedding_failures(text, integer) is
  'GET /embeddings/failures.';

create function keyed_http.retry_embeddings(template text) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_retry_embeddings';
comment on function keyed_http.retry_embeddings(text) is
  'POST /embeddings/retry.';

create function keyed_http.examine() returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_examine';
comment on function keyed_http.examine() is
  'GET /doctor.';

create function keyed_http.suggest_indexes(template text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_suggest_indexes';
comment on function keyed_http.suggest_indexes(text) is
  'GET /templates/{template}/index-suggestions.';
