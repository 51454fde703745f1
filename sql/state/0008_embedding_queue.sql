-- Which texts of a template are embedded, and what is to be done for each of its records. Run once, as keyed_owner.

alter table keyed_state.template add column embed integer[];
comment on column keyed_state.template.embed is 'The attributes whose texts are embedded, by their numbers and in their order; null: none.';

-- No foreign key to the template: each write of a record would lock the row that all records of the template share.
create table keyed_state.embedding_job (
  record_id uuid primary key,
  template_id integer not null,
  state text not null check (state in ('pending', 'running', 'failed', 'done', 'deleted')),
  due_at timestamptz not null default pg_catalog.now(),
  claim uuid,
  attempts integer not null default 0,
  error text,
  failed_at timestamptz,
  by_hand boolean not null default false,
  text_hash bytea check (octet_length(text_hash) = 32),
  model text,
  embedded_at timestamptz,
  check ((state = 'running') = (claim is not null))
) with (fillfactor = 80);
create index on keyed_state.embedding_job (template_id, due_at) where state in ('pending', 'running');
create index on keyed_state.embedding_job (template_id, state);
create index on keyed_state.embedding_job (claim) where claim is not null;
comment on table keyed_state.embedding_job is 'One row for each record of the templates that are embedded: what is to be done, and of what its vector was made.';
comment on column keyed_state.embedding_job.record_id is 'The record.';
comment on column keyed_state.embedding_job.template_id is 'The template of the record.';
comment on column keyed_state.embedding_job.state is 'pending: waits for a worker; running: a worker has it; failed: given up; done: there is nothing to do; deleted: the record is.';
comment on column keyed_state.embedding_job.due_at is 'pending: from when on it may be claimed; running: until when the claim holds.';
comment on column keyed_state.embedding_job.claim is 'running: whose it is. A new text takes it away.';
comment on column keyed_state.embedding_job.attempts is 'How often it was claimed for this text, the times that the provider could not work left out.';
comment on column keyed_state.embedding_job.error is 'What went wrong the last time.';
comment on column keyed_state.embedding_job.failed_at is 'When that was.';
comment on column keyed_state.embedding_job.by_hand is 'Whether somebody set or removed the vector since the text last changed: then it is left alone.';
comment on column keyed_state.embedding_job.text_hash is 'SHA-256 of the text that the vector was made of.';
comment on column keyed_state.embedding_job.model is 'The model that made the vector.';
comment on column keyed_state.embedding_job.embedded_at is 'When it was stored.';

alter table keyed_state.embedding_job enable row level security;
create policy keyed_admin on keyed_state.embedding_job for select to keyed_admin using (true);
grant select on keyed_state.embedding_job to keyed_admin;
