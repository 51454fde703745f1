//! Fields of other records that a filter reads.

use super::Filter;
use super::field::Column;
use super::predicate::{Predicate, Test};
use super::schema::Schema;
use crate::value::quote::identifier;
use std::rc::Rc;

/// A field of another record that a filter reads. The filter also reads whether the record is live.
#[derive(Clone, Debug)]
pub struct ReferencedField {
    /// The references to the record, outermost first, each with its target template.
    path: Vec<(String, Rc<dyn Schema>)>,
    /// The name of the field.
    pub field: String,
}

impl ReferencedField {
    /// The id of its template.
    pub fn template(&self) -> i32 {
        self.path.last().map_or(0, |(_, target)| target.id())
    }

    /// The first reference.
    pub fn reference(&self) -> &str {
        self.path.first().map_or("", |(slug, _)| slug)
    }

    /// The condition that the path of references from a record of the filtered template, under this alias, leads to
    /// the record whose id is an expression.
    pub fn leads_to(&self, alias: &str, id: &str) -> String {
        leads_to(&self.path, alias, id, 1)
    }
}

fn leads_to(path: &[(String, Rc<dyn Schema>)], alias: &str, id: &str, level: usize) -> String {
    match path {
        [] => "false".to_owned(),
        [(slug, _)] => format!("{alias}.{} = {id}", identifier(slug)),
        [(slug, target), additional @ ..] => {
            let inner = format!("p{level}");
            let condition = leads_to(additional, &inner, id, level + 1);
            let table = target.table();
            format!(
                "{alias}.{} in (select {inner}.id from {table} {inner} where {condition})",
                identifier(slug)
            )
        }
    }
}

impl Filter {
    /// The fields of other records that it reads.
    pub fn behind(&self) -> Vec<ReferencedField> {
        self.tree.leaves().into_iter().flat_map(of_predicate).collect()
    }
}

fn of_predicate(predicate: &Predicate) -> Vec<ReferencedField> {
    let steps: Vec<(String, Rc<dyn Schema>)> =
        predicate.path.iter().map(|step| (step.slug.clone(), Rc::clone(&step.target))).collect();
    let name = |column: &Column| column.name().to_owned();
    let mut found: Vec<ReferencedField> = (1..=steps.len())
        .map(|length| ReferencedField {
            path: steps[..length].to_vec(),
            field: steps.get(length).map_or_else(|| name(&predicate.column), |next| next.0.clone()),
        })
        .collect();
    if let Some(target) = key_holder(&predicate.test) {
        let last = (name(&predicate.column), Rc::clone(target));
        let path = steps.into_iter().chain([last]).collect();
        found.push(ReferencedField { path, field: Column::ExternalKey.name().to_owned() });
    }
    found
}

/// The template whose keys a test reads.
pub(super) fn key_holder(test: &Test) -> Option<&Rc<dyn Schema>> {
    match test {
        Test::HoldsKey(_, target) => Some(target),
        Test::AnyOf(tests) => tests.iter().find_map(key_holder),
        _ => None,
    }
}
