//! The privileges of a role on the records of a template: the grants that apply, with compiled scopes.

use super::privilege::Privilege;
use super::stored_grant::grants_of;
use super::{binding, scope};
use crate::filter::Filter;
use crate::filter::arguments::Arguments;
use crate::filter::render::{Lives, Options, render_with};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::raise::Raise;
use crate::postgres::role::{self, TablePrivilege};
use crate::postgres::spi::connected;
use crate::postgres::{invalidation, snapshot};
use crate::template::Template;
use crate::template::catalog::{self, Change};
use crate::value::table_name::RECORD;
use pgrx::pg_sys::Oid;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// The maximum number of cached pairs of role and template; beyond it, the cache is cleared.
const MAX_CACHED: usize = 4096;

/// The rows to which a privilege applies.
#[derive(Debug, Default)]
pub enum Rows {
    /// None: not granted.
    #[default]
    None,
    /// Rows that match at least one of these filters.
    Passing(Vec<Filter>),
    /// All.
    All,
}

impl Rows {
    fn add(&mut self, scope: Option<Filter>) {
        match (&mut *self, scope) {
            (Rows::All, _) => {}
            (rows, None) => *rows = Rows::All,
            (Rows::Passing(filters), Some(filter)) => filters.push(filter),
            (rows @ Rows::None, Some(filter)) => *rows = Rows::Passing(vec![filter]),
        }
    }

    /// Whether they depend on other records than the row itself.
    pub fn depend_on_references(&self) -> bool {
        self.through_references() > 0
    }

    /// The number of conditions on fields of other templates.
    pub fn through_references(&self) -> usize {
        match self {
            Rows::Passing(filters) => filters.iter().map(Filter::through_references).sum(),
            Rows::None | Rows::All => 0,
        }
    }

    /// The filters of which a row passes at least one, where not all rows are covered.
    pub fn filters(&self) -> &[Filter] {
        match self {
            Rows::Passing(filters) => filters,
            Rows::None | Rows::All => &[],
        }
    }

    /// Whether indexes find the live rows, with few additional ones.
    pub fn are_indexable(&self) -> bool {
        match self {
            Rows::None => true,
            Rows::Passing(filters) => filters.iter().all(Filter::is_indexable),
            Rows::All => false,
        }
    }

    /// As an SQL condition over the live records of the table with this alias; `None` for all rows.
    pub fn condition(&self, alias: &str) -> Option<String> {
        self.condition_over(Lives::Live, alias)
    }

    /// The same over other records.
    pub fn condition_over(&self, lives: Lives, alias: &str) -> Option<String> {
        self.condition_with(lives, alias, None)
    }

    /// The same, for evaluation on single records.
    fn condition_on_row(&self, lives: Lives) -> Option<String> {
        self.render(RECORD, Options { lives, one_by_one: true, ..Options::default() }, None)
    }

    /// The same, with its constants as parameters of a statement.
    pub fn condition_with(&self, lives: Lives, alias: &str, arguments: Option<&Arguments>) -> Option<String> {
        self.render(alias, Options { lives, ..Options::default() }, arguments)
    }

    fn render(&self, alias: &str, options: Options, arguments: Option<&Arguments>) -> Option<String> {
        match self {
            Rows::All => None,
            Rows::None => Some("false".to_owned()),
            Rows::Passing(filters) => {
                let mut conditions: Vec<String> =
                    filters.iter().map(|filter| render_with(filter, alias, options, arguments)).collect();
                conditions.dedup();
                match conditions.as_slice() {
                    [only] if only == "true" => None,
                    [only] => Some(only.clone()),
                    many => Some(format!("({})", many.join(" or "))),
                }
            }
        }
    }
}

/// The privileges of a role on one template.
#[derive(Debug, Default)]
pub struct Permissions {
    rows: [Rows; Privilege::ALL.len()],
    /// The cached conditions on single live records.
    on_row: [OnceCell<Option<String>>; Privilege::ALL.len()],
}

thread_local! {
    static CACHE: RefCell<HashMap<(Oid, i32), Rc<Permissions>>> = RefCell::default();
    /// Caches whether roles are administrators. PostgreSQL searches its own cache of memberships linearly, which
    /// would be slow with many roles.
    static ADMINISTRATORS: RefCell<HashMap<Oid, bool>> = RefCell::default();
}

/// Clears the cache when roles, grants or templates change. Cached privileges depend on roles and grants and, through scopes,
/// on any template.
pub fn on_change(change: &Change) {
    let is_stale = match change {
        Change::Stale(stale) => stale.everything || stale.roles || !stale.tables.is_empty(),
        Change::Evicted => true,
    };
    if is_stale {
        clear();
    }
}

fn clear() {
    // Dropped after the borrow ends: filters hold templates, and those hold plans.
    drop(CACHE.take());
    ADMINISTRATORS.take();
}

