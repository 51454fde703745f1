-- The table that a user would create instead of a template: the baseline for keyed.
-- It has the columns, the indexes and the fillfactor of the template, and ids ordered by time, so both access the same
-- number of pages.

create schema plain;

create table plain.customers (
  id uuid primary key default keyed.new_id(1),
  external_key text collate "C",
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  name text,
  email text,
  city text,
  score numeric
) with (fillfactor = 90);
create table plain.bare (like plain.customers including all);
-- The target of COPY: a table with the indexes of the template, and a full-text index, which is created after its first
-- rows are written.
create table plain.searched (like plain.bare including all);
create index on plain.searched (deleted_at) where deleted_at is not null;
create unique index on plain.searched (external_key) where deleted_at is null and external_key is not null;
create unique index on plain.customers (external_key) where deleted_at is null and external_key is not null;
create unique index on plain.bare (external_key);

-- A version from a sequence needs no look-up of earlier entries, and no two writers of a record get the same version.
create table plain.customers_history (
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

-- The case-folded text for full-text search.
create table plain.customers_text (record_id uuid primary key, document text not null);

-- So that racing sessions agree on the next key.
create sequence plain.race;

-- PostgREST's on_conflict cannot use a partial index, so the key of its table is unique among all rows.
create schema rest;
create table rest.customers (like plain.bare including all);
