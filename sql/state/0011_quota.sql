-- How much a project may hold and write. Run once, as keyed_owner.

create table keyed_state.quota (
  project_id integer not null references keyed_state.project (id) on delete cascade,
  name text not null check (name in ('live_records', 'templates', 'attributes_per_template', 'writes_per_day')),
  maximum bigint not null check (maximum >= 0),
  set_at timestamptz not null default pg_catalog.now(),
  set_by text not null,
  primary key (project_id, name)
);
comment on table keyed_state.quota is 'What keyed.set_quota set: the most that a project may hold or write.';
comment on column keyed_state.quota.project_id is 'The project.';
comment on column keyed_state.quota.name is 'live_records, templates, attributes_per_template or writes_per_day.';
comment on column keyed_state.quota.maximum is 'The most there may be.';
comment on column keyed_state.quota.set_at is 'When it was set.';
comment on column keyed_state.quota.set_by is 'The login that set it.';

-- Sessions remember quotas; a change makes all of them forget.
create trigger keyed_announce after insert or update or delete or truncate on keyed_state.quota
  for each statement execute function keyed.announce_change();

create table keyed_state.quota_slot (
  project_id integer not null,
  name text not null,
  slot integer not null,
  used bigint not null,
  allowed bigint not null,
  is_over boolean not null default false,
  day date not null,
  primary key (project_id, name, slot),
  foreign key (project_id, name) references keyed_state.quota (project_id, name) on delete cascade
  -- Room in every page lets a counter be rewritten in it.
) with (fillfactor = 25);
comment on table keyed_state.quota_slot is 'What is used of live_records and writes_per_day, spread over rows that writers take without waiting for each other.';
comment on column keyed_state.quota_slot.project_id is 'The project.';
comment on column keyed_state.quota_slot.name is 'The quota.';
comment on column keyed_state.quota_slot.slot is 'Tells the rows of a quota apart.';
comment on column keyed_state.quota_slot.used is 'What was counted here; may be negative, as one row counts what is made and another what is deleted.';
comment on column keyed_state.quota_slot.allowed is 'How far used may rise. Unless more is used than the quota, the sum over all rows is at most the quota.';
comment on column keyed_state.quota_slot.is_over is 'Whether more was used than the quota when it was dealt out: then what is given back makes no room here.';
comment on column keyed_state.quota_slot.day is 'The day that used is about; infinity for what has none.';

grant select on keyed_state.quota, keyed_state.quota_slot to keyed_admin;
alter table keyed_state.quota enable row level security;
alter table keyed_state.quota_slot enable row level security;
create policy keyed_admin on keyed_state.quota for select to keyed_admin using (true);
create policy keyed_admin on keyed_state.quota_slot for select to keyed_admin using (true);
