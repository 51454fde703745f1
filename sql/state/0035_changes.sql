-- The feed of changes. Run once, as keyed_owner.

create table keyed_state.change_generation (
  generation smallint primary key,
  system_identifier bigint not null,
  database oid not null,
  written_by bigint not null,
  started_at timestamptz not null default pg_catalog.clock_timestamp(),
  continues boolean not null default false
);
comment on table keyed_state.change_generation is 'Where the ids of transactions came from that the positions of history are made of. A database that was restored from a dump begins the next generation.';
comment on column keyed_state.change_generation.generation is 'The upper 15 bits of the positions; the lower 48 are the id of a transaction.';
comment on column keyed_state.change_generation.system_identifier is 'The cluster: system_identifier of pg_control_system().';
comment on column keyed_state.change_generation.database is 'The database: its oid in pg_database.';
comment on column keyed_state.change_generation.written_by is 'xmin of this row where it was made. A row that a dump brought has another one.';
comment on column keyed_state.change_generation.started_at is 'When the generation began.';
comment on column keyed_state.change_generation.continues is 'Whether the database had everything of the generation before, so that its cursors go on: see keyed.continue_changes().';

create table keyed_state.change_secret (
  is_only boolean primary key default true check (is_only),
  secret bytea not null check (pg_catalog.octet_length(secret) = 32)
);
comment on table keyed_state.change_secret is 'What the cursors of the feed are signed with.';
comment on column keyed_state.change_secret.is_only is 'True: there is one row.';
comment on column keyed_state.change_secret.secret is 'Random.';
insert into keyed_state.change_secret (secret) values (pg_catalog.sha256(
  pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) || pg_catalog.uuid_send(pg_catalog.gen_random_uuid())));

-- Only keyed itself reads them.
alter table keyed_state.change_generation enable row level security;
alter table keyed_state.change_secret enable row level security;

-- Sessions remember their generation.
create trigger keyed_announce after insert or update or delete or truncate on keyed_state.change_generation
  for each statement execute function keyed.announce_change();

comment on column keyed_state.job.kind is 'index: the indexes of an attribute are built, those of texts in their order, or without an attribute those of the documents and of the history; documents: what is searched of each record is rewritten; embeddings: each record is looked at for a text to embed; series: the points of dropped metrics are deleted.';
