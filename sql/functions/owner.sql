-- Protection against misuse of keyed_owner, and detection of objects of other owners in keyed's schemas.

create function keyed.is_defining() returns boolean
  language c stable parallel restricted as 'MODULE_PATHNAME', 'keyed_is_defining';
comment on function keyed.is_defining() is
  'Whether DDL that runs as keyed_owner comes from a function of keyed, or from a superuser after SET ROLE keyed_owner.';

-- PL/pgSQL, so that DDL of other roles does not need keyed's library. A server without the library can still drop the
-- extension.
create function keyed.guard_definition() returns event_trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
    begin
      if current_user = 'keyed_owner' and not keyed.is_defining() then
        raise insufficient_privilege using
          message = format('keyed_owner may not run %s', tg_tag),
          hint = 'Only functions of keyed run DDL as keyed_owner. To change an object manually, use a superuser.';
      end if;
    end
  $$;
comment on function keyed.guard_definition() is
  'Event trigger before every DDL command: denies commands that run as keyed_owner outside of keyed''s functions (42501), so that an attacker with the privileges of keyed_owner cannot create a trigger, a function or a rule that a superuser would run.';

create event trigger keyed_guard_definition on ddl_command_start execute function keyed.guard_definition();
comment on event trigger keyed_guard_definition is 'Only keyed''s functions may run DDL as keyed_owner.';

