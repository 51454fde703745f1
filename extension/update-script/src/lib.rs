//! Generates the script of `ALTER EXTENSION keyed UPDATE` from the install scripts of the old and the new version. After the
//! update, the extension has the same objects as a new installation. Functions keep their OIDs if CREATE OR REPLACE can change
//! them, so policies, triggers and prepared statements remain valid.

/// Objects of statements.
mod object;
/// Splits scripts into statements.
mod statement;

use object::{Function, OPERATOR_CLASS, Statement, VIEW};
use std::collections::HashSet;

/// A function that every script replaces, so that the invalidation notifies sessions of the update.
const MARKER: &str = "keyed.library_version";

/// Generates the script from one version to another. The error names a change that no script can make.
pub fn update_script(from: &str, old: &str, to: &str, new: &str) -> Result<String, String> {
    let (old, new) = (parse(old)?, parse(new)?);
    let dropped = dropped(&old, &new);
    if let Some(class) = dropped.iter().find(|identity| identity.starts_with(OPERATOR_CLASS)) {
        return Err(format!("existing indexes depend on {class}: keep it and its functions"));
    }
    reject_removed_remarks(&old, &new, &dropped)?;
    let mut script = beginning(from, to);
    for statement in old.iter().rev().filter(|statement| dropped.contains(&statement.identity())) {
        script.push_str(&format!("drop {};\n", statement.identity()));
    }
    let kept: HashSet<&str> = old.iter().map(Statement::sql).collect();
    for statement in &new {
        let is_kept = |identity: &str| {
            !dropped.contains(identity) && old.iter().any(|before| before.identity() == identity)
        };
        let sql = statement.sql();
        match statement {
            Statement::Function(function) if is_kept(&statement.identity()) => {
                if !kept.contains(sql) || function.name == MARKER {
                    script.push_str(&format!("\ncreate or replace{};\n", &sql["create".len()..]));
                }
            }
            Statement::Function(_) => script.push_str(&format!("\n{sql};\n")),
            Statement::Object { .. } if is_kept(&statement.identity()) => {}
            Statement::Object { .. } => script.push_str(&format!("\n{sql};\n")),
            Statement::Remark(remark) => {
                if !kept.contains(sql) || dropped.iter().any(|identity| is_about(remark, identity)) {
                    script.push_str(&format!("{sql};\n"));
                }
            }
        }
    }
    Ok(script)
}

fn parse(script: &str) -> Result<Vec<Statement<'_>>, String> {
    statement::split(script).into_iter().map(Statement::parse).collect()
}

/// Rejects a session with an older library, which would fail at the first new function with a message about a symbol. A newer
/// library has all symbols, and is loaded if the update runs scripts of several releases.
fn beginning(from: &str, to: &str) -> String {
    // Pre-releases such as 0.2.0-rc.1 have the symbols of 0.2.0.
    let released = to.split('-').next().unwrap_or(to);
    format!(
        "-- Written by .dev/update-scripts from the SQL of keyed {from} and {to}.\n\
         \\echo Use \"ALTER EXTENSION keyed UPDATE TO '{to}'\" to load this file. \\quit\n\n\
         do $$\n  begin\n    if string_to_array(split_part(keyed.library_version(), '-', 1), '.')::integer[] < string_to_array('{released}', '.')::integer[] then\n      \
         raise object_not_in_prerequisite_state using\n        \
         message = format('this session has loaded the library of keyed %s, but the update is to {to}', keyed.library_version()),\n        \
         hint = 'Connect again, then run ALTER EXTENSION keyed UPDATE.';\n    end if;\n  end\n$$;\n\n"
    )
}

/// The objects to drop, in the syntax of DROP: removed ones, those that CREATE OR REPLACE cannot change, and their dependents.
fn dropped(old: &[Statement<'_>], new: &[Statement<'_>]) -> HashSet<String> {
    let stays = |before: &Statement<'_>| match before {
        Statement::Remark(_) => true,
        Statement::Object { sql, .. } => new.iter().any(|after| after.sql() == *sql),
        Statement::Function(before) => new.iter().any(|after| match after {
            Statement::Function(after) => after.header == before.header,
            Statement::Object { .. } | Statement::Remark(_) => false,
        }),
    };
    let mut dropped: Vec<&Statement<'_>> = old.iter().filter(|before| !stays(before)).collect();
    loop {
        let depends = |one: &Statement<'_>| dropped.iter().any(|other| other.is_used_by(one));
        let next = old.iter().find(|one| !dropped.contains(one) && depends(one));
        match next {
            Some(next) => dropped.push(next),
            None => return dropped.iter().map(|statement| statement.identity()).collect(),
        }
    }
}

