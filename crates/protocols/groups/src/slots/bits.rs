//! A set of numbers below a bound that finds its smallest number at once.
//!
//! The lowest level has one bit for each number. The next level has one bit for each word of the
//! level below, set if that word is not 0; the highest level is a single word. Ten million numbers
//! take 1.3 MB and four levels, so every operation costs a few instructions, and only `new`
//! allocates.

use super::ranges::{Range, Ranges};
use serde::{Deserialize, Serialize};

/// Numbers below a bound. Equal sets are equal values.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "Written", from = "Written")]
pub(super) struct Bits {
    /// The bound of the numbers.
    size: u32,
    /// The number of elements.
    count: u32,
    /// The word of the smallest number; 0 in the empty set. It saves most searches.
    lowest: u32,
    /// The levels, one behind the other, the lowest first.
    words: Vec<u64>,
}

/// The number of words of a level with one bit for each of `places`.
fn width(places: u32) -> u32 {
    places.div_ceil(64).max(1)
}

impl Bits {
    /// The empty set of numbers below `size`.
    pub(super) fn new(size: u32) -> Self {
        let levels =
            std::iter::successors(Some(width(size)), |words| (*words > 1).then(|| width(*words)));
        Bits { size, count: 0, lowest: 0, words: vec![0; levels.sum::<u32>() as usize] }
    }

    /// The bound of the numbers.
    pub(super) fn size(&self) -> u32 {
        self.size
    }

    /// The number of elements.
    #[inline]
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    #[inline]
    pub(super) fn contains(&self, number: u32) -> bool {
        number < self.size && self.words[number as usize / 64] & (1 << (number % 64)) != 0
    }

    /// Adds a number. Returns false if the set has it already, or if it is out of bounds.
    #[inline]
    pub(super) fn insert(&mut self, number: u32) -> bool {
        if number >= self.size || self.contains(number) {
            return false;
        }
        self.lowest = if self.count == 0 { number / 64 } else { self.lowest.min(number / 64) };
        self.count += 1;
        let (mut base, mut places, mut place) = (0, self.size, number);
        loop {
            let word = &mut self.words[(base + place / 64) as usize];
            let was = *word;
            *word |= 1 << (place % 64);
            (base, places, place) = (base + width(places), width(places), place / 64);
            // If the word was not 0, the levels above are right already; above a single word there
            // is none.
            if was != 0 || places == 1 {
                return true;
            }
        }
    }

    /// Removes a number. Returns false if the set does not have it.
    #[inline]
    pub(super) fn remove(&mut self, number: u32) -> bool {
        if !self.contains(number) {
            return false;
        }
        self.count -= 1;
        let word = &mut self.words[number as usize / 64];
        *word &= !(1 << (number % 64));
        if *word == 0 {
            self.is_emptied(number / 64);
        }
        true
    }

    /// A word has become 0: clears its bit in the level above, and seeks the smallest number.
    fn is_emptied(&mut self, word: u32) {
        let (mut base, mut places, mut place) = (0, self.size, word);
        loop {
            (base, places) = (base + width(places), width(places));
            if places == 1 {
                break;
            }
            let above = &mut self.words[(base + place / 64) as usize];
            *above &= !(1 << (place % 64));
            if *above != 0 {
                break;
            }
            place /= 64;
        }
        if word == self.lowest {
            self.seek_lowest();
        }
    }

