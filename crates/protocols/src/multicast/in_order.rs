//! Numbered items put back into their order: a hold-back queue for everything that is counted.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// So far ahead of what was delivered a number may be, and so many messages of one sender may wait.
/// This is the bound of every hold-back queue: an honest process is never that far ahead of others
/// that keep up at all, so what lies beyond is reported and forgotten.
pub const WINDOW: u64 = 1 << 20;

/// Items numbered 1, 2, 3, …, handed on in this order whatever the order of their arrival.
///
/// Holds back at most [`WINDOW`] items. One that arrives in its turn costs no search.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InOrder<T> {
    /// The number that was handed on last.
    last: u64,
    held_back: BTreeMap<u64, T>,
}

impl<T> InOrder<T> {
    /// Nothing arrived yet, and `last` counts as handed on: 0, so that numbers begin with 1.
    pub fn after(last: u64) -> Self {
        InOrder { last, held_back: BTreeMap::new() }
    }

    /// Takes an item in, and hands on what is in turn now. A number that was handed on before is a
    /// duplicate, and discarded. An error says what is wrong with a number that cannot be.
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

    /// How many items wait for their turn.
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
