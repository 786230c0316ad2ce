//! The owner of each slot: the table of which every member of a view has a copy.
//!
//! The table is cut into pages. A page with a single owner is one word, so ten million slots in a
//! few long runs take a few hundred kilobytes. A page of several owners has four bytes for each
//! slot, so a change costs no more in a fragmented pool. Messages carry the table as runs.

mod counts;
mod encoding;

use super::ranges::{Range, Ranges};
use counts::Counts;
use serde::{Deserialize, Serialize};
use std::fmt;
use synod_core::family::slots::SlotId;
use synod_core::process::ProcessId;

/// The greatest size of a pool. It bounds the memory that a forged table can make a member
/// allocate.
pub const SLOTS_AT_MOST: u32 = 1 << 26;

/// Slots in a page.
const PAGE: usize = 256;

/// The owner of a slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Owner {
    /// No member here owns it: perhaps a member on another side of a partition does.
    Absent,
    /// This member, which alone may use it.
    Of(ProcessId),
    /// Two parts of the group claimed it. No member may use it until an operator has intervened.
    Frozen,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::Absent => write!(f, "absent"),
            Owner::Of(member) => write!(f, "{member}"),
            Owner::Frozen => write!(f, "frozen"),
        }
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An owner in four bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Code(u32);

impl From<Owner> for Code {
    #[inline]
    fn from(owner: Owner) -> Self {
        match owner {
            Owner::Absent => Code(0),
            Owner::Frozen => Code(1),
            Owner::Of(member) => Code(member.0.saturating_add(2)),
        }
    }
}

impl From<Code> for Owner {
    #[inline]
    fn from(code: Code) -> Self {
        match code.0 {
            0 => Owner::Absent,
            1 => Owner::Frozen,
            member => Owner::Of(ProcessId(member - 2)),
        }
    }
}

/// Equal pages are equal values: `Each` has at least two owners.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Page {
    One(Code),
    Each(Box<[Code]>),
}

/// The owner of each slot. Equal tables are equal values.
#[derive(Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "Vec<(u32, u32)>")]
pub struct Table {
    size: u32,
    pages: Vec<Page>,
    counts: Counts,
}

impl Table {
    /// A table of absent slots, at most [`SLOTS_AT_MOST`].
    pub fn absent(size: u32) -> Self {
        let size = size.min(SLOTS_AT_MOST);
        let pages = vec![Page::One(Owner::Absent.into()); (size as usize).div_ceil(PAGE)];
        let mut counts = Counts::default();
        counts.add(Owner::Absent.into(), size);
        Table { size, pages, counts }
    }

    /// The number of slots.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The owner of a slot; `None` if the table has no such slot.
    pub fn owner(&self, slot: SlotId) -> Option<Owner> {
        if slot.0 >= self.size {
            return None;
        }
        let place = slot.0 as usize;
        let code = match &self.pages[place / PAGE] {
            Page::One(code) => *code,
            Page::Each(codes) => codes[place % PAGE],
        };
        Some(code.into())
    }

    /// The number of slots of an owner.
    pub fn count(&self, owner: Owner) -> u32 {
        self.counts.of(owner.into())
    }

    /// The number of slots that members own: neither absent nor frozen.
    pub fn present(&self) -> u32 {
        self.size - self.count(Owner::Absent) - self.count(Owner::Frozen)
    }

