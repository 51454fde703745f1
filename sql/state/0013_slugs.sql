-- Slugs are written into statements that define objects: none can hold anything else, whoever wrote the row, and no
-- project is one of PostgreSQL's schemas, temporary ones among them, or one of ours.

alter table keyed_state.project add constraint project_slug_form check (slug ~ '^[a-z][a-z0-9_]{0,62}$'),
  add constraint project_slug_reserved check (
    slug !~ '^pg_' and slug not in ('information_schema', 'public', 'keyed', 'keyed_http', 'keyed_state', 'keyed_scope'));
alter table keyed_state.template add constraint template_slug_form check (slug ~ '^[a-z][a-z0-9_]{0,62}$'),
  add constraint template_display_form check (display ~ '^[a-z][a-z0-9_]{0,62}$');
alter table keyed_state.attribute add constraint attribute_slug_form check (slug ~ '^[a-z][a-z0-9_]{0,62}$');
alter table keyed_state.inbound_endpoint add constraint inbound_endpoint_slug_form check (slug ~ '^[a-z][a-z0-9_]{0,62}$');
alter table keyed_state.view add constraint view_slug_form check (slug ~ '^[a-z][a-z0-9_]{0,62}$');
