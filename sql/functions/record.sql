-- Records. Anyone may execute these; each function checks its caller.

create function keyed.normalize_key(external_key text) returns text
  language c immutable strict parallel safe as 'MODULE_PATHNAME', 'keyed_normalize_key';
comment on function keyed.normalize_key(text) is
  'The key as it is stored: outer spaces trimmed. Error 22023 unless it then has 1 to 255 characters and no control character.';

create function keyed.create_record(template regclass, attributes jsonb default '{}', external_key text default null)
  returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_create_record';
comment on function keyed.create_record(regclass, jsonb, text) is
  'Creates a record and returns it. attributes: {slug: value}. Errors: 23505 when a live record of the template holds the key (DETAIL has existing_id), 22023 with a pointer to each fault, 23503 for a reference to nothing.';

-- What asks for rights reads the newest ones, by a snapshot that PostgreSQL takes only where no worker runs a part of the
-- statement. So these functions are parallel unsafe.
create function keyed.get_record(
  id uuid, fields text[] default null, verbose boolean default false, include_deleted boolean default false)
  returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_get_record';
comment on function keyed.get_record(uuid, text[], boolean, boolean) is
  'The record with this id. fields: names to keep (id, template_slug and external_key always come); verbose: adds attribute_values; include_deleted: deleted records too. Error P0002 when there is none.';

create function keyed.record_version(id uuid) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_record_version';
comment on function keyed.record_version(uuid) is
  'The version of a record, deleted or not: the same text for the same state, another for every other. It is what ETag says over HTTP, and what if_match takes. Error P0002 when there is none.';

create function keyed.get_by_key(
  template regclass, external_key text, fields text[] default null, verbose boolean default false)
  returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_get_by_key';
comment on function keyed.get_by_key(regclass, text, text[], boolean) is
  'The live record of the template that holds the key. Error P0002 when there is none.';

create function keyed.upsert_by_key(
  template regclass, external_key text, attributes jsonb default '{}', if_match text default null,
  if_none_match text default null, out id uuid, out created boolean)
  language c volatile as 'MODULE_PATHNAME', 'keyed_upsert_by_key';
comment on function keyed.upsert_by_key(regclass, text, jsonb, text, text) is
  'Creates the record with this key when no live record of the template holds it; otherwise changes only the attributes listed, {"$inc": n} adding to a number. Returns the record''s id, and whether it was created. The same values again write nothing. if_match: only a record of this version is changed, and none is created ("*": of any version). if_none_match "*": the record is only created. Else error 55000, and nothing is written.';

create function keyed.patch_record(id uuid, body jsonb, if_match text default null) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_patch_record';
comment on function keyed.patch_record(uuid, jsonb, text) is
  'Changes what is listed. body: {"attributes"?: {slug: value}, "external_key"?: a string sets it, null clears it, absent leaves it, "embedding"?: 768 numbers set it, null removes it, absent leaves it}. if_match: only if this is the record''s version (keyed.record_version), else error 55000. Returns the record. Errors as create_record, and P0002 when there is none.';

create function keyed.replace_attributes(id uuid, attributes jsonb, if_match text default null) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_replace_attributes';
comment on function keyed.replace_attributes(uuid, jsonb, text) is
  'Replaces all attribute values: what is not listed becomes null. The key is untouched. if_match as for keyed.patch_record. Returns the record.';

create function keyed.delete_record(id uuid, if_match text default null) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_delete_record';
comment on function keyed.delete_record(uuid, text) is
  'Marks a live record as deleted, which releases its key. if_match as for keyed.patch_record. Error P0002 when there is none.';

create function keyed.restore_record(id uuid, body jsonb default '{}', if_match text default null) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_restore_record';
comment on function keyed.restore_record(uuid, jsonb, text) is
  'Brings a deleted record back with its old key, or with {"external_key": "another"}, or null for none. if_match as for keyed.patch_record, of the deleted record. Errors: 23505 when the key was taken meanwhile or the record is not deleted, P0002 when there is none.';

create function keyed.history_page(id uuid, page_size integer default 100, cursor text default null) returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_history_page';
comment on function keyed.history_page(uuid, integer, text) is
  'One page of a record''s history, newest first: {"history": [{version, at, actor, source, operation, external_key, changes: {slug: {old, new}}}], "next_cursor"}. Deleted records included.';

create function keyed.history(id uuid)
  returns table (version integer, at timestamptz, actor text, source text, operation text, external_key text, changes jsonb)
  language sql stable
  begin atomic
    with recursive page (content) as (
      select keyed.history_page(history.id, 1000)
      union all
      select keyed.history_page(history.id, 1000, page.content ->> 'next_cursor')
      from page where page.content ->> 'next_cursor' is not null
    )
    select entry.version, entry.at, entry.actor, entry.source, entry.operation, entry.external_key, entry.changes
    from page, pg_catalog.jsonb_to_recordset(page.content -> 'history') as entry (
      version integer, at timestamptz, actor text, source text, operation text, external_key text, changes jsonb)
    order by entry.version desc;
  end;
comment on function keyed.history(uuid) is
  'Every change of a record as a row, newest first; keyed.history_page gives them page by page.';

create function keyed.metric_page(
  id uuid, slug text, "from" text default null, "to" text default null, bucket text default null,
  aggregate text default null, page_size integer default 1000, cursor text default null)
  returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_metric_page';
comment on function keyed.metric_page(uuid, text, text, text, text, text, integer, text) is
  'One page of a metric''s series, oldest first: {"points": [{at, value}], "next_cursor"}. from (inclusive) and to (exclusive): RFC 3339. bucket: 30s, 5m, 1h, 1d; aggregate of a bucket: avg, min, max, sum, count, last.';

create function keyed.metric_series(
  id uuid, slug text, "from" text default null, "to" text default null, bucket text default null,
  aggregate text default null)
  returns table (at timestamptz, value double precision)
  language sql stable
  begin atomic
    with recursive page (number, content) as (
      select 1, keyed.metric_page(metric_series.id, slug, "from", "to", bucket, aggregate, 10000)
      union all
      select page.number + 1,
        keyed.metric_page(metric_series.id, slug, "from", "to", bucket, aggregate, 10000, page.content ->> 'next_cursor')
      from page where page.content ->> 'next_cursor' is not null
    )
    select point.at, point.value
    from page,
      rows from (pg_catalog.jsonb_to_recordset(page.content -> 'points') as (at timestamptz, value double precision))
        with ordinality as point (at, value, position)
    order by page.number, point.position;
  end;
comment on function keyed.metric_series(uuid, text, text, text, text, text) is
  'Every point of a metric''s series, or of its buckets, as a row, oldest first; keyed.metric_page gives them page by page.';

create function keyed.batch(operations jsonb, atomic boolean default false, conflict text default null) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_batch';
comment on function keyed.batch(jsonb, boolean, text) is
  'Runs up to keyed.max_operations_per_batch (1000) operations: [{"op": create|update|upsert|delete, "template": "project.template" or number, "id"?, "external_key"?, "attributes"?, "embedding"?}]. atomic: the first refused one undoes all and is raised with failed_index; otherwise each has its own outcome. conflict, of an atomic batch: what an upsert does whose key nobody held when the batch began and that meets a record written by another transaction since; fail (default): all is undone, error 23505 with "retryable": true; wait: the record is updated. Returns {"errors", "results": [{index, status, id, created, error?}]} in the order of the request.';
