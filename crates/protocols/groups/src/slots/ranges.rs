//! Sets of slots, as runs of neighbours.

use serde::{Deserialize, Serialize, Serializer};
use smallvec::{SmallVec, smallvec};
use std::fmt;
use synod_core::family::slots::SlotId;

/// Slots without a gap: from `first`, up to but without `end`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    /// The first slot.
    pub first: u32,
    /// One more than the last slot.
    pub end: u32,
}

impl Range {
    /// The number of slots.
    pub fn len(self) -> u32 {
        self.end.saturating_sub(self.first)
    }

    /// Whether the range is empty.
    pub fn is_empty(self) -> bool {
        self.end <= self.first
    }
}

/// `s3`, or `s3-s5`.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.len() {
            1 => write!(f, "s{}", self.first),
            _ => write!(f, "s{}-s{}", self.first, self.end.saturating_sub(1)),
        }
    }
}

impl fmt::Debug for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A set of slots. Equal sets are equal values: ranges are in order, not empty, and no two touch.
///
/// Looking up is quick; a change of one range copies all later ones. So this type is for sets that
/// are small or seldom change: an offer, a donation, a part's claim at a merge.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "Vec<(u32, u32)>")]
pub struct Ranges(Runs);

/// Most sets in messages are one or two ranges: these need no allocation.
type Runs = SmallVec<[Range; 2]>;

// By hand, because copying slices is much faster than cloning element by element.
impl Clone for Ranges {
    fn clone(&self) -> Self {
        Ranges(SmallVec::from_slice(&self.0))
    }

    fn clone_from(&mut self, source: &Self) {
        self.0.clear();
        self.0.extend_from_slice(&source.0);
    }
}

impl Ranges {
    /// No slot.
    pub const EMPTY: Ranges = Ranges(SmallVec::new_const());

    /// One slot.
    pub fn one(slot: SlotId) -> Self {
        Self::span(slot.0, slot.0.saturating_add(1))
    }

    /// From `first`, up to but without `end`.
    pub fn span(first: u32, end: u32) -> Self {
        let range = Range { first, end };
        if range.is_empty() { Self::EMPTY } else { Ranges(smallvec![range]) }
    }

    /// The number of slots.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|range| range.len()).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the set contains the slot.
    pub fn contains(&self, slot: SlotId) -> bool {
        let place = self.0.partition_point(|range| range.end <= slot.0);
        self.0.get(place).is_some_and(|range| range.first <= slot.0)
    }

    /// The ranges, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range> + '_ {
        self.0.iter().copied()
    }

    /// The slots, in order.
    pub fn slots(&self) -> impl Iterator<Item = SlotId> + '_ {
        self.0.iter().flat_map(|range| range.first..range.end).map(SlotId)
    }

    /// One more than the greatest slot; 0 for the empty set.
    pub fn end(&self) -> u32 {
        self.0.last().map_or(0, |range| range.end)
    }

    /// Adds a range.
    pub fn insert(&mut self, range: Range) {
        if range.is_empty() {
            return;
        }
        let from = self.0.partition_point(|other| other.end < range.first);
        let upto = self.0.partition_point(|other| other.first <= range.end);
        let mut joined = range;
        if let (Some(left), true) = (self.0.get(from), from < upto) {
            joined.first = joined.first.min(left.first);
            joined.end = joined.end.max(self.0[upto - 1].end);
        }
        match from == upto {
            true => self.0.insert(from, joined),
            false => {
                self.0[from] = joined;
                self.0.drain(from + 1..upto);
            }
        }
    }

    /// Adds the slots of another set.
    pub fn extend(&mut self, others: &Ranges) {
        // A few ranges are inserted one by one; for many, one pass over both sets is cheaper.
        if others.0.len() <= 4 {
            others.iter().for_each(|range| self.insert(range));
        } else {
            self.0 = combined(&self.0, &others.0, |mine, theirs| mine || theirs);
        }
    }

    /// Removes the slots of another set.
    pub fn remove(&mut self, others: &Ranges) {
        if !self.is_empty() && !others.is_empty() {
            self.0 = combined(&self.0, &others.0, |mine, theirs| mine && !theirs);
        }
    }

    /// Whether the sets have a common slot.
    pub fn intersects(&self, others: &Ranges) -> bool {
        others.iter().any(|range| {
            let place = self.0.partition_point(|mine| mine.end <= range.first);
            self.0.get(place).is_some_and(|mine| mine.first < range.end)
        })
    }

    /// The common slots.
    pub fn intersection(&self, others: &Ranges) -> Ranges {
        Ranges(combined(&self.0, &others.0, |mine, theirs| mine && theirs))
    }

    /// Removes and returns the first `count` slots, or all if there are fewer.
    pub fn take_first(&mut self, count: u32) -> Ranges {
        if count == 0 {
            return Ranges::EMPTY;
        }
        let mut left = count;
        let whole = self.0.iter().take_while(|range| match left.checked_sub(range.len()) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        });
        let whole = whole.count();
        let mut taken = Runs::from_slice(&self.0[..whole]);
        self.0.drain(..whole);
        if let Some(next) = self.0.first_mut().filter(|_| left > 0) {
            taken.push(Range { first: next.first, end: next.first + left });
            next.first += left;
        }
        Ranges(taken)
    }
}

