//! Updates views when templates, grants or time zones change.

use super::definition::{self, Definition, compile, view_sql};
use super::presentation;
use super::rename::rename;
use crate::access::Caller;
use crate::access::dependent::{Dependent, in_use, store};
use crate::error::{Code, Error};
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot};
use crate::postgres::transaction::begin_command;
use crate::template::{Attribute, Template, catalog};
use crate::value::quote::{identifier, literal};
use crate::view::stored::{SavedView, relation_name, table_exists, views_about};
use pgrx::pg_sys::Oid;
use std::collections::HashMap;

/// The relation that has the name of a view.
pub fn relation(template: &Template, slug: &str) -> Option<Oid> {
    catalog::table_oid(&template.project_slug, &relation_name(template, slug))
}

/// The SQL view of a saved view, if it has one.
fn relation_of(view: &SavedView) -> Option<Oid> {
    view.definition.as_ref().and_then(|_| relation(&view.template, &view.slug))
}

/// Saved views.
pub struct Views;

impl Dependent for Views {
    /// The SQL views that read the table of a template and must be locked with it.
    fn relations(&self, spi: &Connection, template: &Template) -> Vec<Oid> {
        let views: Vec<Oid> = views_about(spi, template.id).iter().filter_map(relation_of).collect();
        if views.is_empty() {
            return views;
        }
        let rows = spi.run_once(
            "select distinct r.ev_class from pg_catalog.pg_depend d join pg_catalog.pg_rewrite r on r.oid = d.objid \
             where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid = $1 \
             and r.ev_class = any ($2) order by r.ev_class",
            Snapshot::Latest,
            &params![
                template.table,
                views,
            ],
        );
        rows.column::<Oid>().collect()
    }

    /// Also renames the columns of the SQL views of the template.
    fn before_rename(
        &self,
        spi: &Connection,
        template: &Template,
        attribute: &Attribute,
        new: &str,
    ) -> Result<(), Error> {
        for view in views_about(spi, template.id) {
            let body = rename(&view.template, &view.body, attribute.id, new)?;
            if body != view.body {
                store(spi, "view", "query", view.id, &body);
            }
            if view.template.id == template.id && relation_of(&view).is_some() {
                rename_columns(spi, &view, attribute, new);
            }
        }
        Ok(())
    }

    fn require_unused(
        &self,
        spi: &Connection,
        caller: &Caller,
        template: &Template,
        attribute: &Attribute,
        pointer: &str,
    ) -> Result<(), Error> {
        for view in views_about(spi, template.id) {
            // A view that is already invalid is reported after the change.
            let uses = compiled(&view).map(|definition| definition.uses).unwrap_or_default();
            if let Some((_, name)) = uses.into_iter().find(|(used, _)| *used == attribute.id) {
                return Err(in_use(pointer, &name_for(caller, &view), &name, REMEDY));
            }
        }
        Ok(())
    }

    /// Drops the SQL views of a template, and those that show the display attribute of its records. [`sync`] creates them
    /// again.
    fn before_drop(&self, spi: &Connection, template: &Template) {
        let reading = self.relations(spi, template);
        let is_dropped = |view: &SavedView| view.template.id == template.id || view.has_presentation;
        for view in views_about(spi, template.id).into_iter().filter(is_dropped) {
            // Other views are not locked.
            if relation_of(&view).is_some_and(|relation| reading.contains(&relation)) {
                spi.script(&format!("drop view {}", view_sql(&view.template, &view.slug)));
                set_definition(spi, &view, None);
            }
        }
    }

    fn after_change(
        &self,
        spi: &Connection,
        caller: &Caller,
        _before: &Template,
        after: &Template,
    ) -> Result<(), Error> {
        sync(spi, caller, &views_about(spi, after.id))
    }

    fn after_grants(&self, spi: &Connection, templates: &[i32]) {
        sync_grants(spi, templates);
    }
}

const REMEDY: &str = "Change or drop the view first, with keyed.save_view or keyed.drop_view.";

fn compiled(view: &SavedView) -> Result<Definition, Error> {
    compile(&Caller::administrator(), &view.template, &view.body, view.has_presentation)
}

/// Renames the columns of an attribute in the SQL view of its template.
fn rename_columns(spi: &Connection, view: &SavedView, attribute: &Attribute, new: &str) {
    let mut renames = vec![(attribute.slug.clone(), new.to_owned())];
    if view.has_presentation {
        if !definition::has_columns_of(&view.template, &view.body, attribute) {
            return;
        }
        renames.extend(presentation::renamed(attribute, new));
    }
    let name = view_sql(&view.template, &view.slug);
    for (old, new) in renames {
        spi.script(&format!("alter view {name} rename column \"{old}\" to \"{new}\""));
    }
}

/// The name of a view in messages to a caller, to whom its template may not be visible.
fn name_for(caller: &Caller, view: &SavedView) -> String {
    if caller.can_view(&view.template) {
        format!("the view {:?} of {}", view.slug, view.template.full_name())
    } else {
        "a view of another template".to_owned()
    }
}

