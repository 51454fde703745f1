-- Who is asking.

create function keyed.authenticate(key_hash bytea, project text default null, source text default 'api')
  returns boolean
  language c volatile as 'MODULE_PATHNAME', 'keyed_authenticate';
comment on function keyed.authenticate(bytea, text, text) is
  'Acts for the rest of the transaction in the name of the API key with this SHA-256, in this project (slug or number). source: api, csv or inbound, as history shows it. Only keyed_proxy and superusers may execute it. Errors: 28000 for a key that is unknown, revoked or expired, P0002 for a project out of its sight.';
-- keyed.init() lets keyed_proxy in.
revoke execute on function keyed.authenticate(bytea, text, text) from public;

create function keyed.issue_api_key(
  role name, projects text[] default null, label text default null, expires_at timestamptz default null)
  returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_issue_api_key';
comment on function keyed.issue_api_key(name, text[], text, timestamptz) is
  'Issues an API key that acts as the role, bound to these projects or (null) to all. The answer is its only copy: what is stored of it opens nothing. Needs keyed_admin.';

create function keyed.revoke_api_key(id integer) returns boolean
  language c volatile strict as 'MODULE_PATHNAME', 'keyed_revoke_api_key';
comment on function keyed.revoke_api_key(integer) is
  'Revokes an API key: the next request with it is refused. False when it is unknown or revoked already. Needs keyed_admin.';

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
  'The API keys, without their secrets. projects: null for all. last_used_at: to about a minute. orphaned: the role is gone, and the key is refused. Needs keyed_admin.';

create function keyed.grant_access(role name, target text, privileges text[], scope jsonb default null) returns void
  language c volatile as 'MODULE_PATHNAME', 'keyed_grant_access';
comment on function keyed.grant_access(name, text, text[], jsonb) is
  'Grants a role, and with it its members, privileges on a template (target: project.template) or on all templates of a project, including future ones (target: project). privileges: read, create, update, delete (records), define (templates). scope: the records it is about, as a filter of a search ({filters, filter_groups}, an array of conditions, or one condition); null for all; on a whole project only standard fields. What a role has already gets the new scope, without waiting for who reads the table: the old one ends at once, and plain SQL shows nothing in the new one until the table is free (keyed.enforce_grants). Functions, REST and plain SQL obey alike: policies are made on the tables. Needs keyed_admin.';

create function keyed.revoke_access(role name, target text) returns integer
  language c volatile as 'MODULE_PATHNAME', 'keyed_revoke_access';
comment on function keyed.revoke_access(name, text) is
  'Takes back what was granted to a role on this target; what it was granted on the project stays when the target is a template. Returns how many privileges that were. It waits for no reader: every statement that begins after it is refused (42501) or finds nothing, also in transactions that are open. Policies that cannot be dropped while their table is read allow nothing; see keyed.enforce_grants. Needs keyed_admin.';

create function keyed.enforce_grants(maximum integer default null) returns integer
  language c volatile as 'MODULE_PATHNAME', 'keyed_enforce_grants';
comment on function keyed.enforce_grants(integer) is
  'Makes the policies of tables follow what was granted, where that could not be done at once: a revocation and a new scope do not wait for readers of the table, and a grant on a project of very many templates does not lock them all. Takes at most so many tables (maximum), free ones first, and goes on for half a second at most, since what it has taken stays locked until the transaction ends; a busy table is waited for only while none is taken. Returns how many still wait: call it again until that is 0. The service calls it every minute. Needs keyed_admin.';

create function keyed.list_access()
  returns table (role text, target text, privilege text, scope jsonb, granted_at timestamptz, granted_by text,
    orphaned boolean)
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
    #variable_conflict use_column
    begin
      perform keyed.require_admin('list what was granted');
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
  'What keyed.grant_access granted. target: a project or a template. scope: null for all records. orphaned: the role is gone, and the grant gives nobody anything. Needs keyed_admin.';

create function keyed.explain_access(id uuid, role name) returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_explain_access';
comment on function keyed.explain_access(uuid, name) is
  'Why a role sees a record or does not: {sees, because, may, record: live, deleted or missing, grants: [{role, target, privilege, scope, holds, conditions: [{pointer?, field, operator, value, holds}]}]}. Needs keyed_admin.';

create function keyed.me() returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_me';
comment on function keyed.me() is
  'What the caller may do: {key: {id, label} or null, role, admin, project, projects (null: all), templates: [{id, template, privileges, scoped}]}. scoped: the privileges that are about some records only.';
