-- How much a project may hold and write.

create function keyed.set_quota(project text, name text, maximum bigint) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_set_quota';
comment on function keyed.set_quota(text, text, bigint) is
  'Sets how much a project (slug or number) may hold or write, in records, templates or attributes; null: no bound. name: live_records, templates, attributes_per_template, writes_per_day (a write is what leaves a line in history; days are the project''s, see keyed.set_time_zone). What goes beyond is refused with 53400. Setting live_records for the first time counts the records, and lets nobody write them meanwhile. Needs keyed_admin, and READ COMMITTED.';

create function keyed.quota_report(project text) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_quota_report';
comment on function keyed.quota_report(text) is
  'What keyed.quota_usage tells, as JSON: [{name, maximum, used, resets_at}]. Needs keyed_admin.';

create function keyed.quota_usage(project text)
  returns table (name text, maximum bigint, used bigint, resets_at timestamptz)
  language sql volatile
  begin atomic
    select quota.name, quota.maximum, quota.used, quota.resets_at
    from pg_catalog.jsonb_to_recordset(keyed.quota_report(quota_usage.project))
      as quota (name text, maximum bigint, used bigint, resets_at timestamptz);
  end;
comment on function keyed.quota_usage(text) is
  'The quotas of a project and what is used of each, as committed by now. maximum: null where none is set; then live_records are counted one by one, and writes_per_day are not known. used of attributes_per_template: of the template that has the most. resets_at: when writes_per_day starts again. Needs keyed_admin.';
