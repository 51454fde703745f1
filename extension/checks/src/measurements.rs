//! Measurements for monitoring: names, help texts and queries.
//!
//! The names follow the conventions of Prometheus: base units, with `_seconds` or `_bytes` as suffix. Names with the suffix
//! `_total` are counters, all others gauges. Clients cannot influence the values of labels.

/// A measurement.
pub struct Measurement {
    /// Its name, without a prefix.
    pub name: &'static str,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// The help text.
    pub help: &'static str,
}

const fn plain(name: &'static str, help: &'static str) -> Measurement {
    Measurement { name, labels: &[], help }
}

/// All measurements, in the order of the queries. A response omits those that are not visible or do not apply.
pub const MEASUREMENTS: &[Measurement] = &[
    plain("state_migrations_pending", "Migrations that keyed.migrate() has not run yet."),
    plain("projects", "Projects. Above 2000 an estimate."),
    plain("templates", "Templates. Above 2000 an estimate."),
    plain(
        "record_rows",
        "Rows in the tables of all templates, including deleted records: an estimate of PostgreSQL. Absent with more than 1000 templates.",
    ),
    plain(
        "record_dead_rows",
        "Dead rows in the tables of all templates, which vacuum has not removed yet: an estimate of PostgreSQL. Absent with more than 1000 templates.",
    ),
    plain(
        "embedding_queue_pending",
        "Records that wait for their vector, including those that a worker has claimed. Above 2000 an estimate.",
    ),
    plain(
        "embedding_queue_oldest_seconds",
        "Longest time that a record has waited for its vector, among the first 1000 templates with such records.",
    ),
    plain("embedding_queue_failed", "Records whose embedding has failed permanently. At most 2000."),
    Measurement {
        name: "jobs",
        labels: &["state"],
        help: "Background jobs of definitions among the first 2000, by state: pending, running or failed.",
    },
    plain("jobs_stalled", "Background jobs that have failed, or wait while no worker runs."),
    plain("jobs_stalled_oldest_seconds", "Age of the oldest stalled background job; 0 if there is none."),
    plain(
        "inbound_dead_letters",
        "Failed deliveries that are stored for a replay. Above 2000 an upper bound.",
    ),
    plain("inbound_dead_letters_bytes", "Size of the payloads of failed deliveries."),
    plain("inbound_log_bytes", "Size of the log of all deliveries on disk, including payloads and indexes."),
    plain(
        "webhooks_pending",
        "Webhook deliveries that are pending or running: at most 2000 of each of the first 100 endpoints.",
    ),
    plain(
        "webhooks_failed",
        "Webhook deliveries that have failed permanently: at most 2000 of each of the first 100 endpoints.",
    ),
    plain(
        "webhooks_oldest_seconds",
        "Age of the oldest pending webhook delivery among the first 100 endpoints, without disabled ones; 0 if there is none.",
    ),
    plain(
        "idempotent_responses",
        "Stored responses to requests with an Idempotency-Key. Above 2000 an estimate.",
    ),
    plain("idempotent_responses_bytes", "Size of stored responses on disk, including indexes."),
    plain("api_keys", "Valid API keys among the 2000 issued last."),
    plain("api_keys_expiring", "API keys that expire within 14 days, among the 2000 issued last."),
    plain(
        "api_keys_unused",
        "Valid API keys that were issued at least 90 days ago and not used for 90 days, among the 2000 issued last.",
    ),
    Measurement {
        name: "sessions",
        labels: &["state"],
        help: "Sessions of clients in this database: active, idle, or idle in transaction.",
    },
    plain("sessions_waiting_for_locks", "Sessions in this database that wait for a lock of another session."),
    plain("connections", "Connections of clients to the server, in all its databases."),
    plain(
        "connections_limit",
        "Maximum number of connections for roles that may not use reserved ones: max_connections minus superuser_reserved_connections and reserved_connections.",
    ),
    plain(
        "oldest_transaction_seconds",
        "The age of the oldest open transaction of a client in this database.",
    ),
    plain("oldest_idle_transaction_seconds", "Longest time that a session has been idle in a transaction."),
    plain(
        "changes_delay_seconds",
        "Age of the oldest open or prepared transaction of this database that has written: the feed of changes shows nothing that was written later.",
    ),
    plain("prepared_transactions", "Prepared transactions of this database."),
    plain(
        "oldest_snapshot_transactions",
        "Number of transactions since the oldest snapshot that keeps vacuum from removing dead rows: of sessions, prepared transactions and replication slots.",
    ),
    plain(
        "transaction_id_age",
        "The age of the oldest transaction ID in this database, in transactions. PostgreSQL rejects writes near 2 billion.",
    ),
    plain("multixact_id_age", "The age of the oldest multixact ID in this database, in multixacts."),
    plain("deadlocks_total", "Deadlocks in this database since its statistics were reset."),
    plain("standbys", "Standbys that are connected to this server."),
    plain(
        "replication_lag_seconds",
        "Replay lag of the slowest standby; on a standby, the age of the last replayed transaction while there is more to replay.",
    ),
    plain(
        "replication_lag_bytes",
        "Write-ahead log that the slowest standby has not replayed; on a standby, write-ahead log that it has received but not replayed.",
    ),
    plain("replication_slots_inactive", "Replication slots that no process uses."),
    plain(
        "replication_slots_retained_bytes",
        "Largest amount of write-ahead log that a replication slot retains.",
    ),
];

