-- Inbound endpoints. Anyone may execute these; each function checks its caller: one who may define the template and has
-- the rights of the role as which the endpoint writes, or a member of keyed_admin.

create function keyed.create_inbound_endpoint(template regclass, definition jsonb) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_create_inbound_endpoint';
comment on function keyed.create_inbound_endpoint(regclass, jsonb) is
  'Makes an address to which another system delivers. definition: {"slug", "external_key": jsonpath in an item, "items"?: jsonpath ("$"), "key_prefix"?, "mapping"?: {attribute: jsonpath}, "role"?: as which it writes (the caller''s; keyed_admin for a superuser), "signed"?: Standard Webhooks (true), "secret"?: the sender''s, "enabled"? (true)}. Returns it with its token, and when signed its secret: their only copies. Errors: 22023 with a pointer to each fault, 23505 when the project has an endpoint of that name.';

create function keyed.list_inbound_endpoints() returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_list_inbound_endpoints';
comment on function keyed.list_inbound_endpoints() is
  'The endpoints that the caller may configure: {"endpoints": [{"id", "slug", "template", "project", "role", "items", "external_key", "key_prefix", "mapping", "signed", "enabled", "created_at", "updated_at"}]}.';

create function keyed.alter_inbound_endpoint(id integer, changes jsonb) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_alter_inbound_endpoint';
comment on function keyed.alter_inbound_endpoint(integer, jsonb) is
  'Changes the members listed, as in create_inbound_endpoint but template; "rotate_secret": true and "rotate_token": true replace these, and the old ones become invalid. Returns the endpoint, with its new secret or token. Error P0002 when there is none.';

create function keyed.drop_inbound_endpoint(id integer) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_drop_inbound_endpoint';
comment on function keyed.drop_inbound_endpoint(integer) is
  'Drops an endpoint with the log of its deliveries. What they wrote stays. Error P0002 when there is none.';

create function keyed.dry_run_inbound(id integer, trial jsonb) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_dry_run_inbound';
comment on function keyed.dry_run_inbound(integer, jsonb) is
  'What a payload would become: {"items": [{"external_key", "attributes"}], "created", "updated", "error"}. All rules are applied, nothing stays. trial: {"payload", "items"?, "external_key"?, "key_prefix"?, "mapping"?}; what is listed stands in the place of the endpoint''s own.';

create function keyed.inbound_deliveries(
  id integer, status text default null, page_size integer default null, cursor text default null)
  returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_inbound_deliveries';
comment on function keyed.inbound_deliveries(integer, text, integer, text) is
  'The deliveries of an endpoint, the newest first: {"deliveries": [{"id", "webhook_id", "received_at", "status", "error", "created", "updated"}], "next_cursor"}. status: done or failed; page_size: 1 to 500 (50).';

create function keyed.replay_delivery(id bigint) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_replay_delivery';
comment on function keyed.replay_delivery(bigint) is
  'Takes a failed delivery again, as it was sent, by its endpoint as it is now. Returns its line in the log. Errors: P0002 when there is none, 23505 when it was done.';

create function keyed.replay_failed_deliveries(id integer, cursor text default null) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_replay_failed_deliveries';
comment on function keyed.replay_failed_deliveries(integer, text) is
  'Takes up to 100 failed deliveries of an endpoint again, the oldest first, each for itself: {"done", "failed", "next_cursor"}. What fails again stays as it is, with its new error.';

create function keyed.purge_deliveries(before timestamptz, status text default 'done') returns bigint
  language c volatile as 'MODULE_PATHNAME', 'keyed_purge_deliveries';
comment on function keyed.purge_deliveries(timestamptz, text) is
  'Forgets deliveries received before this moment: the payloads of those that were done, or all of those that failed. What remembers the webhook-id of one that was done stays, so that it has no second effect; one that failed can be sent again. status: done or failed. Returns how many were purged. Needs keyed_admin.';
