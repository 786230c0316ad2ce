//! The slots on offer and the waiting members: the replicated part of offers.
//!
//! All members have the same exchange, because only a delivered message changes it, as a function
//! of the message.

use super::ranges::Ranges;
use serde::{Deserialize, Serialize};
use synod_core::ProcessId;

/// The wish of a member that got fewer slots than it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Wish {
    member: ProcessId,
    /// The number of slots that it still needs.
    missing: u32,
    /// The number of free slots that it had when it asked, and those that it got since.
    free: u32,
    /// Whether it has asked again in vain, and got no slot since.
    urgent: bool,
    /// Whether its claims have waited for a while since.
    begs: bool,
}

/// Slots on offer, or unmet wishes. One of the two is always empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Exchange {
    on_offer: Ranges,
    /// The number of slots on offer.
    stock: u32,
    /// In order of delivery, at most one for each member.
    wishes: Vec<Wish>,
    /// The sum of `missing` over all wishes.
    missing: u32,
    /// Whether a member has asked in this view.
    asked: bool,
}

impl Exchange {
    /// The slots on offer.
    pub fn on_offer(&self) -> &Ranges {
        &self.on_offer
    }

    /// The number of slots on offer.
    pub fn stock(&self) -> u32 {
        self.stock
    }

    /// The number of slots that the waiting members need together.
    pub fn missing(&self) -> u32 {
        self.missing
    }

    /// Whether a member has asked in this view.
    pub fn was_asked(&self) -> bool {
        self.asked
    }

    /// Whether a member waits.
    pub fn waits(&self, member: ProcessId) -> bool {
        self.wishes.iter().any(|wish| wish.member == member)
    }

    /// Whether a waiting member has asked again in vain.
    pub fn is_urgent(&self) -> bool {
        self.wishes.iter().any(|wish| wish.urgent)
    }

    /// Whether this member has asked again in vain.
    pub fn is_urgent_for(&self, member: ProcessId) -> bool {
        self.wishes.iter().any(|wish| wish.member == member && wish.urgent)
    }

    /// Whether claims of a waiting member have waited for a while.
    pub fn is_begged(&self) -> bool {
        self.wishes.iter().any(|wish| wish.begs)
    }

    /// A waiting member begs. Without effect if it has got what it wished for.
    pub fn beg(&mut self, member: ProcessId) {
        if let Some(wish) = self.wishes.iter_mut().find(|wish| wish.member == member) {
            (wish.urgent, wish.begs) = (true, true);
        }
    }