/// The queries. Each returns rows of name, labels and value. If a query fails, because a table is missing or locked or a
/// privilege is missing, its measurements are omitted.
///
/// Each query reads a bounded number of rows. Counts are exact up to 2000, and then come from statistics of PostgreSQL or
/// keyed.
#[rustfmt::skip]
pub const READINGS: &[&str] = &[
    "select 'state_migrations_pending', '{}', cardinality(keyed.pending_migrations())
     union all select c.name, '{}', case when c.few < 2000 then c.few else greatest(c.few, pg_stat_get_live_tuples(c.counted)) end
       from (values ('projects', 'keyed_state.project'::regclass, (select count(*) from (select from keyed_state.project limit 2000) p)),
         ('templates', 'keyed_state.template'::regclass, (select count(*) from (select from keyed_state.template limit 2000) t))) c (name, counted, few)",
    // A thousand lookups take some milliseconds. With more templates, the measurements are omitted.
    "with few as materialized (select count(*) <= 1000 as are_few from (select from keyed_state.template limit 1001) t)
     select m.name, '{}', m.value
     from (select coalesce(sum(pg_stat_get_live_tuples(c.oid)), 0) as live, coalesce(sum(pg_stat_get_dead_tuples(c.oid)), 0) as dead
       from keyed_state.template t join keyed_state.project p on p.id = t.project_id join pg_namespace n on n.nspname = p.slug::name
       join pg_class c on c.relnamespace = n.oid and c.relname = t.slug::name
       where (select few.are_few from few)) s
     cross join lateral (values ('record_rows', s.live), ('record_dead_rows', s.dead)) m (name, value)
     where (select few.are_few from few)",
    "with recursive unfinished as (
       (select j.template_id, j.due_at from keyed_state.embedding_job j where j.state in ('pending', 'running')
        order by j.template_id, j.due_at limit 1)
       union all
       select n.template_id, n.due_at from unfinished u cross join lateral (
         select j.template_id, j.due_at from keyed_state.embedding_job j where j.state in ('pending', 'running')
         and j.template_id > u.template_id order by j.template_id, j.due_at limit 1) n
     ), few as (select u.due_at from unfinished u limit 1000)
     select 'embedding_queue_pending', '{}', case when p.pending < 2000 then p.pending
         else greatest(p.pending, (select c.reltuples from pg_class c where c.oid = to_regclass('keyed_state.embedding_job_template_id_due_at_idx'))) end
       from (select count(*)::float8 from (select from keyed_state.embedding_job j where j.state in ('pending', 'running') limit 2000) j) p (pending)
     union all
     select 'embedding_queue_oldest_seconds', '{}', greatest(extract(epoch from now() - (select min(few.due_at) from few)), 0)
     union all
     select 'embedding_queue_failed', '{}', (select count(*) from (select from keyed_state.embedding_job j where j.state = 'failed' limit 2000) j)",
    // As in keyed.jobs(): workers hold an advisory lock for the job and one for themselves.
    "with at_work as (
       select (l.classid::bigint << 32) + l.objid::bigint as number from pg_locks l where l.locktype = 'advisory' and l.objsubid = 7
         and l.granted and l.database = (select d.oid from pg_database d where d.datname = current_database())
     ), few as (
       select j.*, exists (select from at_work w where w.number = j.id) as has_lock,
         exists (select from at_work w where w.number = case j.kind when 'index' then -1 else 0 end) as has_worker
       from (select j.id, j.kind, j.state, j.created_at, j.started_at from keyed_state.job j order by j.id limit 2000) j
     ), job as (
       select s.created_at, case when s.state = 'failed' then 'failed' when s.has_lock or s.has_worker and s.started_at is not null and s.kind <> 'index'
           then 'running' else 'pending' end as state,
         s.state = 'failed' or not s.has_lock and not s.has_worker and (s.started_at is not null or s.created_at < clock_timestamp() - interval '5 seconds') as is_stalled
       from few s)
     select 'jobs', jsonb_build_object('state', s.name)::text, (select count(*) from job j where j.state = s.name)
       from (values ('pending'), ('running'), ('failed')) s (name)
     union all select 'jobs_stalled', '{}', (select count(*) from job j where j.is_stalled)
     union all select 'jobs_stalled_oldest_seconds', '{}',
       coalesce(extract(epoch from now() - (select min(j.created_at) from job j where j.is_stalled)), 0)",
    // octet_length of a TOASTed text does not read it.
    "select m.name, '{}', m.value
     from (select count(*)::float8 as refused, coalesce(sum(octet_length(d.payload)), 0)::float8 as bytes from (
       select d.payload from keyed_state.inbound_delivery d where d.status = 'failed' limit 2000) d) few
     cross join (select sum(r.deliveries)::float8 as refused, sum(r.bytes)::float8 as bytes from keyed_state.inbound_refused r) r
     cross join lateral (values
       ('inbound_dead_letters', case when few.refused < 2000 then few.refused else greatest(few.refused, r.refused) end),
       ('inbound_dead_letters_bytes', case when few.refused < 2000 then few.bytes else greatest(few.bytes, r.bytes) end),
       ('inbound_log_bytes', pg_total_relation_size('keyed_state.inbound_delivery'))) m (name, value)",
    "select m.name, '{}', m.value
     from (select coalesce(sum(c.pending), 0)::float8 as pending, coalesce(sum(c.failed), 0)::float8 as failed,
         coalesce(extract(epoch from now() - min(c.oldest) filter (where e.enabled)), 0)::float8 as age
       from (select e.id, e.enabled from keyed_state.webhook_endpoint e order by e.id limit 100) e cross join lateral (select
         (select count(*) from (select from keyed_state.webhook_delivery d where d.endpoint_id = e.id and d.state in ('pending', 'running') limit 2000) d) as pending,
         (select count(*) from (select from keyed_state.webhook_delivery d where d.endpoint_id = e.id and d.state = 'failed' limit 2000) d) as failed,
         (select d.created_at from keyed_state.webhook_delivery d where d.endpoint_id = e.id and d.state = 'pending' order by d.number limit 1) as oldest) c) w
     cross join lateral (values ('webhooks_pending', w.pending), ('webhooks_failed', w.failed), ('webhooks_oldest_seconds', w.age)) m (name, value)",
    "select 'idempotent_responses', '{}', case when few.answers < 2000 then few.answers
         else greatest(few.answers, pg_stat_get_live_tuples('keyed_state.idempotent_request'::regclass)) end
       from (select count(*)::float8 from (select from keyed_state.idempotent_request limit 2000) r) few (answers)
     union all select 'idempotent_responses_bytes', '{}', pg_total_relation_size('keyed_state.idempotent_request')",
    "select m.name, '{}', m.value
     from (select count(*) as valid, count(*) filter (where k.expires_at < now() + interval '14 days') as expiring,
         count(*) filter (where k.created_at < now() - interval '90 days' and coalesce(
           (select u.last_used_at from keyed_state.api_key_use u where u.key_id = k.id), k.created_at) < now() - interval '90 days') as unused
       from (select k.id, k.created_at, k.expires_at, k.revoked_at from keyed_state.api_key k order by k.id desc limit 2000) k
       where k.revoked_at is null and coalesce(k.expires_at > now(), true)) k
     cross join lateral (values ('api_keys', k.valid), ('api_keys_expiring', k.expiring), ('api_keys_unused', k.unused)) m (name, value)",
    "select m.name, m.labels, m.value from keyed.server_measurements() m",
];
