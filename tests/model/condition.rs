//! Random conditions, as JSON and evaluated in memory.

use super::operand::{Operand, many, operand, single};
use super::random::Random;
use super::time::{ZONES, Zone};
use super::values::{Kind, Value};
use super::world::{Row, STANDARD, Template, World};
use serde_json::json;
use std::cmp::Ordering;

/// A condition, or combined conditions.
pub(crate) enum Tree {
    All(Vec<Tree>),
    Any(Vec<Tree>),
    Not(Box<Tree>),
    Leaf(Condition),
}

pub(crate) struct Condition {
    path: Vec<&'static str>,
    field: &'static str,
    kind: Kind,
    operator: &'static str,
    operands: Vec<Operand>,
    json: String,
}

/// The settings that all conditions of a search share.
pub(crate) struct Setting {
    pub(crate) zone: &'static Zone,
    pub(crate) by_number: bool,
    /// Whether conditions use only standard fields, which every template has.
    pub(crate) standard_only: bool,
    /// The template whose records are searched.
    pub(crate) template: Template,
}

impl Setting {
    pub(crate) fn random(random: &mut Random) -> Self {
        let (zone, by_number) = (random.pick(&ZONES), random.one_in(4));
        Self { zone, by_number, standard_only: false, template: Template::Things }
    }
}

/// A field with the path of references that leads to it, and its template.
pub(crate) struct Place {
    pub(crate) path: Vec<&'static str>,
    pub(crate) field: &'static str,
    pub(crate) kind: Kind,
    pub(crate) owner: Template,
    /// The name of the field in a request.
    pub(crate) name: String,
}

impl Place {
    pub(crate) fn random(world: &World, setting: &Setting, random: &mut Random) -> Self {
        let (mut owner, mut path, mut names) = (setting.template, Vec::new(), Vec::new());
        let name = |owner, slug: &str| match world.number(owner, slug) {
            Some(number) if setting.by_number && slug != "template_id" => number.to_owned(),
            _ => slug.to_owned(),
        };
        let steps = *random.pick(&[0, 0, 0, 1, 1, 2, 3]);
        for _ in 0..if setting.standard_only { 0 } else { steps } {
            let &(slug, target) = random.pick(&owner.references());
            names.push(name(owner, slug));
            path.push(slug);
            owner = target;
        }
        let (field, kind) = if setting.standard_only { *random.pick(&STANDARD) } else { owner.field(random) };
        names.push(name(owner, field));
        Self { path, field, kind, owner, name: names.join(".") }
    }
}

impl Tree {
    pub(crate) fn random(world: &World, setting: &Setting, depth: usize, random: &mut Random) -> Self {
        let some = |random: &mut Random| {
            (0..=random.below(3)).map(|_| Self::random(world, setting, depth - 1, random)).collect()
        };
        match random.below(if depth == 0 { 1 } else { 6 }) {
            3 => Self::All(some(random)),
            4 => Self::Any(some(random)),
            5 => Self::Not(Box::new(Self::random(world, setting, depth - 1, random))),
            _ => Self::Leaf(Condition::random(world, setting, random)),
        }
    }

    pub(crate) fn json(&self) -> String {
        match self {
            Self::All(parts) => format!(r#"{{"and":{}}}"#, list(parts)),
            Self::Any(parts) => format!(r#"{{"or":{}}}"#, list(parts)),
            Self::Not(part) => format!(r#"{{"not":{}}}"#, part.json()),
            Self::Leaf(condition) => condition.json.clone(),
        }
    }

    pub(crate) fn holds(&self, world: &World, row: &Row, zone: &Zone) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(world, row, zone)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(world, row, zone)),
            Self::Not(part) => !part.holds(world, row, zone),
            Self::Leaf(condition) => condition.holds(world, row, zone),
        }
    }
}

pub(crate) fn list(parts: &[Tree]) -> String {
    format!("[{}]", parts.iter().map(Tree::json).collect::<Vec<_>>().join(","))
}

fn operators(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Text => &[
            "eq",
            "neq",
            "in",
            "not-in",
            "like",
            "not-like",
            "ilike",
            "starts-with",
            "ends-with",
            "empty",
            "not-empty",
        ],
        Kind::Key => &["eq", "neq", "in", "not-in", "like", "not-like", "empty", "not-empty"],
        Kind::Number | Kind::Double | Kind::Day | Kind::Time => {
            &["eq", "neq", "in", "not-in", "gt", "gte", "lt", "lte", "between", "empty", "not-empty"]
        }
        Kind::List | Kind::Options => &["in", "not-in", "empty", "not-empty"],
        Kind::Reference(_) | Kind::Id | Kind::Flag => &["eq", "neq", "in", "not-in", "empty", "not-empty"],
        Kind::TemplateSlug | Kind::TemplateId => &["eq", "neq", "in", "not-in"],
    }
}

