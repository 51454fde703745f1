-- API keys whose kept answers have no more room. Run once, as keyed_owner.

create table keyed_state.idempotency_full (
  -- No foreign key, as in keyed_state.idempotent_request.
  key_id integer primary key,
  reached_at timestamptz not null
);
comment on table keyed_state.idempotency_full is 'API keys whose answers in keyed_state.idempotent_request take as much room as keyed.idempotency_room allows: their requests with a new Idempotency-Key are refused for a minute, and then looked at again.';
comment on column keyed_state.idempotency_full.key_id is 'The API key.';
comment on column keyed_state.idempotency_full.reached_at is 'When that was last found.';

alter table keyed_state.idempotency_full enable row level security;
create policy keyed_admin on keyed_state.idempotency_full for select to keyed_admin using (true);
grant select on keyed_state.idempotency_full to keyed_admin;
