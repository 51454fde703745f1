//! Parses JSON to conditions. It checks the syntax only.
//!
//! Limits are checked before the next level is parsed, and a level is parsed without its contents. So the cost is linear in
//! the size of the request.

use super::tree::Tree;
use super::violations::Violations;
use crate::error::{Code, Error};
use crate::json::{self, Object};
use crate::value::member::{missing, unknown_member};
use crate::value::operand::quoted;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The maximum nesting of and, or, not.
pub const MAX_DEPTH: usize = 10;
/// The maximum number of conditions in a filter.
pub const MAX_CONDITIONS: usize = 200;

/// A parsed condition: `{field, operator, value}`.
#[derive(Clone, Debug)]
pub struct Condition<'a> {
    /// Its JSON pointer in the request (RFC 6901).
    pub pointer: String,
    /// The field.
    pub field: Cow<'a, str>,
    /// The operator.
    pub operator: Cow<'a, str>,
    /// The value; `None` if the member is absent.
    pub value: Option<&'a RawValue>,
}

/// Parses the members `filters` and `filter_groups` of a request. All conditions of `filters` must be true, and all
/// conditions of at least one group. Absent, null and `[]` mean no condition. An empty group is rejected, because it would
/// match every record.
pub fn body<'a>(
    filters: Option<&'a RawValue>,
    filter_groups: Option<&'a RawValue>,
) -> Result<Tree<Condition<'a>>, Error> {
    let mut reader = Reader::default();
    let tree = reader.body(filters, filter_groups)?;
    reader.violations.or(tree)
}

/// Parses a standalone filter, such as a scope: `{filters?, filter_groups?}`, an array of conditions that must all be true, or
/// a single condition or combination (and, or, not).
pub fn scope(scope: &RawValue) -> Result<Tree<Condition<'_>>, Error> {
    let mut reader = Reader::default();
    if scope.get().starts_with('[') {
        let parts = reader.elements(scope, "", 0)?;
        return reader.violations.or(Tree::all(parts));
    }
    let (mut filters, mut filter_groups) = (None, None);
    let members = json::object_at(scope, "")?.0;
    let is_body = |name: &str| matches!(name, "filters" | "filter_groups");
    if !members.is_empty() && !members.iter().any(|(name, _)| is_body(name)) {
        let tree = reader.element(scope, "", 0)?;
        return reader.violations.or(tree);
    }
    for (name, value) in members {
        match name.as_ref() {
            "filters" => filters = Some(value),
            "filter_groups" => filter_groups = Some(value),
            _ => reader.violations.add(unknown_member(&name, &below("", &name))),
        }
    }
    let tree = reader.body(filters, filter_groups)?;
    reader.violations.or(tree)
}

/// The parser. After an error, it continues with [`Tree::always`] as a placeholder. An `Err` is an exceeded limit, which ends
/// parsing.
#[derive(Default)]
struct Reader {
    violations: Violations,
    conditions: usize,
}

