-- Records. PUBLIC can execute these functions; each checks its caller.

create function keyed.normalize_key(external_key text) returns text
  language c immutable strict parallel safe as 'MODULE_PATHNAME', 'keyed_normalize_key';
comment on function keyed.normalize_key(text) is
  'The key as it is stored: without leading and trailing spaces. Error 22023 unless it then has 1 to 255 characters and no control character.';

create function keyed.create_record(template regclass, attributes jsonb default '{}', external_key text default null)
  returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_create_record';
comment on function keyed.create_record(regclass, jsonb, text) is
  'Creates a record and returns it. attributes: {slug: value}. Errors: 23505 if a live record of the template has the key (DETAIL has existing_id), 22023 with a pointer to each error, 23503 if a referenced record does not exist.';

-- Privilege checks use the latest snapshot, which PostgreSQL does not allow in parallel mode. So these functions are parallel
-- unsafe.
create function keyed.get_record(
  id uuid, fields text[] default null, verbose boolean default false, include_deleted boolean default false)
  returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_get_record';
comment on function keyed.get_record(uuid, text[], boolean, boolean) is
  'The record with this id. fields: the fields to return (id, template_slug and external_key are always included); verbose: adds attribute_values; include_deleted: deleted records too. Error P0002 if the record does not exist.';

create function keyed.record_version(id uuid) returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_record_version';
comment on function keyed.record_version(uuid) is
  'The version of a record, live or deleted: equal for equal states, different for different ones. It is the ETag over HTTP, and the value of if_match. Error P0002 if the record does not exist.';

create function keyed.get_by_key(
  template regclass, external_key text, fields text[] default null, verbose boolean default false)
  returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_get_by_key';
comment on function keyed.get_by_key(regclass, text, text[], boolean) is
  'The live record of the template with this key. Error P0002 if there is none.';

create function keyed.get_by_keys(
  template regclass, keys text[], fields text[] default null, verbose boolean default false)
  returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_get_by_keys';
comment on function keyed.get_by_keys(regclass, text[], text[], boolean) is
  'The live records of the template with these keys, 1 to 1000: {"records": {key: record}, "missing": [key]}. Keys are trimmed. A key of no record, or of one that is not visible, is missing. Error 22023 with a pointer to each invalid key, 54000 for more keys, or for records of more than 32 MiB.';

create function keyed.upsert_by_key(
  template regclass, external_key text, attributes jsonb default '{}', if_match text default null,
  if_none_match text default null, out id uuid, out created boolean)
  language c volatile as 'MODULE_PATHNAME', 'keyed_upsert_by_key';
comment on function keyed.upsert_by_key(regclass, text, jsonb, text, text) is
  'Creates a record with this key, or if a live record of the template has it, changes the listed attributes of that record; {"$inc": n} adds to a number. Returns the id of the record and whether it was created. Unchanged values write nothing. if_match: changes the record only if it has this version ("*": any), and creates none. if_none_match "*": only creates. Otherwise error 55000, and nothing is written.';

create function keyed.patch_record(id uuid, body jsonb, if_match text default null) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_patch_record';
comment on function keyed.patch_record(uuid, jsonb, text) is
  'Changes the listed members. body: {"attributes"?: {slug: value}, "external_key"?: a string sets it, null clears it, absent leaves it, "embedding"?: 768 numbers set it, null removes it, absent leaves it}. if_match: the version that the record must have (keyed.record_version), otherwise error 55000. Returns the record. Errors as for create_record, and P0002 if the record does not exist.';

create function keyed.replace_attributes(id uuid, attributes jsonb, if_match text default null) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_replace_attributes';
comment on function keyed.replace_attributes(uuid, jsonb, text) is
  'Replaces all attribute values: attributes that are not listed become null. The key does not change. if_match as for keyed.patch_record. Returns the record.';

create function keyed.delete_record(id uuid, if_match text default null) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_delete_record';
comment on function keyed.delete_record(uuid, text) is
  'Marks a live record as deleted, which releases its key. if_match as for keyed.patch_record. Error P0002 if the record does not exist.';

create function keyed.restore_record(id uuid, body jsonb default '{}', if_match text default null) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_restore_record';
comment on function keyed.restore_record(uuid, jsonb, text) is
  'Restores a deleted record with its old key, or with {"external_key": "another"}, or null for none. if_match as for keyed.patch_record, with the version of the deleted record. Errors: 23505 if another record has the key now or the record is not deleted, P0002 if the record does not exist.';

create function keyed.history_page(id uuid, page_size integer default 100, cursor text default null) returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_history_page';
comment on function keyed.history_page(uuid, integer, text) is
  'One page of the history of a record, newest first: {"history": [{version, at, actor, source, operation, external_key, changes: {slug: {old, new}}}], "next_cursor"}. Includes deleted records.';

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
  'The history of a record, newest first, one row for each change; keyed.history_page returns it in pages.';

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
  'The points of a metric, or of its buckets, as rows, oldest first; keyed.metric_page returns them in pages.';

create function keyed.replace_metric_points(
  id uuid, slug text, points jsonb, "from" text default null, "to" text default null, if_match text default null)
  returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_replace_metric_points';
comment on function keyed.replace_metric_points(uuid, text, jsonb, text, text, text) is
  'Corrects the series of a metric: points, [{at, value}], replace those of the same times; with from (inclusive) or to (exclusive), RFC 3339, all points of that range. The metric then has the value of the latest point, null if there is none. if_match as for keyed.patch_record. Needs the privileges read and update. Returns {"deleted", "added", "latest": {at, value}}. Errors: 22023 for an invalid point or range, P0002 if the record does not exist.';

create function keyed.delete_metric_points(
  id uuid, slug text, at text default null, "from" text default null, "to" text default null, if_match text default null)
  returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_delete_metric_points';
comment on function keyed.delete_metric_points(uuid, text, text, text, text, text) is
  'Deletes points of a metric: those at a time, or from (inclusive) to (exclusive), RFC 3339. Otherwise like keyed.replace_metric_points.';

create function keyed.batch(
  operations jsonb, atomic boolean default false, conflict text default null, versions boolean default false,
  return_record boolean default false)
  returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_batch';
comment on function keyed.batch(jsonb, boolean, text, boolean, boolean) is
  'Runs up to keyed.max_operations_per_batch (1000) operations: [{"op": create|update|upsert|delete, "template": "project.template" or id, "id"?, "external_key"?, "attributes"?, "embedding"?, "if_match"?}]. atomic: the first operation that is rejected rolls back all, and its error has failed_index; otherwise each operation has its own result. conflict, for an atomic batch: what an upsert does if another transaction has created a record with its key since the batch began; fail (default): rolls back, error 23505 with "retryable": true; wait: updates the record. if_match, for update, upsert and delete: the version that the record must have, otherwise error 55000 of this operation. versions: each result has the version that its record has at the end, as results of operations with if_match always have. return_record: each result has version and record. Returns {"errors", "results": [{index, status, id, created, version?, record?, error?}]} in the order of the request.';
