//! Numbered items put back into their order: the hold-back queue of several layers.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The bound of every hold-back queue: the largest lead of a number over the delivered ones, and
/// the largest number of waiting messages of one sender. An honest process never leads the others
/// by that much, as long as they keep up at all; so a layer reports and drops a message beyond it.
pub const WINDOW: u64 = 1 << 20;

/// Items numbered 1, 2, 3, …, handed on in this order, even if they arrive in another.
///
/// Holds back at most [`WINDOW`] items. One that arrives in its turn costs no search.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InOrder<T> {
    /// The number of the item that was handed on last.
    last: u64,
    held_back: BTreeMap<u64, T>,
}

impl<T> InOrder<T> {
    /// A queue without items, where `last` counts as handed on: 0, so that numbers begin with 1.
    pub fn after(last: u64) -> Self {
        InOrder { last, held_back: BTreeMap::new() }
    }

    /// Takes an item in, and hands on all items whose turn has come. Discards a duplicate, whose
    /// number was handed on before. An error says why no honest process can have sent the number.
    pub fn arrive(
        &mut self,
        number: u64,
        item: T,
    ) -> Result<impl Iterator<Item = T>, &'static str> {
        let ahead = number.checked_sub(self.last);
        if ahead > Some(WINDOW) {
            return Err("sent a number far beyond its turn");
        }
        let mut in_turn = None;
        match ahead {
            None | Some(0) => {}
            Some(1) => {
                self.last = number;
                in_turn = Some(item);
            }
            Some(_) => {
                self.held_back.entry(number).or_insert(item);
            }
        }
        Ok(in_turn.into_iter().chain(std::iter::from_fn(|| self.next_held_back())))
    }

    fn next_held_back(&mut self) -> Option<T> {
        let first = self.held_back.first_entry().filter(|first| *first.key() == self.last + 1)?;
        self.last += 1;
        Some(first.remove())
    }

    /// The number of items that wait for their turn.
    pub fn waiting(&self) -> usize {
        self.held_back.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(queue: &mut InOrder<char>, number: u64, item: char) -> String {
        queue.arrive(number, item).expect("a number that can be").collect()
    }

    #[test]
    fn what_arrives_early_waits_for_its_turn() {
        let mut queue = InOrder::after(0);
        assert_eq!(arrive(&mut queue, 3, 'c'), "");
        assert_eq!(arrive(&mut queue, 2, 'b'), "");
        assert_eq!(queue.waiting(), 2);
        assert_eq!(arrive(&mut queue, 1, 'a'), "abc");
        assert_eq!((arrive(&mut queue, 4, 'd').as_str(), queue.waiting()), ("d", 0));
    }

    #[test]
    fn a_number_is_handed_on_once_and_the_first_with_it_counts() {
        let mut queue = InOrder::after(0);
        arrive(&mut queue, 2, 'b');
        arrive(&mut queue, 2, 'x');
        assert_eq!(arrive(&mut queue, 1, 'a'), "ab");
        assert_eq!(arrive(&mut queue, 1, 'a') + &arrive(&mut queue, 2, 'b'), "");
    }

    #[test]
    fn a_number_beyond_the_window_is_refused_and_nothing_is_kept_of_it() {
        let mut queue = InOrder::after(0);
        assert_eq!(arrive(&mut queue, WINDOW, 'w'), "");
        for number in [WINDOW + 1, u64::MAX] {
            assert!(queue.arrive(number, 'x').is_err());
        }
        assert_eq!(queue.waiting(), 1);
    }

    #[test]
    fn numbers_end_without_overflow() {
        let mut queue = InOrder::after(u64::MAX - 1);
        assert_eq!(arrive(&mut queue, u64::MAX, 'z'), "z");
        assert_eq!(arrive(&mut queue, u64::MAX, 'z'), "");
        assert_eq!(arrive(&mut queue, 1, 'a'), "");
    }
}