    /// The smallest number.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        Some(self.lowest * 64 + self.words[self.lowest as usize].trailing_zeros())
    }

    /// Takes out the smallest number.
    #[inline]
    pub(super) fn pop_first(&mut self) -> Option<u32> {
        let first = self.first()?;
        self.count -= 1;
        let word = &mut self.words[self.lowest as usize];
        *word &= *word - 1;
        if *word == 0 {
            self.is_emptied(self.lowest);
        }
        Some(first)
    }

    /// Finds the word of the smallest number.
    fn seek_lowest(&mut self) {
        let first = if self.count == 0 { 0 } else { self.descend(self.size, 0) };
        self.lowest = first / 64;
    }

    /// The smallest number, from the levels that begin at `base` upwards.
    fn descend(&self, places: u32, base: u32) -> u32 {
        let words = width(places);
        let word = if words == 1 { 0 } else { self.descend(words, base + words) };
        word * 64 + self.words[(base + word) as usize].trailing_zeros()
    }

    /// Adds all numbers of a range; numbers out of bounds are passed over.
    pub(super) fn insert_all(&mut self, range: Range) {
        let (mut first, mut end) = (range.first, range.end.min(self.size));
        let (mut base, mut places) = (0, self.size);
        while first < end {
            for (word, bits) in words_of(first, end) {
                let word = &mut self.words[(base + word) as usize];
                if base == 0 {
                    self.count += (bits & !*word).count_ones();
                }
                *word |= bits;
            }
            if width(places) == 1 {
                break;
            }
            (base, places) = (base + width(places), width(places));
            (first, end) = (first / 64, (end - 1) / 64 + 1);
        }
        self.seek_lowest();
    }

    /// Removes all numbers of a range.
    pub(super) fn remove_all(&mut self, range: Range) {
        let (mut first, mut end) = (range.first, range.end.min(self.size));
        let (mut base, mut places) = (0, self.size);
        while first < end {
            for (word, bits) in words_of(first, end) {
                let word = &mut self.words[(base + word) as usize];
                if base == 0 {
                    self.count -= (bits & *word).count_ones();
                }
                *word &= !bits;
            }
            if width(places) == 1 {
                break;
            }
            // The inner words are 0 now; the outer ones perhaps.
            let left = |word: u32| u32::from(self.words[(base + word) as usize] != 0);
            let (from, last) = (first / 64, (end - 1) / 64);
            (first, end) = (from + left(from), last + 1 - left(last));
            (base, places) = (base + width(places), width(places));
        }
        self.seek_lowest();
    }

    /// Removes and returns the smallest `count` numbers, or all if there are fewer.
    pub(super) fn take_first(&mut self, count: u32) -> Ranges {
        let taken = std::iter::from_fn(|| {
            let first = self.pop_first()?;
            Some(Range { first, end: first + 1 })
        });
        taken.take(count as usize).collect()
    }

    /// All numbers.
    pub(super) fn ranges(&self) -> Ranges {
        let numbers = (0..width(self.size)).flat_map(|place| {
            let mut word = self.words[place as usize];
            std::iter::from_fn(move || {
                if word == 0 {
                    return None;
                }
                let from = word.trailing_zeros();
                let length = (word >> from).trailing_ones();
                word &= !(mask(length) << from);
                Some(Range { first: place * 64 + from, end: place * 64 + from + length })
            })
        });
        numbers.collect()
    }
}

/// The lowest `length` bits.
fn mask(length: u32) -> u64 {
    if length == 64 { u64::MAX } else { (1 << length) - 1 }
}

/// The words of a range, each with the bits of the range.
fn words_of(first: u32, end: u32) -> impl Iterator<Item = (u32, u64)> {
    (first / 64..=(end - 1) / 64).map(move |word| {
        let from = first.saturating_sub(word * 64);
        let upto = (end - word * 64).min(64);
        (word, mask(upto) & !mask(from))
    })
}

#[derive(Serialize, Deserialize)]
struct Written {
    size: u32,
    numbers: Ranges,
}

impl From<Bits> for Written {
    fn from(bits: Bits) -> Self {
        Written { size: bits.size, numbers: bits.ranges() }
    }
}

impl From<Written> for Bits {
    fn from(written: Written) -> Self {
        let mut bits = Bits::new(written.size.min(super::table::SLOTS_AT_MOST));
        for range in written.numbers.iter() {
            bits.insert_all(range);
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::super::xorshift::Xorshift;
    use super::*;
    use std::collections::BTreeSet;
    use synod_core::family::slots::SlotId;

    #[test]
    fn bits_do_what_a_set_does() {
        let mut random = Xorshift::new(8);
        for size in [1, 63, 64, 65, 4_096, 4_097, 300_000] {
            let (mut bits, mut model) = (Bits::new(size), BTreeSet::new());
            for _ in 0..600 {
                let number = random.below(size + 1);
                let range = Range { first: number, end: number + random.below(200) };
                match random.below(6) {
                    0 | 1 => {
                        let new = number < size && model.insert(number);
                        assert_eq!(bits.insert(number), new);
                    }
                    2 => assert_eq!(bits.remove(number), model.remove(&number)),
                    3 => {
                        bits.insert_all(range);
                        model.extend(range.first..range.end.min(size));
                    }
                    4 => {
                        bits.remove_all(range);
                        model.retain(|other| !(range.first..range.end).contains(other));
                    }
                    _ => {
                        let count = random.below(5);
                        let taken = bits.take_first(count);
                        assert!(taken.slots().all(|slot| model.pop_first() == Some(slot.0)));
                        assert!(taken.len() == count || model.is_empty());
                    }
                }
                assert_eq!(bits.first(), model.first().copied());
                assert_eq!(bits.count() as usize, model.len());
            }
            let expected: Ranges = model.iter().map(|number| SlotId(*number)).collect();
            assert_eq!(bits.ranges(), expected);
            let again = Bits::from(Written { size, numbers: expected });
            assert!(again == bits, "equal sets are equal values");
        }
    }
}
