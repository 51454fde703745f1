-- The three fixed roles and their privileges on this database. Run by keyed.init(), as the superuser who calls it.
-- No role here has SUPERUSER, CREATEROLE or BYPASSRLS.

do $$
declare
  wanted record;
begin
  for wanted in values ('keyed_owner', 'nologin'), ('keyed_admin', 'nologin'), ('keyed_proxy', 'login noinherit') loop
    if not exists (select from pg_catalog.pg_roles where rolname = wanted.column1) then
      -- Another database of the cluster can be set up concurrently.
      begin
        execute pg_catalog.format('create role %I %s', wanted.column1, wanted.column2);
      exception when duplicate_object or unique_violation then
        null;
      end;
    end if;
  end loop;
  execute pg_catalog.format('grant create on database %I to keyed_owner', pg_catalog.current_database());
end
$$;
comment on role keyed_owner is 'Owns the tables of keyed. Nobody logs in as it.';
comment on role keyed_admin is 'Its members may do everything in the workspace.';
comment on role keyed_proxy is 'The login of keyed-proxy: may do nothing without a valid API key.';

create schema if not exists keyed_state authorization keyed_owner;
comment on schema keyed_state is 'State of keyed: projects, templates, keys, history. Ordinary tables; read them freely, change them through the functions in schema keyed.';
