-- The views keyed.stat_*, for operators. Each view calls a function that returns only rows that are visible to the
-- reader. Sizes and row counts come from PostgreSQL's catalog, as of the last VACUUM or ANALYZE, so no table is opened or
-- locked.

create function keyed.visible_templates() returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_visible_templates';
comment on function keyed.visible_templates() is
  'The templates that are visible to the caller, as JSON: [{"id", "project", "template"}]. For the views keyed.stat_*.';

create function keyed.estimated_bytes(relation oid) returns bigint
  language sql stable parallel safe
  begin atomic
    select pg_catalog.current_setting('block_size')::bigint * (c.relpages
      + coalesce((select pg_catalog.sum(i.relpages) from pg_catalog.pg_index x join pg_catalog.pg_class i on i.oid = x.indexrelid
          where x.indrelid = c.oid), 0)
      + coalesce((select t.relpages + coalesce((select pg_catalog.sum(i.relpages) from pg_catalog.pg_index x
            join pg_catalog.pg_class i on i.oid = x.indexrelid where x.indrelid = t.oid), 0)
          from pg_catalog.pg_class t where t.oid = c.reltoastrelid), 0))
    from pg_catalog.pg_class c where c.oid = $1;
  end;
comment on function keyed.estimated_bytes(oid) is
  'The size of a table with its indexes and TOAST table as of the last VACUUM or ANALYZE, without opening it; pg_total_relation_size is exact, and waits for locks.';

create function keyed.last_index_scan(index oid) returns timestamptz
  language plpgsql stable parallel restricted set search_path = pg_catalog, pg_temp as $$
    begin
      if current_setting('server_version_num')::integer < 160000 then
        return null;
      end if;
      return pg_stat_get_lastscan(index);
    end
  $$;
comment on function keyed.last_index_scan(oid) is
  'When an index was last used; null on PostgreSQL 15, which does not record it.';

create view keyed.stat_templates with (security_invoker = true, security_barrier = true) as
  select v.project, v.template, c.oid::pg_catalog.regclass as "table",
    nullif(c.reltuples, -1)::bigint as estimated_rows,
    pg_catalog.pg_stat_get_live_tuples(c.oid) as live_rows, pg_catalog.pg_stat_get_dead_tuples(c.oid) as dead_rows,
    pg_catalog.pg_stat_get_mod_since_analyze(c.oid) as rows_changed_since_analyze,
    c.relpages * bs.size as table_bytes,
    coalesce((select pg_catalog.sum(i.relpages) from pg_catalog.pg_index x join pg_catalog.pg_class i on i.oid = x.indexrelid
      where x.indrelid = c.oid), 0)::bigint * bs.size as index_bytes,
    coalesce(keyed.estimated_bytes(nullif(c.reltoastrelid, 0)), 0) as toast_bytes,
    coalesce(keyed.estimated_bytes((select s.oid from pg_catalog.pg_class s
      where s.relnamespace = k.oid and s.relname = ('history_' || v.id)::name)), 0) as history_bytes,
    coalesce(keyed.estimated_bytes((select s.oid from pg_catalog.pg_class s
      where s.relnamespace = k.oid and s.relname = ('metric_' || v.id)::name)), 0) as series_bytes,
    coalesce(keyed.estimated_bytes((select s.oid from pg_catalog.pg_class s
      where s.relnamespace = k.oid and s.relname = ('text_' || v.id)::name)), 0) as documents_bytes,
    coalesce(keyed.estimated_bytes((select s.oid from pg_catalog.pg_class s
      where s.relnamespace = k.oid and s.relname = ('vector_' || v.id)::name)), 0) as vectors_bytes,
    pg_catalog.pg_stat_get_last_vacuum_time(c.oid) as last_vacuum,
    pg_catalog.pg_stat_get_last_autovacuum_time(c.oid) as last_autovacuum,
    pg_catalog.pg_stat_get_last_analyze_time(c.oid) as last_analyze,
    pg_catalog.pg_stat_get_last_autoanalyze_time(c.oid) as last_autoanalyze,
    pg_catalog.pg_stat_get_tuples_inserted(c.oid) as inserts, pg_catalog.pg_stat_get_tuples_updated(c.oid) as updates,
    pg_catalog.pg_stat_get_tuples_hot_updated(c.oid) as hot_updates, pg_catalog.pg_stat_get_tuples_deleted(c.oid) as deletes,
    pg_catalog.pg_stat_get_numscans(c.oid) as sequential_scans,
    (select coalesce(pg_catalog.sum(pg_catalog.pg_stat_get_numscans(x.indexrelid)), 0)::bigint from pg_catalog.pg_index x
      where x.indrelid = c.oid) as index_scans
  from pg_catalog.jsonb_to_recordset(keyed.visible_templates()) as v (id integer, project text, template text)
  join pg_catalog.pg_namespace n on n.nspname = v.project::name
  join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = v.template::name
  cross join (values (pg_catalog.current_setting('block_size')::bigint)) bs (size)
  left join pg_catalog.pg_namespace k on k.nspname = 'keyed_state'
  order by v.project, v.template;
