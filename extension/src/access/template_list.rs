//! Lists the templates that are visible to a caller. It reads the state only, and locks no table of records.

use super::privilege::Privilege;
use super::{Caller, binding};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::raise::Raise;
use crate::postgres::spi::{Rows, connected};

/// A template on which a caller has privileges.
pub struct ListedTemplate {
    /// Its id.
    pub id: i32,
    /// The id of its project.
    pub project: i32,
    /// `project.template`.
    pub name: String,
    /// The caller's privileges, each with whether it has a scope.
    pub held: Vec<(Privilege, bool)>,
}

impl ListedTemplate {
    /// Whether the caller has the privilege on at least some records.
    pub fn holds(&self, privilege: Privilege) -> bool {
        self.held.iter().any(|held| held.0 == privilege)
    }
}

/// The FROM clause for the tables of templates: ordinary, permanent tables that belong to the owner or a superuser.
pub const TABLES: &str = "keyed_state.template t join keyed_state.project p on p.id = t.project_id \
     join pg_catalog.pg_namespace n on n.nspname = p.slug::pg_catalog.name \
     join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = t.slug::pg_catalog.name \
       and c.relkind = 'r' and c.relpersistence <> 't' \
     join pg_catalog.pg_roles w on w.oid = c.relowner and (w.rolsuper or w.rolname = 'keyed_owner')";

/// The templates that are visible to a caller, by project and slug, with its privileges. Like all checks of privileges, it
/// uses the latest snapshot.
pub fn templates(caller: &Caller) -> Vec<ListedTemplate> {
    let mut listed = if caller.is_admin() { all() } else { granted(caller) };
    listed.retain(|template| caller.can_access_project(template.project));
    listed
}

fn all() -> Vec<ListedTemplate> {
    let sql = format!("select t.id, t.project_id, p.slug, t.slug from {TABLES} order by p.slug, t.slug");
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_newest_and_own(&sql, &[]);
            let all = || Privilege::ALL.into_iter().map(|privilege| (privilege, false)).collect();
            (0..rows.len()).filter_map(|row| read(&rows, row, all())).collect()
        })
    })
}

/// The templates with grants to the role or to roles that it inherits from, where the role still has the table privilege.
fn granted(caller: &Caller) -> Vec<ListedTemplate> {
    if let Err(error) = binding::require_state() {
        error.raise();
    }
    let sql = format!(
        "select t.id, t.project_id, p.slug, t.slug, g.privilege, bool_and(g.scope is not null) \
         from keyed_state.access_grant g, {TABLES} \
         where (g.template_id = t.id or g.template_id is null and g.project_id = t.project_id) \
         and pg_has_role($1, g.role::oid, 'usage') and {} \
         and case g.privilege when 'define' then true \
           else has_table_privilege($1, c.oid, case g.privilege when 'read' then 'select' when 'create' then 'insert' \
             else g.privilege end) end \
         group by t.id, t.project_id, p.slug, t.slug, g.privilege order by p.slug, t.slug",
        binding::is_bound_sql("g")
    );
    let role = params![caller.role()];
    let mut listed: Vec<ListedTemplate> = Vec::new();
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_newest_and_own(&sql, &role);
            for row in 0..rows.len() {
                let privilege = rows.get::<Option<String>>(row, 4).and_then(|it| Privilege::parse(&it));
                let is_scoped = rows.get::<Option<bool>>(row, 5).unwrap_or_default();
                let Some(privilege) = privilege else { continue };
                match (listed.last_mut(), rows.get::<Option<i32>>(row, 0)) {
                    (Some(last), Some(id)) if last.id == id => last.held.push((privilege, is_scoped)),
                    _ => listed.extend(read(&rows, row, vec![(privilege, is_scoped)])),
                }
            }
        });
    });
    for template in &mut listed {
        template.held.sort_unstable_by_key(|held| held.0 as u8);
    }
    listed
}

fn read(rows: &Rows, row: usize, held: Vec<(Privilege, bool)>) -> Option<ListedTemplate> {
    let text = |column| rows.get::<Option<String>>(row, column);
    Some(ListedTemplate {
        id: rows.get(row, 0),
        project: rows.get(row, 1),
        name: format!("{}.{}", text(2)?, text(3)?),
        held,
    })
}
