//! The states that were seen: nine bytes each, plus two to find the way back.

use std::collections::BTreeMap;
use synod_sim::world::Left;

/// A set of fingerprints, each with what may still go wrong there. Open addressing with linear probing; it
/// grows in small steps, so that memory follows the number of states closely. No fingerprint is zero.
///
/// A state is known if it was added with as much that may go wrong, of each kind, or more: whatever can
/// happen where less can go wrong happens there, too.
#[derive(Debug)]
pub(crate) struct Visited {
    slots: Vec<u64>,
    /// What may still go wrong there: a place in `lefts`.
    left: Vec<u8>,
    lefts: Vec<Left>,
    /// One bit a slot: whether it was filled since the last call of `grow_old`.
    young: Vec<u64>,
    len: usize,
}

/// What is known of a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nothing, or only where less can go wrong.
    Never,
    /// It was added since the last call of `grow_old`.
    Lately,
    /// It was added before that.
    Before,
}

/// No place in the list of what may still go wrong.
const OTHER: u8 = u8::MAX;
const SMALLEST: usize = 1 << 10;
/// The table is at most this full, in percent …
const FULL: usize = 85;
/// … and grows by this factor, in percent.
const GROWTH: usize = 120;

impl Default for Visited {
    fn default() -> Self {
        Visited::with_room(SMALLEST)
    }
}

impl Visited {
    /// An empty table with so many slots.
    pub(crate) fn with_room(slots: usize) -> Self {
        Visited {
            slots: vec![0; slots],
            left: vec![0; slots],
            lefts: Vec::new(),
            young: vec![0; slots.div_ceil(64)],
            len: 0,
        }
    }

    /// Where the search for a fingerprint begins: its high bits, scaled to the table.
    #[inline]
    fn home(&self, fingerprint: u64) -> usize {
        ((u128::from(fingerprint) * self.slots.len() as u128) >> 64) as usize
    }

    /// The place of an entry that covers this one, or a free place for it.
    #[inline]
    fn find(&self, fingerprint: u64, left: &Left) -> Result<usize, usize> {
        let mut place = self.home(fingerprint);
        loop {
            match self.slots[place] {
                0 => return Err(place),
                known
                    if known == fingerprint
                        && self.left_at(place).is_none_or(|there| there.covers(left)) =>
                {
                    return Ok(place);
                }
                _ => place = self.after(place),
            }
        }
    }

    fn after(&self, place: usize) -> usize {
        if place + 1 == self.slots.len() { 0 } else { place + 1 }
    }

    /// What may still go wrong at a place; none if the fingerprint tells.
    fn left_at(&self, place: usize) -> Option<&Left> {
        self.lefts.get(usize::from(self.left[place]))
    }

    /// There are few different ones, as budgets are small. If there are too many all the same, the rest is
    /// told apart by the fingerprint.
    fn told_apart(&self, fingerprint: u64, left: &Left) -> u64 {
        let is_full = self.lefts.len() == usize::from(OTHER);
        match is_full && !self.lefts.contains(left) {
            true => fingerprint.wrapping_add(left.print()).max(1),
            false => fingerprint,
        }
    }

    /// What is known of a fingerprint.
    #[inline]
    pub(crate) fn look_up(&self, fingerprint: u64, left: &Left) -> Seen {
        match self.find(self.told_apart(fingerprint, left), left) {
            Err(_) => Seen::Never,
            Ok(place) => self.seen_at(place, left),
        }
    }

    #[inline]
    fn seen_at(&self, place: usize, left: &Left) -> Seen {
        // Less can go wrong: there is no way back from here to there.
        let is_ahead = self.left_at(place).is_some_and(|there| there != left);
        let is_young = self.young[place / 64] >> (place % 64) & 1 == 1;
        if is_ahead || is_young { Seen::Lately } else { Seen::Before }
    }

    /// From now on, everything in here was added before.
    pub(crate) fn grow_old(&mut self) {
        self.young.fill(0);
    }