/// Rejects the removal of a COMMENT, GRANT or REVOKE on an object that remains, because existing databases would keep its
/// effect.
fn reject_removed_remarks(
    old: &[Statement<'_>],
    new: &[Statement<'_>],
    dropped: &HashSet<String>,
) -> Result<(), String> {
    for statement in old {
        let Statement::Remark(remark) = statement else { continue };
        let is_replaced = new.iter().any(|after| match after {
            Statement::Remark(after) => {
                after == remark || is_comment(remark) && subject(after) == subject(remark)
            }
            Statement::Function(_) | Statement::Object { .. } => false,
        });
        if !is_replaced && !dropped.iter().any(|identity| is_about(remark, identity)) {
            return Err(format!("reverse this statement instead of removing it: {remark}"));
        }
    }
    Ok(())
}

fn is_comment(remark: &str) -> bool {
    remark.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("comment"))
}

/// The object of a comment.
fn subject(comment: &str) -> &str {
    comment.split(" is").next().unwrap_or(comment)
}

/// Whether a remark belongs to an object. A remark on a function matches all overloads, and a remark on a view includes its
/// columns.
fn is_about(remark: &str, identity: &str) -> bool {
    if let Some(view) = identity.strip_prefix(VIEW) {
        let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        return remark.match_indices(view).any(|(place, _)| ends(&remark[place + view.len()..]));
    }
    let name = identity.split('(').next().unwrap_or(identity);
    match identity.contains('(') {
        true => remark.contains(&format!("{name}(")),
        false => subject(remark).ends_with(name),
    }
}

impl Statement<'_> {
    fn sql(&self) -> &str {
        match self {
            Statement::Function(Function { sql, .. }) | Statement::Object { sql, .. } => sql,
            Statement::Remark(sql) => sql,
        }
    }

    /// The object in the syntax of DROP; empty for a remark.
    fn identity(&self) -> String {
        match self {
            Statement::Function(function) => format!("function {}", function.identity),
            Statement::Object { name, .. } => name.clone(),
            Statement::Remark(_) => String::new(),
        }
    }

    /// Whether the other object depends on it.
    fn is_used_by(&self, other: &Statement<'_>) -> bool {
        let Statement::Function(function) = self else { return false };
        if other.identity().starts_with(VIEW) {
            return other.sql().contains(&format!("{}(", function.name));
        }
        let sql = other.sql();
        match other {
            Statement::Function(_) => {
                sql.contains(&format!("support {} ", function.name))
                    || sql.contains("begin atomic") && sql.contains(&format!("{}(", function.name))
            }
            Statement::Object { .. } => sql.contains(&function.name),
            Statement::Remark(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "
        create schema keyed_http;
        create function keyed.library_version() returns text language c as 'L', 'v';
        create function keyed.same(a int) returns int language c as 'L', 's';
        comment on function keyed.same(int) is 'The same.';
        create function keyed.body(a int) returns int language c volatile as 'L', 'b';
        create function keyed.result() returns int language c as 'L', 'r';
        comment on function keyed.result() is 'A result.';
        create function keyed.asks() returns int language sql begin atomic select keyed.result(); end;
        create function keyed.gone(a int default 1, b text default 'x') returns int language c as 'L', 'g';
        revoke execute on function keyed.gone(int, text) from public;";
    const NEW: &str = "
        create schema keyed_http;
        create function keyed.library_version() returns text language c as 'L', 'v';
        create function keyed.same(a int) returns int language c as 'L', 's';
        comment on function keyed.same(int) is 'Still the same.';
        create function keyed.body(a int) returns int language c stable as 'L', 'b';
        create function keyed.result() returns text language c as 'L', 'r';
        comment on function keyed.result() is 'A result.';
        create function keyed.asks() returns int language sql begin atomic select keyed.result(); end;
        create function keyed.added() returns int language c as 'L', 'a';";

    fn statements(script: &str) -> Vec<String> {
        let all = statement::split(script.split("$$;").nth(1).unwrap_or_default());
        all.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn only_changed_objects_are_dropped_replaced_or_added() {
        let script = update_script("0.1.0", OLD, "0.2.0", NEW).expect("a script");
        assert_eq!(
            statements(&script),
            [
                "drop function keyed.gone(a int, b text)",
                "drop function keyed.asks()",
                "drop function keyed.result()",
                "create or replace function keyed.library_version() returns text language c as 'L', 'v'",
                "comment on function keyed.same(int) is 'Still the same.'",
                "create or replace function keyed.body(a int) returns int language c stable as 'L', 'b'",
                "create function keyed.result() returns text language c as 'L', 'r'",
                "comment on function keyed.result() is 'A result.'",
                "create function keyed.asks() returns int language sql begin atomic select keyed.result(); end",
                "create function keyed.added() returns int language c as 'L', 'a'",
            ]
        );
        assert!(script.contains("< string_to_array('0.2.0', '.')"), "{script}");
        let candidate = update_script("0.1.0", OLD, "0.2.0-rc.1", NEW).expect("a script");
        assert!(candidate.contains("< string_to_array('0.2.0', '.')"), "{candidate}");
    }

    #[test]
    fn update_between_equal_versions_replaces_only_the_marker() {
        let script = update_script("0.1.0", OLD, "0.1.1", OLD).expect("a script");
        assert_eq!(statements(&script).len(), 1, "{script}");
    }

    #[test]
    fn view_is_recreated_with_a_function_that_it_uses() {
        let view = "create view keyed.v as select r from keyed.result() r;
                    comment on view keyed.v is 'A view.'; comment on column keyed.v.r is 'A column.';
                    grant select on keyed.v to public;
                    create view keyed.v_2 as select 1 as one; comment on view keyed.v_2 is 'Another.';";
        let with_view = format!("{OLD}{view}");
        let script = update_script("0.1.0", &with_view, "0.1.1", &with_view).expect("a script");
        assert_eq!(statements(&script).len(), 1, "{script}");
        let made = [
            "create view keyed.v as select r from keyed.result() r",
            "comment on view keyed.v is 'A view.'",
            "comment on column keyed.v.r is 'A column.'",
            "grant select on keyed.v to public",
        ];
        let changed = statements_of(&with_view, &format!("{NEW}{view}"));
        assert!(changed.starts_with(&["drop view keyed.v".to_owned()]), "{changed:?}");
        assert!(changed.ends_with(&made.map(str::to_owned)), "{changed:?}");
        let added = statements_of(OLD, &with_view);
        assert_eq!(added.len(), 7, "{added:?}");
    }

    fn statements_of(old: &str, new: &str) -> Vec<String> {
        statements(&update_script("0.1.0", old, "0.2.0", new).expect("a script"))
    }

    #[test]
    fn change_that_a_script_cannot_apply_is_rejected() {
        let without_comment = OLD.replace("comment on function keyed.same(int) is 'The same.';", "");
        let rejected = update_script("0.1.0", OLD, "0.2.0", &without_comment).expect_err("a comment is gone");
        assert!(rejected.contains("keyed.same(int)"), "{rejected}");
        let granted = format!("{OLD} grant execute on function keyed.same(int) to public;");
        assert!(update_script("0.1.0", &granted, "0.2.0", OLD).is_err());
        assert!(update_script("0.1.0", OLD, "0.2.0", "create table t (a int);").is_err());
        let class = "create operator class keyed.c for type text using gin as function 1 keyed.same (int);";
        let with_class = format!("{OLD}{class}");
        assert!(update_script("0.1.0", &with_class, "0.2.0", &with_class).is_ok());
        let other = with_class.replace("keyed.same(a int)", "keyed.same(b int)");
        let rejected =
            update_script("0.1.0", &with_class, "0.2.0", &other).expect_err("its function changes");
        assert!(rejected.contains("operator class keyed.c"), "{rejected}");
    }
}
