-- Who is asking.

create function keyed.authenticate(key_hash bytea, project text default null, source text default 'api')
  returns boolean
  language c volatile as 'MODULE_PATHNAME', 'keyed_authenticate';
comment on function keyed.authenticate(bytea, text, text) is
  'Acts for the rest of the transaction in the name of the API key with this SHA-256, in this project (slug or number). source: api, csv or inbound, as history shows it. Errors: 28000 for a key that is unknown, revoked or expired, P0002 for a project out of its sight.';

create function keyed.issue_api_key(
  role name, projects text[] default null, label text default null, expires_at timestamptz default null)
  returns text
  language c volatile as 'MODULE_PATHNAME', 'keyed_issue_api_key';
comment on function keyed.issue_api_key(name, text[], text, timestamptz) is
  'Issues an API key that acts as the role, bound to these projects or (null) to all. The answer is its only copy: what is stored is its SHA-256. Needs keyed_admin.';

create function keyed.revoke_api_key(id integer) returns boolean
  language c volatile strict as 'MODULE_PATHNAME', 'keyed_revoke_api_key';
comment on function keyed.revoke_api_key(integer) is
  'Revokes an API key: the next request with it is refused. False when it is unknown or revoked already. Needs keyed_admin.';

create function keyed.list_api_keys()
  returns table (id integer, role text, projects text[], label text, created_at timestamptz, expires_at timestamptz,
    revoked_at timestamptz, last_used_at timestamptz)
  -- A string body, because the tables it reads are made later, by keyed.init().
  language sql stable set search_path = pg_catalog, pg_temp as $$
    select k.id, k.role,
      (select array_agg(p.slug order by p.slug) from keyed_state.project p where p.id = any (k.projects)),
      k.label, k.created_at, k.expires_at, k.revoked_at, k.last_used_at
    from keyed_state.api_key k order by k.id
  $$;
comment on function keyed.list_api_keys() is
  'The API keys, without what would let anyone use them. projects: null for all. Needs keyed_admin.';
