-- The feed of changes. Run once, as keyed_owner.

create table keyed_state.change_generation (
  generation smallint primary key,
  system_identifier bigint not null,
  database oid not null,
  written_by bigint not null,
  started_at timestamptz not null default pg_catalog.clock_timestamp(),
  continues boolean not null default false
);
comment on table keyed_state.change_generation is 'The clusters and databases whose transaction ids are in positions of history. A database restored from a dump starts the next generation.';
comment on column keyed_state.change_generation.generation is 'The upper 15 bits of the positions; the lower 48 are the id of a transaction.';
comment on column keyed_state.change_generation.system_identifier is 'The cluster: system_identifier of pg_control_system().';
comment on column keyed_state.change_generation.database is 'The database: its oid in pg_database.';
comment on column keyed_state.change_generation.written_by is 'xmin of this row when it was inserted. A row restored from a dump has a different xmin.';
comment on column keyed_state.change_generation.started_at is 'When the generation began.';
comment on column keyed_state.change_generation.continues is 'Whether the database has all changes of the previous generation, so that its cursors stay valid: see keyed.continue_changes().';

create table keyed_state.change_secret (
  is_only boolean primary key default true check (is_only),
  secret bytea not null check (pg_catalog.octet_length(secret) = 32)
);
comment on table keyed_state.change_secret is 'The key that signs cursors of the feed.';
comment on column keyed_state.change_secret.is_only is 'True: there is one row.';
comment on column keyed_state.change_secret.secret is '32 random bytes.';
insert into keyed_state.change_secret (secret) values (pg_catalog.sha256(
  pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) || pg_catalog.uuid_send(pg_catalog.gen_random_uuid())));

alter table keyed_state.change_generation enable row level security;
create policy keyed_admin on keyed_state.change_generation for select to keyed_admin using (true);
grant select on keyed_state.change_generation to keyed_admin;

-- No role but keyed_owner may read the secret: the policy has no effect without a privilege.
alter table keyed_state.change_secret enable row level security;
create policy keyed_admin on keyed_state.change_secret for select to keyed_admin using (true);

-- Sessions cache their generation.
create trigger keyed_announce after insert or update or delete or truncate on keyed_state.change_generation
  for each statement execute function keyed.announce_change();

comment on column keyed_state.job.kind is 'index: builds the indexes of an attribute in its collation, or without an attribute the indexes of the search documents and of the history; documents: rewrites the search documents; embeddings: queues the records with text to embed; series: deletes the points of dropped metrics.';
