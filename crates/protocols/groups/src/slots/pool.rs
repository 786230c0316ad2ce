//! One member's own slots: free, in use, cooling, or promised to others.
//!
//! A claim takes the lowest free slot, so that later donations are long runs. Claim and release
//! cost the same at every size of the pool, and after a while allocate nothing.

use super::bits::Bits;
use super::ranges::Ranges;
use super::tokens::Tokens;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;
use synod_core::family::slots::{SlotId, Token};

/// The slot is not in use with that token: it was released, or claimed again since, or never
/// claimed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the slot is not in use with that token")]
pub struct Stale;

/// A member's own slots. Equal pools are equal values.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pool {
    free: Bits,
    used: Tokens,
    /// Released slots that must rest; oldest first.
    cooling: VecDeque<SlotId>,
    /// The number of the oldest of these that were already cooling at the last [`Pool::warm`].
    cooler: u32,
    /// Slots promised or offered to others: this member still owns them, but may not use them.
    pledged: Ranges,
    pledges: u32,
}

impl Pool {
    /// An empty pool for slots below `size`.
    pub fn new(size: u32) -> Self {
        Pool {
            free: Bits::new(size),
            used: Tokens::new(size),
            cooling: VecDeque::new(),
            cooler: 0,
            pledged: Ranges::EMPTY,
            pledges: 0,
        }
    }

    /// The number of slots that can be claimed now.
    #[inline]
    pub fn free(&self) -> u32 {
        self.free.count()
    }

    /// The number of slots in use.
    #[inline]
    pub fn used(&self) -> u32 {
        self.used.count()
    }

    /// The number of slots that cool.
    #[inline]
    pub fn cooling(&self) -> u32 {
        self.cooling.len() as u32
    }

    /// The number of slots promised or offered to others.
    #[inline]
    pub fn pledged(&self) -> u32 {
        self.pledges
    }

    /// The number of all slots.
    #[inline]
    pub fn owned(&self) -> u32 {
        self.free() + self.used() + self.cooling() + self.pledged()
    }

    /// The slots that can be claimed now.
    pub fn free_slots(&self) -> Ranges {
        self.free.ranges()
    }

    /// The slots promised or offered to others.
    pub fn pledged_slots(&self) -> &Ranges {
        &self.pledged
    }

    /// All slots.
    pub fn slots(&self) -> Ranges {
        let mut all = self.free.ranges();
        all.extend(&self.used.iter().map(|(slot, _)| slot).collect());
        all.extend(&self.pledged);
        let mut cooling: Vec<SlotId> = self.cooling.iter().copied().collect();
        cooling.sort_unstable();
        all.extend(&cooling.into_iter().collect());
        all
    }

    /// The token of a slot in use.
    pub fn token(&self, slot: SlotId) -> Option<Token> {
        self.used.get(slot)
    }

    /// Takes the lowest free slot into use. The token's count is above 0.
    #[inline]
    pub fn claim(&mut self, token: Token) -> Option<SlotId> {
        let slot = SlotId(self.free.pop_first()?);
        self.used.insert(slot, token);
        Some(slot)
    }

    /// Takes this slot into use. Returns false if it is not free here.
    pub fn claim_slot(&mut self, slot: SlotId, token: Token) -> bool {
        let free = self.free.remove(slot.0);
        if free {
            self.used.insert(slot, token);
        }
        free
    }

    /// Gives a slot back. It is free at once, or cools until [`Pool::warm`] frees it.
    #[inline]
    pub fn release(&mut self, slot: SlotId, token: Token, cool: bool) -> Result<(), Stale> {
        if !self.used.remove_if(slot, token) {
            return Err(Stale);
        }
        if cool {
            self.cooling.push_back(slot);
        } else {
            self.free.insert(slot.0);
        }
        Ok(())
    }

    /// Frees the slots that were already cooling at the last call. The caller calls at equal
    /// intervals while slots cool, so a slot cools for one to two intervals. Returns whether slots
    /// still cool.
    pub fn warm(&mut self) -> bool {
        for slot in self.cooling.drain(..self.cooler as usize) {
            self.free.insert(slot.0);
        }
        self.cooler = self.cooling();
        self.cooler > 0
    }

    /// Promises the `count` lowest free slots to others, or all if there are fewer. The member
    /// still owns them, but cannot claim them.
    pub fn pledge(&mut self, count: u32) -> Ranges {
        let slots = self.free.take_first(count);
        self.pledges += slots.len();
        self.pledged.extend(&slots);
        slots
    }

