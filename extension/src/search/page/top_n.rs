//! The first `n` of many items in any order, without keeping the others in memory. Pure.

use std::cmp::Ordering;

/// The first items by their keys.
pub struct TopN<K, I> {
    requested: usize,
    /// The key of the last item, known after twice the requested number of items were taken.
    last: Option<K>,
    /// The items, up to twice the requested number.
    items: Vec<(K, I)>,
}

impl<K: Copy, I> TopN<K, I> {
    /// Without items. At least one is requested.
    pub fn new(requested: usize) -> TopN<K, I> {
        TopN { requested, last: None, items: Vec::new() }
    }

    /// Whether an item with this key may be one of the first.
    pub fn may_take(&self, key: &K, compare: impl Fn(&K, &K) -> Ordering) -> bool {
        self.last.is_none_or(|last| compare(key, &last).is_lt())
    }

    /// The key of the last of the first items, if known. Items after it are not taken.
    pub fn last(&self) -> Option<&K> {
        self.last.as_ref()
    }

    /// Takes an item. Returns items that are no longer among the first.
    pub fn take(&mut self, key: K, item: I, compare: impl Fn(&K, &K) -> Ordering) -> Vec<(K, I)> {
        self.items.push((key, item));
        if self.items.len() < 2 * self.requested { Vec::new() } else { self.cut(compare) }
    }

    fn cut(&mut self, compare: impl Fn(&K, &K) -> Ordering) -> Vec<(K, I)> {
        if self.items.len() <= self.requested {
            return Vec::new();
        }
        self.items.select_nth_unstable_by(self.requested - 1, |(one, _), (other, _)| compare(one, other));
        let others = self.items.split_off(self.requested);
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
        fn other_items_are_returned_once(
            keys in prop::collection::vec(0..40u8, 0..60), requested in 1..12usize, descending: bool,
        ) {
            let compare = |one: &u8, other: &u8| if descending { other.cmp(one) } else { one.cmp(other) };
            let (mut first, mut others) = (TopN::new(requested), Vec::new());
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
            prop_assert_eq!(sorted(&items), &sorted(&all)[..requested.min(keys.len())]);
            prop_assert!(others.iter().all(|item| !items.contains(item)));
            others.sort_unstable();
            prop_assert!(others.is_sorted_by(|one, other| one < other));
        }
    }
}