    /// The waiting members in the order in which they asked, each with the number of slots that it
    /// needs.
    pub fn waiting(&self) -> impl Iterator<Item = (ProcessId, u32)> + '_ {
        self.wishes.iter().map(|wish| (wish.member, wish.missing))
    }

    /// A member with `free` slots wants `wanted` more, and waits until it has got `needed` of them.
    /// Returns the slots that it gets at once, lowest first: as many as it needs, and at most half
    /// of the rest, because other members may be about to ask. A member that waits already asks
    /// again: its wish is urgent.
    pub fn take(&mut self, member: ProcessId, wanted: u32, needed: u32, free: u32) -> Ranges {
        self.asked = true;
        if let Some(wish) = self.wishes.iter_mut().find(|wish| wish.member == member) {
            *wish = Wish { member, missing: needed.max(1), free, urgent: true, begs: false };
            self.count_missing();
            return Ranges::EMPTY;
        }
        let needed = needed.min(wanted);
        let at_once = needed.min(self.stock);
        let more = (wanted - needed).min((self.stock - at_once) / 2);
        let granted = self.on_offer.take_first(at_once + more);
        let got = granted.len();
        self.stock -= got;
        let missing = needed.saturating_sub(got);
        if missing > 0 {
            let free = free.saturating_add(got);
            self.wishes.push(Wish { member, missing, free, urgent: false, begs: false });
            self.missing = self.missing.saturating_add(missing);
        }
        granted
    }

    /// A member offers slots, so it no longer waits. Returns the shares of the waiting members. The
    /// rest is on offer.
    pub fn offer(&mut self, member: ProcessId, mut slots: Ranges) -> Vec<(ProcessId, Ranges)> {
        self.wishes.retain(|wish| wish.member != member);
        let mut shares: Vec<(ProcessId, u32)> = Vec::new();
        let mut left = slots.len();
        // Slot by slot, to the member with the fewest: two members with none get one each.
        while let Some(poorest) = self.wishes.iter_mut().min_by_key(|wish| wish.free)
            && left > 0
        {
            left -= 1;
            (poorest.missing, poorest.free) = (poorest.missing - 1, poorest.free + 1);
            (poorest.urgent, poorest.begs) = (false, false);
            let is_met = poorest.missing == 0;
            match shares.iter_mut().find(|(other, _)| *other == poorest.member) {
                Some((_, share)) => *share += 1,
                None => shares.push((poorest.member, 1)),
            }
            if is_met {
                self.wishes.retain(|wish| wish.missing > 0);
            }
        }
        self.count_missing();
        let granted = shares.into_iter().map(|(who, share)| (who, slots.take_first(share)));
        let granted = granted.collect();
        self.put(&slots);
        granted
    }

    fn count_missing(&mut self) {
        self.missing = self.wishes.iter().map(|wish| wish.missing).fold(0, u32::saturating_add);
    }

    /// Puts slots on offer, past the waiting members.
    pub fn put(&mut self, slots: &Ranges) {
        self.stock += slots.len();
        self.on_offer.extend(slots);
    }

    /// Removes slots from the offers: they have moved by other means.
    pub fn withdraw(&mut self, slots: &Ranges) {
        self.on_offer.remove(slots);
        self.stock = self.on_offer.len();
    }

    /// The view is over, and so are its offers and wishes. Returns the slots that were on offer.
    pub fn close(&mut self) -> Ranges {
        std::mem::take(self).on_offer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ProcessId = ProcessId(0);
    const B: ProcessId = ProcessId(1);
    const C: ProcessId = ProcessId(2);

    #[test]
    fn what_is_on_offer_is_taken_at_once() {
        let mut exchange = Exchange::default();
        assert!(exchange.offer(A, Ranges::span(0, 5)).is_empty());
        assert_eq!(exchange.take(B, 3, 3, 0), Ranges::span(0, 3));
        assert_eq!((exchange.stock(), exchange.missing()), (2, 0));
    }

    #[test]
    fn whoever_gets_less_than_it_needs_waits_and_whoever_gets_less_than_it_wants_does_not() {
        let mut exchange = Exchange::default();
        exchange.offer(A, Ranges::span(0, 1));
        assert_eq!(exchange.take(B, 4, 1, 0), Ranges::span(0, 1));
        assert!(!exchange.waits(B));
        assert!(exchange.take(B, 4, 2, 0).is_empty());
        assert_eq!(exchange.waiting().collect::<Vec<_>>(), [(B, 2)]);
    }

    #[test]
    fn whoever_wants_more_than_it_needs_leaves_half_of_the_rest_to_others() {
        let mut exchange = Exchange::default();
        exchange.offer(A, Ranges::span(0, 9));
        assert_eq!(exchange.take(B, 9, 1, 0), Ranges::span(0, 5));
        assert_eq!(exchange.take(C, 2, 1, 0), Ranges::span(5, 7));
    }

    #[test]
    fn an_offer_goes_to_whoever_has_least_and_then_to_whoever_asked_first() {
        let mut exchange = Exchange::default();
        exchange.take(A, 2, 2, 1);
        exchange.take(B, 2, 2, 0);
        let granted = exchange.offer(C, Ranges::span(7, 9));
        assert_eq!(granted, [(B, Ranges::span(7, 8)), (A, Ranges::span(8, 9))]);
        assert_eq!(exchange.waiting().collect::<Vec<_>>(), [(A, 1), (B, 1)]);
        let granted = exchange.offer(C, Ranges::span(0, 4));
        assert_eq!(granted, [(B, Ranges::span(0, 1)), (A, Ranges::span(1, 2))]);
        assert_eq!((exchange.on_offer(), exchange.missing()), (&Ranges::span(2, 4), 0));
    }

    #[test]
    fn whoever_offers_does_not_wait() {
        let mut exchange = Exchange::default();
        exchange.take(A, 2, 2, 0);
        assert!(exchange.offer(A, Ranges::span(0, 1)).is_empty());
        assert_eq!((exchange.stock(), exchange.missing()), (1, 0));
    }

    #[test]
    fn a_forged_wish_does_no_harm() {
        let mut exchange = Exchange::default();
        exchange.take(A, u32::MAX, u32::MAX, u32::MAX);
        exchange.take(B, u32::MAX, u32::MAX, 0);
        exchange.take(B, u32::MAX, u32::MAX, 0);
        assert_eq!(exchange.missing(), u32::MAX);
        let granted = exchange.offer(C, Ranges::span(0, 2));
        assert_eq!(granted, [(B, Ranges::span(0, 2))]);
    }
}
