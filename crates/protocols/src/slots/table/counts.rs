//! How many slots each owner has.

use super::Code;

/// Whoever has a slot, and how many, in the order of codes.
///
/// A list and not a tree: it changes with every slot that moves, at every member, and mostly
/// whoever is looked for stands just where its number says.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Counts(Vec<(Code, u32)>);

impl Counts {
    pub(super) fn of(&self, owner: Code) -> u32 {
        self.place(owner).map_or(0, |place| self.0[place].1)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Code, u32)> + '_ {
        self.0.iter().copied()
    }

    /// So many more slots are an owner's.
    pub(super) fn add(&mut self, owner: Code, slots: u32) {
        match self.place(owner) {
            Ok(place) => self.0[place].1 += slots,
            Err(place) if slots > 0 => self.0.insert(place, (owner, slots)),
            Err(_) => {}
        }
    }

    /// So many slots are an owner's no more.
    pub(super) fn subtract(&mut self, owner: Code, slots: u32) {
        let place = self.place(owner).expect("whoever owns a slot is counted");
        self.0[place].1 -= slots;
        if self.0[place].1 == 0 {
            self.0.remove(place);
        }
    }

    /// Where an owner stands, or would stand.
    #[inline]
    fn place(&self, owner: Code) -> Result<usize, usize> {
        // If everybody has slots there is no gap between the first and the one that is looked for.
        let guess = self.0.first().map(|(first, _)| owner.0.wrapping_sub(first.0) as usize);
        match guess {
            Some(guess) if self.0.get(guess).is_some_and(|(other, _)| *other == owner) => Ok(guess),
            _ => self.0.binary_search_by_key(&owner, |(other, _)| *other),
        }
    }
}
