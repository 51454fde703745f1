-- Keys, grants and endpoints say what their role is called and where that was written down. Run once, as keyed_owner.

alter table keyed_state.api_key
  add column role_name text not null default '', add column bound_in text not null default '';
alter table keyed_state.access_grant
  add column role_name text not null default '', add column bound_in text not null default '';
alter table keyed_state.inbound_endpoint
  add column role_name text not null default '', add column bound_in text not null default '';

do $$
declare
  name text;
begin
  foreach name in array array['api_key', 'access_grant', 'inbound_endpoint'] loop
    execute pg_catalog.format('comment on column keyed_state.%I.role_name is %L', name,
      'What the role was called when that was last written down.');
    execute pg_catalog.format('comment on column keyed_state.%I.bound_in is %L', name,
      'The cluster and the table in which role and role_name were written down together: keyed.binding(tableoid). After a restore elsewhere a row counts only where role and role_name still agree; where bound_in agrees, the role may have been renamed. See keyed.is_bound.');
  end loop;
end
$$;
grant select (role_name, bound_in) on keyed_state.api_key, keyed_state.inbound_endpoint to keyed_admin;