comment on view keyed.stat_templates is
  'Templates that are visible to you: rows, sizes, vacuum and use of their tables. Sizes are as of the last VACUUM or ANALYZE of each table. Counters begin at the last reset of the statistics.';
comment on column keyed.stat_templates.project is 'The project: the schema of the table.';
comment on column keyed.stat_templates.template is 'The template: the name of the table.';
comment on column keyed.stat_templates."table" is 'The table. pg_total_relation_size("table") is its exact size now.';
comment on column keyed.stat_templates.estimated_rows is 'Rows as of the last VACUUM or ANALYZE, including deleted records; null before the first.';
comment on column keyed.stat_templates.live_rows is 'Estimated current number of rows, including deleted records.';
comment on column keyed.stat_templates.dead_rows is 'Estimated number of dead rows that VACUUM has not removed.';
comment on column keyed.stat_templates.rows_changed_since_analyze is 'Rows written since the last ANALYZE.';
comment on column keyed.stat_templates.table_bytes is 'Size of the table without indexes, in bytes.';
comment on column keyed.stat_templates.index_bytes is 'Size of its indexes, in bytes.';
comment on column keyed.stat_templates.toast_bytes is 'Size of the TOAST table with its index, in bytes.';
comment on column keyed.stat_templates.history_bytes is 'Size of the history of the records, with its indexes, in bytes.';
comment on column keyed.stat_templates.series_bytes is 'Size of the points of metrics, with their indexes, in bytes.';
comment on column keyed.stat_templates.documents_bytes is 'Size of the documents of global_search, with their indexes, in bytes.';
comment on column keyed.stat_templates.vectors_bytes is 'Size of the vectors of semantic search, with their index, in bytes.';
comment on column keyed.stat_templates.last_vacuum is 'When VACUUM was last run by a session.';
comment on column keyed.stat_templates.last_autovacuum is 'When autovacuum last ran VACUUM.';
comment on column keyed.stat_templates.last_analyze is 'When ANALYZE was last run by a session.';
comment on column keyed.stat_templates.last_autoanalyze is 'When autovacuum last ran ANALYZE.';
comment on column keyed.stat_templates.inserts is 'Rows inserted.';
comment on column keyed.stat_templates.updates is 'Rows updated.';
comment on column keyed.stat_templates.hot_updates is 'HOT updates, which changed no index.';
comment on column keyed.stat_templates.deletes is 'Rows deleted. Deleting a record updates its row.';
comment on column keyed.stat_templates.sequential_scans is 'Statements that read the whole table.';
comment on column keyed.stat_templates.index_scans is 'Uses of its indexes.';
grant select on keyed.stat_templates to public;

create view keyed.stat_indexes with (security_invoker = true, security_barrier = true) as
  select v.project, v.template, x.indrelid::pg_catalog.regclass as "table", x.indexrelid::pg_catalog.regclass as index,
    -- The last column: the id comes first, and is in indexes only as a tiebreaker.
    case when b.part = 'record' then coalesce((
      select a.attname::text from pg_catalog.pg_depend d join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
      where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objid = x.indexrelid and d.refobjid = x.indrelid and d.refobjsubid > 0
      order by d.refobjsubid desc limit 1), 'id') end as attribute,
    case b.part
      when 'record' then case
        when x.indisprimary then 'records by id'
        when x.indisunique then 'external keys'
        when x.indpred is not null then 'deleted records'
        when m.amname = 'gin' and exists (select from pg_catalog.pg_attribute a join pg_catalog.pg_type y on y.oid = a.atttypid
          where a.attrelid = x.indrelid and a.attnum = x.indkey[0] and y.typcategory = 'A') then 'values of a list'
        when m.amname = 'gin' then 'substrings'
        else 'values and order' end
      when 'history_' then 'history' when 'metric_' then 'series' when 'text_' then 'global_search' else 'semantic search' end as purpose,
    m.amname::text as method, i.relpages * pg_catalog.current_setting('block_size')::bigint as bytes,
    pg_catalog.pg_stat_get_numscans(x.indexrelid) as scans, keyed.last_index_scan(x.indexrelid) as last_scan,
    x.indisunique as is_unique, x.indisvalid and x.indisready as is_valid
  from pg_catalog.jsonb_to_recordset(keyed.visible_templates()) as v (id integer, project text, template text)
  cross join (values ('record'), ('history_'), ('metric_'), ('text_'), ('vector_')) b (part)
  join pg_catalog.pg_namespace n on n.nspname = case when b.part = 'record' then v.project else 'keyed_state' end::name
  join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = case when b.part = 'record' then v.template else b.part || v.id end::name
  join pg_catalog.pg_index x on x.indrelid = c.oid
  join pg_catalog.pg_class i on i.oid = x.indexrelid
  join pg_catalog.pg_am m on m.oid = i.relam
  order by v.project, v.template, b.part <> 'record', c.relname, i.relname;
