//! Donation by the published rules, for reproduction, and to show their hazards.
//!
//! The scheme is that of [`donation`](super::super::donation), but the requester keeps its own list
//! of the members that have to answer, and no other member knows the list. The source has two
//! versions of how the optimisations O2 and O3 go together:
//! - `text`: a member that has asked, and delivers the request of a member whose answer it awaits,
//!   does not answer, and counts the request as the other's empty answer.
//! - `code`, from the authors' public simulation: the same, but the next member after the other
//!   requester answers, and goes on waiting. And at every change of the membership, a join
//!   included, a member forgets its request and the empty answers that it put off.
//!
//! Both block (hazard H3, π4): a member waits for ever for an answer that another member believes
//! to have saved. No member checks a donation: its slots change their owner, even if the donor did
//! not own them.
//!
//! - Assumes: total order, and that a message is delivered in the view in which it was sent.
//! - Guarantees: none that the explorer does not refute; see the card.
//! - Cost: 2 to N multicasts for a cycle.
//! - State: three sets of members, one request for each member.
//!
//! Source: see the card.

use super::super::Slots;
use super::super::donation::{Switches, amount, runs_short};
use super::super::heuristics::slots_to_donate;
use super::super::message::Body;
use super::super::ranges::Ranges;
use super::super::state::MemberState;
use super::super::table::Owner;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::card::Parameter;
use synod_core::family::slots::{Output, SlotId};
use synod_core::group::Session;
use synod_core::{ProcessId, ProcessSet, Setup, SetupError};

/// The parameter that selects the version.
pub const O2O3: Parameter = Parameter {
    name: "o2o3",
    meaning: "paper: how o2 and o3 go together, and whether a join clears open cycles: text (default), \
              or code, as the authors' simulation does it",
};

/// This member's own cycle: the members that still have to answer, and the number of slots it got.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Cycle {
    pending: ProcessSet,
    got: u32,
}

/// Cycles as one member sees them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PublishedDonation {
    switches: Switches,
    /// Whether O2 follows the authors' simulation.
    as_code: bool,
    own: Option<Cycle>,
    /// The requesters to which this member owes an empty answer that it put off.
    owed: ProcessSet,
    /// The slots of undelivered donations, by requester.
    promised: BTreeMap<ProcessId, Ranges>,
    /// Requests that came while the group was unsettled: the last of each member.
    held_back: BTreeMap<ProcessId, u32>,
}

