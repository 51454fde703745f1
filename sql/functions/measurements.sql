-- Measurements for monitoring.

-- SECURITY DEFINER, owned by the superuser who installed the extension: times of other sessions and of standbys are
-- visible only to superusers and members of pg_read_all_stats. It returns numbers only, no names or statements.
create function keyed.server_measurements()
  returns table (name text, labels text, value double precision)
  language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
    with session as (
      select a.state, a.wait_event_type, a.xact_start, a.state_change, a.backend_xid, a.backend_xmin
      from pg_stat_activity a where a.datname = current_database() and a.backend_type = 'client backend'
    ), place as (
      select pg_is_in_recovery() as is_standby, case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end as lsn
    )
    select 'sessions', jsonb_build_object('state', s.state)::text,
      (select count(*) from session a where case s.state when 'idle in transaction' then a.state like s.state || '%' else a.state = s.state end)::float8
      from (values ('active'), ('idle'), ('idle in transaction')) s (state)
    union all
    select m.name, '{}', m.value from place cross join lateral (values
      ('sessions_waiting_for_locks', (select count(*) from session a where a.wait_event_type = 'Lock')::float8),
      ('connections', (select count(*) from pg_stat_activity a where a.backend_type = 'client backend')::float8),
      -- reserved_connections exists since PostgreSQL 16.
      ('connections_limit', current_setting('max_connections')::float8 - current_setting('superuser_reserved_connections')::float8
        - coalesce(current_setting('reserved_connections', true)::float8, 0)),
      ('oldest_transaction_seconds', (select coalesce(max(extract(epoch from clock_timestamp() - a.xact_start)), 0) from session a)),
      ('oldest_idle_transaction_seconds', (select coalesce(max(extract(epoch from clock_timestamp() - a.state_change)), 0) from session a
        where a.state like 'idle in transaction%')),
      ('changes_delay_seconds', (select coalesce(max(extract(epoch from clock_timestamp() - w.since)), 0) from (
        select a.xact_start from session a where a.backend_xid is not null
        union all select x.prepared from pg_prepared_xacts x where x.database = current_database()) w (since))),
      ('prepared_transactions', (select count(*) from pg_prepared_xacts x where x.database = current_database())),
      ('oldest_snapshot_transactions', (select coalesce(max(age(x.xid)), 0) from (
        select a.backend_xmin from pg_stat_activity a where a.datname is null or a.datname = current_database()
        union all select a.backend_xid from pg_stat_activity a where a.datname = current_database()
        union all select x.transaction from pg_prepared_xacts x where x.database = current_database()
        union all select s.xmin from pg_replication_slots s
        union all select s.catalog_xmin from pg_replication_slots s) x (xid))),
      ('transaction_id_age', (select age(d.datfrozenxid) from pg_database d where d.datname = current_database())),
      ('multixact_id_age', (select mxid_age(d.datminmxid) from pg_database d where d.datname = current_database())),
      ('deadlocks_total', pg_stat_get_db_deadlocks((select d.oid from pg_database d where d.datname = current_database()))),
      ('standbys', (select count(*) from pg_stat_replication r)),
      ('replication_lag_seconds', case
        when not place.is_standby then (select max(coalesce(extract(epoch from r.replay_lag), 0)) from pg_stat_replication r)
        when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
        else extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) end),
      ('replication_lag_bytes', case
        when not place.is_standby then (select max(pg_wal_lsn_diff(place.lsn, r.replay_lsn)) from pg_stat_replication r)
        else pg_wal_lsn_diff(place.lsn, pg_last_wal_replay_lsn()) end),
      ('replication_slots_inactive', (select count(*) from pg_replication_slots s where not s.active)),
      ('replication_slots_retained_bytes', (select max(pg_wal_lsn_diff(place.lsn, s.restart_lsn)) from pg_replication_slots s))
    ) m (name, value)
  $$;
comment on function keyed.server_measurements() is
  'The measurements of keyed_http.measurements() that are about the server: sessions, old transactions, replication. Runs with the privileges of its owner; only keyed_owner and superusers may execute it.';
-- keyed.init() grants EXECUTE to keyed_owner.
revoke execute on function keyed.server_measurements() from public;

create function keyed.measurement_report() returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_measurement_report';
comment on function keyed.measurement_report() is
  'The result of keyed_http.measurements(), as JSON.';

create function keyed_http.measurements()
  returns table (name text, labels jsonb, value double precision)
  language sql volatile
  begin atomic
    select m.name, m.labels, m.value
    from pg_catalog.jsonb_to_recordset(keyed.measurement_report()) as m (name text, labels jsonb, value double precision);
  end;
comment on function keyed_http.measurements() is
  'Measurements of the database for monitoring: queues, jobs, keys, sessions, replication. Reads a bounded number of rows. Measurements that are not visible or do not apply are omitted. For keyed-proxy and administrators.';
