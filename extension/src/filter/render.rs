//! Renders a filter to an SQL condition.
//!
//! Input of the client appears only in literals and quoted identifiers. Functions are schema-qualified. For readability, types
//! and operators are not: statements run with the search path pinned to `pg_catalog`, and policies and views are resolved
//! when they are created.

use super::Filter;
use super::arguments::Arguments;
use super::field::{Column, Step};
use super::predicate::{Bound, Predicate, Test};
use super::schema::Schema;
use super::sql::{AND, OR, Sql, inner_alias, live_and_visible};
use super::tree::Tree;
use crate::attribute_type::AttributeType;
use crate::value::collation::clause;
use crate::value::constant::{Constant, LAST_MICROSECOND, midnight_after};
use crate::value::pattern::{in_ascii, in_ascii_of_forms};
use crate::value::quote::{identifier, literal};
use crate::value::standard_column as column;
use std::cell::RefCell;

/// The length of the prefix of a string in its index; see [`crate::define::ddl::indexes`].
pub const INDEXED_CHARACTERS: usize = 200;

/// Selects live or deleted records. The column of the key depends on it, because deletion moves the key to another column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lives {
    /// Live records.
    #[default]
    Live,
    /// Deleted records.
    Deleted,
    /// Both. No index supports conditions on their keys.
    Any,
}

/// Options of rendering a filter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The records of the filtered table. Behind references, only live records count.
    pub lives: Lives,
    /// The current time in microseconds since 2000-01-01T00:00:00Z; `None` is the start of the transaction.
    pub now: Option<i64>,
    /// Whether the condition is evaluated on single rows, so that it need not match an index.
    pub one_by_one: bool,
    /// Whether conditions through references are rendered as sets of ids, as in views of earlier versions.
    pub as_sets: bool,
}

/// Renders the filter for a table with this alias. The result is in parentheses, or the constant `true` or `false`.
pub fn render(filter: &Filter, alias: &str, options: Options) -> String {
    Writer::new(filter, alias, options).filter(filter, alias)
}

/// Like [`render`], with the constants as arguments of the statement.
pub fn render_with(filter: &Filter, alias: &str, options: Options, arguments: Option<&Arguments>) -> String {
    Writer { arguments, ..Writer::new(filter, alias, options) }.filter(filter, alias)
}

/// Like [`render`], for a policy, which must not read other tables. Each subquery is replaced by a call of the function that
/// `name` returns for its number, and is returned in the list at that position.
pub fn render_apart(
    filter: &Filter,
    alias: &str,
    options: Options,
    name: &dyn Fn(usize) -> String,
) -> (String, Vec<String>) {
    let apart = Extracted { name, queries: RefCell::default() };
    let writer = Writer { apart: Some(&apart), ..Writer::new(filter, alias, options) };
    let condition = writer.filter(filter, alias);
    (condition, apart.queries.into_inner())
}

/// The number of conditions through references from which each is planned separately. A search of all join orders takes
/// seconds for fifty conditions, or longer with other collapse limits.
const MANY_PATHS: usize = 6;

/// Subqueries that were extracted from a condition.
struct Extracted<'a> {
    name: &'a dyn Fn(usize) -> String,
    queries: RefCell<Vec<String>>,
}

