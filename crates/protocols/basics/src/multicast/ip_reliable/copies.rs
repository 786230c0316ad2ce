//! Copies of the messages of one sender that some member may still lack.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::Data;

/// The messages of one sender from a certain number on; some of them may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Copies<D> {
    /// The number of the first; all members have those before it.
    first: u32,
    held: VecDeque<Option<D>>,
}

impl<D: Data> Copies<D> {
    /// No copies; the first message will have this number.
    pub(super) fn from(first: u32) -> Self {
        Copies { first, held: VecDeque::new() }
    }

    /// The length from the first message that some member lacks to the last that we have.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    fn place(&self, number: u32) -> Option<usize> {
        number.checked_sub(self.first).map(|place| place as usize)
    }

    pub(super) fn get(&self, number: u32) -> Option<&D> {
        self.held.get(self.place(number)?)?.as_ref()
    }

    /// Keeps a copy. The caller makes sure that the number is not far ahead, because the queue
    /// grows up to it.
    pub(super) fn keep(&mut self, number: u32, copy: D) {
        let Some(place) = self.place(number) else { return };
        if self.held.len() <= place {
            self.held.resize(place + 1, None);
        }
        self.held[place] = Some(copy);
    }

    /// All members have the messages up to this number: drops their copies.
    pub(super) fn forget(&mut self, upto: u32) {
        while self.first <= upto {
            self.held.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_everybody_has_is_forgotten_and_what_came_early_stays() {
        let mut copies = Copies::from(1);
        copies.keep(1, 'a');
        copies.keep(3, 'c');
        assert_eq!((copies.get(1), copies.get(2), copies.get(3)), (Some(&'a'), None, Some(&'c')));
        copies.forget(2);
        assert_eq!((copies.get(1), copies.get(3), copies.len()), (None, Some(&'c'), 1));
        copies.keep(2, 'b');
        assert_eq!(copies.get(2), None, "it is too late for that one");
        copies.forget(5);
        assert_eq!(copies.len(), 0);
        copies.keep(6, 'f');
        assert_eq!(copies.get(6), Some(&'f'));
    }
}
