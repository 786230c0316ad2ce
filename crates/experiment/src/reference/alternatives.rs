//! The alternatives that section II of the paper names, as policies of the experiment.
//!
//! Members only count here, as with the bounds in `central.rs`. A claim of most of them needs
//! messages, so the slot comes some rounds later: `delay`. All messages of a kind take the same
//! time, so who decides sees claims and releases in the order in which they were sent; deciding at
//! once and handing the slot out later is the same, and that is how it is written. A slot on its
//! way is reserved.
//!
//! - Assumes: the clean network of the experiment, which splits and heals and loses nothing else.
//! - Left out: the messages of elections and of retries; a claim that gets no answer has failed.

use crate::clean::Group;
use crate::measure::{Measured, Meter};
use crate::policy::Holding;
use crate::settings::{Partition, Settings};
use crate::workload::{ROUND, Time, Workload};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// An alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alternative {
    /// One manager, on the node of p0, has the pool. A request, a grant and a release.
    CentralManager,
    /// Every claim and every release is a consensus of all members, by a leader: forwarded, sent to
    /// all to accept, accepted by all. A majority is enough.
    Consensus,
    /// h of k exclusion, h = 1: a request to all, who answer with the number of slots that they
    /// have or have asked for before; who gets an answer of every member knows whether one is left.
    HOfK,
    /// A member chooses a slot that it believes free; every other member must agree. Of two that
    /// choose the same slot, the later one fails.
    AllAuthorise,
    /// Slots are dealt out anew at every change of the membership, and not at any other time. Each
    /// side of a partition deals out all of them, as Wackamole covers all addresses.
    Wackamole,
}

impl Alternative {
    /// All.
    pub const ALL: [Alternative; 5] = [
        Alternative::CentralManager,
        Alternative::Consensus,
        Alternative::HOfK,
        Alternative::AllAuthorise,
        Alternative::Wackamole,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Alternative::CentralManager => "central-manager",
            Alternative::Consensus => "consensus",
            Alternative::HOfK => "h-of-k",
            Alternative::AllAuthorise => "all-authorise",
            Alternative::Wackamole => "wackamole",
        }
    }

    /// Its name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Alternative::CentralManager => "central manager",
            Alternative::Consensus => "consensus for each request",
            Alternative::HOfK => "h-of-k exclusion",
            Alternative::AllAuthorise => "all must authorise",
            Alternative::Wackamole => "dealt out by membership",
        }
    }

    /// The hops from a claim to the slot.
    fn hops(self) -> u64 {
        match self {
            Alternative::CentralManager | Alternative::HOfK | Alternative::AllAuthorise => 2,
            Alternative::Consensus => 3,
            Alternative::Wackamole => 0,
        }
    }

    /// Multicasts, and messages to one member, of a claim in a group of `n`.
    fn claim_costs(self, n: u64) -> (u64, u64) {
        match self {
            Alternative::CentralManager => (0, 2),
            // To the leader; from all to the leader and to the one who asks.
            Alternative::Consensus => (1, 1 + 2 * (n - 1)),
            Alternative::HOfK | Alternative::AllAuthorise => (1, n - 1),
            Alternative::Wackamole => (0, 0),
        }
    }

    /// The same of a release.
    fn release_costs(self, n: u64) -> (u64, u64) {
        match self {
            Alternative::CentralManager => (0, 1),
            Alternative::Consensus => self.claim_costs(n),
            Alternative::HOfK | Alternative::AllAuthorise => (1, 0),
            Alternative::Wackamole => (0, 0),
        }
    }
}

/// A slot, as all members together would know it.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// On each side of a partition: who has it, and since when. Without one, the first counts.
    users: [Option<(usize, Time)>; 2],
    /// When it was released last.
    freed: Time,
}

/// The group.
pub(crate) struct Alternatives {
    kind: Alternative,
    latency: Time,
    partition: Option<Partition>,
    /// Whether the partition lasts.
    split: bool,
    holdings: Vec<Holding>,
    slots: Vec<Slot>,
    /// Released slots whose release does not get through, until the partition is over.
    stranded: Vec<(usize, usize)>,
    /// The slots on their way, with the times of their arrival.
    coming: VecDeque<(Time, usize)>,
    /// For the choice of a slot.
    chance: u64,
    meter: Meter,
}

impl Alternatives {
    pub(crate) fn new(settings: &Settings, latency: u64, kind: Alternative, seed: u64) -> Self {
        let meter =
            Meter::new(settings.nodes, settings.slots, settings.warm_up, settings.sample_every);
        Alternatives {
            kind,
            latency: latency * ROUND,
            partition: settings.partition,
            split: false,
            holdings: vec![Holding::default(); settings.nodes],
            slots: vec![Slot::default(); settings.slots as usize],
            stranded: Vec::new(),
            coming: VecDeque::new(),
            chance: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            meter,
        }
    }

    /// The side of a member: 0 and 1 while the group is split.
    fn side(&self, node: usize) -> usize {
        usize::from(self.split && self.partition.is_some_and(|parts| node >= parts.left))
    }

    fn members(&self, side: usize) -> std::ops::Range<usize> {
        let n = self.holdings.len();
        match self.partition.filter(|_| self.split) {
            Some(parts) if side == 0 => 0..parts.left,
            Some(parts) => parts.left..n,
            None => 0..n,
        }
    }

