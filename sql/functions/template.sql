-- Setup, projects and templates. Each function checks that its caller is a member of keyed_admin or a superuser.

create function keyed.init(preload boolean default false, shard integer default null) returns integer
  language c volatile as 'MODULE_PATHNAME', 'keyed_init';
comment on function keyed.init(boolean, integer) is
  'Sets up the database: the roles keyed_owner, keyed_admin and keyed_proxy, and the state tables. Existing ones remain. preload: true adds keyed to session_preload_libraries of this database, so that the first statement of a BI session is planned like all others. shard: makes this database one of several shards (0 to 127), so that all its ids come from a range of its own and identify the shard; final, and only for a database without data (shard 0 also for one with data). Needs a superuser. Returns the version of the state.';

create function keyed.shard() returns integer
  language c stable as 'MODULE_PATHNAME', 'keyed_shard';
comment on function keyed.shard() is
  'The shard that this database is, set by keyed.init(shard => …); null: the database is not sharded.';

create function keyed.is_preloaded() returns boolean
  language c stable as 'MODULE_PATHNAME', 'keyed_is_preloaded';
comment on function keyed.is_preloaded() is
  'Whether this session loaded the library of keyed when it began, by session_preload_libraries or shared_preload_libraries.';

create function keyed.pending_migrations() returns integer[]
  language c stable as 'MODULE_PATHNAME', 'keyed_pending_migrations';
comment on function keyed.pending_migrations() is
  'The numbers of the pending migrations, which keyed.migrate() would run; empty if the state of this database is up to date.';

create function keyed.migrate() returns integer
  language c volatile as 'MODULE_PATHNAME', 'keyed_migrate';
comment on function keyed.migrate() is
  'Migrates the state tables to this version of the extension; run it after ALTER EXTENSION keyed UPDATE. Returns the version of the state.';

create function keyed.create_project(slug text, name text default null) returns integer
  language c volatile as 'MODULE_PATHNAME', 'keyed_create_project';
comment on function keyed.create_project(text, text) is
  'Creates a project: a schema with this name. Returns its number. Errors: 22023 for an invalid or reserved slug, 23505 if the schema exists.';

create function keyed.drop_project(project text, with_records boolean default false) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_drop_project';
comment on function keyed.drop_project(text, boolean) is
  'Drops a project (slug or number) with its schema, templates, views, endpoints, grants and quotas. API keys lose access to it; those limited to this project are revoked. Needs keyed_admin. Errors: P0002 if the project does not exist, 23505 if a template has live records and with_records is not true, or if the schema has objects that keyed did not create.';

create function keyed.set_time_zone(project text, time_zone text) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_set_time_zone';
comment on function keyed.set_time_zone(text, text) is
  'Sets the default time zone of days in searches of the project, for example Europe/Zurich; null: UTC. Errors: P0002 if the project does not exist, 22023 for an unknown time zone.';

create function keyed.create_template(
  project text, slug text, attributes jsonb default '[]', label text default null, embed text[] default null,
  dry_run boolean default false)
  returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_create_template';
comment on function keyed.create_template(text, text, jsonb, text, text[], boolean) is
  'Creates a template: a table with one typed column for each attribute. attributes: [{"slug": "name", "type": "string", "label"?, "required"?, "indexed"?, "collation"?, "format"?, "options"?, "template"?, "default"?}]; types: string, dimension, number, metric, list, date, datetime, reference, boolean. embed: the attributes (string or list) whose texts are embedded, null for none. display, language (default english), collation (default und) and synonyms are set by alter_template. Returns the template; with dry_run what would be made, and makes nothing (see alter_template). Errors: 22023 with a pointer to each error, 23505 if the table exists.';

create function keyed.alter_template(template regclass, changes jsonb, dry_run boolean default false) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_alter_template';
comment on function keyed.alter_template(regclass, jsonb, boolean) is
  'Changes a template: {"rename"?: {old: new}, "drop"?: [slug], "attributes"?: [known slugs are changed, new ones added], "label"?, "display"?, "language"?, "collation"?, "embed"?: [slug] or null, "synonyms"?: [{"root"?, "synonyms": [word]}] or null}, in this order, all or nothing. Remaining attributes keep their values. Returns the template; with dry_run, changes nothing and returns {"dry_run": true, "changes": {member: {old, new}}, "added": [attribute], "changed": [{slug, changes}], "dropped": [{slug, records}], "indexes": [{attribute, action, in_background}], "jobs": [{kind, attribute}]}. records: how many live records lose a value; null for callers who do not read all of them.';

create function keyed.add_attribute(template regclass, attribute jsonb, dry_run boolean default false) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_add_attribute';
comment on function keyed.add_attribute(regclass, jsonb, boolean) is
  'Adds an attribute, defined as in create_template. Returns the template; with dry_run as alter_template.';

create function keyed.alter_attribute(template regclass, slug text, changes jsonb, dry_run boolean default false) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_alter_attribute';
comment on function keyed.alter_attribute(regclass, text, jsonb, boolean) is
  'Changes an attribute: {"label"?, "options"?, "required"?, "indexed"?, "collation"?, "format"?, "default"?, "slug"? (renames it)}. Type and target cannot change. Returns the template; with dry_run as alter_template.';

create function keyed.drop_attribute(template regclass, slug text, dry_run boolean default false) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_drop_attribute';
comment on function keyed.drop_attribute(regclass, text, boolean) is
  'Drops an attribute and its values; the history keeps its entries. Returns the template; with dry_run as alter_template.';

create function keyed.drop_template(template regclass, with_records boolean default false) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_drop_template';
comment on function keyed.drop_template(regclass, boolean) is
  'Drops a template with its table, history and series. Error 23505 if it has live records and with_records is not true, or if other templates refer to it.';
