-- Answers to requests that came with an Idempotency-Key. Run once, as keyed_owner.

create table keyed_state.idempotent_request (
  -- No foreign key: it would lock the key's row for every request, and keys are revoked, never removed.
  key_id integer not null,
  idempotency_key text collate "C" not null,
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  answer text[] not null,
  created_at timestamptz not null default pg_catalog.now(),
  primary key (key_id, idempotency_key)
);
create index on keyed_state.idempotent_request (created_at);
comment on table keyed_state.idempotent_request is 'Answers to requests that came with an Idempotency-Key, written by the transaction of the request; removed a day later, by other writers and keyed.purge_idempotency_keys().';
comment on column keyed_state.idempotent_request.key_id is 'The API key that sent the request.';
comment on column keyed_state.idempotent_request.idempotency_key is 'The header''s value.';
comment on column keyed_state.idempotent_request.fingerprint is 'SHA-256 of the request: method, address, project and body.';
comment on column keyed_state.idempotent_request.answer is 'What was answered: status, id of what was created, body. Not for others'' eyes.';
comment on column keyed_state.idempotent_request.created_at is 'When the request was run.';

alter table keyed_state.idempotent_request enable row level security;
create policy keyed_admin on keyed_state.idempotent_request for select to keyed_admin using (true);
grant select (key_id, idempotency_key, created_at) on keyed_state.idempotent_request to keyed_admin;
