//! The table of visited states, and the tree of their discovery: nine bytes a state, and two.

use std::collections::BTreeMap;
use synod_sim::world::Left;

/// A set of fingerprints, each with the remaining fault budget of its state. Open addressing with
/// linear probing. A large table grows in small steps, so that memory follows the number of states
/// closely. No fingerprint is zero.
///
/// A state is known if the table has its fingerprint with at least the same budget of each kind:
/// every history with the smaller budget is also one with the larger.
#[derive(Debug)]
pub(crate) struct Visited {
    slots: Vec<u64>,
    /// The budget of each slot: its place in `budgets`.
    budget_of: Vec<u8>,
    /// The different budgets. They are few, as budgets are small.
    budgets: Vec<Left>,
    /// One bit a slot: whether it was filled at this level.
    this_level: Vec<u64>,
    len: usize,
}

/// What the table knows of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The state is new, or was visited with a smaller budget only.
    New,
    /// The state was visited at this level, or with a larger budget.
    ThisLevel,
    /// The state was visited at an earlier level, with the same budget.
    EarlierLevel,
}

/// The budget has no place in the list: the fingerprint contains it.
const OTHER: u8 = u8::MAX;
const SMALLEST: usize = 1 << 10;
/// The table is at most this full, in percent.
const FULL: usize = 85;
/// A table below this number of slots doubles, because its memory does not matter yet.
const SMALL: usize = 1 << 13;
/// A larger table grows by this factor, in percent.
const GROWTH: usize = 120;

impl Default for Visited {
    fn default() -> Self {
        Visited::with_room(SMALLEST)
    }
}

impl Visited {
    /// An empty table with this number of slots.
    pub(crate) fn with_room(slots: usize) -> Self {
        Visited {
            slots: vec![0; slots],
            budget_of: vec![0; slots],
            budgets: Vec::new(),
            this_level: vec![0; slots.div_ceil(64)],
            len: 0,
        }
    }

    /// The slot at which the search for a fingerprint begins: its high bits, scaled to the table.
    #[inline]
    fn home(&self, fingerprint: u64) -> usize {
        ((u128::from(fingerprint) * self.slots.len() as u128) >> 64) as usize
    }

