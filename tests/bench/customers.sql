-- The table that a user would write by hand instead of a template: the limit that keyed is compared with.
-- The columns, the indexes and the room for HOT updates are those of the template, the ids are ordered by time like
-- its ids, so both touch the same number of pages.

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
-- What COPY writes into: a table with the indexes of the template's, and the one that finds words, which is made when
-- its first rows are in.
create table plain.searched (like plain.bare including all);
create index on plain.searched (deleted_at) where deleted_at is not null;
create unique index on plain.searched (external_key) where deleted_at is null and external_key is not null;
create unique index on plain.customers (external_key) where deleted_at is null and external_key is not null;
create unique index on plain.bare (external_key);

-- A version from a sequence needs no look at the entries before, and no two writers of one record can draw the same.
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

-- What is searched for words, folded.
create table plain.customers_text (record_id uuid primary key, document text not null);

-- So that racing sessions agree on which key is next.
create sequence plain.race;

-- PostgREST's on_conflict cannot name a partial index, so its table has the key unique among all rows.
create schema rest;
create table rest.customers (like plain.bare including all);
