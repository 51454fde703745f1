-- What is still to be done after a change of a definition. Run once, as keyed_owner.

create table keyed_state.job (
  id bigint generated always as identity primary key,
  template_id integer not null references keyed_state.template (id) on delete cascade,
  kind text not null check (kind in ('index', 'documents', 'embeddings')),
  attribute_id integer references keyed_state.attribute (id) on delete cascade,
  languages text[] not null default '{}',
  position uuid,
  records_done bigint not null default 0,
  records bigint,
  state text not null default 'pending' check (state in ('pending', 'failed')),
  attempts integer not null default 0,
  error text,
  created_at timestamptz not null default pg_catalog.now(),
  started_at timestamptz,
  check ((kind = 'index') = (attribute_id is not null)),
  unique nulls not distinct (template_id, kind, attribute_id)
);
create index on keyed_state.job (attribute_id) where attribute_id is not null;
comment on table keyed_state.job is 'What a background worker still has to do after a change of a definition: one row for each job, gone when it is done. keyed.jobs() shows them.';
comment on column keyed_state.job.id is 'Counts the jobs.';
comment on column keyed_state.job.template_id is 'The template that was changed.';
comment on column keyed_state.job.kind is 'index: the indexes of an attribute are built; documents: what is searched of each record is written anew; embeddings: each record is looked at for a text to embed.';
comment on column keyed_state.job.attribute_id is 'index: the attribute.';
comment on column keyed_state.job.languages is 'documents: the languages of which documents that are not yet written anew may hold stems.';
comment on column keyed_state.job.position is 'The last record that is done; null: none is.';
comment on column keyed_state.job.records_done is 'How many records are done.';
comment on column keyed_state.job.records is 'How many there were when the job began; null: it has not begun.';
comment on column keyed_state.job.state is 'pending: waits or is run; failed: given up until it is asked for again.';
comment on column keyed_state.job.attempts is 'How often it failed since it was asked for.';
comment on column keyed_state.job.error is 'What went wrong the last time.';
comment on column keyed_state.job.created_at is 'When the definition was changed.';
comment on column keyed_state.job.started_at is 'When a worker first began with it.';

alter table keyed_state.job enable row level security;
create policy keyed_admin on keyed_state.job for select to keyed_admin using (true);
grant select on keyed_state.job to keyed_admin;
