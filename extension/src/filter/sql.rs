//! Conditions in SQL, put together.

use super::schema::Schema;

/// A condition in SQL.
pub(super) struct Sql {
    /// Its text.
    pub(super) text: String,
    /// Whether its outermost operator is `and` or `or`, so that it needs parentheses inside others.
    is_chain: bool,
}

impl Sql {
    /// One that needs no parentheses inside others.
    pub(super) fn single(text: String) -> Sql {
        Sql { text, is_chain: false }
    }

    /// Several, joined by a word.
    pub(super) fn chain(parts: impl IntoIterator<Item = Sql>, word: &str) -> Sql {
        let mut parts: Vec<Sql> = parts.into_iter().collect();
        if parts.len() == 1 {
            return parts.swap_remove(0);
        }
        let texts: Vec<String> = parts.into_iter().map(Sql::operand).collect();
        Sql { text: texts.join(word), is_chain: true }
    }

    /// Whether a query has a row.
    pub(super) fn exists(query: String) -> Sql {
        Sql::single(format!("{EXISTS}({query})"))
    }

    /// Not true of the row. A comparison with null is null; that it is not true is as certain as that a false one is not.
    pub(super) fn negated(self) -> Sql {
        // Is never null, and in this form the planner can make a join of it.
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

/// All hold.
pub(super) const AND: &str = " and ";
/// At least one holds.
pub(super) const OR: &str = " or ";

/// That a record of another template is there for the caller.
pub(super) fn live_and_visible(target: &dyn Schema, alias: &str) -> Vec<Sql> {
    let live = Sql::single(format!("{alias}.deleted_at is null"));
    let visible = target.visible(alias).map(|condition| Sql::single(format!("({condition})")));
    std::iter::once(live).chain(visible).collect()
}

/// The alias one level further in: r1, r2, … A subquery refers to the table around it, under another alias than its own.
pub(super) fn inner_alias(alias: &str) -> String {
    let level = alias.strip_prefix('r').and_then(|level| level.parse::<u32>().ok()).unwrap_or(0);
    format!("r{}", level + 1)
}
