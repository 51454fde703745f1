-- The state of a workspace: ordinary tables, so that dump and restore treat them as any others.
-- Run once by keyed.init(), as keyed_owner. Never changed after a release: the next file moves the state forward.

create table keyed_state.project (
  id integer generated always as identity primary key,
  slug text collate "C" not null unique,
  name text not null,
  created_at timestamptz not null default pg_catalog.now()
);
comment on table keyed_state.project is 'Projects: each is a schema of the same name.';
comment on column keyed_state.project.id is 'The number that X-Service-Project-Id may carry.';
comment on column keyed_state.project.slug is 'The name of the schema.';
comment on column keyed_state.project.name is 'What people read.';
comment on column keyed_state.project.created_at is 'When the project was created.';

create table keyed_state.template (
  id integer generated always as identity primary key,
  project_id integer not null references keyed_state.project (id),
  slug text collate "C" not null,
  label text,
  display text collate "C",
  language text not null default 'english',
  created_at timestamptz not null default pg_catalog.now(),
  updated_at timestamptz not null default pg_catalog.now(),
  unique (project_id, slug)
);
comment on table keyed_state.template is 'Templates: each is a table of that name in its project''s schema.';
comment on column keyed_state.template.id is 'The number that every record id of the template carries.';
comment on column keyed_state.template.project_id is 'The project that holds it.';
comment on column keyed_state.template.slug is 'The name of the table.';
comment on column keyed_state.template.label is 'What people read; null: the slug.';
comment on column keyed_state.template.display is 'The attribute shown for a record; null: the first string.';
comment on column keyed_state.template.language is 'The text-search configuration.';
comment on column keyed_state.template.created_at is 'When the template was created.';
comment on column keyed_state.template.updated_at is 'When its definition last changed.';

create table keyed_state.attribute (
  id integer generated always as identity primary key,
  template_id integer not null references keyed_state.template (id) on delete cascade,
  slug text collate "C" not null,
  type text not null check (type in ('string', 'number', 'metric', 'list', 'date', 'datetime', 'reference')),
  label text,
  required boolean not null default false,
  indexed boolean not null default false,
  options jsonb,
  target_id integer references keyed_state.template (id),
  default_value jsonb,
  position integer not null,
  unique (template_id, slug)
);
create index on keyed_state.attribute (target_id) where target_id is not null;
comment on table keyed_state.attribute is 'Attributes: each is a column of its template''s table.';
comment on column keyed_state.attribute.id is 'Stays the same when the attribute is renamed.';
comment on column keyed_state.attribute.template_id is 'The template that has it.';
comment on column keyed_state.attribute.slug is 'The name of the column.';
comment on column keyed_state.attribute.type is 'The attribute''s type, which decides the type of the column.';
comment on column keyed_state.attribute.label is 'What people read; null: the slug.';
comment on column keyed_state.attribute.required is 'Whether the column is NOT NULL.';
comment on column keyed_state.attribute.indexed is 'Whether filters and sorts find an index.';
comment on column keyed_state.attribute.options is 'A list''s only values: [{value, label}]; null: any value.';
comment on column keyed_state.attribute.target_id is 'A reference''s target template.';
comment on column keyed_state.attribute.default_value is 'The value of a record created without one.';
comment on column keyed_state.attribute.position is 'The order in which attributes are shown.';

create table keyed_state.attribute_use (
  attribute_id integer primary key references keyed_state.attribute (id) on delete cascade,
  filters bigint not null default 0,
  sorts bigint not null default 0,
  since timestamptz not null default pg_catalog.now(),
  last_at timestamptz
) with (fillfactor = 50);
comment on table keyed_state.attribute_use is 'How often searches filter and sort by each attribute, where an index could serve them.';
comment on column keyed_state.attribute_use.attribute_id is 'The attribute.';
comment on column keyed_state.attribute_use.filters is 'How many searches filtered by it.';
comment on column keyed_state.attribute_use.sorts is 'How many searches sorted by it.';
comment on column keyed_state.attribute_use.since is 'From when on they are counted.';
comment on column keyed_state.attribute_use.last_at is 'When a session last added its count.';

create table keyed_state.api_key (
  id integer generated always as identity primary key,
  role text not null,
  projects integer[],
  label text not null default '',
  hash bytea not null unique check (octet_length(hash) = 32),
  created_at timestamptz not null default pg_catalog.now(),
  created_by text not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
comment on table keyed_state.api_key is 'API keys. The key itself is not here, only its SHA-256.';
comment on column keyed_state.api_key.id is 'The number that the key itself begins with.';
comment on column keyed_state.api_key.role is 'The role that requests with the key act as.';
comment on column keyed_state.api_key.projects is 'The projects it is bound to; null: all.';
comment on column keyed_state.api_key.label is 'What people call it; history names it.';
comment on column keyed_state.api_key.hash is 'SHA-256 of the whole key.';
comment on column keyed_state.api_key.created_at is 'When it was issued.';
comment on column keyed_state.api_key.created_by is 'The login that issued it.';
comment on column keyed_state.api_key.expires_at is 'From when on it is refused; null: never.';
comment on column keyed_state.api_key.revoked_at is 'When it was revoked; null: it was not.';
comment on column keyed_state.api_key.last_used_at is 'When it was last seen, roughly.';

-- Sessions remember keys and projects; a change makes all of them forget.
create trigger keyed_announce after insert or update or delete or truncate on keyed_state.api_key
  for each statement execute function keyed.announce_change();
create trigger keyed_announce after insert or update or delete or truncate on keyed_state.project
  for each statement execute function keyed.announce_change();

grant usage on schema keyed_state to keyed_admin;
grant select on keyed_state.project, keyed_state.template, keyed_state.attribute, keyed_state.attribute_use
  to keyed_admin;
grant select (id, role, projects, label, created_at, created_by, expires_at, revoked_at, last_used_at)
  on keyed_state.api_key to keyed_admin;
