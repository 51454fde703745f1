-- The shard of a database, if it is one of several. Run once, as keyed_owner.

create table keyed_state.shard (
  is_only boolean primary key default true check (is_only),
  shard integer not null check (shard between 0 and 127)
);
comment on table keyed_state.shard is 'The shard that this database is, set by keyed.init(shard => …); no row: the database is not sharded.';
comment on column keyed_state.shard.is_only is 'True: there is one row.';
comment on column keyed_state.shard.shard is 'The number of the shard. All ids of the state come from its range.';

alter table keyed_state.shard enable row level security;
create policy keyed_admin on keyed_state.shard for select to keyed_admin using (true);
grant select on keyed_state.shard to keyed_admin;
