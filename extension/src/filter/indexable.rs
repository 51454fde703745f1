//! Conditions that can use an index.

use super::Filter;
use super::field::Column;
use super::predicate::{Predicate, Test};
use super::tree::Tree;
use crate::attribute_type::AttributeType;
use crate::value::pattern::{has_trigram, words};

impl Filter {
    /// The top-level conjuncts.
    pub fn parts(&self) -> Vec<Filter> {
        let parts = match &self.tree {
            Tree::All(parts) => parts.clone(),
            other => vec![other.clone()],
        };
        parts.into_iter().map(|tree| Filter { tree, ..self.clone() }).collect()
    }

    /// Whether index scans find the live matches, with few false positives.
    pub fn is_indexable(&self) -> bool {
        is_indexable(&self.tree)
    }

    /// The condition that index scans evaluate. It can match more records, because a trigram index ignores the order of words.
    pub fn found(&self) -> Filter {
        Filter { tree: found(&self.tree), ..self.clone() }
    }

    /// Whether index scans have almost no false positives.
    pub fn is_found_exactly(&self) -> bool {
        self.tree.leaves().iter().all(|leaf| match &leaf.test {
            Test::Like { pattern, .. } => words(pattern) == [pattern.as_str()],
            _ => true,
        })
    }

    /// Whether the filter is a single condition on this column.
    pub fn is_on(&self, column: &Column) -> bool {
        matches!(&self.tree, Tree::Leaf(leaf) if leaf.path.is_empty() && leaf.column == *column)
    }

    /// The only condition, if it is on a column of this template.
    pub fn single(&self) -> Option<&Predicate> {
        match &self.tree {
            Tree::Leaf(leaf) if leaf.path.is_empty() => Some(leaf),
            _ => None,
        }
    }

    /// The number of conditions.
    pub fn size(&self) -> usize {
        self.tree.leaves().len()
    }

    /// Whether a condition is through references.
    pub fn reads_through_references(&self) -> bool {
        self.through_references() > 0
    }

    /// The number of conditions through references, including those of the scopes of the other templates.
    pub fn through_references(&self) -> usize {
        let leaves = self.tree.leaves();
        let behind = leaves.iter().filter(|leaf| !leaf.path.is_empty());
        behind.map(|leaf| 1 + leaf.path.iter().map(|step| step.target.visible_through()).sum::<usize>()).sum()
    }
}

fn found(tree: &Tree<Predicate>) -> Tree<Predicate> {
    match tree {
        Tree::All(parts) => Tree::all(parts.iter().map(found)),
        Tree::Any(parts) => Tree::any(parts.iter().map(found)),
        Tree::Leaf(leaf) => match &leaf.test {
            Test::Like { pattern, ignores_case } => Tree::all(words(pattern).into_iter().map(|pattern| {
                let test = Test::Like { pattern, ignores_case: *ignores_case };
                Tree::Leaf(Predicate { test, ..leaf.clone() })
            })),
            _ => Tree::Leaf(leaf.clone()),
        },
        other => other.clone(),
    }
}

fn is_indexable(tree: &Tree<Predicate>) -> bool {
    match tree {
        Tree::All(parts) => parts.iter().any(is_indexable),
        Tree::Any(parts) => parts.iter().all(is_indexable),
        Tree::Not(_) => false,
        Tree::Leaf(leaf) => leaf.path.is_empty() && has_index(&leaf.column, &leaf.test),
    }
}

fn has_index(column: &Column, test: &Test) -> bool {
    if let Test::AnyOf(tests) = test {
        return tests.iter().all(|test| has_index(column, test));
    }
    let (kind, is_indexed) = match column {
        Column::Attribute { kind, indexed, .. } => (*kind, *indexed || *kind == AttributeType::Reference),
        Column::Id | Column::ExternalKey => return matches!(test, Test::OneOf(_)),
        Column::CreatedAt | Column::UpdatedAt | Column::DeletedAt => return false,
    };
    is_indexed
        && match test {
            Test::Like { pattern, .. } => kind == AttributeType::String && has_trigram(pattern),
            Test::OneOf(_) => true,
            Test::HoldsKey(..) | Test::Within { .. } | Test::Today | Test::Empty => {
                kind != AttributeType::List
            }
            Test::NotEmpty | Test::Exists | Test::AnyOf(_) => false,
        }
}
