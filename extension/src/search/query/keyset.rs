//! Keyset pages: the rows after a position in an order, as indexable conditions. A page is found by the sort values of the
//! last record of the previous page, never by counting rows.
//!
//! A page is read in segments. With one sort key there are two: records with a value, and records without. Each is a
//! scan of an index on `(key, id)`, in either direction, and the second is read only when the first is exhausted. So
//! nulls can come last in descending order too, which no single scan provides.

use super::cursor::Position;
use super::sort::{Direction, Nulls};

/// A sort key as an expression in SQL.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The expression.
    pub sql: String,
    /// An expression that is null exactly if the sort key is.
    pub presence: String,
    /// The direction.
    pub direction: Direction,
    /// The position of nulls.
    pub nulls: Nulls,
    /// Whether there can be nulls.
    pub is_nullable: bool,
}

/// A range of an order that one index scan reads.
#[derive(Debug, PartialEq, Eq)]
pub struct Segment {
    /// The condition for records that belong to it and follow the position; `None` for all.
    pub condition: Option<String>,
    /// The order: its keys and directions.
    order: Vec<(Sorted, &'static str)>,
}

/// A sort key of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sorted {
    /// The key at this position.
    Key(usize),
    /// The record's id.
    Id,
}

impl Segment {
    /// The condition as the next part of a row comparison.
    pub fn and_condition(&self) -> String {
        self.condition.as_ref().map(|condition| format!(" and ({condition})")).unwrap_or_default()
    }

    /// The order in SQL, with these names for its keys.
    pub fn order_by(&self, name: impl Fn(Sorted) -> String) -> String {
        let keys: Vec<String> = self.order.iter().map(|(by, way)| format!("{}{way}", name(*by))).collect();
        keys.join(", ")
    }
}

/// The order: the keys, then `id` in the direction of the last key.
#[derive(Debug)]
pub struct Order {
    /// The keys.
    pub keys: Vec<Expression>,
    /// The tiebreaker for records with equal keys.
    pub id: String,
    /// The direction of the id.
    pub tie: Direction,
}

impl Order {
    /// The segments after a position, in their order; all of them without a position.
    pub fn segments(&self, after: Option<&Position>) -> Vec<Segment> {
        match self.keys.as_slice() {
            [key] if key.is_nullable => self.two_segments(key, after),
            _ => vec![Segment {
                condition: after.map(|position| self.following(position)),
                order: self.order(),
            }],
        }
    }

    /// Whether a segment contains all records with a value of the only key, beginning with the
    /// first.
    pub fn is_of_values(&self, segment: &Segment) -> bool {
        match self.keys.as_slice() {
            [key] => segment.condition.as_ref().is_none_or(|condition| *condition == has_value(key)),
            _ => false,
        }
    }

    /// Consecutive segments as one, which requires a sort.
    pub fn as_one_segment(&self, segments: &[Segment]) -> Segment {
        let conditions: Option<Vec<&str>> = segments.iter().map(|it| it.condition.as_deref()).collect();
        Segment { condition: conditions.map(|it| it.join(" or ")), order: self.order() }
    }

    /// The whole order in SQL, as one segment.
    pub fn order_by(&self) -> String {
        Segment { condition: None, order: self.order() }.order_by(|by| self.sql(by))
    }

    /// An expression, or the id, as the table's own columns give it.
    pub fn sql(&self, by: Sorted) -> String {
        match by {
            Sorted::Key(number) => self.keys[number].sql.clone(),
            Sorted::Id => self.id.clone(),
        }
    }

    fn order(&self) -> Vec<(Sorted, &'static str)> {
        let mut order: Vec<(Sorted, &'static str)> = Vec::with_capacity(self.keys.len() + 1);
        for (number, key) in self.keys.iter().enumerate() {
            order.push((Sorted::Key(number), way(key)));
        }
        order.push((Sorted::Id, word(self.tie)));
        order
    }

    fn two_segments(&self, key: &Expression, after: Option<&Position>) -> Vec<Segment> {
        let value = after.map(|position| position.values[0].as_deref());
        let id_follows = |position: &Position| format!("{} {} {}", self.id, sign(self.tie), position.id);
        let with_value = |after: Option<&Position>| Segment {
            condition: Some(
                match after.and_then(|position| Some((position, position.values[0].as_ref()?))) {
                    Some((position, value)) => {
                        format!(
                            "({}, {}) {} ({value}, {})",
                            key.sql,
                            self.id,
                            sign(key.direction),
                            position.id
                        )
                    }
                    None => has_value(key),
                },
            ),
            order: vec![(Sorted::Key(0), word(key.direction)), (Sorted::Id, word(self.tie))],
        };
        let without = |after: Option<&Position>| Segment {
            condition: Some(match after {
                Some(position) => format!("{} is null and {}", key.presence, id_follows(position)),
                None => format!("{} is null", key.presence),
            }),
            // The key is null in this segment, so its index has no other order.
            order: vec![(Sorted::Key(0), word(key.direction)), (Sorted::Id, word(self.tie))],
        };
        match (key.nulls, value) {
            (Nulls::Last, None) => vec![with_value(None), without(None)],
            (Nulls::Last, Some(Some(_))) => vec![with_value(after), without(None)],
            (Nulls::Last, Some(None)) => vec![without(after)],
            (Nulls::First, None) => vec![without(None), with_value(None)],
            (Nulls::First, Some(None)) => vec![without(after), with_value(None)],
            (Nulls::First, Some(Some(_))) => vec![with_value(after)],
        }
    }

    /// The rows after a position.
    fn following(&self, position: &Position) -> String {
        if let ([key], [Some(value)]) = (self.keys.as_slice(), position.values.as_slice())
            && key.direction == self.tie
        {
            return format!("({}, {}) {} ({value}, {})", key.sql, self.id, sign(self.tie), position.id);
        }
        let mut condition = format!("{} {} {}", self.id, sign(self.tie), position.id);
        for (key, value) in self.keys.iter().zip(&position.values).rev() {
            let (behind, similar) = match value {
                Some(value) => {
                    let beyond = format!("{} {} {value}", key.sql, sign(key.direction));
                    let behind = match key.nulls {
                        Nulls::Last if key.is_nullable => format!("{beyond} or {} is null", key.sql),
                        _ => beyond,
                    };
                    (Some(behind), format!("{} = {value}", key.sql))
                }
                None => (
                    (key.nulls == Nulls::First).then(|| format!("{} is not null", key.sql)),
                    format!("{} is null", key.sql),
                ),
            };
            condition = match behind {
                Some(behind) => format!("({behind} or {similar} and {condition})"),
                None => format!("({similar} and {condition})"),
            };
        }
        condition
    }
}

fn has_value(key: &Expression) -> String {
    format!("{} is not null", key.presence)
}

/// The order of a key if values and nulls are in one segment.
fn way(key: &Expression) -> &'static str {
    match (key.direction, key.nulls) {
        (direction, _) if !key.is_nullable => word(direction),
        (Direction::Ascending, Nulls::First) => " nulls first",
        (Direction::Ascending, Nulls::Last) => " nulls last",
        (Direction::Descending, Nulls::First) => " desc nulls first",
        (Direction::Descending, Nulls::Last) => " desc nulls last",
    }
}

fn word(direction: Direction) -> &'static str {
    if direction == Direction::Descending { " desc" } else { "" }
}

fn sign(direction: Direction) -> &'static str {
    if direction == Direction::Descending { "<" } else { ">" }
}