/// The slots for which `keep` says yes. Its arguments: whether the slot is in `a`, and in `b`.
fn combined(a: &[Range], b: &[Range], keep: impl Fn(bool, bool) -> bool) -> Runs {
    // Edges of ranges alternate: at even places a range begins, at odd ones it ends.
    let edge = |ranges: &[Range], place: usize| match ranges.get(place / 2) {
        None => u64::MAX,
        Some(range) if place.is_multiple_of(2) => u64::from(range.first),
        Some(range) => u64::from(range.end),
    };
    let mut kept = Runs::with_capacity(a.len().max(b.len()));
    let (mut in_a, mut in_b, mut begun) = (0, 0, None);
    loop {
        let (next_a, next_b) = (edge(a, in_a), edge(b, in_b));
        let at = next_a.min(next_b);
        if at == u64::MAX {
            return kept;
        }
        in_a += usize::from(next_a == at);
        in_b += usize::from(next_b == at);
        match (begun, keep(in_a % 2 == 1, in_b % 2 == 1)) {
            (None, true) => begun = Some(at as u32),
            (Some(first), false) => {
                kept.push(Range { first, end: at as u32 });
                begun = None;
            }
            _ => {}
        }
    }
}

impl FromIterator<Range> for Ranges {
    fn from_iter<I: IntoIterator<Item = Range>>(ranges: I) -> Self {
        let mut set = Ranges::EMPTY;
        for range in ranges {
            // Ranges that come in order go to the end, at no cost.
            match set.0.last_mut() {
                _ if range.is_empty() => {}
                Some(last) if range.first == last.end => last.end = range.end,
                Some(last) if range.first < last.end => set.insert(range),
                _ => set.0.push(range),
            }
        }
        set
    }
}

impl FromIterator<SlotId> for Ranges {
    fn from_iter<I: IntoIterator<Item = SlotId>>(slots: I) -> Self {
        slots.into_iter().map(|slot| Range { first: slot.0, end: slot.0 + 1 }).collect()
    }
}

/// Written as the gap before each range and its length: small numbers, which take few bytes.
impl Serialize for Ranges {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut at = 0;
        serializer.collect_seq(self.0.iter().map(|range| {
            let gap = range.first - at;
            at = range.end;
            (gap, range.len())
        }))
    }
}

/// The written form comes from the network or a disk, so it may be forged.
impl TryFrom<Vec<(u32, u32)>> for Ranges {
    type Error = &'static str;

    fn try_from(written: Vec<(u32, u32)>) -> Result<Self, Self::Error> {
        let mut ranges = Runs::with_capacity(written.len());
        let mut at = 0u32;
        for (gap, length) in written {
            if length == 0 || (gap == 0 && !ranges.is_empty()) {
                return Err("a set of slots is written longer than it is");
            }
            let first = at.checked_add(gap).ok_or("there is no such slot")?;
            at = first.checked_add(length).ok_or("there is no such slot")?;
            ranges.push(Range { first, end: at });
        }
        Ok(Ranges(ranges))
    }
}

