//! Checks conditions against a template: fields, operators, and types of values.

use super::Filter;
use super::constant;
use super::field::{self, Column, Field, Step};
use super::operand;
use super::operator::{Case, Comparison, MatchPosition, Operator};
use super::parse::Condition;
use super::predicate::{Point, Predicate, Test};
use super::schema::{AttributeKey, Schema};
use super::tree::Tree;
use super::violations::Violations;
use crate::error::{Code, Error};
use crate::value::constant::Constant;
use crate::value::normal_form;
use crate::value::operand::{Meaning, Operand, quoted};
use std::cell::Cell;

/// The maximum number of characters of a pattern.
pub const MAX_PATTERN: usize = 255;

/// The maximum number of characters of all patterns in a filter.
pub const MAX_PATTERNS: usize = 2000;

/// Settings of a request that apply to all its conditions.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// How attributes are named.
    pub attribute_key: AttributeKey,
    /// The time zone of days, which is a valid name in PostgreSQL.
    pub time_zone: &'a str,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Settings { attribute_key: AttributeKey::default(), time_zone: "UTC" }
    }
}

/// Checks conditions against a template. All errors are reported together.
pub fn check(conditions: &Tree<Condition>, schema: &dyn Schema, settings: Settings) -> Result<Filter, Error> {
    let mut checker =
        Checker { schema, settings, violations: Violations::default(), pattern_length: Cell::default() };
    let tree = checker.tree(conditions);
    checker.violations.or(Filter { tree, template: schema.id(), time_zone: settings.time_zone.to_owned() })
}

/// The normalization forms of a string in a column. Keys are compared byte by byte.
fn forms(column: &Column, text: String) -> Vec<String> {
    if *column == Column::ExternalKey { vec![text] } else { normal_form::forms(&text) }
}

struct Checker<'a> {
    schema: &'a dyn Schema,
    settings: Settings<'a>,
    violations: Violations,
    /// The total length of all patterns.
    pattern_length: Cell<usize>,
}

