//! The names of processes, and sets of them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of a process: `p0`, `p1`, … Processes are numbered from 0 without gaps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessId(pub u32);

impl ProcessId {
    /// The position of this process in a list of all processes.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// All processes of a group of `n`, in order.
    pub fn all(n: usize) -> impl DoubleEndedIterator<Item = ProcessId> + Clone + use<> {
        (0..n as u32).map(ProcessId)
    }

    /// The next process of a ring of `n`.
    pub fn successor(self, n: usize) -> ProcessId {
        ProcessId((self.0 + 1) % n as u32)
    }
}

impl fmt::Debug for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0)
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0)
    }
}

/// A set of processes, iterated in order of their names.
///
/// One machine word up to 64 processes, because explorers copy and hash it millions of times.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
pub struct ProcessSet(Words);

// By hand, so that copying a small set over a small set is one assignment.
impl Clone for ProcessSet {
    #[inline]
    fn clone(&self) -> Self {
        ProcessSet(self.0.clone())
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        match (&mut self.0, &source.0) {
            (Words::Small(mine), Words::Small(theirs)) => *mine = *theirs,
            (mine, theirs) => *mine = theirs.clone(),
        }
    }
}

/// Equal sets have equal words: `Large` is used only while a name above 63 is in the set, and then
/// has no zero word at its end.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Written")]
enum Words {
    Small(u64),
    Large(Box<[u64]>),
}

/// Words from the network or a disk, not checked yet.
#[derive(Deserialize)]
enum Written {
    Small(u64),
    Large(Box<[u64]>),
}

impl TryFrom<Written> for Words {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written {
            Written::Small(word) => Ok(Words::Small(word)),
            Written::Large(words) if words.len() < 2 || words.last() == Some(&0) => {
                Err("a set of processes has superfluous words at its end")
            }
            Written::Large(words) => Ok(Words::Large(words)),
        }
    }
}

impl Default for Words {
    fn default() -> Self {
        Words::Small(0)
    }
}

fn widened(words: &[u64], length: usize) -> Box<[u64]> {
    let mut wider = vec![0; length];
    wider[..words.len()].copy_from_slice(words);
    wider.into_boxed_slice()
}

impl ProcessSet {
    /// The empty set.
    pub const EMPTY: ProcessSet = ProcessSet(Words::Small(0));

    /// All processes of a group of `n`.
    #[inline]
    pub fn all(n: usize) -> Self {
        if n < 64 {
            return ProcessSet(Words::Small((1 << n) - 1));
        }
        // The largest name first, so that the set allocates its final width at once.
        ProcessId::all(n).rev().collect()
    }

    /// Every process of a group of `n` but one.
    #[inline]
    pub fn all_but(n: usize, me: ProcessId) -> Self {
        let mut set = Self::all(n);
        set.remove(me);
        set
    }

    #[inline]
    fn words(&self) -> &[u64] {
        match &self.0 {
            Words::Small(word) => std::slice::from_ref(word),
            Words::Large(words) => words,
        }
    }

    /// Adds a process; true if it was not there before.
    #[inline]
    pub fn insert(&mut self, process: ProcessId) -> bool {
        let (word, bit) = (process.index() / 64, 1u64 << (process.0 % 64));
        let slot = match &mut self.0 {
            Words::Small(only) if word == 0 => only,
            Words::Small(only) => {
                self.0 = Words::Large(widened(&[*only], word + 1));
                return self.insert(process);
            }
            Words::Large(words) => {
                if words.len() <= word {
                    *words = widened(words, word + 1);
                }
                &mut words[word]
            }
        };
        let new = *slot & bit == 0;
        *slot |= bit;
        new
    }

    /// Takes a process out; true if it was there.
    #[inline]
    pub fn remove(&mut self, process: ProcessId) -> bool {
        let (word, bit) = (process.index() / 64, 1u64 << (process.0 % 64));
        let slot = match &mut self.0 {
            Words::Small(only) if word == 0 => only,
            Words::Large(words) if word < words.len() => &mut words[word],
            _ => return false,
        };
        let was_there = *slot & bit != 0;
        *slot &= !bit;
        self.shrink();
        was_there
    }

    #[inline]
    fn shrink(&mut self) {
        // Sets are compared and hashed by their words, so equal sets must have equal words.
        if let Words::Large(words) = &mut self.0 {
            match words.iter().rposition(|word| *word != 0) {
                None | Some(0) => self.0 = Words::Small(words[0]),
                Some(last) if last + 1 < words.len() => *words = widened(&words[..=last], last + 1),
                Some(_) => {}
            }
        }
    }