    /// All owners, each with its number of slots.
    pub fn counts(&self) -> impl Iterator<Item = (Owner, u32)> + '_ {
        self.counts.iter().map(|(owner, count)| (owner.into(), count))
    }

    /// Gives slots to a new owner. Slots outside the table are passed over.
    pub fn give(&mut self, slots: &Ranges, owner: Owner) {
        for range in slots.iter() {
            self.give_range(range, owner);
        }
    }

    /// All slots of an owner.
    pub fn of(&self, owner: Owner) -> Ranges {
        if self.count(owner) == 0 {
            return Ranges::EMPTY;
        }
        self.runs().filter(|(_, other)| *other == owner).map(|(range, _)| range).collect()
    }

    /// Whether an owner has all of these slots, and all of them exist.
    pub fn has_all(&self, owner: Owner, slots: &Ranges) -> bool {
        // The comparison bounds the work for a forged set: it ends with the table.
        slots.end() <= self.size && slots.iter().all(|range| self.has_range(range, owner.into()))
    }

    /// Whether an owner has all slots of a range, which exist.
    fn has_range(&self, range: Range, owner: Code) -> bool {
        let mut first = range.first;
        while first < range.end {
            let number = first as usize / PAGE;
            let end = range.end.min((number as u32 + 1) * PAGE as u32);
            let has = match &self.pages[number] {
                Page::One(code) => *code == owner,
                Page::Each(codes) => {
                    let (from, upto) = (first as usize % PAGE, (end as usize - 1) % PAGE + 1);
                    codes[from..upto].iter().all(|code| *code == owner)
                }
            };
            if !has {
                return false;
            }
            first = end;
        }
        true
    }

    /// Gives all slots of `from` to `to`, and returns them.
    pub fn replace(&mut self, from: Owner, to: Owner) -> Ranges {
        let moved = self.of(from);
        self.give(&moved, to);
        moved
    }

    /// The table as runs of neighbours with the same owner, in order, without a gap.
    pub fn runs(&self) -> impl Iterator<Item = (Range, Owner)> + '_ {
        let mut pieces = self.pieces().peekable();
        std::iter::from_fn(move || {
            let (mut run, code) = pieces.next()?;
            while let Some((more, _)) = pieces.next_if(|(_, other)| *other == code) {
                run.end = more.end;
            }
            Some((run, code.into()))
        })
    }

    /// Runs, cut at the edges of pages.
    fn pieces(&self) -> impl Iterator<Item = (Range, Code)> + '_ {
        self.pages.iter().enumerate().flat_map(|(number, page)| {
            let mut first = (number * PAGE) as u32;
            let end = (first + PAGE as u32).min(self.size);
            std::iter::from_fn(move || {
                let (code, length) = match page {
                    _ if first == end => return None,
                    Page::One(code) => (*code, end - first),
                    Page::Each(codes) => run_at(codes, first as usize % PAGE),
                };
                first += length;
                Some((Range { first: first - length, end: first }, code))
            })
        })
    }

    /// Gives a run of slots to a new owner.
    pub fn give_range(&mut self, run: Range, owner: Owner) {
        let end = run.end.min(self.size);
        let mut first = run.first;
        while first < end {
            let edge = (first / PAGE as u32 + 1) * PAGE as u32;
            self.give_in_page(Range { first, end: end.min(edge) }, owner);
            first = edge;
        }
    }

    /// `range` is in one page, not empty, and in the table.
    fn give_in_page(&mut self, range: Range, owner: Owner) {
        let number = range.first as usize / PAGE;
        let length = (self.size as usize - number * PAGE).min(PAGE);
        let (from, upto) = (range.first as usize % PAGE, (range.end as usize - 1) % PAGE + 1);
        let new = Code::from(owner);
        let page = &mut self.pages[number];
        if let Page::One(old) = *page {
            if old == new || upto - from == length {
                move_count(&mut self.counts, old, new, range.len());
                *page = Page::One(new);
                return;
            }
            *page = Page::Each(vec![old; length].into_boxed_slice());
        }
        let Page::Each(codes) = page else { unreachable!("it was made so just now") };
        let mut at = from;
        while at < upto {
            let (old, run) = run_at(&codes[..upto], at);
            move_count(&mut self.counts, old, new, run);
            at += run as usize;
        }
        codes[from..upto].fill(new);
        if codes.iter().all(|code| *code == new) {
            *page = Page::One(new);
        }
    }
}

/// The owner of the slot at `place` in a page, and the length of its run from there.
fn run_at(codes: &[Code], place: usize) -> (Code, u32) {
    let code = codes[place];
    (code, codes[place..].iter().take_while(|other| **other == code).count() as u32)
}

fn move_count(counts: &mut Counts, from: Code, to: Code, slots: u32) {
    if from != to {
        counts.subtract(from, slots);
        counts.add(to, slots);
    }
}

/// `s0-s3 p1, s4 absent`.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (run, owner)) in self.runs().enumerate() {
            write!(f, "{}{run} {owner}", if place == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}

#[cfg(test)]
mod tests {
    use super::super::xorshift::Xorshift;
    use super::*;

    fn random_owner(random: &mut Xorshift) -> Owner {
        match random.below(6) {
            0 => Owner::Absent,
            1 => Owner::Frozen,
            member => Owner::Of(ProcessId(member - 2)),
        }
    }

    /// A table, and a plain list of the same owners.
    fn fragmented(size: u32, random: &mut Xorshift) -> (Table, Vec<Owner>) {
        let mut table = Table::absent(size);
        let mut model = vec![Owner::Absent; size as usize];
        for _ in 0..60 {
            let first = random.below(size);
            let end = first + random.below(size / 2);
            let owner = random_owner(random);
            table.give(&Ranges::span(first, end), owner);
            model[first as usize..(end.min(size)) as usize].fill(owner);
        }
        (table, model)
    }

