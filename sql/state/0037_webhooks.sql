-- Webhook endpoints and their deliveries. Run once, as keyed_owner.

create table keyed_state.webhook_endpoint (
  id integer generated always as identity primary key,
  project_id integer not null references keyed_state.project (id) on delete cascade,
  slug text collate "C" not null constraint webhook_endpoint_slug_form check (slug ~ '^[a-z][a-z0-9_]{0,62}$'),
  url text not null,
  templates integer[],
  operations text[],
  filter jsonb,
  role regrole not null,
  role_name text not null,
  bound_in text not null,
  enabled boolean not null,
  include_record boolean not null,
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  place text not null,
  disabled_at timestamptz,
  disabled_reason text,
  last_success_at timestamptz,
  failing_since timestamptz,
  created_at timestamptz not null default pg_catalog.now(),
  created_by text not null,
  updated_at timestamptz not null default pg_catalog.now(),
  unique (project_id, slug)
);
comment on table keyed_state.webhook_endpoint is 'Webhook endpoints: addresses to which changes of records are delivered.';
comment on column keyed_state.webhook_endpoint.id is 'Stays the same when the endpoint is changed.';
comment on column keyed_state.webhook_endpoint.project_id is 'The project whose changes are delivered.';
comment on column keyed_state.webhook_endpoint.slug is 'The name within the project.';
comment on column keyed_state.webhook_endpoint.url is 'Where deliveries are sent.';
comment on column keyed_state.webhook_endpoint.templates is 'The ids of the templates whose changes are delivered; null: all.';
comment on column keyed_state.webhook_endpoint.operations is 'The operations that are delivered; null: all.';
comment on column keyed_state.webhook_endpoint.filter is 'The records whose changes are delivered, as the scope of a grant; null: all. Only with exactly one template.';
comment on column keyed_state.webhook_endpoint.role is 'The role whose privileges determine what is delivered.';
comment on column keyed_state.webhook_endpoint.role_name is 'The name of the role when the row was last written.';
comment on column keyed_state.webhook_endpoint.bound_in is 'The cluster and the table in which role and role_name were written: see keyed.is_bound.';
comment on column keyed_state.webhook_endpoint.enabled is 'Whether changes are delivered.';
comment on column keyed_state.webhook_endpoint.include_record is 'Whether a delivery includes the current record at the time it is sent.';
comment on column keyed_state.webhook_endpoint.secret is 'The secret that signs deliveries. Readable by keyed_owner and superusers, and contained in dumps.';
comment on column keyed_state.webhook_endpoint.previous_secret is 'The secret before the last rotation. For a day, it signs deliveries too.';
comment on column keyed_state.webhook_endpoint.previous_secret_until is 'When the previous secret expires.';
comment on column keyed_state.webhook_endpoint.place is 'The position in the feed of changes up to which deliveries were queued: position/template/record/version.';
comment on column keyed_state.webhook_endpoint.disabled_at is 'When the service disabled the endpoint.';
comment on column keyed_state.webhook_endpoint.disabled_reason is 'The reason why the service disabled it.';
comment on column keyed_state.webhook_endpoint.last_success_at is 'When a delivery last succeeded, approximately.';
comment on column keyed_state.webhook_endpoint.failing_since is 'The first failure since the last success; null: there is none.';
comment on column keyed_state.webhook_endpoint.created_at is 'When it was created.';
comment on column keyed_state.webhook_endpoint.created_by is 'The actor that created it.';
comment on column keyed_state.webhook_endpoint.updated_at is 'When its definition was last changed.';

create table keyed_state.webhook_delivery (
  number bigint generated always as identity primary key,
  id uuid not null unique default pg_catalog.gen_random_uuid(),
  endpoint_id integer not null references keyed_state.webhook_endpoint (id) on delete cascade,
  template_id integer,
  record_id uuid,
  operation text not null,
  entry text,
  state text not null default 'pending' check (state in ('pending', 'running', 'done', 'failed')),
  attempts integer not null default 0,
  due_at timestamptz not null default pg_catalog.now(),
  claim uuid,
  last_status integer,
  last_error text,
  response text check (pg_catalog.octet_length(response) <= 1024),
  duration_ms integer,
  created_at timestamptz not null default pg_catalog.now(),
  finished_at timestamptz,
  check ((state = 'running') = (claim is not null)),
  check ((operation = 'test') = (record_id is null) and (record_id is null) = (entry is null)
    and (record_id is null) = (template_id is null))
) with (fillfactor = 80);
create index on keyed_state.webhook_delivery (endpoint_id, due_at) where state in ('pending', 'running');
create index on keyed_state.webhook_delivery (endpoint_id, record_id, number) where state in ('pending', 'running');
create index on keyed_state.webhook_delivery (endpoint_id) where operation = 'test' and state in ('pending', 'running');
create index on keyed_state.webhook_delivery (endpoint_id, state, number);
create index on keyed_state.webhook_delivery (endpoint_id, number);
comment on table keyed_state.webhook_delivery is 'Deliveries to webhook endpoints, pending and finished.';
comment on column keyed_state.webhook_delivery.number is 'The sequence number: deliveries of an endpoint are in feed order.';
comment on column keyed_state.webhook_delivery.id is 'The webhook-id, the same at every attempt.';
comment on column keyed_state.webhook_delivery.endpoint_id is 'The endpoint.';
comment on column keyed_state.webhook_delivery.template_id is 'The template of the record; null for a test.';
comment on column keyed_state.webhook_delivery.record_id is 'The record; null for a test.';
comment on column keyed_state.webhook_delivery.operation is 'What happened: create, update, delete, restore, gone, or test.';
comment on column keyed_state.webhook_delivery.entry is 'The entry of the feed of changes, as JSON, without the record; null for a test.';
comment on column keyed_state.webhook_delivery.state is 'pending: due at due_at; running: a worker is sending it; done: delivered; failed: no more attempts.';
comment on column keyed_state.webhook_delivery.attempts is 'The number of attempts since it was queued or replayed.';
comment on column keyed_state.webhook_delivery.due_at is 'pending: the time of the next attempt; running: when the claim expires.';
comment on column keyed_state.webhook_delivery.claim is 'running: the claim of the worker.';
comment on column keyed_state.webhook_delivery.last_status is 'The HTTP status of the last response.';
comment on column keyed_state.webhook_delivery.last_error is 'Why the last attempt failed.';
comment on column keyed_state.webhook_delivery.response is 'The beginning of the last response, at most 1 KiB.';
comment on column keyed_state.webhook_delivery.duration_ms is 'The duration of the last attempt, in milliseconds.';
comment on column keyed_state.webhook_delivery.created_at is 'When it was queued.';
comment on column keyed_state.webhook_delivery.finished_at is 'When it was delivered or failed.';

grant select (id, project_id, slug, url, templates, operations, filter, role, role_name, bound_in, enabled, include_record,
  previous_secret_until, place, disabled_at, disabled_reason, last_success_at, failing_since, created_at, created_by,
  updated_at) on keyed_state.webhook_endpoint to keyed_admin;
grant select on keyed_state.webhook_delivery to keyed_admin;
alter table keyed_state.webhook_endpoint enable row level security;
alter table keyed_state.webhook_delivery enable row level security;
create policy keyed_admin on keyed_state.webhook_endpoint for select to keyed_admin using (true);
create policy keyed_admin on keyed_state.webhook_delivery for select to keyed_admin using (true);
