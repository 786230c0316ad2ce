//! Offers and takes, step by step and at random.

use crate::hand::Group;
use std::collections::BTreeMap;
use synod_core::family::slots::{Input, Output, Refusal, SlotId, Token};
use synod_core::group::Cause;
use synod_protocols::slots::message::Body;
use synod_protocols::slots::scheme::Scheme;

const OFFERS: (&str, &str) = ("rules", "offers");
const STOCK: (&str, &str) = ("stock", "1");

/// A pool of eight slots; every member wants one free slot.
fn group(n: u32, owned: &str, used: &str) -> Group {
    Group::settled(n, &[OFFERS, STOCK, ("slots", "8"), ("owned", owned), ("used", used)])
}

/// The number of slots on offer, in the table of `at`.
fn on_offer(group: &Group, at: u32) -> u32 {
    match group.slots(at).scheme() {
        Scheme::Offers(offers) => offers.exchange().stock(),
        other => panic!("{other:?} is another scheme"),
    }
}

/// The waiting members, in the table of `at`.
fn waiting(group: &Group, at: u32) -> Vec<u32> {
    match group.slots(at).scheme() {
        Scheme::Offers(offers) => offers.exchange().waiting().map(|(who, _)| who.0).collect(),
        other => panic!("{other:?} is another scheme"),
    }
}

#[test]
fn everybody_gets_an_equal_share_when_the_group_begins() {
    let group = Group::settled(3, &[OFFERS, ("slots", "8")]);
    assert!(group.agree(&[1, 2, 3]));
    assert_eq!([1, 2, 3].map(|at| group.owned(at)), [3, 3, 2]);
}

#[test]
fn nobody_offers_before_somebody_asks() {
    let mut group = group(2, "p1:6 p2:2", "p2:1");
    assert!(group.speakers().is_empty(), "p1 has five more than it wants");
    group.claim(2);
    assert!(matches!(group.pending(2)[..], [Body::Take { wanted: 1, needed: 1 }]));
    group.deliver(2);
    assert_eq!((waiting(&group, 1), group.speakers()), (vec![2], vec![1]));
}

#[test]
fn a_take_is_granted_when_it_is_delivered_and_nobody_answers() {
    let mut group = group(3, "p1:6 p2:1 p3:1", "p2:1");
    group.deliver_all();
    assert_eq!((group.owned(2), on_offer(&group, 3)), (2, 4));
    let before = group.delivered();
    group.claim(3);
    group.deliver_all();
    assert_eq!(group.delivered() - before, 1);
    assert_eq!(group.told(3).last(), Some(&Output::Got(1)));
    assert!(group.agree(&[1, 2, 3]));
    assert_eq!([1, 2, 3].map(|at| group.owned(at)), [4, 2, 2]);
}

#[test]
fn what_is_on_offer_is_nobodys_to_use() {
    let mut group = group(2, "p1:6 p2:2", "p1:3 p2:1");
    group.claim(2);
    group.deliver_all();
    assert_eq!((group.owned_and_free(1), on_offer(&group, 1)), ((5, 1), 1));
    group.claim(1);
    assert!(matches!(group.ask(1, Input::Claim)[..], [Output::Refused(_)]));
    // But the owner may take it like any other member, and has asked for it.
    group.deliver_all();
    group.claim(1);
}

/// p2 has asked for a slot, and p1's offer of three is under way.
fn an_offer_on_its_way() -> Group {
    let mut group = group(3, "p1:4 p2:2 p3:2", "p2:1 p3:1");
    group.claim(2);
    group.deliver(2);
    assert!(matches!(group.pending(1)[..], [Body::Offer(_)]));
    assert_eq!(group.owned_and_free(1), (4, 1));
    group
}

/// Two of these slots are on offer, and p2's take of one more is under way.
fn a_take_on_its_way() -> Group {
    let mut group = an_offer_on_its_way();
    group.deliver_all();
    assert_eq!(on_offer(&group, 1), 2);
    group.claim(2);
    group
}

#[test]
fn what_is_still_on_offer_when_a_view_ends_is_its_owners_again_if_nobody_is_missing() {
    let mut group = a_take_on_its_way();
    group.transitional(&[1, 2, 3]);
    group.deliver_to(2, &[1, 2, 3]);
    assert_eq!(group.owned(2), 3, "rule 3: it brings nothing");
    group.view(&[1, 2, 3]);
    assert_eq!(group.owned_and_free(1), (3, 3));
    group.deliver_all();
    assert!(group.agree(&[1, 2, 3]));
    group.claim(2);
}

