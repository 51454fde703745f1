-- The feed of changes. Each function checks its caller.

create function keyed.changes(
  project text, template regclass default null, after text default null, page_size integer default 100,
  include_record boolean default false)
  returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_changes';
comment on function keyed.changes(text, regclass, text, integer, boolean) is
  'One page of what was changed in a project, or in one template, in the order of the feed: {"changes": [{id, template_id, template_slug, external_key, previous_key?, operation: create|update|delete|restore|gone, at, actor, source, changed: [slug], record?}], "next_cursor", "has_more"}. after: the next_cursor of the page before, start for everything, or null for what comes from now on. page_size: up to 1000. include_record: the record as it is now. A change is shown once no transaction that could come before it is still open. gone: a record that left the scope of the caller, by its id alone. Error 24000 if the cursor cannot go on here, because the database was restored or the rights of the caller changed: read again from start.';

create function keyed.continue_changes() returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_continue_changes';
comment on function keyed.continue_changes() is
  'Says that this database has everything that the one it was restored or upgraded from had handed out in its feed of changes, so that cursors of that one go on here. Only after pg_upgrade, or a dump that was taken while nobody wrote. Needs keyed_admin.';

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
  'The records that hold a key or held it, the latest first, each with the time from which and until which it did, and the operation that ended it: update, delete or purge; null while it lasts. Records that the caller does not see are left out.';

create function keyed_http.changes(
  template text, after text default null, page_size integer default null, include_record boolean default false)
  returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_changes';
comment on function keyed_http.changes(text, text, integer, boolean) is 'GET /changes, of the project of the request if template is null.';

create function keyed_http.key_history(template text, external_key text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_key_history';
comment on function keyed_http.key_history(text, text) is 'GET /entities/template/{template}/by-key/history.';

create function keyed_http.change_horizon(project text) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_http_change_horizon';
comment on function keyed_http.change_horizon(text) is
  'The place of the last change of a project, named by slug or number, that GET /changes can show; null if there is none. It becomes another when there may be more to read. For keyed-proxy and administrators.';