impl PublishedDonation {
    /// Reads the switches from the parameters.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        Ok(PublishedDonation {
            switches: Switches::from_setup(setup)?,
            as_code: setup.choice(O2O3.name, &["text", "code"])? == "code",
            own: None,
            owed: ProcessSet::EMPTY,
            promised: BTreeMap::new(),
            held_back: BTreeMap::new(),
        })
    }

    /// The members that still have to answer, if this member has asked.
    pub fn pending(&self) -> Option<&ProcessSet> {
        self.own.as_ref().map(|cycle| &cycle.pending)
    }

    /// When the member asks.
    pub(in super::super) fn switches(&self) -> Switches {
        self.switches
    }

    /// Asks for slots, if they run short.
    pub fn ask(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        if self.own.is_none() && runs_short(state) {
            let amount = amount(state);
            self.open_own(amount, state, session);
            state.multicast(Body::Request(amount), session);
        }
    }

    fn open_own(&mut self, amount: u32, state: &MemberState, session: &mut Session<'_, Slots>) {
        let mut pending = state.ready.clone();
        pending.remove(state.me);
        self.own = Some(Cycle { pending, got: 0 });
        session.notify(Output::Asks(amount));
    }

    /// A request is delivered.
    pub fn on_request(
        &mut self,
        from: ProcessId,
        asked: u32,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        if from == state.me {
            return;
        }
        if !state.is_settled() {
            if state.settings.configured.contains(from) {
                self.held_back.insert(from, asked);
            }
            return;
        }
        let is_next = state.next_after(from) == Some(state.me);
        if let Some(cycle) = &mut self.own
            && self.switches.concurrent
            && cycle.pending.contains(from)
            && !(self.as_code && is_next)
        {
            cycle.pending.remove(from);
            return self.end_if_answered(session);
        }
        self.answer(from, asked, is_next, state, session);
    }

    fn answer(
        &mut self,
        to: ProcessId,
        asked: u32,
        is_next: bool,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        let count = match self.own {
            Some(_) => 0,
            None => {
                let (free, low) = (state.pool.free(), state.settings.low);
                slots_to_donate(asked, state.group_size(), free, low)
            }
        };
        if count == 0 && self.switches.delayed && !is_next {
            self.owed.insert(to);
            return;
        }
        let slots = state.pool.pledge(count);
        if !slots.is_empty() {
            self.promised.entry(to).or_insert(Ranges::EMPTY).extend(&slots);
        }
        state.multicast(Body::Donate { to, slots }, session);
    }

    /// An answer is delivered.
    pub fn on_donate(
        &mut self,
        from: ProcessId,
        to: ProcessId,
        slots: &Ranges,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        if slots.end() > state.table.size() || !state.settings.configured.contains(to) {
            return;
        }
        // Slots that the requester owns already do not count as a gain.
        let has = |slot: &SlotId| state.table.owner(*slot) == Some(Owner::Of(to));
        let slots: Ranges = slots.slots().filter(|slot| !has(slot)).collect();
        state.give(&slots, Owner::Of(to));
        if from == state.me {
            self.keep_promise(to, &slots);
        } else if self.owed.remove(to) {
            state.multicast(Body::Donate { to, slots: Ranges::EMPTY }, session);
        }
        if to == state.me
            && let Some(cycle) = &mut self.own
        {
            cycle.got += slots.len();
            cycle.pending.remove(from);
            self.end_if_answered(session);
        }
    }

    fn keep_promise(&mut self, to: ProcessId, slots: &Ranges) {
        if let Some(promised) = self.promised.get_mut(&to) {
            promised.remove(slots);
            if promised.is_empty() {
                self.promised.remove(&to);
            }
        }
    }

    fn end_if_answered(&mut self, session: &mut Session<'_, Slots>) {
        if let Some(cycle) = self.own.take_if(|cycle| cycle.pending.is_empty()) {
            session.notify(Output::Got(cycle.got));
        }
    }

    /// The membership changes.
    pub fn change_members(
        &mut self,
        gone: &ProcessSet,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        if self.as_code {
            self.owed.clear();
            if let Some(cycle) = &mut self.own {
                cycle.pending.clear();
            }
        }
        self.part_from(gone, state, session);
    }

    /// T2: these members are gone. No cycle waits for their answers, and the slots of undelivered
    /// donations to them are free again.
    fn part_from(
        &mut self,
        gone: &ProcessSet,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        for member in gone.iter() {
            if let Some(cycle) = &mut self.own {
                cycle.pending.remove(member);
            }
            self.owed.remove(member);
            self.held_back.remove(&member);
            if let Some(promised) = self.promised.remove(&member) {
                state.pool.unpledge(&promised);
            }
        }
        self.end_if_answered(session);
    }

    /// Drops all cycles and promises.
    pub fn reset(&mut self) {
        self.own = None;
        self.owed.clear();
        self.promised.clear();
        self.held_back.clear();
    }

    /// The group is settled: answers the requests that were held back. A new member's status was
    /// its request.
    pub fn begin(
        &mut self,
        new: &ProcessSet,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        for (from, asked) in std::mem::take(&mut self.held_back) {
            self.on_request(from, asked, state, session);
        }
        if self.switches.implicit && state.settings.min > 0 && state.group_size() > 1 {
            if new.contains(state.me) {
                self.open_own(state.settings.min, state, session);
            }
            for member in new.iter() {
                self.on_request(member, state.settings.min, state, session);
            }
        }
        if !self.switches.at_claims {
            self.ask(state, session);
        }
    }
}