#[test]
fn what_was_on_offer_is_absent_if_somebody_is_missing_for_it_may_have_been_taken() {
    let mut group = a_take_on_its_way();
    group.transitional(&[1]);
    group.deliver_to(2, &[2, 3]);
    group.transitional(&[2, 3]);
    group.view(&[1]);
    group.view(&[2, 3]);
    assert_eq!((group.owned(1), group.absent(1)), (1, 7));
    assert_eq!((group.owned(2), group.absent(2)), (4, 2));
    let taken = group.claim(2).0;
    assert_ne!(group.claim(1).0, taken);
    // When all members are together again, every slot has an owner.
    group.view(&[1, 2, 3]);
    group.deliver_all();
    assert!(group.agree(&[1, 2, 3]));
    assert_eq!([1, 2, 3].map(|at| group.owned(at)).iter().sum::<u32>(), 8);
}

#[test]
fn an_offer_that_is_delivered_when_its_view_is_over_counts_as_on_offer() {
    for missing in [false, true] {
        let mut group = an_offer_on_its_way();
        let here: &[u32] = if missing { &[1, 2] } else { &[1, 2, 3] };
        group.transitional(here);
        group.deliver_to(1, here);
        group.view(here);
        let expected = if missing { (1, 1) } else { (4, 4) };
        assert_eq!(group.owned_and_free(1), expected, "missing: {missing}");
    }
}

#[test]
fn an_offer_that_was_never_delivered_is_its_owners_again() {
    let mut group = an_offer_on_its_way();
    group.lose(1);
    group.transitional(&[1]);
    group.view(&[1]);
    assert_eq!(group.owned_and_free(1), (4, 4));
}

#[test]
fn what_whoever_leaves_had_on_offer_has_one_owner_in_the_end() {
    // p3 serves p2, so p1's offer is still open when p1 hands over its slots.
    let mut group = group(3, "p1:3 p2:2 p3:3", "p2:1");
    group.claim(2);
    group.deliver(2);
    group.deliver(3);
    group.ask(1, Input::Leave);
    assert!(matches!(group.pending(1)[..], [Body::Offer(_), Body::Hand { .. }]));
    group.deliver_all();
    group.claim(3);
    group.deliver_all();
    group.view_without(&[2, 3], &[1], Cause::Leave);
    group.deliver_all();
    assert!(group.agree(&[2, 3]));
    assert_eq!(group.owned(2) + group.owned(3), 8);
    let mut used = Vec::new();
    for at in [2, 3, 2, 3, 2, 3] {
        let told = group.ask(at, Input::Claim);
        used.extend(told.iter().filter_map(|output| match output {
            Output::Claimed(slot, _) => Some(*slot),
            _ => None,
        }));
        group.deliver_all();
    }
    used.sort_unstable();
    used.dedup();
    assert_eq!(used.len(), 5, "p2 uses two already, and p3 one");
}

#[test]
fn a_member_that_may_use_no_more_takes_no_more() {
    let mut group =
        Group::settled(2, &[OFFERS, STOCK, ("slots", "8"), ("owned", "p1:6 p2:2"), ("cap", "2")]);
    group.claim(2);
    group.claim(2);
    assert!(group.speakers().is_empty());
}

/// Of four members with equal shares one claims, and what it claims it keeps; all messages arrive
/// between two claims. Returns the number of slots that it gets, and the refusals.
fn one_of_four_claims(slots: &str, claims: u32) -> (u32, Vec<Refusal>) {
    let mut group = Group::settled(4, &[OFFERS, ("slots", slots)]);
    let mut refused = Vec::new();
    for _ in 0..claims {
        let told = group.ask(2, Input::Claim);
        refused.extend(told.iter().filter_map(|output| match output {
            Output::Refused(why) => Some(*why),
            _ => None,
        }));
        group.deliver_all();
    }
    (group.slots(2).state().pool.used(), refused)
}

#[test]
fn idle_members_let_go_of_what_they_do_not_need() {
    for (slots, size, most) in [("12", 12, 9), ("32", 32, 29), ("96", 96, 93)] {
        let (used, refused) = one_of_four_claims(slots, size + 4);
        assert_eq!(used, most, "all but one slot of each idle member");
        // Each of these has a free slot, so the pool is not exhausted.
        assert!(refused.iter().all(|why| *why == Refusal::Starved), "{refused:?}");
    }
}

