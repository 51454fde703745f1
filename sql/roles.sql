-- The three fixed roles and what they need of this database. Run by keyed.init(), as the superuser who calls it.
-- No role here has SUPERUSER, CREATEROLE or BYPASSRLS.

do $$
begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'keyed_owner') then
    create role keyed_owner nologin;
  end if;
  if not exists (select from pg_catalog.pg_roles where rolname = 'keyed_admin') then
    create role keyed_admin nologin;
  end if;
  if not exists (select from pg_catalog.pg_roles where rolname = 'keyed_proxy') then
    create role keyed_proxy login noinherit;
  end if;
  execute pg_catalog.format('grant create on database %I to keyed_owner', pg_catalog.current_database());
end
$$;
comment on role keyed_owner is 'Owns the tables of keyed. Nobody logs in as it.';
comment on role keyed_admin is 'Its members may do everything in the workspace.';
comment on role keyed_proxy is 'The login of keyed-proxy: may do nothing without a valid API key.';

create schema if not exists keyed_state authorization keyed_owner;
comment on schema keyed_state is 'State of keyed: projects, templates, keys, history. Ordinary tables; read them freely, change them through the functions in schema keyed.';