    /// Frees promised slots that no member took. Other slots are passed over.
    pub fn unpledge(&mut self, slots: &Ranges) {
        let back = self.unpromise(slots);
        self.gain(&back);
    }

    /// Adds free slots, which were not in the pool before.
    pub fn gain(&mut self, slots: &Ranges) {
        for range in slots.iter() {
            self.free.insert_all(range);
        }
    }

    /// Removes slots, in any state.
    pub fn lose(&mut self, slots: &Ranges) {
        let promised = self.unpromise(slots);
        if promised.len() == slots.len() {
            return;
        }
        for range in slots.iter() {
            self.free.remove_all(range);
        }
        if self.used() > 0 {
            slots.slots().for_each(|slot| self.used.remove(slot));
        }
        let cooler = self.cooling.iter().take(self.cooler as usize);
        self.cooler -= cooler.filter(|slot| slots.contains(**slot)).count() as u32;
        self.cooling.retain(|slot| !slots.contains(*slot));
    }

    /// Removes all slots.
    pub fn clear(&mut self) {
        *self = Pool::new(self.free.size());
    }

    /// Ends the promise of slots; returns those that were promised.
    fn unpromise(&mut self, slots: &Ranges) -> Ranges {
        let promised = self.pledged.intersection(slots);
        self.pledged.remove(&promised);
        self.pledges -= promised.len();
        promised
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("free", &self.free.ranges())
            .field("used", &self.used)
            .field("cooling", &self.cooling)
            .field("pledged", &self.pledged)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::xorshift::Xorshift;
    use super::*;
    use std::collections::BTreeMap;
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

    fn token(count: u64) -> Token {
        Token { epoch: 1, count }
    }

    fn pool_of(slots: &Ranges) -> Pool {
        let mut pool = Pool::new(1_000);
        pool.gain(slots);
        pool
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum State {
        Free,
        Used(Token),
        Cooling { since: u32 },
        Pledged,
    }

    /// The model of a pool: the state of each slot.
    #[derive(Default)]
    struct Model {
        states: BTreeMap<u32, State>,
        calls_of_warm: u32,
    }

    impl Model {
        fn count(&self, which: impl Fn(&State) -> bool) -> u32 {
            self.states.values().filter(|state| which(state)).count() as u32
        }

        fn lowest_free(&self) -> Option<u32> {
            let free = self.states.iter().find(|(_, state)| **state == State::Free);
            free.map(|(slot, _)| *slot)
        }

        fn warm(&mut self) {
            for state in self.states.values_mut() {
                if matches!(state, State::Cooling { since } if *since < self.calls_of_warm) {
                    *state = State::Free;
                }
            }
            self.calls_of_warm += 1;
        }
    }

    fn agree(pool: &Pool, model: &Model) {
        assert_eq!(pool.free(), model.count(|state| *state == State::Free));
        assert_eq!(pool.used(), model.count(|state| matches!(state, State::Used(_))));
        assert_eq!(pool.cooling(), model.count(|state| matches!(state, State::Cooling { .. })));
        assert_eq!(pool.pledged(), model.count(|state| *state == State::Pledged));
        assert_eq!(pool.slots(), model.states.keys().map(|slot| SlotId(*slot)).collect());
        for (slot, state) in &model.states {
            let expected = match state {
                State::Used(token) => Some(*token),
                _ => None,
            };
            assert_eq!(pool.token(SlotId(*slot)), expected);
        }
    }

    /// One random step of the pool and its model.
    fn step(pool: &mut Pool, model: &mut Model, random: &mut Xorshift, count: u64) {
        let slot = random.below(24);
        let some: Ranges = (0..24).filter(|_| random.below(6) == 0).map(SlotId).collect();
        let state = model.states.get(&slot).copied();
        match random.below(9) {
            0 | 1 => {
                let expected = model.lowest_free();
                assert_eq!(pool.claim(token(count)), expected.map(SlotId));
                model.states.extend(expected.map(|slot| (slot, State::Used(token(count)))));
            }
            2 => {
                let free = state == Some(State::Free);
                assert_eq!(pool.claim_slot(SlotId(slot), token(count)), free);
                model.states.extend(free.then_some((slot, State::Used(token(count)))));
            }
            3 | 4 => {
                let cool = random.below(2) == 0;
                let Some(State::Used(token)) = state else {
                    assert_eq!(pool.release(SlotId(slot), token(count), cool), Err(Stale));
                    return;
                };
                assert_eq!(pool.release(SlotId(slot), token, cool), Ok(()));
                let since = model.calls_of_warm;
                let next = if cool { State::Cooling { since } } else { State::Free };
                model.states.insert(slot, next);
            }
            5 => {
                model.warm();
                assert_eq!(pool.warm(), pool.cooling() > 0);
            }
            6 => {
                let wanted = random.below(4);
                for slot in pool.pledge(wanted).slots() {
                    assert_eq!(model.lowest_free(), Some(slot.0));
                    model.states.insert(slot.0, State::Pledged);
                }
                assert!(pool.pledged() >= wanted.min(pool.pledged() + pool.free()));
            }
            7 => {
                pool.unpledge(&some);
                let pledged = model.states.iter_mut().filter(|(_, s)| **s == State::Pledged);
                for (_, state) in pledged.filter(|(slot, _)| some.contains(SlotId(**slot))) {
                    *state = State::Free;
                }
            }
            _ if random.below(2) == 0 => {
                pool.lose(&some);
                model.states.retain(|slot, _| !some.contains(SlotId(*slot)));
            }
            _ => {
                let mut new = some;
                new.remove(&pool.slots());
                pool.gain(&new);
                model.states.extend(new.slots().map(|slot| (slot.0, State::Free)));
            }
        }
    }

    #[test]
    fn a_pool_does_what_a_list_of_states_does() {
        for seed in 0..40 {
            let mut random = Xorshift::new(seed + 9);
            let (mut pool, mut model) = (Pool::new(24), Model::default());
            for count in 1..400 {
                step(&mut pool, &mut model, &mut random, count);
                agree(&pool, &model);
            }
        }
    }

    #[test]
    fn a_release_with_an_old_token_is_refused() {
        let mut pool = pool_of(&Ranges::span(5, 6));
        assert_eq!(pool.claim(token(1)), Some(SlotId(5)));
        assert_eq!(pool.release(SlotId(5), token(1), false), Ok(()));
        assert_eq!(pool.claim(token(2)), Some(SlotId(5)));
        assert_eq!(pool.release(SlotId(5), token(1), false), Err(Stale));
        assert_eq!(pool.token(SlotId(5)), Some(token(2)));
        for nowhere in [6, 999, 1_000, u32::MAX] {
            assert_eq!(pool.release(SlotId(nowhere), token(1), false), Err(Stale));
            assert!(!pool.claim_slot(SlotId(nowhere), token(3)));
        }
    }

    #[test]
    fn a_token_of_whatever_size_is_kept_as_it_is() {
        let mut pool = pool_of(&Ranges::span(0, 9));
        let parts = [1, 2, (1 << 16) - 1, 1 << 16, (1 << 48) - 1, 1 << 48, u64::MAX];
        for epoch in parts.into_iter().chain([0]) {
            for count in parts {
                let token = Token { epoch, count };
                let others = [Token { epoch: epoch ^ 1, count }, Token { epoch, count: count ^ 1 }];
                assert_eq!(pool.claim(token), Some(SlotId(0)));
                assert_eq!((pool.token(SlotId(0)), pool.used()), (Some(token), 1));
                for other in others.into_iter().chain([Token::default()]) {
                    assert_eq!(pool.release(SlotId(0), other, false), Err(Stale), "{token:?}");
                }
                assert_eq!(pool.release(SlotId(0), token, false), Ok(()));
                assert_eq!(pool.release(SlotId(0), token, false), Err(Stale));
            }
        }
        assert!(pool == pool_of(&Ranges::span(0, 9)), "nothing is left of them");
    }

    #[test]
    fn a_slot_cools_for_one_interval_at_least() {
        let mut pool = pool_of(&Ranges::span(0, 1));
        pool.claim(token(1));
        assert!(!pool.warm());
        pool.release(SlotId(0), token(1), true).expect("it is in use");
        assert!(pool.warm(), "it has perhaps only just begun");
        assert_eq!(pool.claim(token(2)), None);
        assert!(!pool.warm());
        assert_eq!(pool.claim(token(2)), Some(SlotId(0)));
    }

    #[test]
    fn pools_with_equal_contents_are_equal_whatever_happened_before() {
        let mut pool = pool_of(&Ranges::span(0, 600));
        let fresh = pool.clone();
        assert!(pool.claim_slot(SlotId(599), token(1)));
        assert!(pool != fresh);
        pool.release(SlotId(599), token(1), false).expect("it is in use");
        let promised = pool.pledge(3);
        assert_eq!(promised, Ranges::span(0, 3));
        pool.unpledge(&promised);
        assert!(pool == fresh);
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        assert_eq!(hasher.hash_one(&pool), hasher.hash_one(&fresh));
        pool.lose(&Ranges::span(0, 600));
        assert!(pool == Pool::new(1_000));
    }
}