pub(super) struct Writer<'a> {
    /// The alias of the filtered table. Only its direct subqueries are extracted.
    root: &'a str,
    lives: Lives,
    time_zone: String,
    now: String,
    one_by_one: bool,
    has_many_paths: bool,
    as_sets: bool,
    apart: Option<&'a Extracted<'a>>,
    arguments: Option<&'a Arguments>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(filter: &Filter, root: &'a str, options: Options) -> Writer<'a> {
        let now = options.now.map(|at| Constant::instant(at).typed(""));
        Writer {
            root,
            lives: options.lives,
            time_zone: literal(&filter.time_zone),
            now: now.unwrap_or_else(|| "pg_catalog.now()".to_owned()),
            one_by_one: options.one_by_one,
            has_many_paths: filter.through_references() >= MANY_PATHS,
            as_sets: options.as_sets,
            apart: None,
            arguments: None,
        }
    }

    fn filter(&self, filter: &Filter, alias: &str) -> String {
        match &filter.tree {
            always if always.is_always() => "true".to_owned(),
            never if never.is_never() => "false".to_owned(),
            tree => format!("({})", self.tree(tree, alias).text),
        }
    }

    /// A subquery in a condition on the table with this alias, extracted if necessary.
    fn query(&self, query: String, alias: &str) -> String {
        let Some(apart) = self.apart.filter(|_| self.root == alias) else { return query };
        let mut queries = apart.queries.borrow_mut();
        queries.push(query);
        format!("select {}()", (apart.name)(queries.len() - 1))
    }

    fn tree(&self, tree: &Tree<Predicate>, alias: &str) -> Sql {
        match tree {
            Tree::All(parts) => Sql::chain(parts.iter().map(|part| self.tree(part, alias)), AND),
            Tree::Any(parts) => Sql::chain(parts.iter().map(|part| self.tree(part, alias)), OR),
            Tree::Not(part) => self.tree(part, alias).negated(),
            Tree::Leaf(predicate) => self.behind(&predicate.path, predicate, alias),
        }
    }

    /// The condition only on the column, of the record at the end of the path.
    pub(super) fn column_text(&self, predicate: &Predicate, alias: &str) -> String {
        self.column_test(&predicate.test, &predicate.column, alias).text
    }

    /// A condition through references: normally a correlated subquery, which the planner can turn into a join. For a
    /// policy, and for many such conditions, it is an uncorrelated set of ids.
    fn behind(&self, path: &[Step], predicate: &Predicate, alias: &str) -> Sql {
        let test = || self.column_test(&predicate.test, &predicate.column, alias);
        let Some((step, additional)) = path.split_first() else { return test() };
        let inner = &inner_alias(alias);
        let reference = format!("{alias}.{}", identifier(&step.slug));
        let is_apart = self.as_sets || self.apart.is_some() && self.root == alias;
        let is_set = is_apart || self.has_many_paths && !self.one_by_one;
        let referred = (!is_set).then(|| Sql::single(format!("{inner}.id = {reference}")));
        let mut parts: Vec<Sql> =
            referred.into_iter().chain(live_and_visible(&*step.target, inner)).collect();
        if !(additional.is_empty() && matches!(predicate.test, Test::Exists)) {
            parts.push(self.behind(additional, predicate, inner));
        }
        let (table, condition) = (step.target.table(), Sql::chain(parts, AND).text);
        let barrier = if self.has_many_paths { " offset 0" } else { "" };
        let rows = format!("from {table} {inner} where {condition}{barrier}");
        if !is_set {
            return Sql::exists(format!("select {rows}"));
        }
        Sql::single(format!("{reference} in ({})", self.query(format!("select {inner}.id {rows}"), alias)))
    }

    fn column_test(&self, test: &Test, column: &Column, alias: &str) -> Sql {
        let name = self.name(column, alias);
        match test {
            Test::OneOf(constants) => self.one_of(constants, column, &name),
            Test::HoldsKey(keys, target) => self.holds_key(keys, &**target, &name, alias),
            Test::Like { pattern, ignores_case } => {
                let is_indexed =
                    !self.one_by_one && matches!(column, Column::Attribute { indexed: true, .. });
                Sql::single(like(&name, &[pattern], *ignores_case, is_indexed, |text| self.text(text)))
            }
            Test::Within { lower, upper } => {
                let lower = lower.as_ref().map(|bound| self.bound(&name, '>', bound));
                Sql::chain(
                    lower.into_iter().chain(upper.as_ref().map(|bound| self.bound(&name, '<', bound))),
                    AND,
                )
            }
            Test::Today => self.today(column, &name),
            Test::Empty => self.empty(column, &name),
            Test::NotEmpty => Sql::single(match column.kind() {
                AttributeType::String if *column != Column::ExternalKey => format!("{name} <> ''"),
                AttributeType::List => format!("{name} <> '{{}}'::text[]"),
                _ => format!("{name} is not null"),
            }),
            Test::Exists => Sql::single(format!("{name} is not null")),
            Test::AnyOf(tests) => match forms(tests) {
                Some((forms, ignores_case)) => {
                    Sql::single(like(&name, &forms, ignores_case, false, |text| self.text(text)))
                }
                None => Sql::chain(tests.iter().map(|test| self.column_test(test, column, alias)), OR),
            },
        }
    }

    fn name(&self, column: &Column, alias: &str) -> String {
        let released = format!("{alias}.{}", column::RELEASED_KEY);
        match (column, self.lives) {
            (Column::ExternalKey, Lives::Deleted) if alias == self.root => released,
            (Column::ExternalKey, Lives::Any) if alias == self.root => {
                format!("coalesce({}, {released})", column.sql(alias))
            }
            _ => column.sql(alias),
        }
    }

    fn one_of(&self, constants: &[Constant], column: &Column, name: &str) -> Sql {
        if column.kind() == AttributeType::List {
            return Sql::single(format!("{name} && {}", self.array(constants, column)));
        }
        let Some(prefix) = self.indexed_prefix(column, name) else {
            return Sql::single(self.equals_one_of(constants, column, name));
        };
        // The index contains prefixes of strings. For a shorter text, the prefix is the whole text. A second comparison
        // would make the planner underestimate the number of rows, because it assumes independent conditions.
        let beginnings: Vec<Constant> = constants.iter().map(|it| it.beginning(INDEXED_CHARACTERS)).collect();
        let by_index = Sql::single(self.equals_one_of(&beginnings, column, &prefix));
        let is_whole = |constant: &Constant| match constant {
            Constant::Text(text) => text.chars().count() < INDEXED_CHARACTERS,
            _ => true,
        };
        if constants.iter().all(is_whole) {
            return by_index;
        }
        Sql::chain([by_index, Sql::single(self.equals_one_of(constants, column, name))], AND)
    }

    fn equals_one_of(&self, constants: &[Constant], column: &Column, name: &str) -> String {
        match constants {
            [constant] => format!("{name} = {}", self.constant(constant)),
            many => format!("{name} = any ({})", self.array(many, column)),
        }
    }

    fn text(&self, text: &str) -> String {
        self.arguments.map_or_else(|| literal(text), |arguments| arguments.text(text))
    }

    fn constant(&self, constant: &Constant) -> String {
        let parameter = self.arguments.and_then(|arguments| arguments.constant(constant));
        parameter.unwrap_or_else(|| constant.typed(&self.time_zone))
    }

    fn array(&self, constants: &[Constant], column: &Column) -> String {
        let parameter = self.arguments.and_then(|it| it.constants(constants, column.value_type()));
        if let Some(parameter) = parameter {
            return parameter;
        }
        let literals: Vec<String> =
            constants.iter().map(|constant| constant.untyped(&self.time_zone)).collect();
        format!("array[{}]::{}[]", literals.join(", "), column.value_type())
    }

    fn bound(&self, name: &str, direction: char, bound: &Bound) -> Sql {
        let equal = if bound.included { "=" } else { "" };
        Sql::single(format!("{name} {direction}{equal} {}", self.constant(&bound.at)))
    }

    fn today(&self, column: &Column, name: &str) -> Sql {
        let (now, zone) = (&self.now, &self.time_zone);
        let today = format!("({now} at time zone {zone})::date");
        if column.kind() == AttributeType::Date {
            return Sql::single(format!("{name} = {today}"));
        }
        // Range comparisons leave the column bare, so that they can use its index.
        let after = |moment: &str| midnight_after(&format!("({today} + '{moment}'::interval)"), zone);
        let from = Sql::single(format!("{name} >= {}", after("-0.000001 s")));
        let to = Sql::single(format!("{name} < {}", after(LAST_MICROSECOND)));
        Sql::chain([from, to], AND)
    }

    /// A condition on the keys of referenced records. The array subquery runs once as an init plan, so the index of the column
    /// can evaluate the condition anywhere. It could not evaluate `in (select …)` inside `or`.
    fn holds_key(&self, keys: &[String], target: &dyn Schema, name: &str, alias: &str) -> Sql {
        let inner = &inner_alias(alias);
        let keys: Vec<Constant> = keys.iter().cloned().map(Constant::Text).collect();
        let key = Column::ExternalKey;
        let holds = self.equals_one_of(&keys, &key, &key.sql(inner));
        let parts = std::iter::once(Sql::single(holds)).chain(live_and_visible(target, inner));
        let (table, condition) = (target.table(), Sql::chain(parts, AND).text);
        let query = format!("select {inner}.id from {table} {inner} where {condition}");
        Sql::single(format!("{name} = any (array({}))", self.query(query, alias)))
    }

    /// The test for null or empty. It can use the index of a string attribute too, because the prefix of null or an empty
    /// text is the same.
    fn empty(&self, column: &Column, name: &str) -> Sql {
        let compared = self.indexed_prefix(column, name);
        let compared = compared.as_deref().unwrap_or(name);
        let is_null = Sql::single(format!("{compared} is null"));
        match column.kind() {
            AttributeType::String if *column != Column::ExternalKey => {
                Sql::chain([is_null, Sql::single(format!("{compared} = ''"))], OR)
            }
            AttributeType::List => {
                Sql::chain([is_null, Sql::single(format!("{compared} = '{{}}'::text[]"))], OR)
            }
            _ => is_null,
        }
    }

    /// The expression of a string index, with the collation of the index, without which the planner would not use it. All
    /// collations give the same result, because they are deterministic.
    fn indexed_prefix(&self, column: &Column, name: &str) -> Option<String> {
        match column {
            Column::Attribute { kind: AttributeType::String, indexed: true, collations, .. }
                if !self.one_by_one =>
            {
                let collation = clause(&collations.index);
                Some(format!("pg_catalog.left({name}, {INDEXED_CHARACTERS}){collation}"))
            }
            _ => None,
        }
    }
}

