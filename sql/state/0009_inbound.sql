-- Inbound endpoints and their deliveries. Run once, as keyed_owner.

create table keyed_state.inbound_endpoint (
  id integer generated always as identity primary key,
  project_id integer not null references keyed_state.project (id) on delete cascade,
  template_id integer not null references keyed_state.template (id) on delete cascade,
  slug text collate "C" not null,
  role regrole not null,
  items text not null,
  external_key text not null,
  key_prefix text not null default '',
  mapping jsonb not null,
  secret bytea,
  enabled boolean not null default true,
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  created_at timestamptz not null default pg_catalog.now(),
  created_by text not null,
  updated_at timestamptz not null default pg_catalog.now(),
  unique (project_id, slug)
);
create index on keyed_state.inbound_endpoint (template_id);
comment on table keyed_state.inbound_endpoint is 'Inbound endpoints: addresses to which other systems deliver what becomes records. The address itself is not here, only the SHA-256 of its token.';
comment on column keyed_state.inbound_endpoint.id is 'Stays the same when the endpoint is changed.';
comment on column keyed_state.inbound_endpoint.project_id is 'The project in which its name is looked up: that of its template.';
comment on column keyed_state.inbound_endpoint.template_id is 'The template whose records it writes.';
comment on column keyed_state.inbound_endpoint.slug is 'Its name; history shows it.';
comment on column keyed_state.inbound_endpoint.role is 'The role as which it writes: what that role may not do is refused.';
comment on column keyed_state.inbound_endpoint.items is 'The jsonpath of the items in a payload.';
comment on column keyed_state.inbound_endpoint.external_key is 'The jsonpath of the key in an item.';
comment on column keyed_state.inbound_endpoint.key_prefix is 'What every key begins with.';
comment on column keyed_state.inbound_endpoint.mapping is 'The jsonpath of each attribute in an item: {attribute: path}, or of a reference {attribute: {path, key_prefix}}.';
comment on column keyed_state.inbound_endpoint.secret is 'The secret with which deliveries are signed, since it is needed to check them; null: they are not. Only keyed_owner and superusers can read it, and whoever has a dump.';
comment on column keyed_state.inbound_endpoint.enabled is 'Whether deliveries are taken.';
comment on column keyed_state.inbound_endpoint.token_hash is 'SHA-256 of the token, the last part of the address.';
comment on column keyed_state.inbound_endpoint.created_at is 'When it was made.';
comment on column keyed_state.inbound_endpoint.created_by is 'The login that made it.';
comment on column keyed_state.inbound_endpoint.updated_at is 'When somebody last changed it.';

create table keyed_state.inbound_delivery (
  id bigint generated always as identity primary key,
  endpoint_id integer not null references keyed_state.inbound_endpoint (id) on delete cascade,
  webhook_id text collate "C",
  received_at timestamptz not null default pg_catalog.now(),
  status text not null check (status in ('done', 'failed')),
  error jsonb,
  created integer not null default 0,
  updated integer not null default 0,
  payload text,
  unique (endpoint_id, webhook_id)
);
create index on keyed_state.inbound_delivery (endpoint_id, id);
create index on keyed_state.inbound_delivery (endpoint_id, id) where status = 'failed';
comment on table keyed_state.inbound_delivery is 'Deliveries: what was done, and what was refused, as it was sent.';
comment on column keyed_state.inbound_delivery.id is 'Counts the deliveries of all endpoints.';
comment on column keyed_state.inbound_delivery.endpoint_id is 'To which endpoint.';
comment on column keyed_state.inbound_delivery.webhook_id is 'The id that its sender gave it: a second one with the same id has no effect. Null: none.';
comment on column keyed_state.inbound_delivery.received_at is 'When.';
comment on column keyed_state.inbound_delivery.status is 'done, or failed: refused as a whole.';
comment on column keyed_state.inbound_delivery.error is 'Why it was refused: {code, detail, hint, errors: [{pointer, code, detail}]}.';
comment on column keyed_state.inbound_delivery.created is 'How many records it created.';
comment on column keyed_state.inbound_delivery.updated is 'How many records it found there.';
comment on column keyed_state.inbound_delivery.payload is 'What was sent, to the letter; null: purged after it was done.';

grant select (id, project_id, template_id, slug, role, items, external_key, key_prefix, mapping, enabled, created_at,
  created_by, updated_at) on keyed_state.inbound_endpoint to keyed_admin;
grant select on keyed_state.inbound_delivery to keyed_admin;
alter table keyed_state.inbound_endpoint enable row level security;
alter table keyed_state.inbound_delivery enable row level security;
create policy keyed_admin on keyed_state.inbound_endpoint for select to keyed_admin using (true);
create policy keyed_admin on keyed_state.inbound_delivery for select to keyed_admin using (true);
