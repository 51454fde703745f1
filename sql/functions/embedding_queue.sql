-- The embedding queue: functions for administrators and for the worker of keyed-proxy.

create function keyed.embedding_status()
  returns table (template text, attributes text[], pending bigint, running bigint, failed bigint, done bigint,
    by_hand bigint, oldest_due timestamptz, models text[])
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
    #variable_conflict use_column
    begin
      perform keyed.require_admin('see the progress of embedding');
      return query
        select p.slug || '.' || t.slug,
          array(select a.slug from keyed_state.attribute a where a.id = any (t.embed) order by array_position(t.embed, a.id)),
          count(*) filter (where j.state = 'pending' or j.state = 'running' and j.due_at <= now()),
          count(*) filter (where j.state = 'running' and j.due_at > now()),
          count(*) filter (where j.state = 'failed'),
          count(*) filter (where j.state = 'done' and not j.by_hand),
          count(*) filter (where j.state = 'done' and j.by_hand),
          min(j.due_at) filter (where j.state = 'pending'),
          coalesce(array_agg(distinct j.model) filter (where j.model is not null), '{}')
        from keyed_state.template t
        join keyed_state.project p on p.id = t.project_id
        left join keyed_state.embedding_job j on j.template_id = t.id and j.state <> 'deleted'
        where t.embed is not null
        group by p.slug, t.id order by 1;
    end
  $$;
comment on function keyed.embedding_status() is
  'Shows the progress of embedding for each template with embed: the number of records that are waiting (pending), claimed by a worker (running), failed, embedded (done), or whose vector was set or removed by a caller (by_hand); since when the oldest has been waiting; and the models of the vectors, of which there should be one. Needs keyed_admin.';

-- A separate function, because its argument template would be ambiguous with a result column of embedding_failures in PL/pgSQL.
create function keyed.failed_embeddings(regclass, integer)
  returns table (template text, record_id uuid, state text, attempts integer, error text, failed_at timestamptz,
    next_at timestamptz)
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
    #variable_conflict use_column
    begin
      perform keyed.require_admin('see failed embeddings');
      return query
        select p.slug || '.' || t.slug, j.record_id, j.state, j.attempts, j.error, j.failed_at,
          case when j.state <> 'failed' then j.due_at end
        from keyed_state.embedding_job j
        join keyed_state.template t on t.id = j.template_id
        join keyed_state.project p on p.id = t.project_id
        where j.error is not null and j.state <> 'deleted'
          and ($1 is null or to_regclass(format('%I.%I', p.slug, t.slug)) = $1)
        order by j.state <> 'failed', j.failed_at desc, j.record_id
        limit $2;
    end
  $$;
comment on function keyed.failed_embeddings(regclass, integer) is
  'The result of keyed.embedding_failures, as JSON.';

create function keyed.embedding_failures(template regclass default null, page_size integer default 100)
  returns table (template text, record_id uuid, state text, attempts integer, error text, failed_at timestamptz,
    next_at timestamptz)
  language sql stable
  begin atomic
    select failed.template, failed.record_id, failed.state, failed.attempts, failed.error, failed.failed_at, failed.next_at
    from keyed.failed_embeddings($1, $2) as failed;
  end;
comment on function keyed.embedding_failures(regclass, integer) is
  'Lists the records whose last attempt at embedding failed, of one template (null: all): first those without further attempts (state failed), then those to be retried at next_at. Needs keyed_admin.';

create function keyed.retry_embeddings(template regclass default null) returns bigint
  language c volatile as 'MODULE_PATHNAME', 'keyed_retry_embeddings';
comment on function keyed.retry_embeddings(regclass) is
  'Retries the records whose embedding has failed, of one template (null: all). Returns their number. Needs keyed_admin.';

create function keyed.reembed(template regclass, other_than text default null) returns bigint
  language c volatile as 'MODULE_PATHNAME', 'keyed_reembed';
comment on function keyed.reembed(regclass, text) is
  'Embeds all texts of a template again, for example after a change of the model; with other_than, the name of a model, only those with a vector of another model. Vectors set by callers remain. Returns the number of records to embed. Needs keyed_admin.';

create function keyed_http.claim_embeddings(model text, max_texts integer, lease integer) returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_claim_embeddings';
comment on function keyed_http.claim_embeddings(text, integer, integer) is
  'Claims up to max_texts texts with a missing or outdated vector, for lease seconds, for a worker that may read and update their records: {claim, entries: [{record, hash, text}], settled}.';

create function keyed_http.store_embedding(claim text, record text, hash text, model text, vector real[])
  returns boolean
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_store_embedding';
comment on function keyed_http.store_embedding(text, text, text, text, real[]) is
  'Stores the vector of a claimed record, null for a record without text. Returns false and stores nothing if the claim has expired or the text has changed.';

create function keyed_http.fail_embedding(claim text, record text, reason text) returns boolean
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_fail_embedding';
comment on function keyed_http.fail_embedding(text, text, text) is
  'Releases a claimed record whose text could not be embedded, for a later retry; state failed after 8 attempts.';

create function keyed_http.release_embeddings(claim text, reason text, rest integer) returns integer
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_release_embeddings';
comment on function keyed_http.release_embeddings(text, text, integer) is
  'Releases the unfinished records of a claim without counting an attempt; they can be claimed again after this many seconds. Returns their number.';
