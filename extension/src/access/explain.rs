//! Why a role sees a record or does not: every grant that reaches the role, condition by condition.

use super::rights::Privilege;
use super::stored_grant::{Grant, reaching};
use super::visibility::CallerSchema;
use super::{Caller, Right, scope};
use crate::error::{Code, Error};
use crate::filter::check::{self, Settings};
use crate::filter::parse::{self, Condition};
use crate::filter::render::{Lives, Options, render};
use crate::filter::tree::Tree;
use crate::json::write_string;
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::{datum, role};
use crate::template::{Template, catalog};
use crate::value::record_id;
use pgrx::pg_sys;
use serde_json::value::RawValue;
use std::rc::Rc;
use uuid::Uuid;

/// `{id, role, template, record, sees, may, because, grants: [{role, target, privilege, scope, holds, conditions:
/// [{pointer?, field, operator, value, holds}]}]}`: what a role may do with a record, and by which conditions of which
/// grants.
pub fn explain(id: Uuid, role_name: &str) -> Result<String, Error> {
    Caller::current().require_admin("explain the access of other roles")?;
    let role = role::find_by_name(role_name).ok_or_else(|| {
        Error::at(Code::InvalidValue, "/role", format!("role {role_name:?} does not exist"))
    })?;
    let template = record_id::template_of(id).and_then(catalog::by_id).ok_or_else(Error::not_found)?;
    let state = state_of(&template, id);
    let results: Vec<GrantResult> = reaching(role, &template)
        .into_iter()
        .filter(|grant| grant.privilege != Privilege::Define)
        .map(|grant| judge(grant, &template, id))
        .collect::<Result<_, _>>()?;
    let caller = Caller::of_role(role);
    let may = |right: Right| {
        let is_granted = |result: &GrantResult| result.grant.privilege == right.privilege() && result.holds;
        caller.is_admin() || caller.require(right, &template).is_ok() && results.iter().any(is_granted)
    };
    let sees = state == State::Live && may(Right::Read);
    let mut out = format!("{{\"id\":\"{id}\",\"role\":");
    write_string(&mut out, role_name);
    out.push_str(",\"template\":");
    write_string(&mut out, &template.full_name());
    out.push_str(&format!(",\"record\":\"{}\",\"sees\":{sees},\"may\":[", state.name()));
    let rights = [Right::Read, Right::Create, Right::Update, Right::Delete].into_iter();
    let rights: Vec<String> = rights
        .filter(|right| state != State::Missing && may(*right))
        .map(|right| format!("\"{}\"", right.privilege().name()))
        .collect();
    out.push_str(&rights.join(","));
    out.push_str("],\"because\":");
    write_string(&mut out, &because(&caller, &template, state, sees, &results));
    out.push_str(",\"grants\":[");
    for (position, result) in results.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        result.write(&mut out, &template);
    }
    out.push_str("]}");
    Ok(out)
}

/// What is there under an id.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Live,
    Deleted,
    Missing,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Live => "live",
            State::Deleted => "deleted",
            State::Missing => "missing",
        }
    }
}

/// A condition held against a record.
struct Held {
    /// The text of its members.
    text: String,
    /// Whether it stands within an odd number of `not`, and so must not hold.
    is_negated: bool,
    holds: bool,
}

/// A grant held against a record.
struct GrantResult {
    grant: Grant,
    holds: bool,
    conditions: Vec<Held>,
}

impl GrantResult {
    fn write(&self, out: &mut String, template: &Template) {
        out.push_str("{\"role\":");
        write_string(out, &role::name(self.grant.role).unwrap_or_default());
        out.push_str(",\"target\":");
        let target = match self.grant.template {
            Some(_) => template.full_name(),
            None => template.project_slug.clone(),
        };
        write_string(out, &target);
        out.push_str(",\"privilege\":");
        write_string(out, self.grant.privilege.name());
        out.push_str(",\"scope\":");
        out.push_str(self.grant.scope.as_deref().unwrap_or("null"));
        out.push_str(&format!(",\"holds\":{},\"conditions\":[", self.holds));
        for (position, condition) in self.conditions.iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            out.push_str(&format!("{{{},\"holds\":{}}}", condition.text, condition.holds));
        }
        out.push_str("]}");
    }
}