    /// Whether a member reaches those who decide.
    fn decides(&self, node: usize) -> bool {
        let here = self.members(self.side(node));
        match self.kind {
            Alternative::CentralManager => here.contains(&0),
            Alternative::Consensus => 2 * here.len() > self.holdings.len(),
            Alternative::HOfK | Alternative::AllAuthorise => here.len() == self.holdings.len(),
            Alternative::Wackamole => true,
        }
    }

    /// Whether no member of the side uses the slot; without a split, no member at all.
    fn is_free(&self, slot: usize, side: usize) -> bool {
        let [left, right] = self.slots[slot].users;
        if self.split { [left, right][side].is_none() } else { left.or(right).is_none() }
    }

    /// The slot that a claim gets, if it gets one.
    fn choose(&mut self, node: usize, now: Time) -> Option<usize> {
        let (side, here) = (self.side(node), self.members(self.side(node)));
        match self.kind {
            _ if !self.decides(node) => None,
            Alternative::AllAuthorise => self.believed_free(node, now),
            Alternative::Wackamole => {
                let mine = (node - here.start..self.slots.len()).step_by(here.len());
                mine.into_iter().find(|slot| self.is_free(*slot, side))
            }
            _ => self.slots.iter().position(|slot| slot.users[0].is_none()),
        }
    }

    /// From a random place on, the first slot that the member believes free, if it is free indeed.
    fn believed_free(&mut self, node: usize, now: Time) -> Option<usize> {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        let (from, count) = (self.chance as usize % self.slots.len(), self.slots.len());
        let heard = |at: Time| at + self.latency <= now;
        let seems_free = |slot: &Slot| match slot.users[0] {
            Some((by, since)) => by != node && !heard(since),
            None => slot.freed == 0 || heard(slot.freed),
        };
        let chosen = (from..from + count).map(|place| place % count);
        let chosen = chosen.into_iter().find(|place| seems_free(&self.slots[*place]))?;
        self.slots[chosen].users[0].is_none().then_some(chosen)
    }

    fn count(&mut self, now: Time, (multicasts, messages): (u64, u64)) {
        (0..multicasts).for_each(|_| self.meter.multicast(now / ROUND));
        self.meter.messages(now / ROUND, messages);
    }

    /// All members of both sides deal the slots out: each tells the others what it has in use.
    fn deal_out(&mut self, now: Time) {
        if self.kind == Alternative::Wackamole {
            self.count(now, (self.holdings.len() as u64, 0));
        }
    }

    /// The partition is over: slots that were in use on both sides stay so until they are released.
    fn heal(&mut self, now: Time) {
        for (slot, side) in std::mem::take(&mut self.stranded) {
            self.slots[slot].users[side] = None;
            self.slots[slot].freed = now;
        }
    }

    /// The slots that two members use at once.
    fn used_twice(&self) -> u32 {
        let twice = |slot: &&Slot| slot.users.iter().all(Option::is_some);
        self.slots.iter().filter(twice).count() as u32
    }
}

impl Group for Alternatives {
    type Held = usize;

    fn begin(&mut self, round: u64, _workload: &Workload) {
        let Some(parts) = self.partition else { return };
        if round == parts.from {
            self.split = true;
            // Who was in a slot when the group split stays in it, on the own side.
            for slot in &mut self.slots {
                if let Some((node, since)) = slot.users[0].filter(|(node, _)| *node >= parts.left)
                    && self.kind == Alternative::Wackamole
                {
                    slot.users = [None, Some((node, since))];
                }
            }
            self.deal_out(round * ROUND);
        } else if round == parts.until {
            self.split = false;
            self.heal(round * ROUND);
            self.deal_out(round * ROUND);
        }
    }

    fn next(&self) -> Option<Time> {
        self.coming.front().map(|(due, _)| *due)
    }

    fn advance(&mut self) {
        if let Some((_, node)) = self.coming.pop_front() {
            self.holdings[node].pledged -= 1;
            self.holdings[node].used += 1;
        }
    }

    fn delay(&self) -> Time {
        self.kind.hops() * self.latency
    }

    fn claim(&mut self, node: usize, now: Time) -> Option<usize> {
        self.count(now, self.kind.claim_costs(self.holdings.len() as u64));
        let chosen = self.choose(node, now);
        self.meter.claim(node, now / ROUND, chosen.is_some());
        let slot = chosen?;
        let side = if self.kind == Alternative::Wackamole { self.side(node) } else { 0 };
        self.slots[slot].users[side] = Some((node, now));
        self.holdings[node].pledged += 1;
        self.coming.push_back((now + self.delay(), node));
        Some(slot)
    }

    fn release(&mut self, node: usize, now: Time, slot: usize) {
        self.count(now, self.kind.release_costs(self.holdings.len() as u64));
        self.holdings[node].used -= 1;
        let is_his = |user: &Option<(usize, Time)>| user.is_some_and(|(by, _)| by == node);
        let Some(side) = self.slots[slot].users.iter().position(is_his) else { return };
        if self.decides(node) {
            self.slots[slot].users[side] = None;
            self.slots[slot].freed = now;
        } else {
            self.stranded.push((slot, side));
        }
    }

    fn end(&mut self, round: u64) {
        let twice = self.used_twice();
        self.meter.used_twice(twice);
        self.meter.round(round, 0.0, self.holdings.iter().copied());
    }

    fn finish(mut self, round: u64) -> Measured {
        self.meter.measured.delay_rounds = self.delay() / ROUND;
        self.meter.finish(round)
    }
}
