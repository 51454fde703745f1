//! Explains why a record is visible to a role or not: every grant that applies to the role, condition by condition.

use super::privilege::Privilege;
use super::stored_grant::{Grant, grants_of};
use super::visibility::CallerSchema;
use super::{Action, Caller, scope};
use crate::error::{Code, Error};
use crate::filter::check::{self, Settings};
use crate::filter::parse::{self, Condition};
use crate::filter::render::{Lives, Options, render};
use crate::filter::tree::Tree;
use crate::json_write::{raw, to_json};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::role;
use crate::postgres::spi::{Snapshot, connected};
use crate::template::{Template, catalog};
use crate::value::record_id;
use serde::Serialize;
use serde_json::value::RawValue;
use std::rc::Rc;
use uuid::Uuid;

/// The actions that a role may perform on a record, and the conditions of the grants that allow or deny them:
/// `{id, role, template, record, sees, may, because, grants: [{role, target, privilege, scope, holds, conditions:
/// [{pointer?, field, operator, value, holds}]}]}`.
pub fn explain(id: Uuid, role_name: &str) -> Result<String, Error> {
    let admin = Caller::current();
    admin.require_admin("explain the access of other roles")?;
    let role = role::find_by_name(role_name).ok_or_else(|| {
        Error::at(Code::InvalidValue, "/role", format!("role {role_name:?} does not exist"))
    })?;
    let template = record_id::template_of(id).and_then(catalog::by_id);
    let template = template.filter(|template| admin.can_access_project(template.project_id));
    let template = template.ok_or_else(Error::not_found)?;
    let state = state_of(&template, id);
    let results: Vec<GrantResult> = grants_of(role, &template)
        .into_iter()
        .filter(|grant| grant.privilege != Privilege::Define)
        .map(|grant| evaluate(grant, &template, id))
        .collect::<Result<_, _>>()?;
    let caller = Caller::of_role(role);
    let may = |action: Action| {
        let is_granted = |result: &GrantResult| result.grant.privilege == action.privilege() && result.holds;
        caller.is_admin() || caller.require(action, &template).is_ok() && results.iter().any(is_granted)
    };
    let sees = state == State::Live && may(Action::Read);
    let actions = [Action::Read, Action::Create, Action::Update, Action::Delete].into_iter();
    let actions = actions.filter(|action| state != State::Missing && may(*action));
    Ok(to_json(&Explanation {
        id: id.to_string(),
        role: role_name,
        template: template.full_name(),
        record: state.name(),
        sees,
        may: actions.map(|action| action.privilege().name()).collect(),
        because: because(&caller, &template, state, sees, &results),
        grants: results.iter().map(|result| result.shown(&template)).collect(),
    }))
}

#[derive(Serialize)]
struct Explanation<'a> {
    id: String,
    role: &'a str,
    template: String,
    record: &'static str,
    sees: bool,
    may: Vec<&'static str>,
    because: String,
    grants: Vec<ShownGrant<'a>>,
}

#[derive(Serialize)]
struct ShownGrant<'a> {
    role: String,
    target: String,
    privilege: &'static str,
    scope: Option<&'a RawValue>,
    holds: bool,
    conditions: Vec<ShownCondition<'a>>,
}

#[derive(Serialize)]
struct ShownCondition<'a> {
    // Empty for a scope that consists of one condition.
    #[serde(skip_serializing_if = "str::is_empty")]
    pointer: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    field: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    operator: &'a str,
    value: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    holds: Option<bool>,
}

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

/// A condition evaluated on a record.
struct ConditionResult {
    pointer: String,
    field: String,
    operator: String,
    value: Option<Box<RawValue>>,
    /// Whether it is inside an odd number of `not`, so that it must be false.
    is_negated: bool,
    holds: bool,
}

impl ConditionResult {
    fn shown(&self, holds: Option<bool>) -> ShownCondition<'_> {
        let ConditionResult { pointer, field, operator, value, .. } = self;
        ShownCondition { pointer, field, operator, value: value.as_deref(), holds }
    }
}

/// A grant evaluated on a record.
struct GrantResult {
    grant: Grant,
    holds: bool,
    conditions: Vec<ConditionResult>,
}

impl GrantResult {
    fn shown(&self, template: &Template) -> ShownGrant<'_> {
        ShownGrant {
            role: role::name(self.grant.role).unwrap_or_default(),
            target: self.target(template),
            privilege: self.grant.privilege.name(),
            scope: self.grant.scope.as_deref().and_then(raw),
            holds: self.holds,
            conditions: self.conditions.iter().map(|it| it.shown(Some(it.holds))).collect(),
        }
    }

    /// The name of the template or project on which the privilege was granted.
    fn target(&self, template: &Template) -> String {
        match self.grant.template {
            Some(_) => template.full_name(),
            None => template.project_slug.clone(),
        }
    }
}

