-- Saved views. Run once, as keyed_owner.

create table keyed_state.view (
  id integer generated always as identity primary key,
  template_id integer not null references keyed_state.template (id) on delete cascade,
  slug text collate "C" not null,
  label text,
  query jsonb not null,
  definition text,
  created_at timestamptz not null default pg_catalog.now(),
  updated_at timestamptz not null default pg_catalog.now(),
  unique (template_id, slug)
);
comment on table keyed_state.view is 'Saved views: bodies of searches. Each but those for words is a view of PostgreSQL, too: project.template__slug.';
comment on column keyed_state.view.id is 'Stays the same when the view is changed.';
comment on column keyed_state.view.template_id is 'The template whose records it shows.';
comment on column keyed_state.view.slug is 'Its name, the end of that of its view in PostgreSQL.';
comment on column keyed_state.view.label is 'What people read; null: the slug.';
comment on column keyed_state.view.query is 'The body of the search.';
comment on column keyed_state.view.definition is 'The query that its view in PostgreSQL was last made of; null: it has none.';
comment on column keyed_state.view.created_at is 'When it was first saved.';
comment on column keyed_state.view.updated_at is 'When somebody last saved it.';

grant select on keyed_state.view to keyed_admin;
alter table keyed_state.view enable row level security;
create policy keyed_admin on keyed_state.view for select to keyed_admin using (true);
