//! The number of slots of each owner.

use super::Code;

/// Owners and their numbers of slots, in the order of codes.
///
/// A list and not a tree: every moving slot changes it, at every member, and an owner mostly stands
/// at the place that its code suggests.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Counts(Vec<(Code, u32)>);

impl Counts {
    pub(super) fn of(&self, owner: Code) -> u32 {
        self.place(owner).map_or(0, |place| self.0[place].1)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Code, u32)> + '_ {
        self.0.iter().copied()
    }

    /// Adds slots of an owner.
    pub(super) fn add(&mut self, owner: Code, slots: u32) {
        match self.place(owner) {
            Ok(place) => self.0[place].1 += slots,
            Err(place) if slots > 0 => self.0.insert(place, (owner, slots)),
            Err(_) => {}
        }
    }

    /// Subtracts slots of an owner.
    pub(super) fn subtract(&mut self, owner: Code, slots: u32) {
        let place = self.place(owner).expect("whoever owns a slot is counted");
        self.0[place].1 -= slots;
        if self.0[place].1 == 0 {
            self.0.remove(place);
        }
    }

    /// The place of an owner, or the place where it belongs.
    #[inline]
    fn place(&self, owner: Code) -> Result<usize, usize> {
        // If every member owns slots, the list has no gap between the first owner and this one.
        let guess = self.0.first().map(|(first, _)| owner.0.wrapping_sub(first.0) as usize);
        match guess {
            Some(guess) if self.0.get(guess).is_some_and(|(other, _)| *other == owner) => Ok(guess),
            _ => self.0.binary_search_by_key(&owner, |(other, _)| *other),
        }
    }
}