impl Checker<'_> {
    /// Limits the length of patterns. A search for a long pattern in a long text can take minutes, and PostgreSQL does not
    /// check for interrupts during it. A prefix is compared only once, so its length is not limited.
    fn check_pattern(
        &self,
        operator: Operator,
        place: MatchPosition,
        text: &str,
        pointer: &str,
    ) -> Result<(), Error> {
        if place == MatchPosition::Beginning {
            return Ok(());
        }
        let length = text.chars().count();
        self.pattern_length.set(self.pattern_length.get() + length);
        let message = if length > MAX_PATTERN {
            format!("{} takes at most {MAX_PATTERN} characters", operator.name())
        } else if self.pattern_length.get() > MAX_PATTERNS {
            format!("the patterns of a filter have more than {MAX_PATTERNS} characters in total")
        } else {
            return Ok(());
        };
        Err(Error::at(Code::InvalidValue, pointer, message)
            .hint("Use eq for complete values, or starts-with for prefixes."))
    }

    fn tree(&mut self, conditions: &Tree<Condition>) -> Tree<Predicate> {
        match conditions {
            Tree::All(parts) => Tree::all(parts.iter().map(|part| self.tree(part)).collect::<Vec<_>>()),
            Tree::Any(parts) => Tree::any(parts.iter().map(|part| self.tree(part)).collect::<Vec<_>>()),
            Tree::Not(part) => self.tree(part).negated(),
            // The error is recorded, so the placeholder is never used.
            Tree::Leaf(condition) => self.condition(condition).unwrap_or_else(Tree::never),
        }
    }

    fn condition(&mut self, condition: &Condition) -> Option<Tree<Predicate>> {
        let place = format!("{}/field", condition.pointer);
        let key = self.settings.attribute_key;
        let (path, field) = self.violations.keep(field::find(self.schema, key, &condition.field, &place))?;
        let operator = self.violations.keep(accepted(condition, &field))?;
        let tree = match field {
            Field::Column(column) => self.on_column(condition, operator, path, column)?,
            constant => self.on_template(condition, operator, path, &constant)?,
        };
        Some(if operator.is_negative() { tree.negated() } else { tree })
    }

    /// The positive form of a condition on a column.
    fn on_column(
        &mut self,
        condition: &Condition,
        operator: Operator,
        path: Vec<Step>,
        column: Column,
    ) -> Option<Tree<Predicate>> {
        let (value, pointer) = (condition.value, condition.pointer.as_str());
        let test = match operator.comparison() {
            Comparison::Empty => {
                self.violations.keep(operand::none_or_text(value, pointer))?;
                return Some(emptiness(true, operator, path, column));
            }
            Comparison::NotEmpty => {
                self.violations.keep(operand::none_or_text(value, pointer))?;
                return Some(emptiness(false, operator, path, column));
            }
            Comparison::Today => {
                self.violations.keep(operand::none(value, pointer))?;
                Test::Today
            }
            Comparison::Text(place, case) => {
                let operand = self.violations.keep(operand::single(value, pointer))?;
                let text = self.violations.keep(constant::text(&operand))?;
                self.violations.keep(self.check_pattern(operator, place, &text, &operand.pointer))?;
                let like = |text: String| Test::Like {
                    pattern: place.pattern(&text),
                    ignores_case: case == Case::Ignored,
                };
                let tests = forms(&column, text).into_iter().map(like);
                let is_indexed = path.is_empty() && matches!(column, Column::Attribute { indexed: true, .. });
                let leaf = |test| {
                    Tree::Leaf(Predicate { path: path.clone(), column: column.clone(), operator, test })
                };
                // An index scan needs separate patterns. Without an index, all patterns form one comparison.
                return Some(match (is_indexed || tests.len() == 1, tests) {
                    (true, tests) => Tree::any(tests.map(leaf)),
                    (false, tests) => leaf(Test::AnyOf(tests.collect())),
                });
            }
            Comparison::Value => {
                let operand = self.violations.keep(operand::single(value, pointer))?;
                self.one_of(&path, &column, &[operand])?
            }
            Comparison::Values => {
                let operands = self.violations.keep(operand::list(value, pointer))?;
                self.one_of(&path, &column, &operands)?
            }
            Comparison::Between => {
                let ends = self.violations.keep(operand::pair(value, pointer))?;
                let [from, to] = ends.map(|end| self.violations.keep(constant::point(&column, &end)));
                let (from, to) = (from?, to?);
                Test::Within { lower: Some(from.from()), upper: Some(to.to()) }
            }
            Comparison::After => {
                Test::Within { lower: Some(self.point(condition, &column)?.after()), upper: None }
            }
            Comparison::From => {
                Test::Within { lower: Some(self.point(condition, &column)?.from()), upper: None }
            }
            Comparison::Before => {
                Test::Within { lower: None, upper: Some(self.point(condition, &column)?.before()) }
            }
            Comparison::To => Test::Within { lower: None, upper: Some(self.point(condition, &column)?.to()) },
        };
        let is_impossible = matches!(&test, Test::AnyOf(tests) if tests.is_empty());
        let leaf = Tree::Leaf(Predicate { path, column, operator, test });
        Some(if is_impossible { Tree::never() } else { leaf })
    }

    /// The bound of a range that is open on the other side.
    fn point(&mut self, condition: &Condition, column: &Column) -> Option<Point> {
        let operand = self.violations.keep(operand::single(condition.value, &condition.pointer))?;
        self.violations.keep(constant::point(column, &operand))
    }

    /// The test of `eq` and `in`.
    fn one_of(&mut self, path: &[Step], column: &Column, operands: &[Operand]) -> Option<Test> {
        let owner = field::owner(self.schema, path);
        let own = match column {
            Column::Attribute { id, .. } => owner.attributes().find(|attribute| attribute.id == *id),
            _ => None,
        };
        let options = own.and_then(|attribute| attribute.options);
        let read = operands.iter().map(|operand| constant::read(column, options, operand));
        let (mut constants, mut days, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        for meaning in self.violations.keep_all(read)? {
            match meaning {
                Meaning::Constant(Constant::Text(text)) => {
                    constants.extend(forms(column, text).into_iter().map(Constant::Text));
                }
                Meaning::Constant(constant) => constants.push(constant),
                Meaning::Day(day) => days.push(day),
                Meaning::Key(key) => keys.push(key),
            }
        }
        let mut tests = Vec::new();
        if !constants.is_empty() {
            tests.push(Test::OneOf(constants));
        }
        tests.extend(days.into_iter().map(|day| Test::Within {
            lower: Some(Point::Day(day).from()),
            upper: Some(Point::Day(day).to()),
        }));
        // Keys of an invisible template match no record.
        let target = own.filter(|_| !keys.is_empty()).and_then(|attribute| owner.target(attribute.id));
        tests.extend(target.map(|target| Test::HoldsKey(keys, target)));
        Some(if tests.len() == 1 { tests.swap_remove(0) } else { Test::AnyOf(tests) })
    }

    /// The positive form of a condition on the template itself. Its value is known now. Behind references, it also requires
    /// that the referenced record exists.
    fn on_template(
        &mut self,
        condition: &Condition,
        operator: Operator,
        path: Vec<Step>,
        field: &Field,
    ) -> Option<Tree<Predicate>> {
        let (value, place) = (condition.value, condition.pointer.as_str());
        let operands = match operator.comparison() {
            Comparison::Value => operand::single(value, place).map(|operand| vec![operand]),
            _ => operand::list(value, place),
        };
        let owner = field::owner(self.schema, &path);
        let operands = self.violations.keep(operands)?;
        let matches = operands.iter().map(|operand| match field {
            Field::TemplateId => Ok(constant::template_id(operand)? == owner.id().to_string()),
            _ => Ok(constant::text(operand)? == owner.slug()),
        });
        let holds = self.violations.keep_all(matches)?.contains(&true);
        Some(match (holds, path.is_empty()) {
            (false, _) => Tree::never(),
            (true, true) => Tree::always(),
            (true, false) => Tree::Leaf(Predicate { path, column: Column::Id, operator, test: Test::Exists }),
        })
    }
}

