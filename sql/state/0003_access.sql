-- Who may do what with which records. Run once, as keyed_owner.

create schema keyed_scope;
comment on schema keyed_scope is 'What policies of keyed look up in other tables. Nobody needs to use it, and nobody may.';

create table keyed_state.access_grant (
  id integer generated always as identity primary key,
  role regrole not null,
  project_id integer not null references keyed_state.project (id) on delete cascade,
  template_id integer references keyed_state.template (id) on delete cascade,
  privilege text not null check (privilege in ('read', 'create', 'update', 'delete', 'define')),
  scope jsonb,
  granted_at timestamptz not null default pg_catalog.now(),
  granted_by text not null,
  unique nulls not distinct (project_id, template_id, role, privilege)
);
create index on keyed_state.access_grant (template_id) where template_id is not null;
comment on table keyed_state.access_grant is 'What keyed.grant_access granted. Policies of PostgreSQL say the same.';
comment on column keyed_state.access_grant.id is 'Part of the names of its policies.';
comment on column keyed_state.access_grant.role is 'To whom: a role, and with it its members.';
comment on column keyed_state.access_grant.project_id is 'On which project.';
comment on column keyed_state.access_grant.template_id is 'On which template of it; null: on all, those to come included.';
comment on column keyed_state.access_grant.privilege is 'read, create, update, delete (records) or define (templates).';
comment on column keyed_state.access_grant.scope is 'On which records: a filter; null: on all.';
comment on column keyed_state.access_grant.granted_at is 'When.';
comment on column keyed_state.access_grant.granted_by is 'The login that granted it.';
grant select on keyed_state.access_grant to keyed_admin;

-- Sessions remember grants; a change makes all of them forget.
create trigger keyed_announce after insert or update or delete or truncate on keyed_state.access_grant
  for each statement execute function keyed.announce_change();

-- A key follows its role through a change of name, and is not another's when a role is dropped and made anew. One whose
-- role is gone already works no more.
alter table keyed_state.api_key
  alter column role type regrole using coalesce(to_regrole(pg_catalog.quote_ident(role))::oid, 0)::regrole;

-- Beside the keys and not among them: whoever revokes a key must not wait for a request that uses it.
create table keyed_state.api_key_use (
  key_id integer primary key references keyed_state.api_key (id) on delete cascade,
  last_used_at timestamptz
) with (fillfactor = 50);
comment on table keyed_state.api_key_use is 'When each API key was last used.';
comment on column keyed_state.api_key_use.key_id is 'The key.';
comment on column keyed_state.api_key_use.last_used_at is 'To about a minute; null: never.';
insert into keyed_state.api_key_use (key_id) select id from keyed_state.api_key;
alter table keyed_state.api_key drop column last_used_at;
grant select on keyed_state.api_key_use to keyed_admin;

-- The owner of these tables is above their policies; administrators read what they were granted; nobody else a row.
do $$
declare
  name text;
begin
  foreach name in array array['version', 'project', 'template', 'attribute', 'attribute_use', 'api_key', 'api_key_use',
    'access_grant']
  loop
    execute pg_catalog.format('alter table keyed_state.%I enable row level security', name);
    execute pg_catalog.format('create policy keyed_admin on keyed_state.%I for select to keyed_admin using (true)', name);
  end loop;
end
$$;
