//! Random changes: the expected result of the model, and the results of functions and plain SQL.

use super::privileges::{Privilege, Privileges};
use crate::model::values::{Kind, Value, random_value, write, write_id};
use crate::model::world::{Row, Template};
use crate::model::{Random, World};
use harness::Session;
use serde_json::Value as Json;
use std::time::{SystemTime, UNIX_EPOCH};

/// A change of a thing.
pub(crate) enum Change {
    /// Create a thing with these values.
    Create(Row),
    /// Update a thing: the attribute, and its value in JSON.
    Update(Row, Row, &'static str, String),
    Delete(Row),
}

const PLAIN: [(&str, Kind); 10] = [
    ("name", Kind::Text),
    ("note", Kind::Text),
    ("amount", Kind::Number),
    ("price", Kind::Number),
    ("born", Kind::Day),
    ("due", Kind::Day),
    ("seen", Kind::Time),
    ("met", Kind::Time),
    ("done", Kind::Flag),
    ("paid", Kind::Flag),
];

impl Change {
    pub(super) fn random(world: &World, random: &mut Random) -> Self {
        let things: Vec<&Row> = world.rows.iter().filter(|row| row.template == Template::Things).collect();
        let row = (*random.pick(&things)).clone();
        match random.below(4) {
            0 => Self::Delete(row),
            1 => {
                let mut new = Row { id: u128::MAX, key: None, live: true, ..row };
                new.values.retain(|slug, _| PLAIN.iter().any(|(plain, _)| plain == slug));
                new.values.extend([("created_at", now()), ("updated_at", now())]);
                Self::Create(new)
            }
            _ => loop {
                let &(slug, kind) = random.pick(&PLAIN);
                let value = random_value(kind, random);
                if row.values.get(slug) == Some(&value) {
                    continue;
                }
                let json = write(&value, random);
                let mut new = row.clone();
                new.values.extend([(slug, value), ("updated_at", now())]);
                break Self::Update(row, new, slug, json);
            },
        }
    }

    /// The expected result of the function.
    pub(super) fn expected(&self, privileges: &Privileges) -> Result<(), String> {
        let reject = |state: &str| Err(state.to_owned());
        let may = |privilege, row: &Row| privileges.may(privilege, row);
        let reads = privileges.has(Privilege::Read, Template::Things);
        assert!(reads, "every login can read some things");
        match self {
            Self::Create(new) if may(Privilege::Create, new) => Ok(()),
            Self::Create(_) => reject("42501"),
            Self::Update(..) if !privileges.has(Privilege::Update, Template::Things) => reject("42501"),
            Self::Delete(_) if !privileges.has(Privilege::Delete, Template::Things) => reject("42501"),
            Self::Update(old, ..) | Self::Delete(old) if !old.live || !may(Privilege::Read, old) => {
                reject("P0002")
            }
            Self::Delete(old) if may(Privilege::Delete, old) => Ok(()),
            Self::Update(old, new, ..)
                if [old, new].iter().all(|row| may(Privilege::Update, row)) && may(Privilege::Read, new) =>
            {
                Ok(())
            }
            _ => reject("42501"),
        }
    }

    /// Attempts the change by function and by plain SQL, and rolls it back.
    pub(super) async fn check(
        &self,
        session: &Session,
        privileges: &Privileges<'_>,
        expected: &Result<(), String>,
    ) -> Result<(), String> {
        let (function, direct_sql, values) = self.statements();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let result = attempt(session, &function, &values).await.map(|_| ());
        if result != *expected {
            return Err(format!("`{function}` with {values:?} answered {result:?} and not {expected:?}"));
        }
        // Plain SQL hides the record or fails.
        let is_done = match attempt(session, &direct_sql, &values).await {
            Ok(rows) => rows == 1,
            Err(state) if state == "42501" => false,
            Err(state) => return Err(format!("`{direct_sql}` with {values:?} answered {state}")),
        };
        (is_done == (expected.is_ok() && self.is_deletable_by_direct_sql(privileges)))
            .then_some(())
            .ok_or_else(|| {
                format!("`{direct_sql}` with {values:?} is done: {is_done}, by function {expected:?}")
            })
    }

    /// PostgreSQL also checks the scope against the deleted row, whose times differ from the live one. This matters
    /// only for scopes on these times.
    fn is_deletable_by_direct_sql(&self, privileges: &Privileges) -> bool {
        let Self::Delete(old) = self else { return true };
        let mut dead = old.clone();
        dead.values.extend([("updated_at", now()), ("deleted_at", now())]);
        privileges.may(Privilege::Delete, &dead)
    }

    fn statements(&self) -> (String, String, Vec<String>) {
        match self {
            Self::Create(new) => {
                let plain = PLAIN.iter().filter_map(|(slug, _)| Some((*slug, new.values.get(slug)?)));
                let mut random = Random::new(1);
                let members = plain.map(|(slug, value)| (slug.to_owned(), write(value, &mut random)));
                let members: Vec<(String, String)> = members.collect();
                let json: Vec<String> =
                    members.iter().map(|(slug, json)| format!("\"{slug}\":{json}")).collect();
                let names: Vec<&str> = members.iter().map(|(slug, _)| slug.as_str()).collect();
                let values: Vec<String> = (2..members.len() + 2).map(|number| format!("${number}")).collect();
                let insert = if names.is_empty() {
                    "insert into p.things default values".to_owned()
                } else {
                    format!("insert into p.things ({}) values ({})", names.join(", "), values.join(", "))
                };
                let values = std::iter::once(format!("{{{}}}", json.join(",")));
                let values = values.chain(members.iter().map(|(_, json)| plain_text(json))).collect();
                ("select keyed.create_record('p.things', $1)".to_owned(), insert, values)
            }
            Self::Update(old, _, slug, json) => (
                "select keyed.patch_record($1, $2)".to_owned(),
                format!("update p.things set {slug} = $3 where id = $1"),
                vec![write_id(old.id), format!("{{\"attributes\":{{\"{slug}\":{json}}}}}"), plain_text(json)],
            ),
            Self::Delete(old) => (
                "select keyed.delete_record($1)".to_owned(),
                "update p.things set deleted_at = now() where id = $1".to_owned(),
                vec![write_id(old.id)],
            ),
        }
    }
}

/// A JSON value as an SQL parameter.
fn plain_text(json: &str) -> String {
    match serde_json::from_str(json) {
        Ok(Json::String(text)) => text,
        _ => json.to_owned(),
    }
}

fn now() -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    Value::Time(now.as_micros() as i64)
}

/// The number of rows that a statement wrote or returned, or its SQLSTATE; the statement is rolled back.
async fn attempt(session: &Session, statement: &str, values: &[&str]) -> Result<u64, String> {
    session.run("begin").await;
    let outcome = session.count(statement, values).await.map_err(|error| error.state);
    session.run("rollback").await;
    outcome
}
