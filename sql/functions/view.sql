-- Saved views. Anyone may execute these; each function checks its caller.

create function keyed.save_view(template regclass, slug text, query jsonb, label text default null) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_save_view';
comment on function keyed.save_view(regclass, text, jsonb, text) is
  'Saves the body of a search under a name, in place of the one that has it, and makes the view project.template__slug of it, which shows each reader what its policies let through. A body with global_search has no such view; view and cursor cannot be saved. Returns {"slug", "label", "query", "sql_view", "created_at", "updated_at"}. Needs define on the template. Errors: 22023 with a pointer to each fault, 23505 when something else has the name of the view.';

create function keyed.get_view(template regclass, slug text) returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_get_view';
comment on function keyed.get_view(regclass, text) is
  'The saved view of this name. Needs read or define on the template. Error P0002 when there is none.';

create function keyed.list_views(template regclass) returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_list_views';
comment on function keyed.list_views(regclass) is
  'The saved views of a template, by name: {"views": [{"slug", "label", "query", "sql_view", "created_at", "updated_at"}]}. Needs read or define on the template.';

create function keyed.drop_view(template regclass, slug text) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_drop_view';
comment on function keyed.drop_view(regclass, text) is
  'Drops a saved view, and its view in PostgreSQL. Needs define on the template. Errors: P0002 when there is none, 23505 when views of somebody else read it.';