impl Condition {
    fn random(world: &World, setting: &Setting, random: &mut Random) -> Self {
        let position = Place::random(world, setting, random);
        let operator = *random.pick(operators(position.kind));
        let count = match operator {
            "empty" | "not-empty" => 0,
            "in" | "not-in" => random.below(4),
            "between" => 2,
            _ => 1,
        };
        let operands: Vec<Operand> =
            (0..count).map(|_| operand(world, &position, operator, random)).collect();
        let value = match operator {
            "empty" | "not-empty" => (*random.pick(&["", r#","value":null"#, r#","value":"""#])).to_owned(),
            "in" | "not-in" | "between" => format!(",\"value\":{}", many(&operands, random)),
            _ => format!(",\"value\":{}", single(&operands[0], random)),
        };
        let json = format!(r#"{{"field":{},"operator":"{operator}"{value}}}"#, json!(position.name));
        Self { path: position.path, field: position.field, kind: position.kind, operator, operands, json }
    }

    fn holds(&self, world: &World, row: &Row, zone: &Zone) -> bool {
        let target = world.follow(row, &self.path);
        let value = target.and_then(|target| match self.kind {
            Kind::TemplateSlug => Some(Value::Text(target.template.slug().to_owned())),
            Kind::TemplateId => {
                world.number(target.template, "template_id").map(|number| Value::Text(number.to_owned()))
            }
            _ => target.value(self.field),
        });
        let is_empty = match &value {
            None => true,
            Some(Value::Text(text)) => text.is_empty(),
            Some(Value::List(list)) => list.is_empty(),
            Some(_) => false,
        };
        let any = |test: &dyn Fn(&Value, &Operand) -> bool| {
            value.as_ref().is_some_and(|value| self.operands.iter().any(|operand| test(value, operand)))
        };
        let order = |test: fn(Ordering) -> bool| {
            any(&|value, operand| compare(world, value, operand, zone).is_some_and(test))
        };
        let text = |test: fn(&str, &str) -> bool| {
            any(&|value, operand| match (value, operand) {
                (Value::Text(text), Operand::Value(Value::Text(part))) => test(text, part),
                _ => false,
            })
        };
        match self.operator {
            "empty" => is_empty,
            "not-empty" => !is_empty,
            "eq" | "in" => order(Ordering::is_eq),
            "neq" | "not-in" => !order(Ordering::is_eq),
            "gt" => order(Ordering::is_gt),
            "gte" => order(Ordering::is_ge),
            "lt" => order(Ordering::is_lt),
            "lte" => order(Ordering::is_le),
            "between" => value.as_ref().is_some_and(|value| {
                compare(world, value, &self.operands[0], zone).is_some_and(Ordering::is_ge)
                    && compare(world, value, &self.operands[1], zone).is_some_and(Ordering::is_le)
            }),
            "like" => text(|text, part| text.contains(part)),
            "not-like" => !text(|text, part| text.contains(part)),
            "ilike" => text(|text, part| text.to_lowercase().contains(&part.to_lowercase())),
            "starts-with" => text(|text, part| text.starts_with(part)),
            "ends-with" => text(|text, part| text.ends_with(part)),
            other => panic!("{other} is not supported here"),
        }
    }
}

/// Compares two values; a list is equal to each of its elements.
fn compare(world: &World, value: &Value, operand: &Operand, zone: &Zone) -> Option<Ordering> {
    match (value, operand) {
        (Value::List(list), Operand::Value(Value::Text(element))) => {
            list.contains(element).then_some(Ordering::Equal)
        }
        (Value::Text(text), Operand::Value(Value::Text(other))) => Some(text.cmp(other)),
        (Value::Number(number), Operand::Value(Value::Number(other))) => Some(number.cmp(other)),
        (Value::Double(number), Operand::Value(Value::Double(other))) => number.partial_cmp(other),
        (Value::Day(day), Operand::Value(Value::Day(other))) => Some(day.cmp(other)),
        (Value::Time(at), Operand::Value(Value::Time(other))) => Some(at.cmp(other)),
        (Value::Time(at), Operand::Day(day)) => Some(zone.date(*at).cmp(day)),
        (Value::Flag(flag), Operand::Value(Value::Flag(other))) => Some(flag.cmp(other)),
        (Value::Id(id), Operand::Value(Value::Id(other))) => Some(id.cmp(other)),
        (Value::Id(id), Operand::Key(template, key)) => Some(id.cmp(&world.holder(*template, key)?)),
        _ => panic!("{value:?} is not compared with {operand:?}"),
    }
}
