-- Saved views. PUBLIC can execute these functions; each checks its caller.

create function keyed.save_view(template regclass, slug text, query jsonb, label text default null, presentation boolean default null) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_save_view';
comment on function keyed.save_view(regclass, text, jsonb, text, boolean) is
  'Saves the body of a search under this name, replacing an existing view, and creates the SQL view project.template__slug, which shows each reader the rows that its grants allow. A body with global_search has no SQL view; view and cursor cannot be saved. presentation: true makes a view for people and BI tools, with the fields of the body: references by the display of their targets (with <attribute>__key and <attribute>__id), lists by labels (with <attribute>__values), labels and units as comments; null keeps what the view had, and is false for a new one. Returns {"slug", "label", "query", "presentation"?, "sql_view", "created_at", "updated_at"}. Needs define on the template. Errors: 22023 with a pointer to each error, 23505 if another object has the name of the SQL view or depends on it.';

create function keyed.get_view(template regclass, slug text) returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_get_view';
comment on function keyed.get_view(regclass, text) is
  'The saved view with this name. Needs read or define on the template. Error P0002 if the view does not exist.';

create function keyed.list_views(template regclass) returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_list_views';
comment on function keyed.list_views(regclass) is
  'Lists the saved views of a template, by name: {"views": [{"slug", "label", "query", "presentation"?, "sql_view", "created_at", "updated_at"}]}. Needs read or define on the template.';

create function keyed.drop_view(template regclass, slug text) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_drop_view';
comment on function keyed.drop_view(regclass, text) is
  'Drops a saved view and its SQL view. Needs define on the template. Errors: P0002 if the view does not exist, 23505 if views that keyed did not create depend on it.';