comment on view keyed.stat_indexes is
  'Indexes of the templates that are visible to you, and of their tables of history, series, documents and vectors.';
comment on column keyed.stat_indexes.project is 'The project.';
comment on column keyed.stat_indexes.template is 'The template.';
comment on column keyed.stat_indexes."table" is 'The table of the records, or its table of history, series, documents or vectors in keyed_state.';
comment on column keyed.stat_indexes.index is 'The index.';
comment on column keyed.stat_indexes.attribute is 'The attribute or standard column; null for tables of keyed_state.';
comment on column keyed.stat_indexes.purpose is 'The purpose: records by id, external keys, deleted records, values and order, substrings (like, ilike), values of a list, history, series, global_search, semantic search.';
comment on column keyed.stat_indexes.method is 'The access method: btree, gin or hnsw.';
comment on column keyed.stat_indexes.bytes is 'Its size as of the last VACUUM or ANALYZE, in bytes.';
comment on column keyed.stat_indexes.scans is 'Scans since the last reset of the statistics. Uniqueness checks do not count.';
comment on column keyed.stat_indexes.last_scan is 'When it was last used; null on PostgreSQL 15, which does not record it.';
comment on column keyed.stat_indexes.is_unique is 'Whether it is a unique index.';
comment on column keyed.stat_indexes.is_valid is 'Whether it is valid. An index that is being built, or whose build failed, is not.';
grant select on keyed.stat_indexes to public;

-- A separate function, because in PL/pgSQL a result column would be ambiguous with a column of the query.
create function keyed.attribute_uses()
  returns table (template_id integer, attribute text, indexed boolean, filters bigint, sorts bigint, since timestamptz,
    last_at timestamptz)
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
    #variable_conflict use_column
    begin
      perform keyed.require_admin('see the usage of attributes');
      return query
        select a.template_id, a.slug, a.indexed or a.type = 'reference', u.filters, u.sorts, u.since, u.last_at
        from keyed_state.attribute_use u join keyed_state.attribute a on a.id = u.attribute_id
        where u.filters + u.sorts > 0;
    end
  $$;
comment on function keyed.attribute_uses() is
  'The rows of keyed.stat_searches. Needs keyed_admin.';

create view keyed.stat_searches with (security_invoker = true, security_barrier = true) as
  select v.project, v.template, u.attribute, u.filters, u.sorts, u.indexed as is_indexed,
    nullif(c.reltuples, -1)::bigint as estimated_rows, u.since as counted_since, u.last_at as last_counted,
    case when not u.indexed then pg_catalog.format('select keyed.alter_attribute(%L, %L, %L);',
      pg_catalog.format('%I.%I', v.project, v.template), u.attribute, '{"indexed": true}') end as suggestion
  from keyed.attribute_uses() u
  join pg_catalog.jsonb_to_recordset(keyed.visible_templates()) as v (id integer, project text, template text) on v.id = u.template_id
  join pg_catalog.pg_namespace n on n.nspname = v.project::name
  join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = v.template::name
  order by v.project, v.template, u.filters + u.sorts desc, u.attribute;
comment on view keyed.stat_searches is
  'Attributes that searches filter and sort by, and whether an index exists: without one, such a search may read every record. Needs keyed_admin.';
