-- Functions that triggers, policies and defaults of keyed's tables call.

grant usage on schema keyed to public;

create function keyed.library_version() returns text
  language c volatile parallel safe as 'MODULE_PATHNAME', 'keyed_library_version';
comment on function keyed.library_version() is
  'The version of the library that this session has loaded. That of the SQL is in pg_extension.extversion.';

create function keyed.new_id(template integer) returns uuid
  language c volatile strict parallel restricted as 'MODULE_PATHNAME', 'keyed_new_id';
comment on function keyed.new_id(integer) is
  'Generates a record id for the template with this id: a UUID version 8 (RFC 9562), ordered by time, that contains the template id. Default of every id column.';

create function keyed.guard_record() returns trigger
  language c as 'MODULE_PATHNAME', 'keyed_guard_record';
comment on function keyed.guard_record() is
  'Trigger before each row of a template''s table: normalizes the key, checks all values, sets id, created_at and updated_at of new rows, keeps id and created_at, sets updated_at, releases or restores the key when a record is deleted or restored, and rejects removal.';

create function keyed.is_being_deleted(id uuid) returns boolean
  language c stable strict parallel restricted cost 100 as 'MODULE_PATHNAME', 'keyed_is_being_deleted';
comment on function keyed.is_being_deleted(uuid) is
  'Whether a statement of this session is marking the record as deleted. Policies of roles with the delete privilege call it, because PostgreSQL requires that a written row is visible to its writer.';

create function keyed.always_passes(internal) returns internal
  language c strict as 'MODULE_PATHNAME', 'keyed_always_passes';
comment on function keyed.always_passes(internal) is
  'Planner support function for functions of policies: selectivity 1, so that row estimates do not change.';

create function keyed.is_granted(number integer) returns boolean
  language c stable strict parallel safe cost 0.01 support keyed.always_passes as 'MODULE_PATHNAME', 'keyed_is_granted';
comment on function keyed.is_granted(integer) is
  'Whether this grant exists now, regardless of the snapshot of the transaction. Every policy of a grant calls it, so that the policy ends with the grant.';

create function keyed.guard_delete() returns trigger
  language c as 'MODULE_PATHNAME', 'keyed_guard_delete';
comment on function keyed.guard_delete() is
  'Trigger before DELETE on a template''s table: only the owner and superusers may delete rows; others mark records as deleted.';

create function keyed.guard_truncate() returns trigger
  language c as 'MODULE_PATHNAME', 'keyed_guard_truncate';
comment on function keyed.guard_truncate() is
  'Trigger before TRUNCATE of a template''s table: only the owner and superusers may truncate it.';

create function keyed.note_history() returns trigger
  language c as 'MODULE_PATHNAME', 'keyed_note_history';
comment on function keyed.note_history() is
  'Trigger after each row of a template''s table: records the change in memory.';

create function keyed.write_history() returns trigger
  language c as 'MODULE_PATHNAME', 'keyed_write_history';
comment on function keyed.write_history() is
  'Trigger after each statement on a template''s table: writes the recorded changes into the history, with actor and source.';

create function keyed.announce_change() returns trigger
  language c as 'MODULE_PATHNAME', 'keyed_announce_change';
comment on function keyed.announce_change() is
  'Trigger on state tables that sessions cache: invalidates the caches of all sessions.';

create function keyed.require_admin(purpose text) returns void
  language c stable as 'MODULE_PATHNAME', 'keyed_require_admin';
comment on function keyed.require_admin(text) is
  'Raises 42501, naming the purpose, unless the caller is a superuser or a member of keyed_admin. For functions that read the state with the privileges of their caller.';

create function keyed.binding("table" oid) returns text
  language c stable strict parallel safe as 'MODULE_PATHNAME', 'keyed_binding';
comment on function keyed.binding(oid) is
  'Identifies this table in this cluster: the value of bound_in of a key, a grant or an inbound endpoint.';

create function keyed.is_bound(role oid, role_name text, bound_in text, "table" oid) returns boolean
  language c stable parallel safe as 'MODULE_PATHNAME', 'keyed_is_bound';
comment on function keyed.is_bound(oid, text, text, oid) is
  'Whether a key, a grant or an inbound endpoint still belongs to its role: the role with this OID has this name, or was renamed in this cluster. False for a dropped role, even if its OID belongs to another role after a restore.';
