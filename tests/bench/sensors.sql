-- The tables that a user would create instead of a template with a metric: the latest value in the record, the series in
-- a separate table, both with the columns of keyed's tables.

create table plain.sensors (
  id uuid primary key default keyed.new_id(1),
  external_key text collate "C",
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  visits numeric,
  temperature double precision
) with (fillfactor = 90);
create unique index on plain.sensors (external_key) where deleted_at is null and external_key is not null;
create table plain.sensors_series (
  record_id uuid,
  attribute_id integer,
  at timestamptz,
  id bigint generated always as identity,
  value double precision not null,
  primary key (record_id, attribute_id, at, id)
);
create table plain.sensors_history (
  record_id uuid,
  version bigint generated always as identity,
  at timestamptz not null,
  actor text not null,
  source text not null,
  operation text not null,
  external_key text collate "C",
  changes jsonb not null,
  primary key (record_id, version)
);