impl Reader {
    fn body<'a>(
        &mut self,
        filters: Option<&'a RawValue>,
        filter_groups: Option<&'a RawValue>,
    ) -> Result<Tree<Condition<'a>>, Error> {
        let given = |member: Option<&'a RawValue>| member.filter(|value| !json::is_null(value));
        let mut parts = Vec::new();
        if let Some(filters) = given(filters) {
            parts.extend(self.elements(filters, "/filters", 0)?);
        }
        if let Some(groups) = given(filter_groups) {
            let groups = self.groups(groups, "/filter_groups")?;
            // An empty array means no condition. As an empty disjunction, it would match no record.
            if !groups.is_empty() {
                parts.push(Tree::any(groups));
            }
        }
        Ok(Tree::all(parts))
    }

    fn groups<'a>(&mut self, raw: &'a RawValue, pointer: &str) -> Result<Vec<Tree<Condition<'a>>>, Error> {
        let mut groups = Vec::new();
        for (position, group) in self.array(raw, pointer).into_iter().enumerate() {
            groups.push(Tree::all(self.filled(group, &format!("{pointer}/{position}"), 0)?));
        }
        Ok(groups)
    }

    /// The parts of a group, `and` or `or`. At least one is required.
    fn filled<'a>(
        &mut self,
        raw: &'a RawValue,
        pointer: &str,
        depth: usize,
    ) -> Result<Vec<Tree<Condition<'a>>>, Error> {
        let parts = self.elements(raw, pointer, depth)?;
        if parts.is_empty() {
            self.count(pointer)?;
            if raw.get().starts_with('[') {
                let message = "must have at least one condition";
                self.violations.add(Error::at(Code::InvalidValue, pointer, message));
            }
        }
        Ok(parts)
    }

    fn elements<'a>(
        &mut self,
        raw: &'a RawValue,
        pointer: &str,
        depth: usize,
    ) -> Result<Vec<Tree<Condition<'a>>>, Error> {
        let entries = self.array(raw, pointer).into_iter().enumerate();
        entries
            .map(|(position, entry)| self.element(entry, &format!("{pointer}/{position}"), depth))
            .collect()
    }

    /// Reads an array. Each element has at least one condition, so one element above the limit suffices to reject it.
    fn array<'a>(&mut self, raw: &'a RawValue, pointer: &str) -> Vec<&'a RawValue> {
        let read = json::array_at_most(raw, MAX_CONDITIONS + 1, pointer);
        self.violations.keep(read).unwrap_or_default()
    }

    /// Parses a condition or a combination.
    fn element<'a>(
        &mut self,
        raw: &'a RawValue,
        pointer: &str,
        depth: usize,
    ) -> Result<Tree<Condition<'a>>, Error> {
        if !raw.get().starts_with('{') {
            self.count(pointer)?;
            let message = "must be {field, operator, value}, {and: […]}, {or: […]} or {not: …}";
            self.violations.add(Error::at(Code::InvalidValue, pointer, message));
            return Ok(Tree::always());
        }
        let members = json::object_at(raw, pointer)?;
        let combination = members.0.iter().find(|(name, _)| matches!(name.as_ref(), "and" | "or" | "not"));
        let Some((word, parts)) = combination else { return self.condition(&members, pointer) };
        for (name, _) in &members.0 {
            if name != word {
                let message = format!("{word} cannot be combined with {}", quoted(name));
                self.violations.add(Error::at(Code::UnknownField, below(pointer, name), message));
            }
        }
        if depth == MAX_DEPTH {
            let message = format!("and, or, not may be nested to a depth of at most {MAX_DEPTH}");
            return Err(Error::at(Code::InvalidValue, pointer, message)
                .hint("Flatten nested and/or of the same kind."));
        }
        let (here, depth) = (below(pointer, word), depth + 1);
        Ok(match word.as_ref() {
            "and" => Tree::all(self.filled(parts, &here, depth)?),
            "or" => Tree::any(self.filled(parts, &here, depth)?),
            _ => self.element(parts, &here, depth)?.negated(),
        })
    }

    fn condition<'a>(&mut self, members: &Object<'a>, pointer: &str) -> Result<Tree<Condition<'a>>, Error> {
        self.count(pointer)?;
        let (mut field, mut operator, mut value) = (None, None, None);
        for (name, raw) in &members.0 {
            let here = below(pointer, name);
            match name.as_ref() {
                "field" => field = Some(self.text(raw, &here)),
                "operator" => operator = Some(self.text(raw, &here)),
                "value" => value = Some(*raw),
                _ => self
                    .violations
                    .add(unknown_member(name, &here).hint("Use the members field, operator and value.")),
            }
        }
        for (name, given) in [("field", &field), ("operator", &operator)] {
            if given.is_none() {
                self.violations.add(missing(name, pointer));
            }
        }
        let (Some(Some(field)), Some(Some(operator))) = (field, operator) else { return Ok(Tree::always()) };
        Ok(Tree::Leaf(Condition { pointer: pointer.to_owned(), field, operator, value }))
    }

    fn text<'a>(&mut self, raw: &'a RawValue, pointer: &str) -> Option<Cow<'a, str>> {
        let text = self.violations.keep(json::string_at(raw, pointer))?;
        if text.is_none() {
            self.violations.add(Error::at(Code::InvalidValue, pointer, "must be a string"));
        }
        text
    }

    /// Counts a condition or a placeholder.
    fn count(&mut self, pointer: &str) -> Result<(), Error> {
        self.conditions += 1;
        if self.conditions > MAX_CONDITIONS {
            let message = format!("a filter has at most {MAX_CONDITIONS} conditions");
            return Err(Error::at(Code::InvalidValue, pointer, message)
                .hint("Use the operator in for many values of one field."));
        }
        Ok(())
    }
}

/// The pointer of a member.
fn below(pointer: &str, member: &str) -> String {
    format!("{pointer}/{}", json::pointer_step(member))
}
