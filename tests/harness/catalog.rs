//! The contents of PostgreSQL's catalogs, with names instead of OIDs: two databases with equal lists have the same
//! objects, owners, privileges, policies and comments.

use crate::Database;

/// The schemas of keyed, of its projects, and those that every database has.
const OURS: &str =
    "select n.oid from pg_namespace n where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'";

/// Privileges as a sorted list of names; `none` where the default applies.
const ACL: &str = "coalesce((select string_agg(x, ', ' order by x) from (select concat_ws(' ', case a.grantee when 0 then 'PUBLIC' else pg_get_userbyid(a.grantee) end, a.privilege_type, a.is_grantable, pg_get_userbyid(a.grantor)) as x from aclexplode($) a) y), 'none')";

/// A heading, and a query that returns the lines. PostgreSQL 15.20 adds `pg_attver` to each column; it is excluded.
const LISTS: [(&str, &str); 16] = [
    (
        "extension",
        "select concat_ws(' | ', e.extname, e.extversion, e.extnamespace::regnamespace, e.extrelocatable, pg_get_userbyid(e.extowner), e.extconfig::regclass[], e.extcondition) from pg_extension e",
    ),
    (
        "member",
        "select e.extname || ': ' || pg_describe_object(d.classid, d.objid, d.objsubid) from pg_depend d join pg_extension e on e.oid = d.refobjid where d.refclassid = 'pg_extension'::regclass and d.deptype = 'e' and e.extname = 'keyed'",
    ),
    (
        "schema",
        "select concat_ws(' | ', n.nspname, pg_get_userbyid(n.nspowner), ACL(n.nspacl), obj_description(n.oid, 'pg_namespace')) from pg_namespace n where n.oid in (OURS)",
    ),
    (
        "function",
        "select concat_ws(' | ', p.oid::regprocedure, p.prokind, pg_get_userbyid(p.proowner), pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), l.lanname, p.provolatile, p.proparallel, p.proisstrict, p.prosecdef, p.proleakproof, p.procost, p.prorows, p.prosupport::regprocedure, p.proconfig, p.probin, p.prosrc, pg_get_function_sqlbody(p.oid), p.protrftypes, ACL(p.proacl), obj_description(p.oid, 'pg_proc')) from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace in (OURS) and not exists (select from pg_depend d join pg_extension e on e.oid = d.refobjid where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e' and e.extname <> 'keyed')",
    ),
    (
        "relation",
        "select concat_ws(' | ', c.oid::regclass, c.relkind, c.relpersistence, pg_get_userbyid(c.relowner), c.relrowsecurity, c.relforcerowsecurity, c.relreplident, c.relispartition, m.amname, c.reloptions, t.reloptions, ACL(c.relacl), obj_description(c.oid, 'pg_class')) from pg_class c left join pg_am m on m.oid = c.relam left join pg_class t on t.oid = c.reltoastrelid where c.relnamespace in (OURS)",
    ),
    (
        "column",
        "select concat_ws(' | ', c.oid::regclass, count(*) over (partition by c.oid order by a.attnum), a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, a.attstorage, a.attcompression, a.attstattarget, o.collname, array(select x from unnest(a.attoptions) x where x !~ '^pg_attver='), ACL(a.attacl), pg_get_expr(d.adbin, d.adrelid), col_description(c.oid, a.attnum)) from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum left join pg_collation o on o.oid = a.attcollation where c.relnamespace in (OURS)",
    ),
    (
        "constraint",
        "select concat_ws(' | ', k.conrelid::regclass, k.conname, k.contype, pg_get_constraintdef(k.oid), k.convalidated, k.condeferrable, k.condeferred, k.conislocal, k.connoinherit, obj_description(k.oid, 'pg_constraint')) from pg_constraint k where k.connamespace in (OURS)",
    ),
    (
        "index",
        "select concat_ws(' | ', pg_get_indexdef(i.indexrelid), i.indisunique, i.indisprimary, i.indisvalid, i.indisready, i.indislive, i.indisclustered, i.indisreplident, i.indimmediate, i.indnullsnotdistinct) from pg_index i join pg_class c on c.oid = i.indrelid where c.relnamespace in (OURS)",
    ),
    (
        "policy",
        "select concat_ws(' | ', p.polrelid::regclass, p.polname, p.polcmd, p.polpermissive, array(select case r when 0 then 'PUBLIC' else pg_get_userbyid(r) end from unnest(p.polroles) r order by 1), pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid), obj_description(p.oid, 'pg_policy')) from pg_policy p",
    ),
    (
        "trigger",
        "select concat_ws(' | ', pg_get_triggerdef(t.oid), t.tgenabled, obj_description(t.oid, 'pg_trigger')) from pg_trigger t where not t.tgisinternal",
    ),
    (
        "rule or view",
        "select concat_ws(' | ', r.ev_class::regclass, r.rulename, r.ev_enabled, pg_get_ruledef(r.oid)) from pg_rewrite r join pg_class c on c.oid = r.ev_class where c.relnamespace in (OURS)",
    ),
    (
        "sequence",
        "select concat_ws(' | ', s.seqrelid::regclass, s.seqtypid::regtype, s.seqstart, s.seqincrement, s.seqmax, s.seqmin, s.seqcache, s.seqcycle) from pg_sequence s",
    ),
    (
        "event trigger",
        "select concat_ws(' | ', t.evtname, t.evtevent, t.evttags, t.evtfoid::regprocedure, t.evtenabled, pg_get_userbyid(t.evtowner), obj_description(t.oid, 'pg_event_trigger')) from pg_event_trigger t",
    ),
    (
        "operator class",
        "select concat_ws(' | ', pg_describe_object('pg_opclass'::regclass, c.oid, 0), pg_get_userbyid(c.opcowner), c.opcintype::regtype, c.opckeytype::regtype, c.opcdefault, array(select concat_ws(' ', a.amprocnum, a.amproc) from pg_amproc a where a.amprocfamily = c.opcfamily order by 1), array(select concat_ws(' ', a.amopstrategy, a.amopopr::regoperator) from pg_amop a where a.amopfamily = c.opcfamily order by 1), obj_description(c.oid, 'pg_opclass')) from pg_opclass c where c.opcnamespace in (OURS) and c.opcname ~ 'document'",
    ),
    (
        "privilege from the beginning",
        "select concat_ws(' | ', pg_describe_object(i.classoid, i.objoid, i.objsubid), i.privtype, ACL(i.initprivs)) from pg_init_privs i where i.objoid >= 16384",
    ),
    (
        "default privilege, step or role",
        "select concat_ws(' | ', pg_get_userbyid(a.defaclrole), a.defaclnamespace::regnamespace, a.defaclobjtype, ACL(a.defaclacl)) from pg_default_acl a union all select 'step ' || number from keyed_state.version union all select concat_ws(' | ', r.rolname, r.rolcanlogin, r.rolinherit, r.rolsuper, r.rolcreaterole, r.rolbypassrls, r.rolconfig, shobj_description(r.oid, 'pg_authid')) from pg_roles r where r.rolname ~ '^keyed_'",
    ),
];

