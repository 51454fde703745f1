//! The SQL functions of jobs.

use crate::access::privilege::Privilege;
use crate::access::{Caller, template_list};
use crate::error::Error;
use crate::job::Worker;
use crate::job::start_pending;
use crate::postgres::advisory_lock::LockKind;
use crate::postgres::function::{ReturnValue, sql_functions};
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Snapshot, connected};
use crate::search::text;
use crate::template::catalog;
use pgrx::pg_sys::Datum;
use std::collections::BTreeSet;

/// Seconds that a worker may take to start, before a job has the hint to start one.
const START_SECONDS: u32 = 5;

sql_functions! {
    /// `keyed.job_report() returns jsonb`.
    keyed_job_report => |_| report(&Caller::current()).map(ReturnValue::Json);

    /// `keyed.run_jobs(retry boolean) returns integer`.
    keyed_run_jobs => |call| {
        Caller::current().require_admin("run jobs")?;
        Ok(ReturnValue::Datum(Datum::from(start_pending(call.flag(0)))))
    };

    /// `keyed_http.run_jobs() returns integer`.
    keyed_http_run_jobs => |_| {
        Caller::current().require_maintenance("run jobs")?;
        Ok(ReturnValue::Datum(Datum::from(start_pending(false))))
    };

    /// `keyed.rebuild_documents(template regclass) returns void`.
    keyed_rebuild_documents => |call| {
        let template = catalog::by_argument(call)?;
        Caller::current().require_define(&template)?;
        text::rebuild::rebuild(&template)?;
        Ok(ReturnValue::Void)
    };
}

/// The jobs of templates on which the caller has `define`, as JSON.
fn report(caller: &Caller) -> Result<String, Error> {
    catalog::refresh();
    if !crate::job::table_exists() {
        return Ok("[]".to_owned());
    }
    let sql = format!(
        "with at_work as (select l.pid, (l.classid::bigint << 32) + l.objid::bigint as number from pg_catalog.pg_locks l \
           where l.locktype = 'advisory' and l.objsubid = {kind} and l.granted and l.database = \
           (select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database())), \
         job as (select j.*, w.pid as worker, w.pid is not null or has_worker and started_at is not null \
             and j.{by_record} and j.state = 'pending' as is_running, has_worker from keyed_state.job j \
           left join at_work w on w.number = j.id, \
           lateral (select exists (select from at_work p where p.number = \
             case when j.{by_record} then {records} else {indexes} end)) p (has_worker)) \
         select j.template_id, t.project_id, pg_catalog.jsonb_build_object('id', j.id, 'template', p.slug || '.' || t.slug, \
           'kind', j.kind, 'attribute', a.slug, 'state', case when j.is_running then 'running' else j.state end, \
           'records_done', j.records_done, 'records', j.records, 'attempts', j.attempts, 'error', j.error, \
           'created_at', j.created_at, 'started_at', j.started_at, 'worker', j.worker, 'hint', case \
             when j.is_running and j.left_out <> '{{}}' then 'Wait for the open transactions that lock ' || \
               pg_catalog.cardinality(j.left_out) || ' records, or end them. The job returns to these records.' \
             when j.is_running then null \
             when j.state = 'failed' then 'Remove the cause, then run SELECT keyed.run_jobs(retry => true).' \
             when j.has_worker then null \
             when j.started_at is null and j.created_at > clock_timestamp() - interval '{START_SECONDS} seconds' then null \
             else 'Run SELECT keyed.run_jobs(). If no worker starts, increase max_worker_processes.' \
             end) \
         from job j join keyed_state.template t on t.id = j.template_id \
         join keyed_state.project p on p.id = t.project_id left join keyed_state.attribute a on a.id = j.attribute_id \
         order by j.id",
        kind = LockKind::Job as u16,
        by_record = Worker::Records.jobs(),
        records = Worker::Records.lock_key(),
        indexes = Worker::Indexes.lock_key(),
    );
    let mut jobs: Vec<(i32, i32, String)> = as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(&sql, Snapshot::Active, &[]);
            rows.iter().collect()
        })
    });
    jobs.retain(|(_, project, _)| caller.can_access_project(*project));
    if !caller.is_admin() && !jobs.is_empty() {
        // Does not open the templates: that would lock their tables, and wait for concurrent changes of definitions.
        let defined =
            template_list::templates(caller).into_iter().filter(|listed| listed.holds(Privilege::Define));
        let defined: BTreeSet<i32> = defined.map(|listed| listed.id).collect();
        jobs.retain(|(template, _, _)| defined.contains(template));
    }
    let visible: Vec<String> = jobs.into_iter().map(|(_, _, job)| job).collect();
    Ok(format!("[{}]", visible.join(",")))
}