#[test]
fn a_pool_is_exhausted_when_a_member_has_asked_again_in_vain() {
    // Both have asked when the group began.
    let mut group = group(2, "p1:4 p2:4", "p1:4 p2:4");
    let refusals = [1, 2, 3].map(|_| {
        let told = group.ask(2, Input::Claim);
        group.deliver_all();
        told[0].clone()
    });
    let [starved, exhausted] = [Refusal::Starved, Refusal::Exhausted].map(Output::Refused);
    assert_eq!(refusals, [starved.clone(), starved, exhausted]);
}

/// The number of free slots that a member needs itself.
fn need(group: &Group, at: u32) -> u32 {
    match group.slots(at).scheme() {
        Scheme::Offers(offers) => offers.need(),
        other => panic!("{other:?} is another scheme"),
    }
}

/// The members with a free slot that they do not need, and with nothing to say.
fn hoarders(group: &Group) -> Vec<u32> {
    let keeps = |at: &u32| group.slots(*at).state().free() > need(group, *at);
    (1..=4).filter(|at| keeps(at) && group.pending(*at).is_empty()).collect()
}

/// From some time on only p2 claims, and no slot is released. Returns the greatest number of
/// multicasts that are delivered from the first refused claim to the next free slot.
fn longest_wait(seed: u64) -> u32 {
    let mut chaos = Chaos::new(seed, &[]);
    for _ in 0..60 {
        chaos.step_in_one_view();
    }
    let (mut longest, mut waits_since, mut delivered, mut in_vain) = (0, None, 0, 0);
    while in_vain < 50 {
        let speakers = chaos.group.speakers();
        if speakers.is_empty() || chaos.random.below(2) == 0 {
            let told = chaos.group.ask(2, Input::Claim);
            if matches!(told[0], Output::Refused(_)) {
                waits_since = waits_since.or(Some(delivered));
                in_vain += 1;
            }
            continue;
        }
        delivered += 1;
        chaos.group.deliver(speakers[chaos.random.below(speakers.len())]);
        if chaos.group.slots(2).state().free() > 0 {
            in_vain = 0;
            longest = waits_since.take().map_or(longest, |since| longest.max(delivered - since));
        }
    }
    assert_eq!(hoarders(&chaos.group), [] as [u32; 0], "seed {seed}");
    longest
}

#[test]
fn a_member_that_goes_on_asking_gets_a_slot_within_so_many_multicasts() {
    let longest = (1..=300).map(longest_wait).max().expect("there are seeds");
    // Its take, the same again, and two multicasts of each of the three others.
    assert!((2..=8).contains(&longest), "{longest}");
}

/// Pseudo-random numbers, the same on every machine.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }
}

/// A group that falls apart and comes together at random while its members claim and release.
struct Chaos {
    group: Group,
    random: Xorshift,
    sides: Vec<Vec<u32>>,
    held: BTreeMap<u32, Vec<(SlotId, Token)>>,
}

impl Chaos {
    fn new(seed: u64, stock: &[(&str, &str)]) -> Chaos {
        let settings = [&[OFFERS, ("slots", "12")], stock].concat();
        let members: Vec<u32> = (1..=4).collect();
        let held = members.iter().map(|at| (*at, Vec::new())).collect();
        let random = Xorshift(seed * 2_654_435_761 + 1);
        Chaos { group: Group::settled(4, &settings), random, sides: vec![members], held }
    }

    fn claim(&mut self, at: u32) {
        for output in self.group.ask(at, Input::Claim) {
            if let Output::Claimed(slot, token) = output {
                let in_use = self.held.values().flatten().any(|(other, _)| *other == slot);
                assert!(!in_use, "p{at} claims {slot}, which is in use");
                self.held.get_mut(&at).expect("there is one").push((slot, token));
            } else if output == Output::Refused(Refusal::Exhausted) {
                self.judge_exhausted(at);
            }
        }
    }

    /// A pool is called exhausted only if no settled member of the view keeps a free slot that it
    /// does not need.
    fn judge_exhausted(&self, at: u32) {
        let view = |at: u32| self.group.slots(at).state().view;
        let keeps = hoarders(&self.group);
        let keeps = keeps.iter().find(|other| **other != at && view(**other) == view(at));
        assert_eq!(keeps, None, "p{at} calls the pool exhausted");
    }