/// Whether a role is a superuser or a member of `keyed_admin`.
pub fn is_administrator(role: Oid) -> bool {
    catalog::refresh();
    if let Some(cached) = ADMINISTRATORS.with_borrow(|cache| cache.get(&role).copied()) {
        return cached;
    }
    let before = invalidation::count();
    let is_administrator = role::is_superuser(role)
        || role::find(role::ADMIN).is_some_and(|admin| role::has_privileges_of(role, admin));
    if invalidation::count() == before {
        ADMINISTRATORS.with_borrow_mut(|known| {
            if known.len() >= MAX_CACHED {
                known.clear();
            }
            known.insert(role, is_administrator);
        });
    }
    is_administrator
}

impl Permissions {
    /// The privileges of a role, including those that it inherits.
    pub fn of(role: Oid, template: &Template) -> Rc<Permissions> {
        let key = (role, template.id);
        if let Some(cached) = CACHE.with_borrow(|cache| cache.get(&key).cloned()) {
            return cached;
        }
        let before = invalidation::count();
        let permissions = Rc::new(load(role, template));
        // Not cached if something changed in the meantime, or after a fixed snapshot.
        if invalidation::count() != before || snapshot::is_fixed() {
            return permissions;
        }
        let evicted = CACHE.with_borrow_mut(|known| {
            let evicted = (known.len() >= MAX_CACHED).then(|| std::mem::take(known));
            known.insert(key, Rc::clone(&permissions));
            evicted
        });
        drop(evicted);
        permissions
    }

    /// The rows to which a privilege applies.
    pub fn rows(&self, privilege: Privilege) -> &Rows {
        &self.rows[privilege as usize]
    }

    /// The same as an SQL condition over the table under this alias; `None` for all rows.
    pub fn condition(&self, privilege: Privilege, lives: Lives, alias: &str) -> Option<String> {
        self.rows(privilege).condition_over(lives, alias)
    }

    /// The same over `t`, for a statement that evaluates it on single records: each looks up the records that it refers
    /// to, and no set of referenced records is built.
    pub fn condition_on_row(&self, privilege: Privilege, lives: Lives) -> Option<String> {
        let condition = || self.rows(privilege).condition_on_row(lives);
        match lives {
            Lives::Live => self.on_row[privilege as usize].get_or_init(condition).clone(),
            Lives::Deleted | Lives::Any => condition(),
        }
    }

    /// Whether the privilege was granted, on all rows or on some.
    pub fn has(&self, privilege: Privilege) -> bool {
        !matches!(self.rows(privilege), Rows::None)
    }
}

fn load(role: Oid, template: &Template) -> Permissions {
    require_grants();
    if let Some(grants) = catalog::table_oid("keyed_state", "access_grant") {
        invalidation::watch(grants);
    }
    let mut permissions = Permissions::default();
    for grant in grants_of(role, template) {
        let (privilege, scope) = (grant.privilege, grant.scope);
        if !has_table_privilege(role, template.table, privilege) {
            continue;
        }
        match scope.map(|scope| scope::compile(template, &scope)).transpose() {
            Ok(filter) => permissions.rows[privilege as usize].add(filter),
            // Grants and changes of templates check scopes. A scope that does not compile allows no row.
            Err(_) => permissions.rows[privilege as usize].add(Some(Filter::never(template.id))),
        }
    }
    permissions
}

/// Whether a role still has the table privilege of the grant. A REVOKE in plain SQL applies to functions too. PostgreSQL
/// invalidates the table's relcache entry when its privileges change.
fn has_table_privilege(role: Oid, table: Oid, privilege: Privilege) -> bool {
    let privilege_on_table = match privilege {
        Privilege::Read => TablePrivilege::Select,
        Privilege::Create => TablePrivilege::Insert,
        Privilege::Update => TablePrivilege::Update,
        Privilege::Delete => TablePrivilege::Delete,
        Privilege::Define => return true,
    };
    role::has_table_privilege(role, table, privilege_on_table)
}

/// Rejects a schema version that is too old for this code to read its grants.
fn require_grants() {
    if let Err(error) = binding::require_state() {
        error.raise();
    }
}

/// Whether a role may create templates in a project.
pub fn may_define_in(role: Oid, project: i32) -> bool {
    may_define(role, "g.project_id = $2 and g.template_id is null", Some(project))
}

/// Whether a role may create or change any template.
pub fn may_define_somewhere(role: Oid) -> bool {
    may_define(role, "$2::integer is null", None)
}

fn may_define(role: Oid, condition: &str, project: Option<i32>) -> bool {
    require_grants();
    let sql = format!(
        "select from keyed_state.access_grant g where {condition} and g.privilege = 'define' and {} \
         and pg_has_role($1, g.role::oid, 'usage') limit 1",
        binding::is_bound_sql("g")
    );
    as_owner(|| {
        connected(|spi| {
            let arguments = params![role, project];
            !spi.run_newest_and_own(&sql, &arguments).is_empty()
        })
    })
}
