//! Parses the object of a statement of the extension's SQL.

/// The prefix of operator classes in the syntax of DROP.
pub(crate) const OPERATOR_CLASS: &str = "operator class ";

/// The prefix of views in the syntax of DROP.
pub(crate) const VIEW: &str = "view ";

/// A statement, by its kind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Statement<'a> {
    /// `create function`.
    Function(Function<'a>),
    /// Creates an object that a change drops and re-creates: an event trigger, an operator class, a schema or a view.
    Object {
        /// Its type and name, in the syntax of DROP.
        name: String,
        /// The statement.
        sql: &'a str,
    },
    /// A repeatable statement on an object: COMMENT, GRANT or REVOKE.
    Remark(&'a str),
}

/// The declaration of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function<'a> {
    /// Its name, with the schema.
    pub(crate) name: String,
    /// The parts that CREATE OR REPLACE cannot change: arguments with defaults, and the result type.
    pub(crate) header: String,
    /// Its name and arguments, in the syntax of DROP FUNCTION.
    pub(crate) identity: String,
    /// The statement.
    pub(crate) sql: &'a str,
}

impl<'a> Statement<'a> {
    /// Parses a statement. The error names one that no update script supports.
    pub(crate) fn parse(sql: &'a str) -> Result<Self, String> {
        let words: Vec<&str> = sql.split_whitespace().take(4).collect();
        let starts = |requested: &[&str]| {
            words.len() >= requested.len()
                && words.iter().zip(requested).all(|(word, name)| word.eq_ignore_ascii_case(name))
        };
        if starts(&["create", "function"]) {
            return Function::parse(sql).map(Statement::Function).ok_or_else(|| unreadable(sql));
        }
        if starts(&["create", "event", "trigger"]) {
            return Ok(Statement::Object { name: format!("event trigger {}", words[3]), sql });
        }
        if starts(&["create", "operator", "class"]) {
            let method = sql.split_whitespace().skip_while(|word| !word.eq_ignore_ascii_case("using")).nth(1);
            let method = method.ok_or_else(|| unreadable(sql))?;
            return Ok(Statement::Object {
                name: format!("{OPERATOR_CLASS}{} using {method}", words[3]),
                sql,
            });
        }
        if starts(&["create", "view"]) {
            return Ok(Statement::Object { name: format!("{VIEW}{}", words[2]), sql });
        }
        if starts(&["create", "schema"]) {
            return Ok(Statement::Object { name: format!("schema {}", words[2]), sql });
        }
        if starts(&["comment", "on"]) || starts(&["grant"]) || starts(&["revoke"]) {
            return Ok(Statement::Remark(sql));
        }
        Err(unreadable(sql))
    }
}

fn unreadable(sql: &str) -> String {
    let first = sql.lines().next().unwrap_or_default();
    format!("update scripts do not support this statement: {first}")
}

impl<'a> Function<'a> {
    fn parse(sql: &'a str) -> Option<Self> {
        let open = sql.find('(')?;
        let close = open + closing(&sql[open..])?;
        let name = sql[..open].split_whitespace().nth(2)?.to_owned();
        let lower = sql.to_ascii_lowercase();
        let end = close + lower[close..].find("language ")?;
        let arguments: Vec<String> =
            split_arguments(&sql[open + 1..close]).into_iter().map(one_line).collect();
        let bare: Vec<&str> = arguments.iter().map(|argument| without_default(argument)).collect();
        Some(Function {
            identity: format!("{name}({})", bare.join(", ")),
            header: format!("{name}({}) {}", arguments.join(", "), one_line(&sql[close + 1..end])),
            name,
            sql,
        })
    }
}

/// The position of the matching closing parenthesis.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut is_quoted = false;
    text.char_indices().find_map(|(place, next)| {
        match next {
            '\'' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(place)
    })
}

fn split_arguments(text: &str) -> Vec<&str> {
    let (mut depth, mut is_quoted) = (0, false);
    let parts = text.split(|next: char| {
        match next {
            '\'' => is_quoted = !is_quoted,
            '(' | '[' if !is_quoted => depth += 1,
            ')' | ']' if !is_quoted => depth -= 1,
            _ => {}
        }
        next == ',' && depth == 0 && !is_quoted
    });
    parts.filter(|part| !part.trim().is_empty()).collect()
}

fn without_default(argument: &str) -> &str {
    argument.split(" default ").next().unwrap_or(argument)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_is_identified_by_its_arguments_without_defaults() {
        let sql = "create function keyed.f(a text,\n  b numeric(3, 1) default '1,2', \"c\" text[]) returns table (x int)\n  language c as 'L', 'f'";
        let Ok(Statement::Function(function)) = Statement::parse(sql) else { panic!("a function") };
        assert_eq!(function.name, "keyed.f");
        assert_eq!(function.identity, "keyed.f(a text, b numeric(3, 1), \"c\" text[])");
        assert_eq!(
            function.header,
            "keyed.f(a text, b numeric(3, 1) default '1,2', \"c\" text[]) returns table (x int)"
        );
        let none = Statement::parse("create function g() returns void language c as 'L', 'g'");
        assert!(matches!(none, Ok(Statement::Function(function)) if function.identity == "g()"));
    }

    #[test]
    fn object_has_the_name_of_its_drop_statement() {
        for (sql, expected) in [
            ("create event trigger e on ddl_command_start execute function f()", "event trigger e"),
            (
                "create operator class keyed.c for type text using gin as storage integer",
                "operator class keyed.c using gin",
            ),
            ("create schema keyed_http", "schema keyed_http"),
            ("create view keyed.v with (security_invoker = true) as select 1", "view keyed.v"),
        ] {
            assert!(
                matches!(Statement::parse(sql), Ok(Statement::Object { name, .. }) if name == expected),
                "{sql}"
            );
        }
        for remark in
            ["comment on schema a is 'x'", "grant usage on schema a to public", "REVOKE all ON b FROM c"]
        {
            assert_eq!(Statement::parse(remark), Ok(Statement::Remark(remark)));
        }
        for unknown in ["create table t (a int)", "select 1", "do $$ begin end $$"] {
            assert!(Statement::parse(unknown).is_err_and(|error| error.contains(unknown)), "{unknown}");
        }
    }
}
