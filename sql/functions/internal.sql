-- What tables of ours call by themselves. Nobody needs to call these.

grant usage on schema keyed to public;

create function keyed.new_id(template integer) returns uuid
  language c volatile strict parallel restricted as 'MODULE_PATHNAME', 'keyed_new_id';
comment on function keyed.new_id(integer) is
  'A new record id for the template with this number: a UUID version 8 (RFC 9562), ordered by time, that carries the number. Default of every id column.';

create function keyed.guard_record() returns trigger
  language c as 'MODULE_PATHNAME', 'keyed_guard_record';
comment on function keyed.guard_record() is
  'Trigger before each row of a template''s table: checks and normalises the key, checks values, fills id, created_at and updated_at of new rows, keeps id and created_at, sets updated_at, moves the key of a record that is deleted or restored, refuses removal.';

create function keyed.is_being_deleted(id uuid) returns boolean
  language c stable strict parallel restricted cost 100 as 'MODULE_PATHNAME', 'keyed_is_being_deleted';
comment on function keyed.is_being_deleted(uuid) is
  'Whether a statement of this session is marking the record as deleted at this very moment. Policies of roles that may delete call it: PostgreSQL wants a row that was just written to be visible to its writer.';

create function keyed.always_passes(internal) returns internal
  language c strict as 'MODULE_PATHNAME', 'keyed_always_passes';
comment on function keyed.always_passes(internal) is
  'Tells the planner that a function which policies call lets every row pass, so that its estimates stay what they are without it.';

create function keyed.is_granted(number integer) returns boolean
  language c stable strict parallel safe cost 0.01 support keyed.always_passes as 'MODULE_PATHNAME', 'keyed_is_granted';
comment on function keyed.is_granted(integer) is
  'Whether the grant of this number is there by now, whatever the snapshot of the transaction is. Each policy of a grant asks it, so that it ends with the grant.';

create function keyed.guard_delete() returns trigger
  language c as 'MODULE_PATHNAME', 'keyed_guard_delete';
comment on function keyed.guard_delete() is
  'Trigger before DELETE on a template''s table: refuses it to all but the owner of the tables and superusers; others mark records as deleted.';

create function keyed.guard_truncate() returns trigger
  language c as 'MODULE_PATHNAME', 'keyed_guard_truncate';
comment on function keyed.guard_truncate() is
  'Trigger before TRUNCATE of a template''s table: refuses it to all but the owner of the tables and superusers.';

create function keyed.note_history() returns trigger
  language c as 'MODULE_PATHNAME', 'keyed_note_history';
comment on function keyed.note_history() is
  'Trigger after each row of a template''s table: notes what changed.';

create function keyed.write_history() returns trigger
  language c as 'MODULE_PATHNAME', 'keyed_write_history';
comment on function keyed.write_history() is
  'Trigger after each statement on a template''s table: writes the notes into its history, with who did it and from which source.';

create function keyed.announce_change() returns trigger
  language c as 'MODULE_PATHNAME', 'keyed_announce_change';
comment on function keyed.announce_change() is
  'Trigger on state tables that sessions remember: makes every session forget what it read.';

create function keyed.require_admin(purpose text) returns void
  language c stable as 'MODULE_PATHNAME', 'keyed_require_admin';
comment on function keyed.require_admin(text) is
  'Refuses with 42501 whoever is neither a superuser nor a member of keyed_admin, and says that this is what the purpose needs. Functions call it that read the state with the rights of their caller.';

create function keyed.binding("table" oid) returns text
  language c stable strict parallel safe as 'MODULE_PATHNAME', 'keyed_binding';
comment on function keyed.binding(oid) is
  'This table of this cluster, as bound_in of a key, a grant or an inbound endpoint names it.';

create function keyed.is_bound(role oid, role_name text, bound_in text, "table" oid) returns boolean
  language c stable parallel safe as 'MODULE_PATHNAME', 'keyed_is_bound';
comment on function keyed.is_bound(oid, text, text, oid) is
  'Whether a key, a grant or an inbound endpoint still belongs to its role: the role of that number has that name, or it was renamed in this cluster since. False for a role that was dropped, also where its number is another''s after a restore.';