/// The operator of a condition, if it applies to the field.
fn accepted(condition: &Condition, field: &Field) -> Result<Operator, Error> {
    let family = field.family();
    match Operator::parse(&condition.operator) {
        Some(operator) if operator.applies_to(family) => Ok(operator),
        _ => {
            let message = format!(
                "{} cannot be used with {} ({}), which takes {}",
                quoted(&condition.operator),
                quoted(&condition.field),
                field.type_name(),
                Operator::names_for(family).join(", ")
            );
            Err(Error::at(Code::OperatorNotAllowed, format!("{}/operator", condition.pointer), message))
        }
    }
}

/// The tree of `empty` and `not-empty`. Behind a reference to no record there is no value, so `empty` is the negation of
/// `not-empty`.
fn emptiness(is_empty: bool, operator: Operator, path: Vec<Step>, column: Column) -> Tree<Predicate> {
    if path.is_empty() {
        // Every record has an id.
        return match (column, is_empty) {
            (Column::Id, true) => Tree::never(),
            (Column::Id, false) => Tree::always(),
            (column, true) => Tree::Leaf(Predicate { path, column, operator, test: Test::Empty }),
            (column, false) => Tree::Leaf(Predicate { path, column, operator, test: Test::NotEmpty }),
        };
    }
    let test = if column == Column::Id { Test::Exists } else { Test::NotEmpty };
    let has_value = Tree::Leaf(Predicate { path, column, operator, test });
    if is_empty { has_value.negated() } else { has_value }
}
