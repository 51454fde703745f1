//! The first of many items, whatever order they come in, without keeping the others. Pure.

use std::cmp::Ordering;

/// As many items as are wanted, the first by their keys.
pub struct FirstItems<K, I> {
    wanted: usize,
    /// The key of the last one, known from twice as many items as are wanted on.
    last: Option<K>,
    /// The items, up to twice as many as are wanted.
    items: Vec<(K, I)>,
}

impl<K: Copy, I> FirstItems<K, I> {
    /// None yet; at least one is wanted.
    pub fn new(wanted: usize) -> FirstItems<K, I> {
        FirstItems { wanted, last: None, items: Vec::new() }
    }

    /// Whether an item with this key may be one of the first.
    pub fn may_take(&self, key: &K, compare: impl Fn(&K, &K) -> Ordering) -> bool {
        self.last.is_none_or(|last| compare(key, &last).is_lt())
    }

    /// The key of the last of the first, as far as it is known: no item behind it is taken.
    pub fn last(&self) -> Option<&K> {
        self.last.as_ref()
    }

    /// Takes an item. Returns those that are not among the first any more.
    pub fn take(&mut self, key: K, item: I, compare: impl Fn(&K, &K) -> Ordering) -> Vec<(K, I)> {
        self.items.push((key, item));
        if self.items.len() < 2 * self.wanted { Vec::new() } else { self.cut(compare) }
    }

    fn cut(&mut self, compare: impl Fn(&K, &K) -> Ordering) -> Vec<(K, I)> {
        if self.items.len() <= self.wanted {
            return Vec::new();
        }
        self.items.select_nth_unstable_by(self.wanted - 1, |(one, _), (other, _)| compare(one, other));
        let others = self.items.split_off(self.wanted);
        self.last = self.items.last().map(|(key, _)| *key);
        others
    }

    /// The first items, in no order.
    pub fn into_items(mut self, compare: impl Fn(&K, &K) -> Ordering) -> Vec<I> {
        self.cut(compare);
        self.items.into_iter().map(|(_, item)| item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_are_kept_and_each_other_is_given_back_once(
            keys in prop::collection::vec(0..40u8, 0..60), wanted in 1..12usize, descending: bool,
        ) {
            let compare = |one: &u8, other: &u8| if descending { other.cmp(one) } else { one.cmp(other) };
            let (mut first, mut others) = (FirstItems::new(wanted), Vec::new());
            for (item, key) in keys.iter().enumerate() {
                if first.may_take(key, compare) {
                    others.extend(first.take(*key, item, compare).into_iter().map(|(_, item)| item));
                } else {
                    others.push(item);
                }
            }
            let items = first.into_items(compare);
            let sorted = |items: &[usize]| {
                let mut keys: Vec<u8> = items.iter().map(|item| keys[*item]).collect();
                keys.sort_unstable_by(compare);
                keys
            };
            let all: Vec<usize> = (0..keys.len()).collect();
            prop_assert_eq!(sorted(&items), &sorted(&all)[..wanted.min(keys.len())]);
            prop_assert!(others.iter().all(|item| !items.contains(item)));
            others.sort_unstable();
            prop_assert!(others.is_sorted_by(|one, other| one < other));
        }
    }
}