fn because(
    caller: &Caller,
    template: &Template,
    state: State,
    sees: bool,
    results: &[GrantResult],
) -> String {
    let reads = || results.iter().filter(|result| result.grant.privilege == Action::Read.privilege());
    let of = |result: &GrantResult| {
        format!("{} to {}", result.target(template), role::name(result.grant.role).unwrap_or_default())
    };
    match state {
        State::Missing => return "the record does not exist".to_owned(),
        State::Deleted => return "the record is deleted".to_owned(),
        State::Live if caller.is_admin() => {
            return "the role is an administrator, and administrators can read every record".to_owned();
        }
        State::Live => {}
    }
    if sees {
        let shown = reads().find(|result| result.holds).map(of).unwrap_or_default();
        return format!("read on {shown} includes the record");
    }
    if reads().next().is_none() {
        return format!(
            "read was not granted to the role or to a role of which it is a member; \
             grant it: SELECT keyed.grant_access(role, '{}', '{{read}}')",
            template.full_name()
        );
    }
    if reads().any(|result| result.holds) {
        return format!(
            "a grant includes the record, but the privilege SELECT on the table was revoked directly: \
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
                .map(|it| format!("{}{}", if it.is_negated { "not " } else { "" }, to_json(&it.shown(None))))
                .collect();
            format!("read on {} requires {}", of(result), failed.join(", "))
        })
        .collect();
    format!("no scope includes the record: {}", failed.join("; "))
}

fn state_of(template: &Template, id: Uuid) -> State {
    let sql = format!("select t.deleted_at from {} t where t.id = $1", template.table_sql());
    as_owner(|| {
        connected(|spi| match spi.run_once(&sql, Snapshot::Latest, &params![id]).value::<Option<i64>>() {
            None => State::Missing,
            Some(Some(_)) => State::Deleted,
            Some(None) => State::Live,
        })
    })
}

fn evaluate(grant: Grant, template: &Rc<Template>, id: Uuid) -> Result<GrantResult, Error> {
    let Some(scope) = grant.scope.clone() else {
        return Ok(GrantResult { grant, holds: true, conditions: Vec::new() });
    };
    let options = Options { lives: Lives::Any, ..Options::default() };
    let whole = render(&scope::compile(template, &scope)?, "t", options);
    let raw: &RawValue = serde_json::from_str(&scope)
        .map_err(|error| Error::new(Code::MalformedRequest, format!("scope cannot be read: {error}")))?;
    let tree = parse::scope(raw)?;
    let schema = CallerSchema::new(&Caller::administrator(), Rc::clone(template));
    let mut columns = vec![format!("{whole} is true")];
    let mut leaves = Vec::new();
    collect_leaves(&tree, false, &mut leaves);
    for (condition, _) in &leaves {
        let alone = check::check(&Tree::Leaf((*condition).clone()), &schema, Settings::default())?;
        columns.push(format!("{} is true", render(&alone, "t", options)));
    }
    let sql = format!("select {} from {} t where t.id = $1", columns.join(", "), template.table_sql());
    Ok(as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(&sql, Snapshot::Latest, &params![id]);
            let holds = |column| !rows.is_empty() && rows.get::<Option<bool>>(0, column).unwrap_or_default();
            let conditions =
                leaves.iter().enumerate().map(|(number, (condition, is_negated))| ConditionResult {
                    pointer: condition.pointer.clone(),
                    field: condition.field.to_string(),
                    operator: condition.operator.to_string(),
                    value: condition.value.map(RawValue::to_owned),
                    is_negated: *is_negated,
                    holds: holds(number + 1),
                });
            GrantResult { grant, holds: holds(0), conditions: conditions.collect() }
        })
    }))
}

/// Collects the conditions in order, each with whether it is inside an odd number of `not`.
fn collect_leaves<'t, 'a>(
    tree: &'t Tree<Condition<'a>>,
    is_negated: bool,
    leaves: &mut Vec<(&'t Condition<'a>, bool)>,
) {
    match tree {
        Tree::All(parts) | Tree::Any(parts) => {
            parts.iter().for_each(|part| collect_leaves(part, is_negated, leaves));
        }
        Tree::Not(part) => collect_leaves(part, !is_negated, leaves),
        Tree::Leaf(condition) => leaves.push((condition, is_negated)),
    }
}