/// `s0-s3 s7`; `none` for the empty set.
impl fmt::Display for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return write!(f, "none");
        }
        for (place, range) in self.0.iter().enumerate() {
            write!(f, "{}{range}", if place == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}

#[cfg(test)]
mod tests {
    use super::super::xorshift::Xorshift;
    use super::*;
    use std::collections::BTreeSet;

    type Model = BTreeSet<u32>;

    fn ranges(model: &Model) -> Ranges {
        model.iter().map(|slot| SlotId(*slot)).collect()
    }

    fn some(random: &mut Xorshift) -> Model {
        (0..40).filter(|_| random.below(3) == 0).collect()
    }

    fn is_canonical(ranges: &Ranges) -> bool {
        let none_is_empty = ranges.iter().all(|range| !range.is_empty());
        none_is_empty && ranges.0.windows(2).all(|pair| pair[0].end < pair[1].first)
    }

    #[test]
    fn ranges_do_what_sets_of_numbers_do() {
        let mut random = Xorshift::new(1);
        for _ in 0..2_000 {
            let (a, b) = (some(&mut random), some(&mut random));
            let (mut union, mut rest) = (ranges(&a), ranges(&a));
            union.extend(&ranges(&b));
            rest.remove(&ranges(&b));
            assert_eq!(union, ranges(&a.union(&b).copied().collect()));
            assert_eq!(rest, ranges(&a.difference(&b).copied().collect()));
            let both = ranges(&a).intersection(&ranges(&b));
            assert_eq!(both, ranges(&a.intersection(&b).copied().collect()));
            assert_eq!(ranges(&a).intersects(&ranges(&b)), !both.is_empty());
            for set in [&union, &rest, &both] {
                assert!(is_canonical(set), "{set}");
            }
            assert_eq!(union.len() as usize, a.union(&b).count());
            assert!((0..42).all(
                |slot| union.contains(SlotId(slot)) == (a.contains(&slot) || b.contains(&slot))
            ));
        }
    }

    #[test]
    fn a_range_is_joined_with_all_that_it_touches() {
        let mut random = Xorshift::new(2);
        for _ in 0..2_000 {
            let mut model = some(&mut random);
            let mut set = ranges(&model);
            let first = random.below(40);
            let range = Range { first, end: first + random.below(6) };
            set.insert(range);
            model.extend(range.first..range.end);
            assert_eq!(set, ranges(&model));
            assert!(is_canonical(&set), "{set}");
        }
    }

    #[test]
    fn the_first_slots_are_taken_and_the_others_stay() {
        let mut random = Xorshift::new(3);
        for _ in 0..2_000 {
            let model = some(&mut random);
            let count = random.below(30);
            let mut rest = ranges(&model);
            let taken = rest.take_first(count);
            assert_eq!(taken, model.iter().take(count as usize).map(|s| SlotId(*s)).collect());
            assert_eq!(rest, model.iter().skip(count as usize).map(|s| SlotId(*s)).collect());
            assert!(is_canonical(&taken) && is_canonical(&rest));
        }
    }

    #[test]
    fn forged_ranges_are_refused() {
        for forged in
            [vec![(0, 0)], vec![(3, 1), (0, 1)], vec![(u32::MAX, 1)], vec![(0, u32::MAX), (1, 1)]]
        {
            assert!(Ranges::try_from(forged.clone()).is_err(), "{forged:?}");
        }
        assert_eq!(
            Ranges::try_from(vec![(0, 2), (1, 1)]),
            Ok([0, 1, 3].map(SlotId).into_iter().collect())
        );
    }

    #[test]
    fn a_set_is_written_in_words() {
        let set: Ranges = [0, 1, 2, 7].map(SlotId).into_iter().collect();
        assert_eq!(set.to_string(), "s0-s2 s7");
        assert_eq!(Ranges::EMPTY.to_string(), "none");
    }
}