create function keyed.foreign_objects()
  returns table (object text, finding text, remedy text)
  language sql stable set search_path = pg_catalog, pg_temp as $$
    with ours as (
      select n.oid, n.nspname, n.nspowner, n.nspacl, n.nspname in ('keyed', 'keyed_http') as is_code
      from pg_namespace n where n.nspname in ('keyed', 'keyed_http', 'keyed_state', 'keyed_scope')
    ), tables as (
      select c.oid, c.oid::regclass::text as name from pg_class c join ours n on n.oid = c.relnamespace
      where not n.is_code and c.relkind in ('r', 'p')
    ), extension as (
      select d.classid, d.objid from pg_depend d join pg_extension e on e.oid = d.refobjid
      where e.extname = 'keyed' and d.refclassid = 'pg_extension'::regclass and d.deptype = 'e'
    )
    select format('schema %I', n.nspname), format('belongs to %s', pg_get_userbyid(n.nspowner)),
      format('Inspect its objects, then as a superuser: ALTER SCHEMA %1$I RENAME TO %2$I',
        n.nspname, n.nspname || '_foreign')
    from ours n join pg_roles r on r.oid = n.nspowner
    where case when n.is_code then not r.rolsuper else r.rolname <> 'keyed_owner' end
    union all
    select format('schema %I', n.nspname), format('lets %s create objects', coalesce(r.rolname, 'all roles')),
      format('REVOKE CREATE ON SCHEMA %I FROM %s', n.nspname, coalesce(quote_ident(r.rolname), 'PUBLIC'))
    from ours n cross join lateral aclexplode(n.nspacl) a left join pg_roles r on r.oid = a.grantee
    where a.privilege_type = 'CREATE' and a.grantee <> n.nspowner
    union all
    select format('%s %s', case c.relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end, c.oid::regclass),
      format('belongs to %s', pg_get_userbyid(c.relowner)), 'Inspect it, then drop it or move it to another schema'
    from pg_class c join ours n on n.oid = c.relnamespace
    where not n.is_code and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') and pg_get_userbyid(c.relowner) <> 'keyed_owner'
      and not exists (select from pg_depend m where m.classid = 'pg_class'::regclass and m.objid = c.oid and m.deptype = 'e')
    union all
    select format('function %s', p.oid::regprocedure),
      case when n.is_code then 'is not part of the extension' else format('belongs to %s', pg_get_userbyid(p.proowner)) end,
      format('Inspect it, then: DROP ROUTINE %s', p.oid::regprocedure)
    from pg_proc p join ours n on n.oid = p.pronamespace
    where case when n.is_code then not exists (select from extension e where e.classid = 'pg_proc'::regclass and e.objid = p.oid)
          else pg_get_userbyid(p.proowner) <> 'keyed_owner'
            and not exists (select from pg_depend m where m.classid = 'pg_proc'::regclass and m.objid = p.oid and m.deptype = 'e') end
    union all
    select format('trigger %I on %s', g.tgname, t.name), format('calls %s', g.tgfoid::regprocedure),
      format('Inspect it, then: DROP TRIGGER %I ON %s', g.tgname, t.name)
    from pg_trigger g join tables t on t.oid = g.tgrelid
    where not g.tgisinternal
      and not exists (select from extension e where e.classid = 'pg_proc'::regclass and e.objid = g.tgfoid)
    union all
    select format('rule %I on %s', w.rulename, t.name), 'rewrites statements on the table', format('DROP RULE %I ON %s', w.rulename, t.name)
    from pg_rewrite w join tables t on t.oid = w.ev_class
    union all
    select format('%s', pg_describe_object(d.classid, d.objid, d.objsubid)), format('calls %s', d.refobjid::regprocedure),
      'Inspect it, then drop it'
    from pg_depend d join pg_proc p on p.oid = d.refobjid
    where d.refclassid = 'pg_proc'::regclass
      and p.pronamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
      and p.pronamespace not in (select n.oid from ours n)
      and not exists (select from pg_depend m where m.classid = 'pg_proc'::regclass and m.objid = p.oid and m.deptype = 'e')
      and (d.classid = 'pg_attrdef'::regclass and (select x.adrelid from pg_attrdef x where x.oid = d.objid) in (select oid from tables)
        or d.classid = 'pg_constraint'::regclass and (select x.conrelid from pg_constraint x where x.oid = d.objid) in (select oid from tables)
        or d.classid = 'pg_policy'::regclass and (select x.polrelid from pg_policy x where x.oid = d.objid) in (select oid from tables)
        or d.classid = 'pg_class'::regclass and (select x.indrelid from pg_index x where x.indexrelid = d.objid) in (select oid from tables))
    union all
    select 'default privileges of keyed_owner', 'grant privileges on its new objects to other roles',
      'ALTER DEFAULT PRIVILEGES FOR ROLE keyed_owner REVOKE ALL ON TABLES FROM …'
    from pg_default_acl a where pg_get_userbyid(a.defaclrole) = 'keyed_owner'
    union all
    select format('role %I', r.rolname), a.what, format('ALTER ROLE %I %s', r.rolname, a.fix)
    from pg_roles r, lateral (values
      (r.rolsuper, 'is a superuser', 'NOSUPERUSER'), (r.rolcreaterole, 'may create roles', 'NOCREATEROLE'),
      (r.rolbypassrls, 'bypasses row-level security', 'NOBYPASSRLS'), (r.rolreplication, 'may replicate', 'NOREPLICATION'),
      (r.rolcanlogin and r.rolname <> 'keyed_proxy', 'may log in', 'NOLOGIN')) a (found, what, fix)
    where r.rolname in ('keyed_owner', 'keyed_admin', 'keyed_proxy') and a.found
    union all
    -- Since PostgreSQL 16, a membership can have several grantors, and a REVOKE affects one.
    select format('role %I', m.rolname), 'is a member of keyed_owner', format('REVOKE keyed_owner FROM %I', m.rolname) || by.grantor
    from pg_auth_members g join pg_roles m on m.oid = g.member join pg_roles r on r.oid = g.roleid, lateral (values
      (case when current_setting('server_version_num')::int >= 160000 then format(' GRANTED BY %I', pg_get_userbyid(g.grantor)) else '' end)) by (grantor)
    where r.rolname = 'keyed_owner'
    union all
    -- REASSIGN OWNED fires no event trigger, so a membership of keyed_owner would allow it to transfer all tables.
    select 'role keyed_owner', format('is a member of %I', r.rolname), format('REVOKE %I FROM keyed_owner', r.rolname) || by.grantor
    from pg_auth_members g join pg_roles m on m.oid = g.member join pg_roles r on r.oid = g.roleid, lateral (values
      (case when current_setting('server_version_num')::int >= 160000 then format(' GRANTED BY %I', pg_get_userbyid(g.grantor)) else '' end)) by (grantor)
    where m.rolname = 'keyed_owner'
    union all
    -- Since PostgreSQL 16, PostgreSQL gives the creator of a role such a membership, with which it can grant the role to
    -- any role.
    select format('role %I', r.rolname), format('can be granted to any role by %I, who created it', m.rolname),
      format('REVOKE %I FROM %I GRANTED BY %I CASCADE', r.rolname, m.rolname, pg_get_userbyid(g.grantor))
    from pg_auth_members g join pg_roles m on m.oid = g.member join pg_roles r on r.oid = g.roleid
    where r.rolname in ('keyed_admin', 'keyed_proxy')
      and to_jsonb(g) @> '{"admin_option": true, "inherit_option": false, "set_option": false}'
    order by 1, 2
  $$;
comment on function keyed.foreign_objects() is
  'Lists objects that keyed did not create in its own schemas, and privileges that let others change them: schemas and tables of other owners, functions, triggers and rules, CREATE privileges, attributes and members of the fixed roles. keyed.init() and keyed.migrate() do not run while there are any. remedy: what to do.';
