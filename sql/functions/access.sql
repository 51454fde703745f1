-- API keys, grants and the caller.

create function keyed.authenticate(key_hash bytea, project text default null, source text default 'api')
  returns boolean
  language c volatile as 'MODULE_PATHNAME', 'keyed_authenticate';
comment on function keyed.authenticate(bytea, text, text) is
  'Runs the rest of the transaction as the API key with this SHA-256, in this project (slug or number). source: api, app (the web application), csv or inbound; the history records it. Behind a space, it may have the id of a request, which pg_stat_activity shows as application_name until the transaction ends. Only keyed_proxy and superusers may execute it. Errors: 28000 for a key that is unknown, revoked or expired; P0002 for a project that the key may not access.';
-- keyed.init() grants EXECUTE to keyed_proxy.
revoke execute on function keyed.authenticate(bytea, text, text) from public;

create function keyed.issue_api_key(
  role name, projects text[] default null, label text default null, expires_at timestamptz default null)
  returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_issue_api_key';
comment on function keyed.issue_api_key(name, text[], text, timestamptz) is
  'Issues an API key for the role, limited to these projects (null: all). The key is returned once; the database stores only a hash. Needs keyed_admin.';

create function keyed.register_api_key(
  key text, role name, projects text[] default null, label text default null, expires_at timestamptz default null)
  returns integer
  language c volatile as 'MODULE_PATHNAME', 'keyed_register_api_key';
comment on function keyed.register_api_key(text, name, text[], text, timestamptz) is
  'Registers an API key that another shard issued, so that it is valid for projects of this shard too: same id, same secret. Repeating the call has no effect. Returns the id of the key. Needs keyed_admin. Errors: 22023 if this database is not a shard, or if the key is of this shard or malformed; 23505 if the key is registered with other properties, or revoked.';

create function keyed.revoke_api_key(id integer) returns boolean
  language c volatile strict as 'MODULE_PATHNAME', 'keyed_revoke_api_key';
comment on function keyed.revoke_api_key(integer) is
  'Revokes an API key: the next request with it is rejected. Returns false if the key is unknown or already revoked. Needs keyed_admin.';

create function keyed.list_api_keys()
  returns table (id integer, role text, projects text[], label text, created_at timestamptz, expires_at timestamptz,
    revoked_at timestamptz, last_used_at timestamptz, orphaned boolean)
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
    #variable_conflict use_column
    begin
      perform keyed.require_admin('list API keys');
      return query
        select k.id, case when b.is_bound then pg_get_userbyid(k.role)::text else k.role_name end,
          case when k.projects is not null then
            array(select p.slug from keyed_state.project p where p.id = any (k.projects) order by p.slug) end,
          k.label, k.created_at, k.expires_at, k.revoked_at, u.last_used_at, not b.is_bound
        from keyed_state.api_key k left join keyed_state.api_key_use u on u.key_id = k.id,
          lateral (select keyed.is_bound(k.role, k.role_name, k.bound_in, 'keyed_state.api_key'::regclass)) b (is_bound)
        order by k.id;
    end
  $$;
comment on function keyed.list_api_keys() is
  'Lists the API keys, without their secrets. projects: null for all. last_used_at: accurate to about a minute. orphaned: the role was dropped, and the key is rejected. Needs keyed_admin.';

create function keyed.grant_access(role name, target text, privileges text[], scope jsonb default null) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_grant_access';
comment on function keyed.grant_access(name, text, text[], jsonb) is
  'Grants privileges to a role and its members, on a template (target: project.template) or on all present and future templates of a project (target: project). privileges: read, create, update, delete (records), define (templates). scope: a search filter for the records that the grant covers ({filters, filter_groups}, an array of conditions, or one condition); null for all; for a project, standard fields only. Granting a privilege again replaces its scope without waiting for readers of the table: the old scope ends at once, and plain SQL returns no rows of the new one until the table is free (keyed.enforce_grants). SQL functions, REST and plain SQL all enforce grants, which are row-level security policies. Needs keyed_admin.';

create function keyed.revoke_access(role name, target text) returns integer
  language c volatile as 'MODULE_PATHNAME', 'keyed_revoke_access';
comment on function keyed.revoke_access(name, text) is
  'Revokes all privileges of a role on this target; for a template, grants on its project remain. Returns the number of revoked privileges. It does not wait for readers: every later statement is denied (42501) or finds nothing, also in open transactions. Policies that cannot be dropped while their table is in use allow nothing; see keyed.enforce_grants. Needs keyed_admin.';

create function keyed.enforce_grants(max_tables integer default null) returns integer
  language c volatile as 'MODULE_PATHNAME', 'keyed_enforce_grants';
comment on function keyed.enforce_grants(integer) is
  'Updates the policies of tables that a grant or a revocation could not update at once: these do not wait for readers of a table, and a grant on a large project does not lock all of its tables. Updates at most max_tables tables, free ones first, within half a second, because each stays locked until the transaction ends; it waits for a busy table only if no table is free. Returns the number of tables that remain: call it again until this is 0. The service calls it every minute. Needs keyed_admin.';

create function keyed.list_access()
  returns table (role text, target text, privilege text, scope jsonb, granted_at timestamptz, granted_by text,
    orphaned boolean)
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
    #variable_conflict use_column
    begin
      perform keyed.require_admin('list grants');
      return query
        select case when b.is_bound then pg_get_userbyid(g.role)::text else g.role_name end,
          concat_ws('.', p.slug, t.slug), g.privilege, g.scope, g.granted_at, g.granted_by, not b.is_bound
        from keyed_state.access_grant g
        join keyed_state.project p on p.id = g.project_id
        left join keyed_state.template t on t.id = g.template_id,
          lateral (select keyed.is_bound(g.role, g.role_name, g.bound_in, 'keyed_state.access_grant'::regclass)) b (is_bound)
        order by 1, 2, g.id;
    end
  $$;
comment on function keyed.list_access() is
  'Lists the grants made with keyed.grant_access. target: a project or a template. scope: null for all records. orphaned: the role was dropped, and the grant has no effect. Needs keyed_admin.';

create function keyed.explain_access(id uuid, role name) returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_explain_access';
comment on function keyed.explain_access(uuid, name) is
  'Explains why a record is visible to a role or not: {sees, because, may, record: live, deleted or missing, grants: [{role, target, privilege, scope, holds, conditions: [{pointer?, field, operator, value, holds}]}]}. Needs keyed_admin.';

create function keyed.me() returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_me';
comment on function keyed.me() is
  'Describes what the caller may do: {key: {id, label, expires_at} or null, role, admin, project, projects (null: all), templates: [{id, template, privileges, scoped}]}. scoped: the privileges that cover some records only.';
