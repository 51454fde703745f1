//! Boolean combinations of conditions.

/// A combination of leaves. Leaves are true or false, so the laws of Boolean algebra apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree<L> {
    /// The conjunction of the parts; true without parts.
    All(Vec<Tree<L>>),
    /// The disjunction of the parts; false without parts.
    Any(Vec<Tree<L>>),
    /// The negation of the part.
    Not(Box<Tree<L>>),
    /// A single condition.
    Leaf(L),
}

impl<L> Tree<L> {
    /// The constant true.
    pub const fn always() -> Self {
        Tree::All(Vec::new())
    }

    /// The constant false.
    pub const fn never() -> Self {
        Tree::Any(Vec::new())
    }

    /// Whether this is [`Tree::always`].
    pub fn is_always(&self) -> bool {
        matches!(self, Tree::All(parts) if parts.is_empty())
    }

    /// Whether this is [`Tree::never`].
    pub fn is_never(&self) -> bool {
        matches!(self, Tree::Any(parts) if parts.is_empty())
    }

    /// The simplified conjunction: true parts are omitted, a false part makes the result false, and nested conjunctions are
    /// flattened.
    pub fn all(parts: impl IntoIterator<Item = Tree<L>>) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Tree::All(inner) => kept.extend(inner),
                never if never.is_never() => return never,
                other => kept.push(other),
            }
        }
        if kept.len() == 1 { kept.swap_remove(0) } else { Tree::All(kept) }
    }

    /// At least one part holds, in the simplest form; the mirror image of [`Tree::all`].
    pub fn any(parts: impl IntoIterator<Item = Tree<L>>) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Tree::Any(inner) => kept.extend(inner),
                always if always.is_always() => return always,
                other => kept.push(other),
            }
        }
        if kept.len() == 1 { kept.swap_remove(0) } else { Tree::Any(kept) }
    }

    /// The simplified negation.
    pub fn negated(self) -> Self {
        match self {
            Tree::Not(part) => *part,
            always if always.is_always() => Tree::never(),
            never if never.is_never() => Tree::always(),
            other => Tree::Not(Box::new(other)),
        }
    }

    /// All leaves, in order.
    pub fn leaves(&self) -> Vec<&L> {
        match self {
            Tree::All(parts) | Tree::Any(parts) => parts.iter().flat_map(Tree::leaves).collect(),
            Tree::Not(part) => part.leaves(),
            Tree::Leaf(leaf) => vec![leaf],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A leaf is an index into the truth values.
    fn holds(tree: &Tree<usize>, values: &[bool]) -> bool {
        match tree {
            Tree::All(parts) => parts.iter().all(|part| holds(part, values)),
            Tree::Any(parts) => parts.iter().any(|part| holds(part, values)),
            Tree::Not(part) => !holds(part, values),
            Tree::Leaf(number) => values[*number],
        }
    }

    fn simplified(tree: Tree<usize>) -> Tree<usize> {
        match tree {
            Tree::All(parts) => Tree::all(parts.into_iter().map(simplified)),
            Tree::Any(parts) => Tree::any(parts.into_iter().map(simplified)),
            Tree::Not(part) => simplified(*part).negated(),
            leaf @ Tree::Leaf(_) => leaf,
        }
    }

    /// Whether a tree is simplified: no nested constants, no nested combination of the same kind, no double negation, and no
    /// combination of one part.
    fn is_simple(tree: &Tree<usize>) -> bool {
        let fits = |part: &Tree<usize>| !part.is_always() && !part.is_never() && is_simple(part);
        match tree {
            Tree::All(parts) => {
                parts.len() != 1 && parts.iter().all(|part| fits(part) && !matches!(part, Tree::All(_)))
            }
            Tree::Any(parts) => {
                parts.len() != 1 && parts.iter().all(|part| fits(part) && !matches!(part, Tree::Any(_)))
            }
            Tree::Not(part) => fits(part) && !matches!(**part, Tree::Not(_)),
            Tree::Leaf(_) => true,
        }
    }

    fn trees() -> impl Strategy<Value = Tree<usize>> {
        (0..4_usize).prop_map(Tree::Leaf).prop_recursive(5, 40, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::All),
                prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::Any),
                inner.prop_map(|part| Tree::Not(Box::new(part))),
            ]
        })
    }

    proptest! {
        #[test]
        fn simplified_tree_is_equivalent(tree in trees()) {
            let simple = simplified(tree.clone());
            prop_assert!(is_simple(&simple), "{:?}", simple);
            for values in 0..16 {
                let values: Vec<bool> = (0..4).map(|bit| values >> bit & 1 == 1).collect();
                prop_assert_eq!(holds(&tree, &values), holds(&simple, &values));
            }
        }
    }
}
