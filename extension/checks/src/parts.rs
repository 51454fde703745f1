//! Fragments of queries, as macros, because `concat!` does not accept constants.

/// A query fragment for keyed's tables.
macro_rules! our_tables {
    () => {
        "select c.oid, c.relname, c.relrowsecurity, c.relowner, n.nspname from pg_class c \
         join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p') \
         and (n.nspname = 'keyed_state' or exists (select from keyed_state.template t \
           join keyed_state.project p on p.id = t.project_id where p.slug = n.nspname and t.slug = c.relname))"
    };
}

/// The statement that revokes a membership of `pg_auth_members g`, with its role `r` and its member `m`. Since PostgreSQL 16, a
/// membership can have several grantors, and a REVOKE affects one.
macro_rules! revoke_membership {
    () => {
        "format('revoke %I from %I', r.rolname, m.rolname) || case when current_setting('server_version_num')::int >= 160000 \
         then format(' granted by %I', pg_get_userbyid(g.grantor)) else '' end || ';'"
    };
}