impl Database {
    /// The lines of all lists, sorted within each list.
    pub async fn catalog(&self) -> Vec<String> {
        let session = self.session().await;
        // Every name is schema-qualified.
        session.run("set search_path = pg_catalog").await;
        let mut lines = Vec::new();
        for (heading, query) in LISTS {
            let mut found: Vec<String> = session
                .rows(&readable(query), &[])
                .await
                .into_iter()
                .map(|row| format!("{heading}: {}", row[0].as_deref().unwrap_or_default()))
                .collect();
            found.sort();
            lines.extend(found);
        }
        lines
    }
}

/// Substitutes the fragments that several queries share.
fn readable(query: &str) -> String {
    let mut parts = query.replace("OURS", OURS);
    while let Some((before, rest)) = parts.split_once("ACL(") {
        let (column, after) = rest.split_once(')').expect("it is closed");
        parts = format!("{before}{}{after}", ACL.replace('$', column));
    }
    parts
}

/// Panics if a list is empty, because then its query is wrong.
#[track_caller]
pub fn assert_complete(lines: &[String]) {
    for (heading, _) in LISTS {
        assert!(lines.iter().any(|line| line.starts_with(heading)), "there is no {heading}");
    }
}

/// Panics with the lines that only one of the two lists has.
#[track_caller]
pub fn assert_same(one: &[String], other: &[String]) {
    let without = |lines: &[String], others: &[String]| -> Vec<String> {
        lines.iter().filter(|line| !others.contains(line)).cloned().collect()
    };
    let (only_one, only_other) = (without(one, other), without(other, one));
    assert!(
        only_one.is_empty() && only_other.is_empty(),
        "only in the first:\n{}\n\nonly in the second:\n{}",
        only_one.join("\n"),
        only_other.join("\n")
    );
}
