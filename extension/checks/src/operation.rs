//! Checks for operators: bloat, indexes, replication, keys, remaining capacity. A new or small database has no findings.

use crate::check::Severity::{Error, Note, Warning};
use crate::check::{Check, Needs};

#[rustfmt::skip]
pub(crate) const OPERATION: &[Check] = &[
    Check { name: "transactions", sound: "no transaction blocks others", severity: Warning, needs: Needs::Nothing, query:
        "select format('a session of %s (process %s) has been in a transaction for %s', a.usename, a.pid, justify_interval(date_trunc('minute', now() - a.xact_start))),
                format('select pg_terminate_backend(%s);', a.pid)
         from pg_stat_activity a where a.datname = current_database() and a.xact_start < now() - interval '1 hour' and a.backend_type = 'client backend'
         union all
         select format('the transaction %L was prepared %s and never ended', x.gid, x.prepared), format('rollback prepared %L;', x.gid)
         from pg_prepared_xacts x where x.database = current_database() and x.prepared < now() - interval '1 hour'" },
    Check { name: "feed of changes", sound: "no open transaction delays the feed of changes", severity: Warning, needs: Needs::Extension, query:
        "select format('the feed of changes waits for a transaction of %s (process %s, %s), which began %s', a.usename, a.pid, a.state, a.xact_start::timestamptz(0)),
                format('select pg_terminate_backend(%s); -- unless it is a long import that will end', a.pid)
         from pg_stat_activity a where a.datname = current_database() and a.backend_xid is not null and a.xact_start < now() - interval '1 minute'
           and a.pid <> pg_backend_pid()
         union all
         select format('the feed of changes waits for the transaction %L, which %s prepared %s', x.gid, x.owner, x.prepared::timestamptz(0)),
                format('commit prepared %L; -- or rollback prepared', x.gid)
         from pg_prepared_xacts x where x.database = current_database() and x.prepared < now() - interval '1 minute'" },
    // Three times the autovacuum threshold, because vacuum of a large table takes time.
    Check { name: "dead rows", sound: "vacuum keeps up with the writes", severity: Warning, needs: Needs::State, query:
        concat!("select format('%I.%I has %s dead rows beside %s live ones, and was last vacuumed %s', c.nspname, c.relname, s.n_dead_tup, s.n_live_tup, coalesce(greatest(s.last_vacuum, s.last_autovacuum)::timestamptz(0)::text, 'never')),
                format('vacuum (analyze) %I.%I; -- if dead rows remain, an old transaction, a prepared one or a replication slot keeps them: see transactions and replication slots', c.nspname, c.relname)
         from (", our_tables!(), ") c join pg_stat_all_tables s on s.relid = c.oid join pg_class r on r.oid = c.oid
         where s.n_dead_tup > 10000 and s.n_dead_tup > 3 * (current_setting('autovacuum_vacuum_threshold')::float8 + current_setting('autovacuum_vacuum_scale_factor')::float8 * greatest(r.reltuples, s.n_live_tup))") },
    Check { name: "transaction ids", sound: "vacuum prevents transaction id wraparound", severity: Warning, needs: Needs::State, query:
        concat!("select format('the oldest row of %I.%I may be %s transactions old, and autovacuum should have frozen it at %s: PostgreSQL refuses all writes near 2 billion', c.nspname, c.relname, age(r.relfrozenxid), current_setting('autovacuum_freeze_max_age')),
                format('vacuum (freeze) %I.%I; -- if that does not help, an old transaction, a prepared one or a replication slot is in the way', c.nspname, c.relname)
         from (", our_tables!(), ") c join pg_class r on r.oid = c.oid where r.relfrozenxid <> '0' and age(r.relfrozenxid) > 1.5 * current_setting('autovacuum_freeze_max_age')::float8
         order by age(r.relfrozenxid) desc limit 10") },
    Check { name: "numbers", sound: "no sequence of the state is near its end", severity: Warning, needs: Needs::State, query:
        // Record ids have 24 bits for the id of the template.
        "select format('the sequence %I.%I is at %s of %s to %s', s.schemaname, s.sequencename, s.last_value, s.min_value, m.max),
                'create new projects on another shard: see keyed.init(shard => …)'
         from pg_sequences s,
           lateral (select case when s.sequencename = 'template_id_seq' then least(s.max_value, 16777215) else s.max_value end) m (max)
         where s.schemaname = 'keyed_state' and s.last_value - s.min_value > 0.7 * (m.max::numeric - s.min_value)" },
    Check { name: "ids of the shard", sound: "new ids come from the range of the shard", severity: Error, needs: Needs::State, query:
        "select format('the sequence %I.%I assigns ids of other shards than shard %s', s.schemaname, s.sequencename, d.shard),
                format('select keyed.init(shard => %s);', d.shard)
         from keyed_state.shard d, pg_sequences s,
           lateral (select case when s.sequencename = 'template_id_seq' then 17 when s.data_type = 'bigint'::regtype then 46 else 24 end) b (bits)
         where s.schemaname = 'keyed_state' and (s.min_value >> b.bits <> d.shard or s.max_value >> b.bits <> d.shard)" },
    Check { name: "unused indexes", sound: "searches use the indexes of attributes", severity: Note, needs: Needs::State, query:
        concat!("select format('the indexes of the attribute %s of %I.%I take %s, and nothing has used them since %s', a.slug, c.nspname, c.relname, pg_size_pretty(sum(i.relpages) * current_setting('block_size')::bigint), max(u.since)::date),
                format('select keyed.alter_attribute(%L, %L, ''{\"indexed\": false}''); -- unless reports that run more rarely, or standbys, use them', format('%I.%I', c.nspname, c.relname), a.slug)
         from (", our_tables!(), ") c join keyed_state.project p on p.slug = c.nspname
         join keyed_state.template t on t.project_id = p.id and t.slug = c.relname
         join keyed_state.attribute a on a.template_id = t.id and a.indexed and a.type <> 'reference'
         join lateral (select greatest(u.since, (select d.stats_reset from pg_stat_database d where d.datname = current_database())) as since
           from keyed_state.attribute_use u where u.attribute_id = a.id) u on u.since < now() - interval '30 days'
         join pg_attribute n on n.attrelid = c.oid and n.attname = a.slug and not n.attisdropped
         join pg_index x on x.indrelid = c.oid and not x.indisunique
         join pg_class i on i.oid = x.indexrelid
         where exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = x.indexrelid and d.refobjid = c.oid and d.refobjsubid = n.attnum)
         group by a.slug, c.nspname, c.relname having sum(pg_stat_get_numscans(x.indexrelid)) = 0 and sum(i.relpages) * current_setting('block_size')::bigint >= 10485760") },
    Check { name: "missing indexes", sound: "attributes that searches often use have an index", severity: Note, needs: Needs::State, query:
        concat!("select format('%s searches filtered and %s sorted by the attribute %s of %I.%I, which has no index and about %s rows', u.filters, u.sorts, a.slug, c.nspname, c.relname, r.reltuples::bigint),
                format('select keyed.alter_attribute(%L, %L, ''{\"indexed\": true}'');', format('%I.%I', c.nspname, c.relname), a.slug)
         from (", our_tables!(), ") c join pg_class r on r.oid = c.oid join keyed_state.project p on p.slug = c.nspname
         join keyed_state.template t on t.project_id = p.id and t.slug = c.relname
         join keyed_state.attribute a on a.template_id = t.id and not a.indexed and a.type <> 'reference'
         join keyed_state.attribute_use u on u.attribute_id = a.id
         where u.filters + u.sorts >= 1000 and r.reltuples >= 10000 and u.last_at > now() - interval '7 days'
         order by (u.filters + u.sorts) * r.reltuples desc limit 20") },
    Check { name: "preloading", sound: "sessions load the library of keyed when they begin", severity: Note, needs: Needs::State, query:
        concat!("select format('logins such as %s read tables under row-level security, and load the library of keyed at their first policy: the statement before is planned without it, and may read a whole table', l.rolname),
                'select keyed.init(preload => true);'
         from (select r.rolname from keyed_state.access_grant g join pg_roles r on r.rolcanlogin and not r.rolsuper and not r.rolbypassrls and pg_has_role(r.oid, g.role, 'usage')
               where g.privilege = 'read' order by r.rolname limit 1) l
         where not keyed.is_preloaded()
           and not exists (select from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase and d.datname = current_database(), unnest(s.setconfig) c
             where s.setrole = 0 and c ~ '^session_preload_libraries=.*\\mkeyed\\M')
           and exists (select from (", our_tables!(), ") c join pg_class r on r.oid = c.oid where r.reltuples >= 10000)") },
    Check { name: "keys that expire", sound: "no key in use expires within two weeks", severity: Warning, needs: Needs::State, query:
        // Keys with a lifetime below 30 days are meant to expire.
        "select format('the API key %s (%s) is in use and expires at %s', k.id, k.label, k.expires_at::timestamptz(0)),
                format('issue another and give it to its user: select keyed.issue_api_key(%L, %L, %L);', pg_get_userbyid(k.role),
                  (select array_agg(p.slug order by p.slug) from keyed_state.project p where p.id = any (k.projects)), k.label)
         from keyed_state.api_key k join keyed_state.api_key_use u on u.key_id = k.id
         where k.revoked_at is null and k.expires_at between now() and now() + interval '14 days'
           and u.last_used_at > now() - interval '14 days' and k.expires_at > k.created_at + interval '30 days'" },
    Check { name: "unused keys", sound: "every valid key was used within 90 days", severity: Note, needs: Needs::State, query:
        "select format('the API key %s (%s) of the role %s was %s', k.id, k.label, pg_get_userbyid(k.role), coalesce('last used at ' || u.last_used_at::timestamptz(0), 'never used, and issued at ' || k.created_at::timestamptz(0))),
                format('select keyed.revoke_api_key(%s); -- if no client needs it', k.id)
         from keyed_state.api_key k left join keyed_state.api_key_use u on u.key_id = k.id
         where k.revoked_at is null and coalesce(k.expires_at > now(), true) and greatest(k.created_at, u.last_used_at) < now() - interval '90 days'" },
    Check { name: "failed deliveries", sound: "no inbound endpoint has failed deliveries", severity: Note, needs: Needs::State, query:
        "select format('the inbound endpoint %s keeps %s, received since %s', e.slug,
                  case when f.deliveries > 1000 then 'more than 1000 failed deliveries' when f.deliveries = 1 then 'a failed delivery' else f.deliveries || ' failed deliveries' end, f.since::timestamptz(0)),
                format('look at the errors: select keyed.inbound_deliveries(%s, ''failed''); fix their cause, then: select keyed.replay_failed_deliveries(%s);', e.id, e.id)
         from keyed_state.inbound_endpoint e cross join lateral (
           select count(*) as deliveries, min(d.received_at) as since
           from (select d.received_at from keyed_state.inbound_delivery d where d.endpoint_id = e.id and d.status = 'failed' order by d.id limit 1001) d) f
         where f.deliveries > 0 order by e.id" },
    Check { name: "webhook endpoints", sound: "every webhook endpoint delivers", severity: Warning, needs: Needs::State, query:
        "select format('the webhook endpoint %s was disabled at %s: %s', e.slug, e.disabled_at::timestamptz(0), e.disabled_reason),
                format('fix the cause, then: select keyed.alter_webhook_endpoint(%s, ''{\"enabled\": true}'');', e.id)
         from keyed_state.webhook_endpoint e where not e.enabled and e.disabled_reason is not null
         union all
         select format('the webhook endpoint %s has a delivery that waits since %s', e.slug, d.created_at::timestamptz(0)),
                case when d.attempts = 0 then 'start a proxy with KEYED_WEBHOOK_API_KEY, and look at its log'
                  else format('look at the errors: select keyed.webhook_deliveries(%s, ''pending'');', e.id) end
         from keyed_state.webhook_endpoint e cross join lateral (
           select d.created_at, d.attempts from keyed_state.webhook_delivery d where d.endpoint_id = e.id and d.state = 'pending' order by d.number limit 1) d
         where e.enabled and d.created_at < now() - interval '10 minutes'" },
    Check { name: "replication slots", sound: "no abandoned replication slot keeps write-ahead log", severity: Warning, needs: Needs::Nothing, query:
        "select format('no process uses the replication slot %s, and it keeps %s of write-ahead log on this server', s.slot_name, pg_size_pretty(w.bytes)),
                format('start the standby or subscriber again, or if it is gone: select pg_drop_replication_slot(%L);', s.slot_name)
         from pg_replication_slots s cross join lateral (values (pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, s.restart_lsn))) w (bytes)
         where not s.active and w.bytes > pg_size_bytes(current_setting('max_wal_size'))" },
    Check { name: "replication", sound: "standbys keep up", severity: Warning, needs: Needs::Nothing, query:
        "select format('the standby %s (%s) is %s behind in replay', r.application_name, coalesce(host(r.client_addr), 'local'), pg_size_pretty(w.bytes)),
                'look at its log and its load: a long query there, a pause (pg_wal_replay_resume()), or a slow disk or network holds it up'
         from pg_stat_replication r cross join lateral (values (pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, r.replay_lsn))) w (bytes)
         where r.state = 'streaming' and w.bytes > pg_size_bytes(current_setting('max_wal_size'))
         union all
         select 'the replay of this standby is paused: it answers with old records', 'select pg_wal_replay_resume();'
         where case when pg_is_in_recovery() then pg_is_wal_replay_paused() else false end" },
    Check { name: "lock table", sound: "pg_dump can lock all tables at once", severity: Warning, needs: Needs::State, query:
        concat!("select format('there are %s tables of keyed, and a limit of %s locks: a dump, or a statement on all of them, fails with \"out of shared memory\"', n.tables, n.room),
                format('alter system set max_locks_per_transaction = %s; -- then restart the server', (2 * n.tables / (n.room / current_setting('max_locks_per_transaction')::bigint) + 63) / 64 * 64)
         from (select count(*) as tables, current_setting('max_locks_per_transaction')::bigint * (current_setting('max_connections')::bigint + current_setting('max_prepared_transactions')::bigint) as room
               from (", our_tables!(), ") c) n where n.tables > 0.8 * n.room") },
    Check { name: "memory", sound: "shared_buffers fits the size of the data", severity: Note, needs: Needs::State, query:
        concat!("select format('shared_buffers is %s, PostgreSQL''s default, and the tables of keyed take %s', current_setting('shared_buffers'), pg_size_pretty(d.bytes)),
                'alter system set shared_buffers = ''2GB''; -- about a quarter of the memory of the server; then restart it'
         from (select sum(r.relpages) * current_setting('block_size')::bigint as bytes from (", our_tables!(), ") c join pg_class r on r.oid = c.oid) d
         where d.bytes > 4294967296 and pg_size_bytes(current_setting('shared_buffers')) <= 134217728") },
    Check { name: "measurements", sound: "the measurements for monitoring include the server", severity: Note, needs: Needs::Extension, query:
        "select 'keyed_owner may not call keyed.server_measurements(): sessions, old transactions and replication are missing in what the proxy exports',
                'grant execute on function keyed.server_measurements() to keyed_owner;'
         from pg_roles r where r.rolname = 'keyed_owner' and to_regprocedure('keyed.server_measurements()') is not null
           and not has_function_privilege(r.oid, to_regprocedure('keyed.server_measurements()'), 'execute')" },
    Check { name: "statistics", sound: "PostgreSQL collects the statistics that autovacuum and these checks need", severity: Warning, needs: Needs::Nothing, query:
        "select 'track_counts is off: autovacuum does nothing', 'alter system set track_counts = on; select pg_reload_conf();' where current_setting('track_counts') = 'off'" },
];