comment on column keyed.stat_searches.project is 'The project.';
comment on column keyed.stat_searches.template is 'The template.';
comment on column keyed.stat_searches.attribute is 'The attribute.';
comment on column keyed.stat_searches.filters is 'Searches that filtered by it in a form that can use an index.';
comment on column keyed.stat_searches.sorts is 'Searches with it as the first sort key.';
comment on column keyed.stat_searches.is_indexed is 'Whether the attribute has indexes.';
comment on column keyed.stat_searches.estimated_rows is 'Rows of the table as of its last VACUUM or ANALYZE, all of which a search without an index reads.';
comment on column keyed.stat_searches.counted_since is 'When counting began: the creation of the attribute.';
comment on column keyed.stat_searches.last_counted is 'When a session last added its counts, about every ten seconds of use.';
comment on column keyed.stat_searches.suggestion is 'The statement that creates the indexes; null if they exist.';
grant select on keyed.stat_searches to public;

create view keyed.stat_api_keys with (security_invoker = true, security_barrier = true) as
  select k.id, k.label, k.role, k.projects, k.created_at, k.expires_at, k.revoked_at, k.last_used_at,
    case when k.revoked_at is not null then 'revoked' when k.orphaned then 'orphaned'
      when k.expires_at <= pg_catalog.now() then 'expired' else 'valid' end as state
  from keyed.list_api_keys() k
  order by k.id;
comment on view keyed.stat_api_keys is
  'API keys and when they were last used, without their secrets. Needs keyed_admin.';
comment on column keyed.stat_api_keys.id is 'The id in the prefix of the key.';
comment on column keyed.stat_api_keys.label is 'Its label.';
comment on column keyed.stat_api_keys.role is 'The role that requests with the key act as.';
comment on column keyed.stat_api_keys.projects is 'The projects that it is limited to; null: all.';
comment on column keyed.stat_api_keys.created_at is 'When it was issued.';
comment on column keyed.stat_api_keys.expires_at is 'When it expires; null: never.';
comment on column keyed.stat_api_keys.revoked_at is 'When it was revoked; null: it was not.';
comment on column keyed.stat_api_keys.last_used_at is 'When it was last used, to about a minute; null: never.';
comment on column keyed.stat_api_keys.state is 'valid, expired, revoked, or orphaned: its role was dropped. Only valid keys are accepted.';
grant select on keyed.stat_api_keys to public;

create view keyed.stat_activity with (security_invoker = true, security_barrier = true) as
  with visible as materialized (
    select v.id, v.project, v.template, n.oid as schema
    from pg_catalog.jsonb_to_recordset(keyed.visible_templates()) as v (id integer, project text, template text)
    join pg_catalog.pg_namespace n on n.nspname = v.project::name
  ), lock as materialized (
    select l.pid, l.locktype, l.mode, l.granted, l.waitstart, l.relation, l.classid, l.objid, l.objsubid
    from pg_catalog.pg_locks l
    where l.database = (select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database()) or not l.granted
  ), relation as materialized (
    -- The record table of a lock, also for a lock on an index of it or on a side table.
    select r.oid, t.oid as "table", coalesce(v.id, b.id) as id, coalesce(v.project, b.project) as project, coalesce(v.template, b.template) as template
    from (select distinct l.relation from lock l where l.relation is not null) l (oid)
    join pg_catalog.pg_class r on r.oid = l.oid
    left join pg_catalog.pg_index x on x.indexrelid = r.oid
    join pg_catalog.pg_class t on t.oid = coalesce(x.indrelid, r.oid)
    join pg_catalog.pg_namespace n on n.oid = t.relnamespace
    left join visible v on v.schema = n.oid and v.template = t.relname::text
    left join visible b on b.id = case when n.nspname = 'keyed_state'
      then pg_catalog.substring(t.relname::text, '^(?:history|metric|text|vector)_([0-9]{1,18})$')::bigint end
    where v.id is not null or b.id is not null
  ), job as materialized (
    select j.worker, j.id, j.template, j.kind, j.attribute, j.records_done, j.records
    from pg_catalog.jsonb_to_recordset(keyed.job_report()) as j (worker integer, id bigint, template text, kind text, attribute text,
      records_done bigint, records bigint)
    where j.worker is not null
  )
  select a.pid, a.usename::text as login, a.backend_type as kind, a.application_name,
    -- Any login can set application_name. Null if keyed_proxy does not exist.
    case when pg_catalog.pg_has_role(a.usesysid, (select r.oid from pg_catalog.pg_roles r where r.rolname = 'keyed_proxy'), 'usage')
      then pg_catalog.substring(a.application_name, '^keyed (.+)$') end as request_id,
    a.state, a.xact_start as transaction_start, a.query_start, a.wait_event_type, a.wait_event,
    coalesce(wr.project, pg_catalog.split_part(j.template, '.', 1), pr.project) as project,
    coalesce(wr.template, pg_catalog.split_part(j.template, '.', 2), pr.template) as template,
    case when w.locktype = 'advisory' and w.objsubid > 2 then case w.objsubid
        when 3 then 'a request with the same Idempotency-Key' when 4 then 'a quota' when 5 then 'the set-up of the database'
        when 6 then 'the import of a file' when 7 then 'a job' when 8 then 'definitions of the project'
        when 9 then 'privileges of the project' when 10 then 'an examination of the database' end
      when w.locktype in ('relation', 'extend') then coalesce('table ' || wr."table"::pg_catalog.regclass, w.relation::pg_catalog.regclass::text)
      when w.locktype = 'tuple' then 'row of ' || w.relation::pg_catalog.regclass
      when w.locktype = 'transactionid' then 'the end of a transaction'
      when w.locktype = 'virtualxid' then 'the end of a transaction that reads'
      else w.locktype end as waits_for,
    w.mode as lock_mode, w.waitstart as waiting_since,
    case when w.pid is not null then pg_catalog.pg_blocking_pids(a.pid) end as blocked_by,
    j.id as job, coalesce(j.kind, case when b.pid is not null then 'index' end) as job_kind,
    coalesce(b.phase, case when j.kind <> 'index' then 'records' end) as phase,
    (case when b.pid is not null then b.blocks_done::float8 / nullif(b.blocks_total, 0)
      else j.records_done::float8 / nullif(greatest(j.records, j.records_done), 0) end)::real as progress,
    a.query
  from pg_catalog.pg_stat_activity a
  left join lateral (select l.* from lock l where l.pid = a.pid and not l.granted limit 1) w on true
  left join relation wr on wr.oid = w.relation
  left join lateral (select r.project, r.template from lock l join relation r on r.oid = l.relation
    where l.pid = a.pid and l.granted order by l.mode in ('AccessShareLock'), r.id limit 1) pr on true
  left join job j on j.worker = a.pid
  left join pg_catalog.pg_stat_progress_create_index b on b.pid = a.pid
  where a.datname = pg_catalog.current_database() and a.pid <> pg_catalog.pg_backend_pid()
    and (pr.template is not null or wr.template is not null or j.id is not null
      or (a.usename = 'keyed_proxy' and a.state <> 'idle' or w.locktype = 'advisory' and w.objsubid > 2)
        and pg_catalog.pg_has_role('pg_read_all_stats', 'usage'))
  order by w.waitstart nulls last, a.xact_start nulls last, a.pid;
