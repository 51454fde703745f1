-- The feed of changes. Each function checks its caller.

create function keyed.changes(
  project text, template regclass default null, after text default null, page_size integer default 100,
  include_record boolean default false)
  returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_changes';
comment on function keyed.changes(text, regclass, text, integer, boolean) is
  'One page of the changes in a project or a template, in feed order:  {"changes": [{id, template_id, template_slug, external_key, previous_key?, operation: create|update|delete|restore|gone, at, actor, source, changed: [slug], record?}], "next_cursor", "has_more"}. after: the next_cursor of the previous page, start for all changes, or null for new changes only. page_size: up to 1000. include_record: adds the current record. A change appears when no earlier transaction is still open. gone: a record that left the scope of the caller, with its id only. Error 24000 if reading cannot continue at the cursor, because the database was restored or the grants of the caller changed: read again from start.';

create function keyed.continue_changes() returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_continue_changes';
comment on function keyed.continue_changes() is
  'Declares that this database has all changes that the feed of its source, from which it was restored or upgraded, has returned, so that cursors of the source remain valid. Call it only after pg_upgrade, or after restoring a dump that was taken without concurrent writes. Needs keyed_admin.';

create function keyed.key_history_report(template regclass, external_key text) returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_key_history_report';
comment on function keyed.key_history_report(regclass, text) is
  'The result of keyed.key_history, as JSON: {"holders": [{id, from, until, ended_by}]}.';

create function keyed.key_history(template regclass, external_key text)
  returns table (id uuid, "from" timestamptz, until timestamptz, ended_by text)
  language sql stable
  begin atomic
    select holder.id, holder."from", holder.until, holder.ended_by
    from rows from (pg_catalog.jsonb_to_recordset(keyed.key_history_report($1, $2) -> 'holders')
        as (id uuid, "from" timestamptz, until timestamptz, ended_by text))
      with ordinality as holder (id, "from", until, ended_by, place)
    order by holder.place;
  end;
comment on function keyed.key_history(regclass, text) is
  'The records that have or had a key, newest first, each with the time range and the operation that ended it: update, delete or purge; null if the record still has the key. Records that are not visible to the caller are omitted.';

create function keyed_http.changes(
  template text, after text default null, page_size integer default null, include_record boolean default false,
  until text default null)
  returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_changes';
comment on function keyed_http.changes(text, text, integer, boolean, text) is
  'GET /changes, of the project of the request if template is null. until: a cursor that was read with an earlier snapshot; the page ends there.';

create function keyed_http.key_history(template text, external_key text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_key_history';
comment on function keyed_http.key_history(text, text) is 'GET /entities/template/{template}/by-key/history.';

create function keyed_http.change_horizon(project text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_change_horizon';
comment on function keyed_http.change_horizon(text) is
  'The position of the last readable change of a project (slug or id) in the feed; null if there is none. It changes when more changes may be readable. For keyed-proxy and administrators.';
