//! Dependent objects of other owners that block a change of a table or view.

use crate::error::{Code, Error};
use crate::postgres::caught::Caught;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::role;
use crate::postgres::spi::{Snapshot, connected};
use pgrx::pg_sys::Oid;

/// The maximum number of objects in a message.
const MAX_NAMED: i32 = 10;

/// The objects that depend on a relation or its row type.
const RELATIONS: &str = "\
    with subject as (select c.oid, c.reltype, y.typarray from pg_class c left join pg_type y on y.oid = c.reltype \
                     where c.oid = $1), \
    dependent as ( \
      select d.classid, d.objid, d.objsubid from pg_depend d, subject s \
      where d.deptype in ('n', 'a') and (d.refclassid = 'pg_class'::regclass and d.refobjid = s.oid \
        or d.refclassid = 'pg_type'::regclass and d.refobjid in (s.reltype, s.typarray)))";

/// The objects in a schema, and those that depend on its relations.
const IN_SCHEMA: &str = "\
    with subject as (select c.oid, c.reltype, y.typarray from pg_class c left join pg_type y on y.oid = c.reltype \
                     where c.relnamespace = $1), \
    dependent as ( \
      select d.classid, d.objid, d.objsubid from pg_depend d \
      where d.deptype = 'n' and d.refclassid = 'pg_namespace'::regclass and d.refobjid = $1 \
      union all select d.classid, d.objid, d.objsubid from pg_depend d join subject s \
        on d.refclassid = 'pg_class'::regclass and d.refobjid = s.oid \
        or d.refclassid = 'pg_type'::regclass and d.refobjid in (s.reltype, s.typarray) \
      where d.deptype in ('n', 'a'))";

/// Describes them with their owners. Objects of keyed's owner are omitted, because they do not
/// block.
const DEPENDENTS: &str = "\
    , named as ( \
      select distinct case when r.oid is null then x.classid else 'pg_class'::regclass end as classid, \
        coalesce(r.ev_class, x.objid) as objid, case when r.oid is null then x.objsubid else 0 end as objsubid \
      from dependent x left join pg_rewrite r on x.classid = 'pg_rewrite'::regclass and r.oid = x.objid) \
    select pg_describe_object(n.classid, n.objid, n.objsubid) || ' of ' || pg_get_userbyid(o.owner) \
    from named n cross join lateral ( \
      select c.relowner from pg_class c where n.classid = 'pg_class'::regclass and c.oid = n.objid \
      union all select p.proowner from pg_proc p where n.classid = 'pg_proc'::regclass and p.oid = n.objid \
      union all select y.typowner from pg_type y where n.classid = 'pg_type'::regclass and y.oid = n.objid \
      union all select c.relowner from pg_constraint k join pg_class c on c.oid = k.conrelid \
        where n.classid = 'pg_constraint'::regclass and k.oid = n.objid) o (owner) \
    where o.owner <> $2 and n.objid <> $1 order by 1 limit $3";

/// The error for a change that objects of other owners block, with the names and owners of the
/// objects.
pub fn error(name: &str, relation: Oid, caught: &Caught) -> Error {
    in_use(name, dependents(RELATIONS, relation), caught)
}

/// The same for dropping a schema.
pub fn schema_error(schema: &str, caught: &Caught) -> Error {
    let number = schema_oid(schema);
    let mut dependents = dependents(IN_SCHEMA, number);
    if dependents.is_empty() {
        dependents.extend(caught.detail.clone());
    }
    in_use(&format!("the schema {schema}"), dependents, caught)
}

fn schema_oid(schema: &str) -> Oid {
    as_owner(|| {
        connected(|spi| {
            let sql = "select n.oid from pg_namespace n where n.nspname = $1";
            spi.run_once(sql, Snapshot::Latest, &params![schema]).value().unwrap_or(Oid::INVALID)
        })
    })
}

fn dependents(ctes: &str, subject: Oid) -> Vec<String> {
    let owner = role::find(role::OWNER).unwrap_or(Oid::INVALID);
    as_owner(|| {
        connected(|spi| {
            let arguments = params![subject, owner, MAX_NAMED];
            let rows = spi.run_once(&format!("{ctes} {DEPENDENTS}"), Snapshot::Latest, &arguments);
            // The description of a concurrently dropped object is null.
            rows.column::<Option<String>>().flatten().collect()
        })
    })
}

fn in_use(name: &str, dependents: Vec<String>, caught: &Caught) -> Error {
    let by = if dependents.is_empty() { caught.message.clone() } else { dependents.join(", ") };
    Error::new(Code::Conflict, format!("{name} is still in use: {by}"))
        .hint("Drop these objects first. Objects in a schema pg_temp_… disappear when their session ends.")
}
