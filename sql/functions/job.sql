-- Jobs: deferred work of definition changes, which background workers run.

create function keyed.job_report() returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_job_report';
comment on function keyed.job_report() is
  'The result of keyed.jobs, as JSON, with the process number of the worker.';

create function keyed.jobs()
  returns table (id bigint, template text, kind text, attribute text, state text, progress real, phase text,
    records_done bigint, records bigint, attempts integer, error text, hint text, created_at timestamptz,
    started_at timestamptz)
  language sql volatile
  begin atomic
    select job.id, job.template, job.kind, job.attribute, job.state,
      case when job.kind <> 'index' then job.records_done::real / greatest(job.records, job.records_done, 1)
        else build.blocks_done::real / nullif(build.blocks_total, 0) end,
      build.phase, job.records_done, job.records, job.attempts, job.error, job.hint, job.created_at, job.started_at
    from pg_catalog.jsonb_to_recordset(keyed.job_report())
      as job (id bigint, template text, kind text, attribute text, state text, records_done bigint, records bigint,
        attempts integer, error text, hint text, created_at timestamptz, started_at timestamptz, worker integer)
    left join pg_catalog.pg_stat_progress_create_index build on build.pid = job.worker and job.kind = 'index'
    order by job.id;
  end;
comment on function keyed.jobs() is
  'Lists the background jobs that changes of definitions have started; a finished job disappears. kind: index (builds the indexes of an attribute), documents (rewrites the documents of global_search), embeddings (queues records for embedding), series (deletes the points of dropped metrics). state: pending, running or failed; progress: from 0 to 1, of an index only for superusers and members of pg_read_all_stats, and separately for each phase; error: the last error; hint: what to do, or what the job waits for. Shows the jobs of templates on which the caller has define.';

create function keyed.run_jobs(retry boolean default false) returns integer
  language c volatile as 'MODULE_PATHNAME', 'keyed_run_jobs';
comment on function keyed.run_jobs(boolean) is
  'Starts the background workers for the pending jobs of keyed.jobs() when this transaction commits, unless they are running; needed after a restart of the server if keyed-proxy does not run. retry: failed jobs too. Returns the number of pending and running jobs. Needs keyed_admin.';

create function keyed.rebuild_documents(template regclass) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_rebuild_documents';
comment on function keyed.rebuild_documents(regclass) is
  'Rewrites the outdated documents of global_search of a template: for records written while triggers were disabled, or after an update of PostgreSQL that changed its dictionaries. Starts a job if the template has many records. Needs define on the template.';

create function keyed_http.run_jobs() returns integer
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_run_jobs';
comment on function keyed_http.run_jobs() is
  'Starts the background workers for pending jobs, unless they are running. Returns the number of pending and running jobs. keyed-proxy calls it every minute.';