    fn release(&mut self, at: u32) {
        let held = self.held.get_mut(&at).expect("there is one");
        if !held.is_empty() {
            let (slot, token) = held.remove(self.random.below(held.len()));
            assert_eq!(self.group.ask(at, Input::Release(slot, token))[0], Output::Released(slot));
        }
    }

    /// Cuts a side in two, or joins two sides. One side delivers some pending messages in its view;
    /// the others deliver them after their view, or never.
    fn change(&mut self) {
        let old = self.sides.clone();
        let side = self.random.below(old.len());
        let mut new = old.clone();
        let members = new.remove(side);
        if members.len() > 1 && self.random.below(2) == 0 {
            let cut = 1 + self.random.below(members.len() - 1);
            new.extend([members[..cut].to_vec(), members[cut..].to_vec()]);
        } else if !new.is_empty() {
            let other = self.random.below(new.len());
            let mut joined = [new.remove(other), members].concat();
            joined.sort_unstable();
            new.push(joined);
        } else {
            return;
        }
        for members in old.iter().filter(|members| !new.contains(members)) {
            let mut parts: Vec<Vec<u32>> = new.clone();
            parts.iter_mut().for_each(|part| part.retain(|at| members.contains(at)));
            parts.retain(|part| !part.is_empty());
            self.end_of_view(members, &parts);
        }
        for members in new.iter().filter(|members| !old.contains(members)) {
            self.group.view(members);
        }
        self.sides = new;
    }

    fn end_of_view(&mut self, members: &[u32], parts: &[Vec<u32>]) {
        let ahead = self.random.below(parts.len());
        let late = parts.iter().enumerate().filter(|(part, _)| *part != ahead);
        late.for_each(|(_, part)| self.group.transitional(part));
        let mut regular = self.random.below(4);
        loop {
            if regular == 0 {
                self.group.transitional(&parts[ahead]);
            }
            let speakers = self.group.speakers();
            let speakers: Vec<_> = speakers.iter().filter(|at| members.contains(at)).collect();
            if speakers.is_empty() {
                break;
            }
            let from = *speakers[self.random.below(speakers.len())];
            // If any member delivers a message, its sender does, and so do the sender's companions.
            let some = parts.iter().enumerate().filter(|(part, members)| {
                members.contains(&from)
                    || (regular > 0 && *part == ahead)
                    || self.random.below(2) == 0
            });
            let some: Vec<u32> = some.flat_map(|(_, part)| part.clone()).collect();
            if regular == 0 && self.random.below(2) == 0 {
                self.group.lose(from);
            } else {
                self.group.deliver_to(from, &some);
            }
            regular = regular.saturating_sub(1);
        }
        if regular > 0 {
            self.group.transitional(&parts[ahead]);
        }
    }

    fn step(&mut self) {
        match self.random.below(20) {
            19 => self.change(),
            _ => self.step_in_one_view(),
        }
    }

    fn step_in_one_view(&mut self) {
        let at = 1 + self.random.below(4) as u32;
        match self.random.below(19) {
            0..8 => self.claim(at),
            8..12 => self.release(at),
            _ => {
                let speakers = self.group.speakers();
                if !speakers.is_empty() {
                    self.group.deliver(speakers[self.random.below(speakers.len())]);
                }
            }
        }
    }

    /// No two members can use the same slot.
    fn judge(&self) {
        let mut usable: BTreeMap<SlotId, u32> = BTreeMap::new();
        for at in 1..=4 {
            let pool = &self.group.slots(at).state().pool;
            let mut own = pool.slots();
            own.remove(pool.pledged_slots());
            for slot in own.slots() {
                let other = usable.insert(slot, at);
                assert_eq!(other, None, "{slot} is p{at}'s, too");
            }
        }
    }

    /// All members come together, and no slot is lost.
    fn come_together(&mut self) {
        for members in self.sides.clone() {
            let parts = [members.clone()];
            self.end_of_view(&members, &parts);
        }
        self.group.view(&[1, 2, 3, 4]);
        self.group.deliver_all();
        assert!(self.group.agree(&[1, 2, 3, 4]));
        assert_eq!(self.group.absent(1), 0);
    }
}

#[test]
fn no_slot_has_two_owners_and_none_is_lost_whatever_happens() {
    for seed in 1..=400 {
        let stock: &[(&str, &str)] = if seed % 2 == 0 { &[STOCK] } else { &[] };
        let mut chaos = Chaos::new(seed, stock);
        for _ in 0..300 {
            chaos.step();
            chaos.judge();
        }
        chaos.come_together();
        chaos.judge();
    }
}