/// The patterns and the case sensitivity, if all tests are LIKE tests.
fn forms(tests: &[Test]) -> Option<(Vec<&str>, bool)> {
    let pattern = |test| match test {
        &Test::Like { ref pattern, ignores_case } => Some((pattern.as_str(), ignores_case)),
        _ => None,
    };
    let forms: Vec<(&str, bool)> = tests.iter().map(pattern).collect::<Option<_>>()?;
    let &(_, ignores_case) = forms.first()?;
    Some((forms.into_iter().map(|(pattern, _)| pattern).collect(), ignores_case))
}

/// Matches a column with one of the normalization forms of a pattern. `text` renders a constant.
///
/// Case folding dominates the cost of a comparison, and each form needs one. Without an index, a coarser ASCII comparison runs
/// first, which costs half as much and excludes most rows. The form `nullif(…) is not null` hides its selectivity from the
/// planner, which would assume independence, and `is true` preserves the evaluation order.
fn like(
    name: &str,
    forms: &[&str],
    ignores_case: bool,
    is_indexed: bool,
    text: impl Fn(&str) -> String,
) -> String {
    let operator = if ignores_case { "ilike" } else { "like" };
    let each: Vec<String> = forms.iter().map(|form| format!("{name} {operator} {}", text(form))).collect();
    let (whole, coarse) = match forms {
        [form] => (each.join(OR), in_ascii(form).filter(|_| ignores_case && !is_indexed)),
        _ => (format!("({})", each.join(OR)), forms.first().and_then(|form| in_ascii_of_forms(form))),
    };
    match coarse {
        Some(coarse) => format!(
            "(nullif({name} collate \"C\" {operator} {}, false) is not null and {whole}) is true",
            text(&coarse)
        ),
        None => whole,
    }
}
