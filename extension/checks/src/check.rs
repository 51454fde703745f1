//! The definition of a check.

use serde::Serialize;

/// The severity, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// For information.
    Note,
    /// Something works badly, or will fail in the future.
    Warning,
    /// Something does not work, or a rule is violated.
    Error,
}

/// A check.
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// The message if there are no findings.
    pub sound: &'static str,
    /// The severity of its findings.
    pub severity: Severity,
    /// Its prerequisite.
    pub needs: Needs,
    /// The query. Each row is a finding with a message and a remedy.
    pub query: &'static str,
}

/// The `lock_timeout` of a check.
pub const LOCK_TIMEOUT: &std::ffi::CStr = c"500ms";

/// The query for a check that did not get a lock: one row with a message that names the blocking session, and a remedy.
#[rustfmt::skip]
pub const LOCKED: &str =
    "with blocking as (
       select b.pid, c.relation from (
         select l.pid, l.relation, l.granted from pg_locks l join pg_class r on r.oid = l.relation
         where l.locktype = 'relation' and l.mode = 'AccessExclusiveLock' and r.relkind in ('r', 'p', 'm') and r.relpersistence <> 't'
           and l.database in (0, (select d.oid from pg_database d where d.datname = current_database())) and l.pid is distinct from pg_backend_pid()
       ) c cross join lateral (
         select c.pid where c.granted union all select unnest(pg_blocking_pids(c.pid)) where not c.granted) b (pid)
     ), holder as (
       select b.pid, string_agg(distinct b.relation::regclass::text, ', ') as tables from blocking b group by b.pid order by b.pid limit 10
     )
     select 'could not be examined, because a lock on a table is not free'
              || coalesce(': ' || string_agg(case when h.pid > 0 then format('process %s (%s %s)', h.pid, a.usename, a.application_name) else 'a prepared transaction' end || ' holds up ' || h.tables, '; '), ''),
            'try again when it is'
              || coalesce(', or end who has it: ' || string_agg(format('select pg_terminate_backend(%s);', h.pid), ' ') filter (where h.pid > 0), '')
              || '; keyed.stat_activity shows who waits for whom'
     from holder h left join pg_stat_activity a on a.pid = h.pid";

impl Check {
    /// Whether the check needs the privileges of `pg_read_all_stats`, because it reads statistics of other sessions or
    /// standbys.
    pub fn reads_sessions(&self) -> bool {
        self.query.contains("pg_stat_activity") || self.query.contains("pg_stat_replication")
    }
}

/// The prerequisites of a check, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// The extension.
    Extension,
    /// The tables of the state.
    State,
}