    #[test]
    fn a_table_does_what_a_list_of_owners_does() {
        let mut random = Xorshift::new(4);
        for size in [1, 5, 255, 256, 257, 1_000] {
            let (table, model) = fragmented(size.max(2), &mut random);
            for (slot, owner) in model.iter().enumerate() {
                assert_eq!(table.owner(SlotId(slot as u32)), Some(*owner));
            }
            assert_eq!(table.owner(SlotId(size.max(2))), None);
            for owner in [Owner::Absent, Owner::Frozen, Owner::Of(ProcessId(2))] {
                let slots: Vec<_> = table.of(owner).slots().collect();
                let expected = model.iter().enumerate().filter(|(_, other)| **other == owner);
                let expected: Vec<_> = expected.map(|(slot, _)| SlotId(slot as u32)).collect();
                assert_eq!(slots, expected);
                assert_eq!(table.count(owner) as usize, expected.len());
            }
        }
    }

    #[test]
    fn a_table_has_one_form_however_it_came_about() {
        let mut random = Xorshift::new(5);
        for size in [3, 256, 700] {
            let (table, model) = fragmented(size, &mut random);
            let mut slot_by_slot = Table::absent(size);
            for (slot, owner) in model.iter().enumerate().rev() {
                slot_by_slot.give(&Ranges::one(SlotId(slot as u32)), *owner);
            }
            assert_eq!(table, slot_by_slot);
            let mut emptied = table.clone();
            emptied.give(&Ranges::span(0, size), Owner::Absent);
            assert_eq!(emptied, Table::absent(size));
        }
    }

    #[test]
    fn runs_are_as_long_as_they_can_be_and_leave_no_gap() {
        let (table, _) = fragmented(2_000, &mut Xorshift::new(6));
        let runs: Vec<_> = table.runs().collect();
        assert_eq!((runs[0].0.first, runs[runs.len() - 1].0.end), (0, 2_000));
        for pair in runs.windows(2) {
            assert_eq!(pair[0].0.end, pair[1].0.first);
            assert_ne!(pair[0].1, pair[1].1);
        }
    }

    #[test]
    fn what_one_member_had_another_has() {
        let (mut table, _) = fragmented(600, &mut Xorshift::new(7));
        let (from, to) = (Owner::Of(ProcessId(1)), Owner::Of(ProcessId(9)));
        table.give(&Ranges::span(250, 260), from);
        let expected = table.of(from);
        assert!(table.has_all(from, &expected) && !table.has_all(to, &expected));
        assert_eq!(table.replace(from, to), expected);
        assert_eq!((table.of(from), table.of(to)), (Ranges::EMPTY, expected));
        assert!(!table.has_all(to, &Ranges::span(599, 601)), "a slot that does not exist");
    }

    #[test]
    fn ten_million_slots_of_a_thousand_members_take_less_than_two_megabytes() {
        let mut table = Table::absent(10_000_000);
        for member in 0..1_000 {
            let first = member * 10_000;
            table.give(&Ranges::span(first, first + 10_000), Owner::Of(ProcessId(member)));
        }
        let each = table.pages.iter().filter(|page| matches!(page, Page::Each(_))).count();
        let bytes = table.pages.len() * size_of::<Page>() + each * PAGE * size_of::<Code>();
        assert!(bytes < 2_000_000, "{bytes}");
        assert_eq!(table.runs().count(), 1_000);
    }

    #[test]
    fn a_table_that_is_told_is_the_same_table() {
        let mut random = Xorshift::new(8);
        for size in [1, 2, 255, 256, 257, 3_000] {
            let (mut table, _) = fragmented(size.max(2), &mut random);
            table.give(&Ranges::span(0, 1), Owner::Of(ProcessId(70_000)));
            let told = table.runs().map(|(run, owner)| (run.len(), Code::from(owner).0));
            assert_eq!(Table::try_from(told.collect::<Vec<_>>()), Ok(table));
        }
    }

    #[test]
    fn a_forged_table_is_refused() {
        let longest = vec![(SLOTS_AT_MOST, 0), (1, 0)];
        assert!(Table::try_from(longest).is_err());
        assert!(Table::try_from(vec![(u32::MAX, 7), (u32::MAX, 7)]).is_err());
        let odd = Table::try_from(vec![(0, 3), (2, 2), (1, 2)]);
        let mut expected = Table::absent(3);
        expected.give(&Ranges::span(0, 3), Owner::Of(ProcessId(0)));
        assert_eq!(odd, Ok(expected), "runs that are empty or touch do no harm");
    }
}
