-- How much the refused deliveries of each endpoint take. Run once, as keyed_owner.

create table keyed_state.inbound_refused (
  endpoint_id integer primary key references keyed_state.inbound_endpoint (id) on delete cascade,
  deliveries bigint not null,
  bytes bigint not null
  -- Room in every page lets a counter be rewritten in it.
) with (fillfactor = 25);
comment on table keyed_state.inbound_refused is 'What the refused deliveries of an endpoint take at most, so that a further one is kept without counting them all: those that were replayed or purged since are counted here until there is no more room, when all are counted anew.';
comment on column keyed_state.inbound_refused.endpoint_id is 'The endpoint.';
comment on column keyed_state.inbound_refused.deliveries is 'How many there are at most.';
comment on column keyed_state.inbound_refused.bytes is 'How many bytes their payloads have at most.';

alter table keyed_state.inbound_refused enable row level security;
create policy keyed_admin on keyed_state.inbound_refused for select to keyed_admin using (true);
grant select on keyed_state.inbound_refused to keyed_admin;