    /// The place of this in `lefts`.
    fn place_of(&mut self, left: &Left) -> u8 {
        if let Some(place) = self.lefts.iter().position(|known| known == left) {
            return place as u8;
        }
        if self.lefts.len() == usize::from(OTHER) {
            return OTHER;
        }
        self.lefts.push(*left);
        (self.lefts.len() - 1) as u8
    }

    fn put(&mut self, place: usize, fingerprint: u64, left: u8, young: bool) {
        self.slots[place] = fingerprint;
        self.left[place] = left;
        self.young[place / 64] |= u64::from(young) << (place % 64);
    }

    /// Adds a fingerprint, if it is new. Returns what was known of it before.
    #[inline]
    pub(crate) fn add(&mut self, fingerprint: u64, left: &Left) -> Seen {
        let fingerprint = self.told_apart(fingerprint, left);
        let place = match self.find(fingerprint, left) {
            Ok(place) => return self.seen_at(place, left),
            Err(place) => place,
        };
        let left = self.place_of(left);
        self.put(place, fingerprint, left, true);
        self.len += 1;
        if self.len * 100 > self.slots.len() * FULL {
            self.grow();
        }
        Seen::Never
    }

    fn grow(&mut self) {
        let length = self.slots.len() * GROWTH / 100;
        let old = std::mem::replace(&mut self.slots, vec![0; length]);
        let young = std::mem::replace(&mut self.young, vec![0; length.div_ceil(64)]);
        let left = std::mem::replace(&mut self.left, vec![0; length]);
        for (place, fingerprint) in old.into_iter().enumerate().filter(|(_, slot)| *slot != 0) {
            let young = young[place / 64] >> (place % 64) & 1 == 1;
            let left = left[place];
            let mut place = self.home(fingerprint);
            while self.slots[place] != 0 {
                place = self.after(place);
            }
            self.put(place, fingerprint, left, young);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> usize {
        (self.slots.len() + self.young.len()) * size_of::<u64>() + self.left.len()
    }
}

/// How each state was found, in the order of discovery. A breadth-first search expands states in
/// that same order, so it is enough to know how many new states each one led to, and by which of
/// its successors: two small numbers a state.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    roots: usize,
    children: Small,
    ordinals: Small,
    /// How many states the one that is expanded now has led to.
    led_to: u32,
}

impl Tree {
    /// A state that was there from the beginning.
    pub(crate) fn add_root(&mut self) {
        self.roots += 1;
    }

    /// The state expanded now led to a new one by its successor number `ordinal`.
    pub(crate) fn add_child(&mut self, ordinal: u32) {
        self.ordinals.push(ordinal);
        self.led_to += 1;
    }

    /// The state is expanded; the next one follows.
    pub(crate) fn end_state(&mut self) {
        self.children.push(std::mem::take(&mut self.led_to));
    }

    pub(crate) fn bytes(&self) -> usize {
        self.children.bytes() + self.ordinals.bytes()
    }

    /// The way to the state number `index`: which root, and then which successor at each step.
    pub(crate) fn path(&self, index: usize) -> (usize, Vec<u32>) {
        let mut path = Vec::new();
        let mut target = index;
        // The children of the state number `parent` begin at `first`.
        let mut first = self.roots + self.ordinals.len();
        for parent in (0..self.children.len()).rev() {
            if target < self.roots {
                break;
            }
            first -= self.children.get(parent) as usize;
            let last = first + self.children.get(parent) as usize;
            if (first..last).contains(&target) {
                path.push(self.ordinals.get(target - self.roots));
                target = parent;
            }
        }
        path.reverse();
        (target, path)
    }
}

/// A list of numbers, nearly all of them below 255.
#[derive(Debug, Default)]
struct Small {
    bytes: Vec<u8>,
    large: BTreeMap<usize, u32>,
}

impl Small {
    fn push(&mut self, number: u32) {
        if self.bytes.len() == self.bytes.capacity() {
            // Grow by a quarter: doubling would waste half a byte a state.
            self.bytes.reserve_exact((self.bytes.len() / 4).max(SMALLEST));
        }
        if number >= 255 {
            self.large.insert(self.bytes.len(), number);
        }
        self.bytes.push(number.min(255) as u8);
    }

