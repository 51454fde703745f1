-- Inbound endpoints. PUBLIC can execute these functions; each checks that its caller has define on the template and the
-- privileges of the endpoint's role, or is a member of keyed_admin.

create function keyed.create_inbound_endpoint(template regclass, definition jsonb) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_create_inbound_endpoint';
comment on function keyed.create_inbound_endpoint(regclass, jsonb) is
  'Creates an endpoint that receives deliveries of another system. definition: {"slug", "external_key": jsonpath in an item, "items"?: jsonpath ("$"), "key_prefix"?, "mapping"?: {attribute: jsonpath}, "role"?: the role that writes (default: that of the caller; keyed_admin for a superuser), "signed"?: Standard Webhooks (true), "secret"?: that of the sender, "enabled"? (true)}. Returns it with its token and, if signed, its secret; both are shown once. Errors: 22023 with a pointer to each error, 23505 if the project already has an endpoint with this slug.';

create function keyed.list_inbound_endpoints() returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_list_inbound_endpoints';
comment on function keyed.list_inbound_endpoints() is
  'Lists the endpoints that the caller may configure: {"endpoints": [{"id", "slug", "template", "project", "role", "items", "external_key", "key_prefix", "mapping", "signed", "enabled", "created_at", "updated_at"}]}.';

create function keyed.alter_inbound_endpoint(id integer, changes jsonb) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_alter_inbound_endpoint';
comment on function keyed.alter_inbound_endpoint(integer, jsonb) is
  'Changes the listed members, as in create_inbound_endpoint except template; "rotate_secret": true and "rotate_token": true generate new ones and invalidate the old. Returns the endpoint, with a new secret or token. Error P0002 if the endpoint does not exist.';

create function keyed.drop_inbound_endpoint(id integer) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_drop_inbound_endpoint';
comment on function keyed.drop_inbound_endpoint(integer) is
  'Drops an endpoint and its delivery log. Records that it wrote remain. Error P0002 if the endpoint does not exist.';

create function keyed.dry_run_inbound(id integer, trial jsonb) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_dry_run_inbound';
comment on function keyed.dry_run_inbound(integer, jsonb) is
  'Shows what a payload would write: {"items": [{"external_key", "attributes"}], "created", "updated", "error"}. Applies all rules and writes nothing. trial: {"payload", "items"?, "external_key"?, "key_prefix"?, "mapping"?}; its members override those of the endpoint.';

create function keyed.inbound_deliveries(
  id integer, status text default null, page_size integer default null, cursor text default null)
  returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_inbound_deliveries';
comment on function keyed.inbound_deliveries(integer, text, integer, text) is
  'Lists the deliveries of an endpoint, newest first: {"deliveries": [{"id", "webhook_id", "received_at", "status", "error", "created", "updated"}], "next_cursor"}. status: done or failed; page_size: 1 to 500 (50).';

create function keyed.replay_delivery(id bigint) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_replay_delivery';
comment on function keyed.replay_delivery(bigint) is
  'Processes a failed delivery again, with the current configuration of its endpoint. Returns its entry in the log. Errors: P0002 if the delivery does not exist, 23505 if it succeeded before.';

create function keyed.replay_failed_deliveries(id integer, cursor text default null) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_replay_failed_deliveries';
comment on function keyed.replay_failed_deliveries(integer, text) is
  'Processes up to 100 failed deliveries of an endpoint again, oldest first, each separately: {"done", "failed", "next_cursor"}. A delivery that fails again stays in the log with its new error.';

create function keyed.purge_deliveries(before timestamptz, status text default 'done') returns bigint
  language c volatile as 'MODULE_PATHNAME', 'keyed_purge_deliveries';
comment on function keyed.purge_deliveries(timestamptz, text) is
  'Deletes deliveries received before this time: the payloads of successful ones, or failed ones as a whole. The webhook-ids of successful deliveries remain, so sending one again has no effect; a failed one can be sent again. status: done or failed. Returns the number of purged deliveries. Needs keyed_admin.';