    /// The place of an entry with this fingerprint and at least this budget, or else a free place.
    #[inline]
    fn find(&self, fingerprint: u64, left: &Left) -> Result<usize, usize> {
        let mut place = self.home(fingerprint);
        loop {
            match self.slots[place] {
                0 => return Err(place),
                known
                    if known == fingerprint
                        && self.budget_at(place).is_none_or(|there| there.covers(left)) =>
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

    /// The budget of an entry; none if its fingerprint contains the budget.
    fn budget_at(&self, place: usize) -> Option<&Left> {
        self.budgets.get(usize::from(self.budget_of[place]))
    }

    /// The fingerprint under which a state is entered. Once the list of budgets is full, the
    /// fingerprint contains the budget.
    fn entry_of(&self, fingerprint: u64, left: &Left) -> u64 {
        let is_full = self.budgets.len() == usize::from(OTHER);
        match is_full && !self.budgets.contains(left) {
            true => fingerprint.wrapping_add(left.print()).max(1),
            false => fingerprint,
        }
    }

    /// What the table knows of a state.
    #[inline]
    pub(crate) fn look_up(&self, fingerprint: u64, left: &Left) -> Seen {
        match self.find(self.entry_of(fingerprint, left), left) {
            Err(_) => Seen::New,
            Ok(place) => self.seen_at(place, left),
        }
    }

    #[inline]
    fn seen_at(&self, place: usize, left: &Left) -> Seen {
        // Budgets only shrink: no history leads from here back to the entry with the larger budget.
        let is_larger = self.budget_at(place).is_some_and(|there| there != left);
        let is_new = self.this_level[place / 64] >> (place % 64) & 1 == 1;
        if is_larger || is_new { Seen::ThisLevel } else { Seen::EarlierLevel }
    }

    /// The next level begins: all entries are of earlier levels.
    pub(crate) fn begin_level(&mut self) {
        self.this_level.fill(0);
    }

    /// The place of a budget in the list.
    fn place_of(&mut self, left: &Left) -> u8 {
        if let Some(place) = self.budgets.iter().position(|known| known == left) {
            return place as u8;
        }
        if self.budgets.len() == usize::from(OTHER) {
            return OTHER;
        }
        self.budgets.push(*left);
        (self.budgets.len() - 1) as u8
    }

    fn put(&mut self, place: usize, fingerprint: u64, budget: u8, is_new: bool) {
        self.slots[place] = fingerprint;
        self.budget_of[place] = budget;
        self.this_level[place / 64] |= u64::from(is_new) << (place % 64);
    }

    /// Adds a state, if it is new. Returns what the table knew of it before.
    #[inline]
    pub(crate) fn add(&mut self, fingerprint: u64, left: &Left) -> Seen {
        let fingerprint = self.entry_of(fingerprint, left);
        let place = match self.find(fingerprint, left) {
            Ok(place) => return self.seen_at(place, left),
            Err(place) => place,
        };
        let budget = self.place_of(left);
        self.put(place, fingerprint, budget, true);
        self.len += 1;
        if self.len * 100 > self.slots.len() * FULL {
            self.grow();
        }
        Seen::New
    }

    fn grow(&mut self) {
        let slots = self.slots.len();
        let length = if slots < SMALL { 2 * slots } else { slots * GROWTH / 100 };
        let old = std::mem::replace(&mut self.slots, vec![0; length]);
        let new = std::mem::replace(&mut self.this_level, vec![0; length.div_ceil(64)]);
        let budget_of = std::mem::replace(&mut self.budget_of, vec![0; length]);
        for (place, fingerprint) in old.into_iter().enumerate().filter(|(_, slot)| *slot != 0) {
            let is_new = new[place / 64] >> (place % 64) & 1 == 1;
            let budget = budget_of[place];
            let mut place = self.home(fingerprint);
            while self.slots[place] != 0 {
                place = self.after(place);
            }
            self.put(place, fingerprint, budget, is_new);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> usize {
        (self.slots.len() + self.this_level.len()) * size_of::<u64>() + self.budget_of.len()
    }
}

/// How each state was discovered, in the order of discovery. A breadth-first search expands states
/// in the same order. So two small numbers a state are enough: how many states it discovered, and
/// which successor of its parent it is.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    roots: usize,
    children: SmallNumbers,
    ordinals: SmallNumbers,
    /// How many states the one under expansion has discovered.
    discovered: u32,
}

impl Tree {
    /// Adds a state in which the exploration begins.
    pub(crate) fn add_root(&mut self) {
        self.roots += 1;
    }

    /// The state under expansion discovers a state: its successor number `ordinal`.
    pub(crate) fn add_child(&mut self, ordinal: u32) {
        self.ordinals.push(ordinal);
        self.discovered += 1;
    }

    /// The expansion of the state ends, and that of the next state begins.
    pub(crate) fn end_state(&mut self) {
        self.children.push(std::mem::take(&mut self.discovered));
    }

    pub(crate) fn bytes(&self) -> usize {
        self.children.bytes() + self.ordinals.bytes()
    }

    /// The path to the state number `index`: a root, and then the number of a successor at each
    /// step.
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

/// A list of numbers, nearly all of them below 255: one byte each.
#[derive(Debug, Default)]
struct SmallNumbers {
    bytes: Vec<u8>,
    large: BTreeMap<usize, u32>,
}

impl SmallNumbers {
    fn push(&mut self, number: u32) {
        if self.bytes.len() == self.bytes.capacity() {
            // By a quarter, because doubling would waste half a byte a state.
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
            self.add(fingerprint, left) == Seen::New
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
        assert_eq!(visited.look_up(mixed(100_000), &Left::default()), Seen::New);
        assert_eq!(visited.len(), 100_000);
    }

    #[test]
    fn states_of_this_level_are_told_from_those_of_earlier_levels_however_the_table_grows() {
        let mut visited = Visited::default();
        (0..1_000).for_each(|number| assert!(visited.insert(mixed(number), &Left::default())));
        visited.begin_level();
        (1_000..50_000).for_each(|number| assert!(visited.insert(mixed(number), &Left::default())));
        assert!(
            (0..1_000).all(
                |number| visited.look_up(mixed(number), &Left::default()) == Seen::EarlierLevel
            )
        );
        assert!(
            (1_000..50_000)
                .all(|number| visited.look_up(mixed(number), &Left::default()) == Seen::ThisLevel)
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
    fn a_state_is_known_with_a_smaller_budget_of_faults_and_new_with_a_larger() {
        let left =
            |crashes, drops| Left::of(FaultsLeft { crashes, drops, ..FaultsLeft::default() });
        let mut visited = Visited::default();
        assert!(visited.insert(7, &left(1, 1)));
        visited.begin_level();
        assert_eq!(visited.look_up(7, &left(1, 1)), Seen::EarlierLevel);
        assert_eq!(visited.look_up(7, &left(0, 1)), Seen::ThisLevel);
        assert_eq!(visited.look_up(7, &left(0, 2)), Seen::New);
        assert!(visited.insert(7, &left(0, 2)) && !visited.insert(7, &left(1, 0)));
        assert_eq!(visited.len(), 2);
    }

    #[test]
    fn a_state_is_new_once_for_each_budget_however_many_budgets_there_are() {
        let left = |drops| Left::of(FaultsLeft { drops, ..FaultsLeft::default() });
        let mut visited = Visited::default();
        assert!((0..1_000).all(|drops| visited.insert(7, &left(drops))));
        assert!((0..1_000).all(|drops| !visited.insert(7, &left(drops))));
    }

    #[test]
    fn the_path_to_a_state_leads_through_its_parents() {
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
