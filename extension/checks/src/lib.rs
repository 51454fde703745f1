//! Checks of a database. Each is a query whose rows are findings with a message and a remedy.
//!
//! A check runs only if its prerequisites (`needs`) have no errors. Queries run with `pg_catalog` as the only schema in the
//! search path, and qualify all other names.

use Severity::{Error, Note, Warning};

/// The definition of a check.
mod check;
/// Measurements for monitoring.
mod measurements;
/// Fragments of queries.
#[macro_use]
mod parts;
/// The checks of a database in operation.
mod operation;

pub use check::{Check, LOCK_TIMEOUT, LOCKED, Needs, Severity};
pub use measurements::{MEASUREMENTS, Measurement, READINGS};

/// All checks, in order.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    STRUCTURE.iter().chain(operation::OPERATION)
}

/// Checks of installation, roles and privileges.
#[rustfmt::skip]
const STRUCTURE: &[Check] = &[
    Check { name: "server", sound: "PostgreSQL 15 or later, in UTF-8", severity: Error, needs: Needs::Nothing, query:
        "select 'this is PostgreSQL ' || current_setting('server_version') || ', and 15 is the oldest that serves',
                'move the database to PostgreSQL 15 or later'
         where current_setting('server_version_num')::int < 150000
         union all
         select 'the database is encoded in ' || current_setting('server_encoding'),
                'make one with: create database name encoding ''UTF8'' template template0'
         where current_setting('server_encoding') <> 'UTF8'" },
    Check { name: "extension", sound: "keyed is installed in the version of its files", severity: Error, needs: Needs::Nothing, query:
        "select 'the extension keyed is not in this database', 'create extension keyed cascade; select keyed.init();'
         where not exists (select from pg_extension where extname = 'keyed')
         union all
         select 'the extension keyed is ' || e.extversion || ', its files are ' || a.default_version,
                case when exists (select from pg_extension_update_paths('keyed') u where u.source = e.extversion and u.target = a.default_version and u.path is not null)
                  then 'alter extension keyed update; select keyed.migrate();' else 'install the files of keyed ' || e.extversion || ' on this server' end
         from pg_extension e join pg_available_extensions a on a.name = e.extname
         where e.extname = 'keyed' and e.extversion <> a.default_version" },
    Check { name: "indexes of texts", sound: "pg_trgm is installed", severity: Error, needs: Needs::Nothing, query:
        "select 'the extension pg_trgm, which the indexes of texts need, is not in this database', 'create extension pg_trgm;'
         where not exists (select from pg_extension where extname = 'pg_trgm')" },
    Check { name: "vectors", sound: "pgvector is installed, 0.7.0 or later", severity: Note, needs: Needs::Nothing, query:
        "select 'the extension vector, which semantic search needs, is not in this database',
                case when exists (select from pg_available_extensions where name = 'vector') then 'create extension vector; select keyed.init();'
                  else 'install pgvector on the server (Debian: postgresql-' || current_setting('server_version_num')::int / 10000
                       || '-pgvector), then: create extension vector; select keyed.init();' end
         where not exists (select from pg_extension where extname = 'vector')
         union all
         select 'the extension vector is ' || e.extversion || ', and semantic search needs 0.7.0 or later',
                'install pgvector 0.7.0 or later on the server, then: alter extension vector update; select keyed.init();'
         from pg_extension e where e.extname = 'vector'
           and not exists (select from pg_type y where y.typnamespace = e.extnamespace and y.typname = 'halfvec')
         union all
         select 'the extension vector is ' || e.extversion || ', its files are ' || a.default_version, 'alter extension vector update;'
         from pg_extension e join pg_available_extensions a on a.name = e.extname
         where e.extname = 'vector' and e.extversion <> a.default_version" },
    Check { name: "state", sound: "the state has the version of this library", severity: Error, needs: Needs::Extension, query:
        "select 'the state tables lack the migrations ' || array_to_string(keyed.pending_migrations(), ', '),
                case when to_regnamespace('keyed_state') is null then 'select keyed.init();' else 'select keyed.migrate();' end
         where cardinality(keyed.pending_migrations()) > 0" },
    Check { name: "roles", sound: "the fixed roles exist and have no excess privileges", severity: Error, needs: Needs::Nothing, query:
        concat!("select 'the role ' || wanted.name || ' is missing', 'select keyed.init();'
         from (values ('keyed_owner'), ('keyed_admin'), ('keyed_proxy')) wanted (name)
         where not exists (select from pg_roles r where r.rolname = wanted.name)
         union all
         select 'keyed_owner may not make schemas in this database, so only superusers make projects', 'select keyed.init();'
         from pg_roles r where r.rolname = 'keyed_owner' and not has_database_privilege(r.oid, current_database(), 'create')
         union all
         select format('%s may %s', r.rolname, a.what), format('alter role %I %s;', r.rolname, a.fix)
         from pg_roles r, lateral (values
           (r.rolsuper, 'do everything (superuser)', 'nosuperuser'), (r.rolcreaterole, 'make roles', 'nocreaterole'),
           (r.rolbypassrls, 'bypass row-level security', 'nobypassrls'), (r.rolreplication, 'replicate', 'noreplication'),
           (r.rolcreatedb, 'make databases', 'nocreatedb'),
           (r.rolcanlogin and r.rolname in ('keyed_owner', 'keyed_admin'), 'log in', 'nologin')) a (found, what, fix)
         where r.rolname in ('keyed_owner', 'keyed_admin', 'keyed_proxy') and a.found
         union all
         select format('%s is a member of %s', m.rolname, r.rolname), ", revoke_membership!(), "
         from pg_auth_members g join pg_roles m on m.oid = g.member join pg_roles r on r.oid = g.roleid
         where m.rolname in ('keyed_proxy', 'keyed_admin') or r.rolname = 'keyed_owner'") },
    Check { name: "proxy login", sound: "keyed_proxy can log in and call only the functions that it needs", severity: Error, needs: Needs::Extension, query:
        "select 'keyed_proxy cannot log in', 'alter role keyed_proxy login;'
         from pg_roles where rolname = 'keyed_proxy' and not rolcanlogin
         union all
         select 'keyed_proxy may not connect to this database', format('grant connect on database %I to keyed_proxy;', current_database())
         from pg_roles r where r.rolname = 'keyed_proxy' and not has_database_privilege(r.oid, current_database(), 'connect')
         union all
         select 'keyed_proxy may not use the schema ' || n.nspname, format('grant usage on schema %I to keyed_proxy;', n.nspname)
         from pg_roles r, pg_namespace n where r.rolname = 'keyed_proxy' and n.nspname in ('keyed', 'keyed_http')
           and not has_schema_privilege(r.oid, n.oid, 'usage')
         union all
         select 'keyed_proxy may not call ' || p.oid::regprocedure, format('grant execute on function %s to keyed_proxy;', p.oid::regprocedure)
         from pg_roles r, pg_proc p where r.rolname = 'keyed_proxy' and not has_function_privilege(r.oid, p.oid, 'execute')
           and (p.pronamespace = to_regnamespace('keyed_http') or p.oid = to_regproc('keyed.authenticate'))
         union all
         select format('%s may present credentials to %s, which is only for keyed_proxy',
                  case when a.grantee = 0 then 'PUBLIC' else pg_get_userbyid(a.grantee)::text end, p.oid::regprocedure),
                format('revoke execute on function %s from %s;', p.oid::regprocedure, case when a.grantee = 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end)
         from pg_proc p cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
         where p.oid in (to_regproc('keyed.authenticate'), to_regproc('keyed_http.deliver'), to_regproc('keyed_http.knows_delivery_token')) and a.grantee <> p.proowner
           and a.grantee is distinct from (select r.oid from pg_roles r where r.rolname = 'keyed_proxy')
         union all
         select format('keyed_proxy was granted %s on %s', a.privilege_type, c.oid::regclass),
                format('revoke all on %s from keyed_proxy;', c.oid::regclass)
         from pg_class c cross join lateral aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where r.rolname = 'keyed_proxy' and c.relkind in ('r', 'p', 'v', 'm', 'S')" },
    Check { name: "ownership", sound: "tables belong to keyed_owner, and row-level security is on for all of them", severity: Error, needs: Needs::State, query:
        concat!("select format('row-level security of %I.%I is off', c.nspname, c.relname),
                format('alter table %I.%I enable row level security;', c.nspname, c.relname)
         from (", our_tables!(), ") c where not c.relrowsecurity and pg_get_userbyid(c.relowner) = 'keyed_owner'
         union all
         select format('%I.%I belongs to %s', c.nspname, c.relname, pg_get_userbyid(c.relowner)),
                'the owner of a table may have added triggers, rules and policies to it: restore it from a dump, as a superuser and with the owners'
         from (", our_tables!(), ") c where c.nspname <> 'keyed_state' and pg_get_userbyid(c.relowner) <> 'keyed_owner'") },
    Check { name: "objects of other owners", sound: "keyed's schemas contain no objects of other owners", severity: Error, needs: Needs::State, query:
        "select f.object || ' ' || f.finding, f.remedy || case when f.remedy ~ '[A-Z]{4}' then ';' else '' end from keyed.foreign_objects() f
         union all
         select 'the event trigger keyed_guard_definition is ' || case when e.oid is null then 'missing' else 'off' end,
                case when e.oid is null then 'create event trigger keyed_guard_definition on ddl_command_start execute function keyed.guard_definition(); alter extension keyed add event trigger keyed_guard_definition;' else 'alter event trigger keyed_guard_definition enable;' end
         from (values (1)) one left join pg_event_trigger e on e.evtname = 'keyed_guard_definition'
         where e.oid is null or e.evtenabled not in ('O', 'A')" },
    Check { name: "templates", sound: "every template has its tables, and triggers that enforce its rules", severity: Error, needs: Needs::State, query:
        "with t as (select t.id, p.slug as project, t.slug, to_regclass(format('%I.%I', p.slug, t.slug)) as oid
                    from keyed_state.template t join keyed_state.project p on p.id = t.project_id)
         select format('the table %I.%I is missing', t.project, t.slug), 'restore it from a dump; its history may still be there'
         from t where t.oid is null
         union all
         select format('the table keyed_state.%s_%s of %I.%I is missing', beside.name, t.id, t.project, t.slug),
                'select keyed.migrate(); or restore it from a dump'
         from t, (values ('history'), ('text')) beside (name)
         where t.oid is not null and to_regclass(format('keyed_state.%I', beside.name || '_' || t.id)) is null
         union all
         select format('the trigger %s of %I.%I is %s', wanted.name, t.project, t.slug, case when g.oid is null then 'missing' else 'off' end),
                case when g.oid is null then 'restore the table from a dump'
                  else format('alter table %I.%I enable trigger %I;', t.project, t.slug, wanted.name) end
         from t cross join (values ('keyed_guard'), ('keyed_guard_delete'), ('keyed_guard_truncate'), ('keyed_note_history'),
           ('keyed_write_history')) wanted (name)
         left join pg_trigger g on g.tgrelid = t.oid and g.tgname = wanted.name
         where t.oid is not null and (g.oid is null or g.tgenabled not in ('O', 'A'))
         union all
         select format('%s has the triggers of keyed and is not a template: its definition was not restored', g.tgrelid::regclass),
                'drop it, and restore the whole database, its state with it: docs/how-to/copy-a-project.md'
         from pg_trigger g where g.tgfoid = to_regprocedure('keyed.guard_record()') and g.tgname = 'keyed_guard'
           and g.tgparentid = 0 and not exists (select from t where t.oid = g.tgrelid)" },
    Check { name: "indexes", sound: "every index exists and is valid", severity: Error, needs: Needs::State, query:
        concat!("select format('the index %s of %I.%I is invalid', i.indexrelid::regclass, c.nspname, c.relname),
                format('reindex index concurrently %s;', i.indexrelid::regclass)
         from (", our_tables!(), ") c join pg_index i on i.indrelid = c.oid where (not i.indisvalid or not i.indisready)
           and not exists (select from keyed.jobs() j where j.kind = 'index' and j.template = format('%s.%s', c.nspname, c.relname))
         union all
         select format('nothing keeps the keys of %I.%I unique', c.nspname, c.relname),
                format('create unique index on %I.%I (external_key) where (NOT false);', c.nspname, c.relname)
         from (", our_tables!(), ") c where c.nspname <> 'keyed_state' and not exists (
           select from pg_index i where i.indrelid = c.oid and i.indisunique and i.indisvalid and i.indnatts = 1
           and i.indkey[0] = 2 and i.indimmediate and coalesce(pg_get_expr(i.indpred, i.indrelid), '(NOT false)') = '(NOT false)')
         union all
         select format('the attribute %s of %I.%I is marked as indexed but has no index', a.slug, c.nspname, c.relname),
                case a.type when 'reference' then format('create index on %I.%I (%I);', c.nspname, c.relname, a.slug)
                  else format('select keyed.alter_attribute(%1$L, %2$L, ''{\"indexed\": false}''), keyed.alter_attribute(%1$L, %2$L, ''{\"indexed\": true}'');',
                    format('%I.%I', c.nspname, c.relname), a.slug) end
         from (", our_tables!(), ") c join keyed_state.project p on p.slug = c.nspname
         join keyed_state.template t on t.project_id = p.id and t.slug = c.relname
         join keyed_state.attribute a on a.template_id = t.id and (a.indexed or a.type = 'reference')
         join pg_attribute n on n.attrelid = c.oid and n.attname = a.slug and not n.attisdropped
         where not exists (select from pg_index i join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = i.indexrelid
           where i.indrelid = c.oid and d.refobjid = c.oid and d.refobjsubid = n.attnum)
           and not exists (select from keyed.jobs() j where j.kind = 'index' and j.template = format('%s.%s', c.nspname, c.relname) and j.attribute = a.slug)") },
    Check { name: "stems", sound: "search documents were written by this version of PostgreSQL", severity: Warning, needs: Needs::State, query:
        // Before 18, pg_trgm folds case with libc; since 18, with the database's collation provider.
        "select format('the search documents of %s were written by %s: its dictionaries may have made other stems, so that global_search misses words', w.name, t.documents_by)
                || case when i.is_stale then ', and the indexes of its texts have letters in another case, so that like and ilike miss texts' else '' end,
                case when i.is_stale then format('reindex table concurrently %s; ', w.name) else '' end || format('select keyed.rebuild_documents(%L);', w.name)
         from keyed_state.template t join keyed_state.project p on p.id = t.project_id cross join lateral (values (format('%I.%I', p.slug, t.slug))) w (name)
         cross join lateral (select d.datlocprovider <> 'c' and current_setting('server_version_num')::int >= 180000 and substring(t.documents_by from '[0-9]+')::int < 18
           from pg_database d where d.datname = current_database()) i (is_stale)
         where t.documents_by <> 'PostgreSQL ' || current_setting('server_version_num')::int / 10000 and to_regclass(w.name) is not null
           and not exists (select from keyed.jobs() j where j.kind = 'documents' and j.template = format('%s.%s', p.slug, t.slug))" },
    Check { name: "order of texts", sound: "indexes were built with the current versions of their collations", severity: Error, needs: Needs::Nothing, query:
        "select format('the collation of this database had version %s, and the operating system has %s: indexes of texts may be in another order, and miss rows', d.datcollversion, a.version),
                format('reindex database %1$I; alter database %1$I refresh collation version;', d.datname)
         from pg_database d cross join lateral (values (pg_database_collation_actual_version(d.oid))) a (version)
         where d.datname = current_database() and d.datcollversion <> a.version
         union all
         select format('the collation %I had version %s, and ICU has %s: indexes of texts may be in another order, and miss rows (%s of them)', l.collname, l.collversion, a.version, i.total),
                case when i.total <= 20 then i.each else format('reindex database %I;', current_database()) end || format(' alter collation %s.%I refresh version;', l.collnamespace::regnamespace, l.collname)
         from pg_collation l cross join lateral (values (pg_collation_actual_version(l.oid))) a (version)
         cross join lateral (select count(*) as total, string_agg(format('reindex index concurrently %s;', x.indexrelid::regclass), ' ' order by x.indexrelid::regclass::text) as each
           from pg_index x where l.oid = any (x.indcollation)) i
         where l.collversion <> a.version and i.total > 0" },
    Check { name: "default order", sound: "plain SQL sorts text in Unicode order", severity: Note, needs: Needs::Nothing, query:
        "select 'the default order of this database is not that of Unicode: order by in plain SQL sorts texts in another order than searches',
                'state the order in the statement: order by name collate \"und-x-icu\"; a new database may have it: create database name template template0 encoding ''UTF8'' locale_provider icu icu_locale ''und'' locale ''C.UTF-8'';'
         from (values ('\u{c4}pfel', 'apple'), ('apple', 'Banana'), ('Banana', '\u{e9}cole'), ('\u{e9}cole', 'Zebra'), ('zulu', 'Z\u{fc}rich')) w (one, next)
         having not bool_and(w.one collate \"default\" < w.next)" },
    Check { name: "jobs", sound: "no background job has failed or stalled", severity: Warning, needs: Needs::State, query:
        "select format('the job %s of %s (%s) %s', j.id, j.template, concat_ws(' ', j.kind, j.attribute), case j.state when 'failed' then 'failed: ' || j.error else 'waits, and no worker is at work' end),
                case j.state when 'failed' then 'remove the cause, then: select keyed.run_jobs(retry => true);' else 'select keyed.run_jobs();' end
         from keyed.jobs() j where j.hint is not null and j.state <> 'running'" },
    Check { name: "API keys", sound: "every valid key has a role without excess privileges", severity: Warning, needs: Needs::State, query:
        "select format('the API key %s (%s) was issued for the role %s, which is gone, and is rejected', k.id, k.label, coalesce(nullif(k.role_name, ''), k.role::oid::text))
                || case when r.oid is null then '' else format(' (its number is now that of %s)', r.rolname) end,
                format('select keyed.revoke_api_key(%s);', k.id)
         from keyed_state.api_key k left join pg_roles r on r.oid = k.role
         where k.revoked_at is null and not keyed.is_bound(k.role, k.role_name, k.bound_in, 'keyed_state.api_key'::regclass)
         union all
         select format('the API key %s (%s) acts as the superuser %s', k.id, k.label, r.rolname),
                format('issue one for another role, then: select keyed.revoke_api_key(%s);', k.id)
         from keyed_state.api_key k join pg_roles r on r.oid = k.role
         where k.revoked_at is null and r.rolsuper and coalesce(k.expires_at > now(), true)
           and keyed.is_bound(k.role, k.role_name, k.bound_in, 'keyed_state.api_key'::regclass)" },
    Check { name: "inbound endpoints", sound: "every endpoint has a role", severity: Warning, needs: Needs::State, query:
        "select format('the inbound endpoint %s writes as the role %s, which is gone: it rejects all deliveries', e.slug, coalesce(nullif(e.role_name, ''), e.role::oid::text)),
                format('select keyed.alter_inbound_endpoint(%s, ''{\"role\": \"…\"}'');', e.id)
         from keyed_state.inbound_endpoint e where not keyed.is_bound(e.role, e.role_name, e.bound_in, 'keyed_state.inbound_endpoint'::regclass)
         union all
         select format('the webhook endpoint %s has the role %s, which is gone: it delivers nothing', e.slug, coalesce(nullif(e.role_name, ''), e.role::oid::text)),
                format('select keyed.alter_webhook_endpoint(%s, ''{\"role\": \"…\", \"enabled\": true}'');', e.id)
         from keyed_state.webhook_endpoint e where not keyed.is_bound(e.role, e.role_name, e.bound_in, 'keyed_state.webhook_endpoint'::regclass)" },
    Check { name: "quota counters", sound: "no old snapshot prevents vacuum of the quota counters", severity: Warning, needs: Needs::State, query:
        "select format('the counters of quotas take %s, for an old snapshot has kept their old versions', pg_size_pretty(s.size))
                || case when a.pid is null then '' else format(': process %s (%s %s) has had one since %s', a.pid, a.usename, a.application_name, a.xact_start::timestamptz(0)) end,
                case when a.pid is null then 'vacuum full keyed_state.quota_slot;'
                  else format('wait for its end, or: select pg_terminate_backend(%s); then: vacuum full keyed_state.quota_slot;', a.pid) end
         from (select pg_relation_size('keyed_state.quota_slot') as size, (select count(*) from keyed_state.quota_slot) as slots) s
         left join lateral (select * from pg_stat_activity where backend_xmin is not null and backend_type = 'client backend' and pid <> pg_backend_pid() and datname = current_database()
           order by age(backend_xmin) desc limit 1) a on true
         where s.size > 2 * 8192 * greatest(s.slots, 8)" },
    Check { name: "grants", sound: "row-level security applies to every role with a grant", severity: Warning, needs: Needs::State, query:
        "select format('%s was granted to a role that is gone (%s)', string_agg(distinct g.privilege, ', '), coalesce(nullif(g.role_name, ''), g.role::oid::text)),
                format('delete from keyed_state.access_grant where id = any (%L);', array_agg(g.id order by g.id))
         from keyed_state.access_grant g where not exists (select from pg_roles r where r.oid = g.role) group by g.role, g.role_name
         union all
         select format('%s on %s was granted to the role %s, and its number is now that of %s: it grants nothing', string_agg(distinct g.privilege, ', '), x.target, g.role_name, r.rolname),
                format('select keyed.revoke_access(%L, %L); -- and if it is the same role under another name, grant it again', r.rolname, x.target)
         from keyed_state.access_grant g join pg_roles r on r.oid = g.role join keyed_state.project p on p.id = g.project_id
         left join keyed_state.template t on t.id = g.template_id cross join lateral (values (concat_ws('.', p.slug, t.slug))) x (target)
         where not keyed.is_bound(g.role, g.role_name, g.bound_in, 'keyed_state.access_grant'::regclass) group by g.role_name, r.rolname, x.target
         union all
         select format('the scopes of %s do not bind it: it is a superuser', r.rolname),
                string_agg(distinct format('select keyed.revoke_access(%L, %L);', r.rolname, concat_ws('.', p.slug, t.slug)), ' ')
         from keyed_state.access_grant g join pg_roles r on r.oid = g.role join keyed_state.project p on p.id = g.project_id
         left join keyed_state.template t on t.id = g.template_id where r.rolsuper group by r.rolname
         union all
         select distinct format('the scopes of %s do not bind it: it bypasses row-level security', r.rolname), format('alter role %I nobypassrls;', r.rolname)
         from keyed_state.access_grant g join pg_roles r on r.oid = g.role where r.rolbypassrls and not r.rolsuper" },
    Check { name: "scope functions", sound: "functions of policies override the settings of the session", severity: Error, needs: Needs::State, query:
        "select p.oid::regprocedure || ' applies gin_fuzzy_search_limit of the session, so a scope may show what it excludes',
                format('alter function %s set gin_fuzzy_search_limit = 0;', p.oid::regprocedure)
         from pg_proc p where p.pronamespace = to_regnamespace('keyed_scope')
           and not coalesce(p.proconfig, '{}') @> array['gin_fuzzy_search_limit=0']" },
    Check { name: "triggers of other owners", sound: "only triggers and rules of keyed and PostgreSQL run on record tables", severity: Note, needs: Needs::State, query:
        // Starts from the few functions that do not belong to keyed, because outer joins of all dependencies take minutes
        // without statistics.
        concat!("with ours as materialized (select c.oid, c.nspname, c.relname from (", our_tables!(), ") c where c.nspname <> 'keyed_state'),
         call as materialized (select d.classid, d.objid, p.oid as function from pg_proc p join pg_depend d on d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid
           where p.pronamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
             and not (p.pronamespace = to_regnamespace('keyed_scope') and p.proowner = to_regrole('keyed_owner')) and not exists (select from pg_depend m where m.classid = 'pg_proc'::regclass and m.objid = p.oid and m.deptype = 'e')),
         caller as (
           select k.*, g.tgrelid as relation, 'trigger' as kind, g.tgname as name from call k join pg_trigger g on g.oid = k.objid where k.classid = 'pg_trigger'::regclass and not g.tgisinternal
           union all select k.*, y.polrelid, 'policy', y.polname from call k join pg_policy y on y.oid = k.objid where k.classid = 'pg_policy'::regclass
           union all select k.*, n.conrelid, null, null from call k join pg_constraint n on n.oid = k.objid where k.classid = 'pg_constraint'::regclass union all select k.*, a.adrelid, null, null from call k join pg_attrdef a on a.oid = k.objid where k.classid = 'pg_attrdef'::regclass
           union all select k.*, i.indrelid, null, null from call k join pg_index i on i.indexrelid = k.objid where k.classid = 'pg_class'::regclass)
         select distinct format('the %s calls %s. That function runs with the rights of the role that writes to the table, and as keyed_owner when keyed writes', pg_describe_object(k.classid, k.objid, 0), k.function::regprocedure),
                'inspect it; if it is not yours, then: ' || coalesce(format('drop ' || k.kind || ' %I on %I.%I;', k.name, c.nspname, c.relname), 'drop it, as a superuser')
         from caller k join ours c on c.oid = k.relation
         union all
         select format('the rule %I on %I.%I rewrites statements on the table', w.rulename, c.nspname, c.relname),
                format('inspect it; if it is not yours, then: drop rule %I on %I.%I;', w.rulename, c.nspname, c.relname)
         from ours c join pg_rewrite w on w.ev_class = c.oid") },
    Check { name: "owners of extensions", sound: "only superusers can drop objects that keyed depends on", severity: Note, needs: Needs::Nothing, query:
        "select format('%s may drop or update the extension %s, and with it what rests on it', r.rolname, e.extname),
                'PostgreSQL cannot give an extension to another role: let nobody else use that role, or restore a dump into a database where a superuser created the extension first'
         from pg_extension e join pg_roles r on r.oid = e.extowner where e.extname in ('keyed', 'pg_trgm', 'vector') and not r.rolsuper" },
    Check { name: "renamed roles", sound: "every key and grant stores the current name of its role", severity: Note, needs: Needs::State, query:
        "select distinct case when r.rolname <> b.role_name
                  then format('the role %s is still stored under its old name %s: its keys and grants would not survive pg_upgrade or a restore on another server', r.rolname, b.role_name)
                  else format('the role %s is still stored as that of the database from which this one was restored or upgraded: its keys and grants would not survive a rename', r.rolname) end,
                'select keyed.migrate();'
         from (select role, role_name, bound_in, 'keyed_state.api_key'::regclass from keyed_state.api_key
               union all select role, role_name, bound_in, 'keyed_state.access_grant'::regclass from keyed_state.access_grant
               union all select role, role_name, bound_in, 'keyed_state.inbound_endpoint'::regclass from keyed_state.inbound_endpoint
               union all select role, role_name, bound_in, 'keyed_state.webhook_endpoint'::regclass from keyed_state.webhook_endpoint) b (role, role_name, bound_in, place) join pg_roles r on r.oid = b.role
         where (r.rolname <> b.role_name or b.bound_in <> keyed.binding(b.place)) and keyed.is_bound(b.role, b.role_name, b.bound_in, b.place)" },
    Check { name: "wide roles", sound: "no role can read records outside of its scopes in plain SQL", severity: Note, needs: Needs::State, query:
        concat!("select format('%s is a member of %s, which shows more than rows in scope: statistics, statements of others or files with values of hidden records', m.rolname, r.rolname),
                ", revoke_membership!(), "
         from pg_auth_members g join pg_roles m on m.oid = g.member join pg_roles r on r.oid = g.roleid
         where m.rolname !~ '^pg_' and not m.rolsuper and r.rolname in ('pg_read_all_data', 'pg_write_all_data', 'pg_read_all_stats', 'pg_monitor',
           'pg_stat_scan_tables', 'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')") },
    Check { name: "durability", sound: "acknowledged writes survive a crash", severity: Error, needs: Needs::Nothing, query:
        "select format('%s is off: a crash can destroy the database', s.name), format('alter system set %s = on; select pg_reload_conf();', s.name)
         from pg_settings s where s.name in ('fsync', 'full_page_writes') and s.setting = 'off'" },
    Check { name: "settings", sound: "settings of PostgreSQL are as keyed expects", severity: Warning, needs: Needs::Nothing, query:
        "select 'synchronous_commit is off: a crash can take back writes that were acknowledged', 'alter system set synchronous_commit = on; select pg_reload_conf();'
         where current_setting('synchronous_commit') = 'off'
         union all
         select 'autovacuum is off: tables and indexes will swell', 'alter system set autovacuum = on; select pg_reload_conf();'
         where current_setting('autovacuum') = 'off'
         union all
         select 'default_transaction_isolation is ' || s.setting || ': concurrent writes will often have to be tried again',
                format('alter role keyed_proxy set default_transaction_isolation = %L;', 'read committed')
         from pg_settings s where s.name = 'default_transaction_isolation' and s.setting <> 'read committed'" },
    // pg_settings lists the settings of loaded libraries only. An earlier check has loaded keyed's library. Settings for
    // tests are not listed.
    Check { name: "names of settings", sound: "every keyed.* setting exists", severity: Warning, needs: Needs::Extension, query:
        "select format('keyed has no setting %s, which is made for %s', n.name, p.place), format('alter %s reset %s;', p.place, n.name)
         from pg_db_role_setting s cross join lateral unnest(s.setconfig) c (line) cross join lateral (values (split_part(c.line, '=', 1))) n (name)
         left join pg_database d on d.oid = s.setdatabase left join pg_roles r on r.oid = s.setrole
         cross join lateral (values (case when r.oid is null then format('database %I', d.datname) else format('role %I', r.rolname) || coalesce(' in database ' || quote_ident(d.datname), '') end)) p (place)
         where n.name like 'keyed.%' and n.name not in ('keyed.direct_access', 'keyed.sample_size') and n.name not in (select name from pg_settings)" },
    Check { name: "old names of settings", sound: "no setting is set under an old name", severity: Note, needs: Needs::Extension, query:
        "with renamed (old, new) as (values ('keyed.idempotency_room', 'keyed.max_idempotency_size'), ('keyed.inbound_room', 'keyed.max_inbound_log_size'))
         select format('%s, which is set for %s, is the old name of %s', r.old, p.place, r.new),
                format('alter %s set %s = %L; alter %1$s reset %4$s;', p.place, r.new, c.value, r.old)
         from pg_db_role_setting s
         cross join lateral (select split_part(line, '=', 1), substr(line, strpos(line, '=') + 1) from unnest(s.setconfig) line) c (name, value)
         join renamed r on r.old = c.name
         left join pg_database d on d.oid = s.setdatabase left join pg_roles o on o.oid = s.setrole
         cross join lateral (values (case when o.oid is null then format('database %I', d.datname) else format('role %I', o.rolname) || coalesce(' in database ' || quote_ident(d.datname), '') end)) p (place)
         union all
         select format('%s, which is set for the server, is the old name of %s', r.old, r.new),
                format('replace %s by %s in postgresql.conf or postgresql.auto.conf and in the command line of the server, then: select pg_reload_conf();', r.old, r.new)
         from pg_settings s join renamed r on r.old = s.name
         where s.source in ('configuration file', 'command line', 'environment variable')" },
    Check { name: "timeouts", sound: "statements of keyed_proxy have a timeout, also behind PgBouncer", severity: Note, needs: Needs::Nothing, query:
        "select format('keyed_proxy has no %s of its own: the proxy sets one for its sessions, unless it is told to leave that (KEYED_PREPARED_STATEMENTS=false)', wanted.name),
                format('alter role keyed_proxy set %s = %L;', wanted.name, wanted.value)
         from (values ('statement_timeout', '30s'), ('lock_timeout', '15s'), ('idle_in_transaction_session_timeout', '30s')) wanted (name, value)
         where exists (select from pg_roles r where r.rolname = 'keyed_proxy') and not exists (
           select from pg_db_role_setting s cross join lateral unnest(s.setconfig) c (line) join pg_roles r on r.oid = s.setrole
           where r.rolname = 'keyed_proxy' and c.line like wanted.name || '=%')" },
];