    fn get(&self, index: usize) -> u32 {
        match self.bytes[index] {
            255 => self.large[&index],
            small => small.into(),
        }
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn bytes(&self) -> usize {
        self.bytes.capacity() + self.large.len() * 3 * size_of::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use synod_sim::world::FaultsLeft;

    impl Visited {
        /// Adds a fingerprint; true if it is new.
        fn insert(&mut self, fingerprint: u64, left: &Left) -> bool {
            self.add(fingerprint, left) == Seen::Never
        }
    }

    fn mixed(number: u64) -> u64 {
        (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).max(1)
    }

    #[test]
    fn a_fingerprint_is_new_once() {
        let mut visited = Visited::default();
        assert!((0..100_000).all(|number| visited.insert(mixed(number), &Left::default())));
        assert!((0..100_000).all(|number| !visited.insert(mixed(number), &Left::default())));
        assert_eq!(visited.look_up(mixed(100_000), &Left::default()), Seen::Never);
        assert_eq!(visited.len(), 100_000);
    }

    #[test]
    fn what_was_added_lately_is_told_from_what_was_there_before_however_the_table_grows() {
        let mut visited = Visited::default();
        (0..1_000).for_each(|number| assert!(visited.insert(mixed(number), &Left::default())));
        visited.grow_old();
        (1_000..50_000).for_each(|number| assert!(visited.insert(mixed(number), &Left::default())));
        assert!(
            (0..1_000)
                .all(|number| visited.look_up(mixed(number), &Left::default()) == Seen::Before)
        );
        assert!(
            (1_000..50_000)
                .all(|number| visited.look_up(mixed(number), &Left::default()) == Seen::Lately)
        );
    }

    #[test]
    fn a_visited_state_takes_at_most_sixteen_bytes_at_every_size() {
        let (mut visited, mut tree) = (Visited::default(), Tree::default());
        tree.add_root();
        for number in 0..500_000u64 {
            visited.insert(mixed(number), &Left::default());
            tree.add_child((number % 7) as u32);
            tree.end_state();
            if number > 10_000 {
                let bytes = visited.bytes() + tree.bytes();
                assert!(bytes <= 16 * visited.len(), "{bytes} bytes for {number} states");
            }
        }
    }

    #[test]
    fn where_less_can_go_wrong_a_state_is_known_and_where_more_can_it_is_not() {
        let left =
            |crashes, drops| Left::of(FaultsLeft { crashes, drops, ..FaultsLeft::default() });
        let mut visited = Visited::default();
        assert!(visited.insert(7, &left(1, 1)));
        visited.grow_old();
        assert_eq!(visited.look_up(7, &left(1, 1)), Seen::Before);
        assert_eq!(visited.look_up(7, &left(0, 1)), Seen::Lately);
        assert_eq!(visited.look_up(7, &left(0, 2)), Seen::Never);
        assert!(visited.insert(7, &left(0, 2)) && !visited.insert(7, &left(1, 0)));
        assert_eq!(visited.len(), 2);
    }

    #[test]
    fn however_much_may_go_wrong_a_state_is_new_once() {
        let left = |drops| Left::of(FaultsLeft { drops, ..FaultsLeft::default() });
        let mut visited = Visited::default();
        assert!((0..1_000).all(|drops| visited.insert(7, &left(drops))));
        assert!((0..1_000).all(|drops| !visited.insert(7, &left(drops))));
    }

    #[test]
    fn the_way_back_leads_through_the_parents() {
        // 0 and 1 are roots; 0 -> 2 (by 5), 3 (by 300); 1 -> none; 2 -> 4 (by 0); 3 -> 5 (by 9).
        let mut tree = Tree::default();
        tree.add_root();
        tree.add_root();
        for ordinals in [&[5, 300][..], &[], &[0], &[9]] {
            ordinals.iter().for_each(|ordinal| tree.add_child(*ordinal));
            tree.end_state();
        }
        assert_eq!(tree.path(1), (1, vec![]));
        assert_eq!(tree.path(3), (0, vec![300]));
        assert_eq!(tree.path(4), (0, vec![5, 0]));
        assert_eq!(tree.path(5), (0, vec![300, 9]));
    }
}