/// Updates the SQL views of these saved views. Rejects a change that makes one invalid.
pub fn sync(spi: &Connection, caller: &Caller, views: &[SavedView]) -> Result<(), Error> {
    for view in views {
        let Definition { sql, comments, .. } = match compiled(view) {
            Ok(definition) => definition,
            Err(error) => {
                let mut message = format!("the change would break {}", name_for(caller, view));
                if caller.can_view(&view.template) {
                    message += &format!(": {}", error.message);
                }
                return Err(Error::new(Code::Conflict, message).hint(REMEDY));
            }
        };
        let has_relation = relation_of(view).is_some();
        if sql == view.definition && has_relation == sql.is_some() {
            // Labels and formats affect comments only.
            comment(spi, view, &comments);
            continue;
        }
        let (template, slug) = (&*view.template, view.slug.as_str());
        match &sql {
            Some(sql) => {
                spi.script(&definition::create(template, slug, view.label.as_deref(), sql));
                begin_command();
                comment(spi, view, &comments);
            }
            None if has_relation => spi.script(&format!("drop view {}", view_sql(template, slug))),
            None => {}
        }
        set_definition(spi, view, sql.as_deref());
        // Makes the new view visible to the next lookups.
        begin_command();
        sync_grants(spi, &[template.id]);
    }
    Ok(())
}

/// Updates changed comments on the columns of a view. Concurrent changes of definitions may hold locks on other views.
fn comment(spi: &Connection, view: &SavedView, comments: &[(String, String)]) {
    let Some(relation) = relation(&view.template, &view.slug).filter(|_| !comments.is_empty()) else {
        return;
    };
    let rows = spi.run_once(
        "select a.attname::text, pg_catalog.col_description(a.attrelid, a.attnum) from pg_catalog.pg_attribute a \
         where a.attrelid = $1 and a.attnum > 0",
        Snapshot::Latest,
        &params![relation],
    );
    let existing: HashMap<String, Option<String>> =
        (0..rows.len()).map(|row| (rows.get(row, 0), rows.get(row, 1))).collect();
    let name = view_sql(&view.template, &view.slug);
    let changed = comments.iter().filter(|(column, comment)| {
        existing.get(column).is_none_or(|existing| existing.as_ref() != Some(comment))
    });
    let script: String = changed
        .map(|(column, comment)| {
            format!("comment on column {name}.{} is {};", identifier(column), literal(comment))
        })
        .collect();
    if !script.is_empty() {
        spi.script(&script);
    }
}

fn set_definition(spi: &Connection, view: &SavedView, sql: Option<&str>) {
    spi.run_once(
        "update keyed_state.view set definition = $2 where id = $1",
        Snapshot::Latest,
        &params![view.id, sql],
    );
}

/// Updates the comment of a view.
pub fn label(spi: &Connection, template: &Template, slug: &str, label: Option<&str>) {
    let label = literal(label.unwrap_or(slug));
    spi.script(&format!("comment on view {} is {label}", view_sql(template, slug)));
}

/// Copies the SELECT privileges of templates' tables to their views. Row-level security still applies to the rows.
fn sync_grants(spi: &Connection, templates: &[i32]) {
    if !table_exists() {
        return;
    }
    let rows = spi.run_once(
        "with pair as ( \
           select c.oid as source, w.oid as view from keyed_state.view v \
           join keyed_state.template t on t.id = v.template_id join keyed_state.project p on p.id = t.project_id \
           join pg_catalog.pg_namespace n on n.nspname = p.slug::pg_catalog.name \
           join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = t.slug::pg_catalog.name \
           join pg_catalog.pg_class w on w.relnamespace = n.oid and w.relname = (t.slug || '__' || v.slug)::pg_catalog.name \
           where v.template_id = any ($1) and v.definition is not null), \
         reader as (select distinct p.source, a.grantee from pair p join pg_catalog.pg_class c on c.oid = p.source, \
           pg_catalog.aclexplode(c.relacl) a \
           where a.privilege_type = 'SELECT' and a.grantee <> 0 and a.grantee <> c.relowner), \
         held as (select distinct p.source, p.view, a.grantee from pair p join pg_catalog.pg_class c on c.oid = p.view, \
           pg_catalog.aclexplode(c.relacl) a where a.grantee <> 0 and a.grantee <> c.relowner) \
         select format('revoke all on %s from %I', h.view::regclass, r.rolname) \
           from held h join pg_catalog.pg_roles r on r.oid = h.grantee \
           where not exists (select from reader x where x.source = h.source and x.grantee = h.grantee) \
         union select format('grant select on %s to %I', p.view::regclass, r.rolname) \
           from pair p join reader x on x.source = p.source join pg_catalog.pg_roles r on r.oid = x.grantee \
           where not exists (select from held h where h.view = p.view and h.grantee = x.grantee)",
        Snapshot::Latest,
        &params![templates],
    );
    let statements: Vec<String> = rows.column::<String>().collect();
    for statement in statements {
        spi.script(&statement);
    }
}