    /// Whether the process is in the set.
    #[inline]
    pub fn contains(&self, process: ProcessId) -> bool {
        let word = self.words().get(process.index() / 64).copied().unwrap_or(0);
        word & (1 << (process.0 % 64)) != 0
    }

    /// How many processes are in the set.
    #[inline]
    pub fn len(&self) -> usize {
        self.words().iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        matches!(self.0, Words::Small(0))
    }

    /// Removes all processes.
    pub fn clear(&mut self) {
        *self = ProcessSet::EMPTY;
    }

    /// Whether some process is in both sets.
    pub fn intersects(&self, other: &ProcessSet) -> bool {
        self.words().iter().zip(other.words()).any(|(a, b)| a & b != 0)
    }

    /// The members, in order of their names.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = ProcessId> + '_ {
        self.words().iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors((word != 0).then_some(word), |rest| {
                // Clears the lowest bit.
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |rest| ProcessId(index as u32 * 64 + rest.trailing_zeros()))
        })
    }

    /// The member with the smallest name.
    #[inline]
    pub fn first(&self) -> Option<ProcessId> {
        self.iter().next()
    }

    /// The member with the smallest name after this one, whether this one is in the set or not.
    #[inline]
    pub fn first_after(&self, process: ProcessId) -> Option<ProcessId> {
        let begin = process.index() + 1;
        let mut words = self.words().iter().enumerate().skip(begin / 64);
        words.find_map(|(index, word)| {
            let from = begin.saturating_sub(index * 64);
            let rest = word >> from << from;
            (rest != 0).then(|| ProcessId(index as u32 * 64 + rest.trailing_zeros()))
        })
    }
}

impl FromIterator<ProcessId> for ProcessSet {
    fn from_iter<I: IntoIterator<Item = ProcessId>>(processes: I) -> Self {
        let mut set = ProcessSet::EMPTY;
        set.extend(processes);
        set
    }
}

impl Extend<ProcessId> for ProcessSet {
    fn extend<I: IntoIterator<Item = ProcessId>>(&mut self, processes: I) {
        for process in processes {
            self.insert(process);
        }
    }
}

impl fmt::Debug for ProcessSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_with_a_large_name_taken_out_again_equals_the_set_that_never_had_it() {
        let small: ProcessSet = [1, 5, 63].map(ProcessId).into_iter().collect();
        let mut large = small.clone();
        assert!(large.insert(ProcessId(9_999)));
        assert_ne!(large, small);
        assert!(large.remove(ProcessId(9_999)));
        assert_eq!(large, small);
    }

    #[test]
    fn the_first_after_a_name_is_the_next_one_in_order() {
        for names in [&[][..], &[0], &[3, 4, 63], &[0, 63, 64, 65, 127, 128, 300]] {
            let set: ProcessSet = names.iter().copied().map(ProcessId).collect();
            for name in 0..310 {
                let next = names.iter().find(|other| **other > name);
                assert_eq!(set.first_after(ProcessId(name)), next.copied().map(ProcessId));
            }
        }
    }

    #[test]
    fn a_set_that_is_written_longer_than_it_is_is_refused() {
        let read = |words: &[u64]| {
            // The second variant, as a list.
            let written = postcard::to_allocvec(&(1u8, words)).expect("numbers can be written");
            postcard::from_bytes::<ProcessSet>(&written)
        };
        let set: ProcessSet = [0, 64].map(ProcessId).into_iter().collect();
        assert_eq!(read(&[1, 1]), Ok(set));
        assert!(read(&[1]).is_err() && read(&[1, 0]).is_err() && read(&[]).is_err());
    }

    #[test]
    fn members_come_in_order_of_their_names() {
        let names = [200, 3, 64, 63, 0];
        let set: ProcessSet = names.map(ProcessId).into_iter().collect();
        assert_eq!(set.iter().map(|p| p.0).collect::<Vec<_>>(), [0, 3, 63, 64, 200]);
        assert_eq!(set.len(), 5);
        assert!(set.contains(ProcessId(64)) && !set.contains(ProcessId(65)));
    }

    #[test]
    fn all_but_me_has_one_member_less() {
        let set = ProcessSet::all_but(70, ProcessId(69));
        assert_eq!(set.len(), 69);
        assert!(!set.contains(ProcessId(69)));
    }
}