fn because(
    caller: &Caller,
    template: &Template,
    state: State,
    sees: bool,
    results: &[GrantResult],
) -> String {
    let reads = || results.iter().filter(|result| result.grant.privilege == Right::Read.privilege());
    let of = |result: &GrantResult| {
        let target = if result.grant.template.is_some() {
            template.full_name()
        } else {
            template.project_slug.clone()
        };
        format!("{target} to {}", role::name(result.grant.role).unwrap_or_default())
    };
    match state {
        State::Missing => return "the record does not exist".to_owned(),
        State::Deleted => return "the record is deleted".to_owned(),
        State::Live if caller.is_admin() => {
            return "the role is an administrator and sees every record".to_owned();
        }
        State::Live => {}
    }
    if sees {
        let shown = reads().find(|result| result.holds).map(of).unwrap_or_default();
        return format!("read on {shown} shows it");
    }
    if reads().next().is_none() {
        return format!(
            "read was not granted to the role, nor to a role that it is a member of; \
                        grant it: SELECT keyed.grant_access(role, '{}', '{{read}}')",
            template.full_name()
        );
    }
    if reads().any(|result| result.holds) {
        return format!(
            "a grant shows it, but the privilege SELECT on the table was revoked directly: \
                        GRANT SELECT ON {} TO the role",
            template.table_sql()
        );
    }
    let failed: Vec<String> = reads()
        .map(|result| {
            let failed: Vec<String> = result
                .conditions
                .iter()
                .filter(|it| it.holds == it.is_negated)
                .map(|it| format!("{}{{{}}}", if it.is_negated { "not " } else { "" }, it.text))
                .collect();
            format!("read on {} needs {}", of(result), failed.join(", "))
        })
        .collect();
    format!("no scope includes the record: {}", failed.join("; "))
}

fn state_of(template: &Template, id: Uuid) -> State {
    let sql = format!("select t.deleted_at from {} t where t.id = $1", template.table_sql());
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(&sql, Snapshot::Latest, &[(pg_sys::UUIDOID, datum::uuid(id))]);
            match (rows.is_empty(), (!rows.is_empty()).then(|| rows.get(0, 0)).flatten()) {
                (true, _) => State::Missing,
                (false, Some(_)) => State::Deleted,
                (false, None) => State::Live,
            }
        })
    })
}

fn judge(grant: Grant, template: &Rc<Template>, id: Uuid) -> Result<GrantResult, Error> {
    let Some(scope) = grant.scope.clone() else {
        return Ok(GrantResult { grant, holds: true, conditions: Vec::new() });
    };
    let options = Options { lives: Lives::Any, ..Options::default() };
    let whole = render(&scope::compile(template, &scope)?, "t", options);
    let raw: &RawValue = serde_json::from_str(&scope)
        .map_err(|error| Error::new(Code::MalformedRequest, format!("scope cannot be read: {error}")))?;
    let tree = parse::scope(raw)?;
    let schema = CallerSchema::new(&Caller::administrator(), Rc::clone(template));
    let (mut texts, mut columns) = (Vec::new(), vec![format!("{whole} is true")]);
    let mut leaves = Vec::new();
    note_leaves(&tree, false, &mut leaves);
    for (condition, is_negated) in leaves {
        texts.push((members(condition), is_negated));
        let alone = check::check(&Tree::Leaf(condition.clone()), &schema, Settings::default())?;
        columns.push(format!("{} is true", render(&alone, "t", options)));
    }
    let sql = format!("select {} from {} t where t.id = $1", columns.join(", "), template.table_sql());
    Ok(as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(&sql, Snapshot::Latest, &[(pg_sys::UUIDOID, datum::uuid(id))]);
            let holds = |column| !rows.is_empty() && rows.get(0, column).is_some_and(datum::read_bool);
            let conditions = texts.into_iter().enumerate().map(|(number, (text, is_negated))| Held {
                text,
                is_negated,
                holds: holds(number + 1),
            });
            GrantResult { grant, holds: holds(0), conditions: conditions.collect() }
        })
    }))
}

/// The conditions in their order, each with whether it stands within an odd number of `not`.
fn note_leaves<'t, 'a>(
    tree: &'t Tree<Condition<'a>>,
    is_negated: bool,
    leaves: &mut Vec<(&'t Condition<'a>, bool)>,
) {
    match tree {
        Tree::All(parts) | Tree::Any(parts) => {
            parts.iter().for_each(|part| note_leaves(part, is_negated, leaves));
        }
        Tree::Not(part) => note_leaves(part, !is_negated, leaves),
        Tree::Leaf(condition) => leaves.push((condition, is_negated)),
    }
}

/// `"pointer":…,"field":…,"operator":…,"value":…` of a condition.
fn members(condition: &Condition) -> String {
    let mut out = String::new();
    for (name, text) in [
        ("pointer", condition.pointer.as_str()),
        ("field", condition.field.as_ref()),
        ("operator", condition.operator.as_ref()),
    ] {
        // A scope that is one condition has no place within itself.
        if text.is_empty() {
            continue;
        }
        write_string(&mut out, name);
        out.push(':');
        write_string(&mut out, text);
        out.push(',');
    }
    out.push_str("\"value\":");
    out.push_str(condition.value.map_or("null", RawValue::get));
    out
}
