-- Quotas of projects.

create function keyed.set_quota(project text, name text, maximum bigint) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_set_quota';
comment on function keyed.set_quota(text, text, bigint) is
  'Sets the maximum of records, templates, attributes or writes of a project (slug or number); null removes it. name: live_records, templates, attributes_per_template, writes_per_day (a write is one entry of the history; for the time zone of days see keyed.set_time_zone). Exceeding it raises 53400. A maximum below current usage deletes nothing. Setting live_records for the first time counts the records and blocks writes until it commits. Needs keyed_admin and READ COMMITTED.';

create function keyed.quota_report(project text) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_quota_report';
comment on function keyed.quota_report(text) is
  'The result of keyed.quota_usage, as JSON: [{name, maximum, used, resets_at}]. Needs keyed_admin.';

create function keyed.quota_usage(project text)
  returns table (name text, maximum bigint, used bigint, resets_at timestamptz)
  language sql volatile
  begin atomic
    select quota.name, quota.maximum, quota.used, quota.resets_at
    from pg_catalog.jsonb_to_recordset(keyed.quota_report(quota_usage.project))
      as quota (name text, maximum bigint, used bigint, resets_at timestamptz);
  end;
comment on function keyed.quota_usage(text) is
  'Lists the quotas of a project with their committed usage. maximum: null if none is set; live_records are then counted one by one, and writes_per_day is unknown. used of attributes_per_template: the largest number of any template. resets_at: when writes_per_day starts again. Needs keyed_admin.';