comment on view keyed.stat_activity is
  'Active sessions on the tables of templates that are visible to you, their lock waits and blockers, and background jobs with their progress. Statements of other sessions are visible to members of pg_read_all_stats.';
comment on column keyed.stat_activity.pid is 'The process. select pg_cancel_backend(pid) ends its statement.';
comment on column keyed.stat_activity.login is 'The login. That of the proxy works for API keys: see request_id.';
comment on column keyed.stat_activity.kind is 'client backend, a background worker of keyed, autovacuum worker, …';
comment on column keyed.stat_activity.application_name is 'The application_name of the session.';
comment on column keyed.stat_activity.request_id is 'The request id (X-Request-Id) of the proxy, whose access log has the API key. Null for logins without the rights of keyed_proxy.';
comment on column keyed.stat_activity.state is 'active, idle in transaction, …; null if you may not see it.';
comment on column keyed.stat_activity.transaction_start is 'When its transaction began.';
comment on column keyed.stat_activity.query_start is 'When its statement began.';
comment on column keyed.stat_activity.wait_event_type is 'The type of the wait event, as in pg_stat_activity.';
comment on column keyed.stat_activity.wait_event is 'The wait event, as in pg_stat_activity.';
comment on column keyed.stat_activity.project is 'The project of the table that it waits for, otherwise of one that it has locked.';
comment on column keyed.stat_activity.template is 'The template of that table.';
comment on column keyed.stat_activity.waits_for is 'A description of the lock that it waits for; null if none.';
comment on column keyed.stat_activity.lock_mode is 'The mode of that lock.';
comment on column keyed.stat_activity.waiting_since is 'When it began to wait.';
comment on column keyed.stat_activity.blocked_by is 'The processes that block it.';
comment on column keyed.stat_activity.job is 'The job of keyed.jobs() that the worker is running.';
comment on column keyed.stat_activity.job_kind is 'The kind of the job; index also for a manual index build.';
comment on column keyed.stat_activity.phase is 'The phase of an index build, or records.';
comment on column keyed.stat_activity.progress is 'From 0 to 1; for an index build, within its phase.';
comment on column keyed.stat_activity.query is 'The statement.';
grant select on keyed.stat_activity to public;
