//! Composition of SQL conditions.

use super::schema::Schema;

/// A condition in SQL.
pub(super) struct Sql {
    /// Its text.
    pub(super) text: String,
    /// Whether its outermost operator is `and` or `or`, so that it needs parentheses inside others.
    is_chain: bool,
}

impl Sql {
    /// A condition that needs no parentheses.
    pub(super) fn single(text: String) -> Sql {
        Sql { text, is_chain: false }
    }

    /// Joins conditions with `and` or `or`.
    pub(super) fn chain(parts: impl IntoIterator<Item = Sql>, word: &str) -> Sql {
        let mut parts: Vec<Sql> = parts.into_iter().collect();
        if parts.len() == 1 {
            return parts.swap_remove(0);
        }
        let texts: Vec<String> = parts.into_iter().map(Sql::operand).collect();
        Sql { text: texts.join(word), is_chain: true }
    }

    /// An EXISTS condition.
    pub(super) fn exists(query: String) -> Sql {
        Sql::single(format!("{EXISTS}({query})"))
    }

    /// The negation, which is true for false and for null.
    pub(super) fn negated(self) -> Sql {
        // EXISTS is never null, and the planner can turn NOT EXISTS into an anti-join.
        if !self.is_chain && self.text.starts_with(EXISTS) {
            return Sql::single(format!("not {}", self.text));
        }
        Sql::single(format!("({}) is not true", self.text))
    }

    fn operand(self) -> String {
        if self.is_chain { format!("({})", self.text) } else { self.text }
    }
}

const EXISTS: &str = "exists ";

pub(super) const AND: &str = " and ";
pub(super) const OR: &str = " or ";

/// The conditions for live and visible records of another template.
pub(super) fn live_and_visible(target: &dyn Schema, alias: &str) -> Vec<Sql> {
    let live = Sql::single(format!("{alias}.deleted_at is null"));
    let visible = target.visible(alias).map(|condition| Sql::single(format!("({condition})")));
    std::iter::once(live).chain(visible).collect()
}

/// The alias of the next nesting level: r1, r2, … A subquery needs an alias other than those of the enclosing queries.
pub(super) fn inner_alias(alias: &str) -> String {
    let level = alias.strip_prefix('r').and_then(|level| level.parse::<u32>().ok()).unwrap_or(0);
    format!("r{}", level + 1)
}
