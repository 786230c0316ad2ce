//! Donation: a member that runs short asks, and every other member answers.
//!
//! A member with fewer than `low` free slots multicasts a *request*. Every other member answers
//! with a *donation*, which may be empty. When all have answered, the *cycle* is over. The delivery
//! of a donation moves its slots, at all members alike. A member has at most one cycle open.
//!
//! Two optimisations of the source save answers. O2: two members that ask at the same time do not
//! answer each other; a request counts as an empty answer. O3: a member puts off an empty answer
//! until another member has donated. The *next* member after the requester never puts off its
//! answer, so that there is one. As published, O2 and O3 block each other (see
//! [`published`](super::published)). Here every member derives every open cycle from the delivered
//! messages alone, so both sides of a saved answer agree that it is saved:
//! 1. A request of `r` opens a cycle, in which all others owe an answer. For every open cycle of
//!    another member `a` in which `r` has not answered: `a` will not answer `r`, unless it is next
//!    after `r`; and the request is `r`'s answer to `a`, unless `r` is next after `a`.
//! 2. A member that owes an answer donates; if it has asked itself, its donation is empty. It may
//!    put off an empty answer, unless it is next. While its own request is under way, that request
//!    will be its answer, unless it is next.
//! 3. A member that put off an answer gives it when another member answers.
//! 4. A member forgets answers that it no longer owes.
//!
//! - Assumes: total order; messages of an old view are void.
//! - Guarantees: a cycle ends in its view (π4); a donor keeps `low` free slots (π10).
//! - Cost: 2 to N multicasts for a cycle.
//! - State: one set of members for each open cycle, at most N.
//!
//! When a view ends, all its cycles end. A donation that was delivered stands, in the view or in
//! the transitional configuration after it. If the donor has not delivered its donation by then, no
//! member has or ever will (G3 and step 2 of the argument in the [module header](super)), so the
//! donor has its slots again.
//!
//! Source: see the card.

use super::Slots;
use super::heuristics::{slots_to_donate, slots_to_request};
use super::message::Body;
use super::ranges::Ranges;
use super::state::{MemberState, ViewStage};
use super::table::Owner;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::card::Parameter;
use synod_core::family::slots::Output;
use synod_core::group::Session;
use synod_core::{ProcessId, ProcessSet, Setup, SetupError};

/// The optimisations that are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Switches {
    /// O1: the status for a new member counts as its request.
    pub implicit: bool,
    /// O2: requests at the same time answer each other.
    pub concurrent: bool,
    /// O3: members put off empty answers.
    pub delayed: bool,
    /// A member looks at its stock before each claim, and at no other time.
    pub at_claims: bool,
}

/// The switch of O1.
pub const O1: Parameter = Parameter {
    name: "o1",
    meaning: "donations: a new member's status counts as its request: on (default) or off",
};
/// The switch of O2.
pub const O2: Parameter = Parameter {
    name: "o2",
    meaning: "donations: requests at the same time answer each other: on (default) or off",
};
/// The switch of O3.
pub const O3: Parameter =
    Parameter { name: "o3", meaning: "donations: empty answers are put off: on (default) or off" };

/// When a member asks.
pub const ASKS: Parameter = Parameter {
    name: "asks",
    meaning: "donations: a member asks when it is short (default), or at claims only, before it takes the \
              slot, as in the authors' program: short or claims",
};

impl Switches {
    /// Reads the switches from the parameters.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let is_on = |parameter: Parameter| {
            setup.choice(parameter.name, &["on", "off"]).map(|word| word == "on")
        };
        Ok(Switches {
            implicit: is_on(O1)?,
            concurrent: is_on(O2)?,
            delayed: is_on(O3)?,
            at_claims: setup.choice(ASKS.name, &["short", "claims"])? == "claims",
        })
    }
}

/// This member's own request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Own {
    None,
    /// The request is multicast or waits for room, and is not delivered yet.
    Said,
    /// The request is delivered, and has brought this many slots so far.
    Open(u32),
}

/// The cycles of a view, as one member sees them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Donation {
    switches: Switches,
    own: Own,
    /// For each open cycle, the members that still have to answer.
    open: BTreeMap<ProcessId, ProcessSet>,
    /// The requesters to which this member owes an empty answer that it put off.
    owed: ProcessSet,
}

impl Donation {
    /// Reads the switches from the parameters.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        Ok(Donation {
            switches: Switches::from_setup(setup)?,
            own: Own::None,
            open: BTreeMap::new(),
            owed: ProcessSet::EMPTY,
        })
    }

    /// The requesters, each with the members that still have to answer.
    pub fn open(&self) -> &BTreeMap<ProcessId, ProcessSet> {
        &self.open
    }

    /// When the member asks.
    pub(super) fn switches(&self) -> Switches {
        self.switches
    }

    /// Asks for slots, if they run short.
    #[inline]
    pub fn ask(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        if self.own == Own::None && runs_short(state) {
            self.own = Own::Said;
            let amount = amount(state);
            session.notify(Output::Asks(amount));
            state.multicast(Body::Request(amount), session);
        }
    }

    /// A request is delivered.
    pub fn on_request(
        &mut self,
        from: ProcessId,
        asked: u32,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        // In a transitional configuration, the cycle is over before it begins.
        if !state.is_settled() || !state.ready.contains(from) || self.open.contains_key(&from) {
            return;
        }
        let answers = self.open_cycle(from, state);
        if from == state.me {
            self.own = Own::Open(0);
        } else if answers {
            self.answer(from, asked, state, session);
        }
        self.close_answered(state, session);
    }

    /// Rule 1. Returns whether this member owes an answer.
    fn open_cycle(&mut self, from: ProcessId, state: &MemberState) -> bool {
        let mut answers = state.ready.clone();
        answers.remove(from);
        if self.switches.concurrent {
            let next = state.next_after(from);
            for (other, expected) in &mut self.open {
                if !expected.contains(from) {
                    continue;
                }
                if next != Some(*other) {
                    answers.remove(*other);
                }
                if state.next_after(*other) != Some(from) {
                    expected.remove(from);
                }
            }
        }
        let expected = answers.contains(state.me);
        self.open.insert(from, answers);
        expected
    }

    /// Rule 2.
    fn answer(
        &mut self,
        to: ProcessId,
        asked: u32,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        let is_next = state.next_after(to) == Some(state.me);
        if self.switches.concurrent && self.own == Own::Said && !is_next {
            return;
        }
        let count = match self.own {
            Own::None => {
                let (free, low) = (state.pool.free(), state.settings.low);
                slots_to_donate(asked, state.group_size(), free, low)
            }
            Own::Said | Own::Open(_) => 0,
        };
        if count == 0 && self.switches.delayed && !is_next {
            self.owed.insert(to);
            return;
        }
        let slots = state.pool.pledge(count);
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
        // A donor that does not own the slots is not believed.
        if state.ready.contains(to) && state.table.has_all(Owner::Of(from), slots) {
            state.transfer(slots, from, to);
            if let Own::Open(got) = &mut self.own
                && to == state.me
            {
                *got += slots.len();
            }
        }
        if state.stage == ViewStage::Between {
            return;
        }
        let Some(expected) = self.open.get_mut(&to) else { return };
        expected.remove(from);
        let answered = expected.is_empty();
        // Rule 3.
        if from != state.me && self.owed.remove(to) {
            state.multicast(Body::Donate { to, slots: Ranges::EMPTY }, session);
        }
        if answered {
            self.close_answered(state, session);
        }
    }

    /// Closes the answered cycles, and rule 4.
    fn close_answered(&mut self, state: &MemberState, session: &mut Session<'_, Slots>) {
        self.open.retain(|_, expected| !expected.is_empty());
        if let Own::Open(got) = self.own
            && !self.open.contains_key(&state.me)
        {
            self.own = Own::None;
            session.notify(Output::Got(got));
        }
        let expects =
            |to: &ProcessId| self.open.get(to).is_some_and(|open| open.contains(state.me));
        self.owed = self.owed.iter().filter(expects).collect();
    }

    /// The view is about to end: no cycle waits for answers.
    pub fn pause(&mut self) {
        self.open.clear();
        self.owed.clear();
    }

    /// The view is over, and so are its cycles. Slots of undelivered donations are free again.
    pub fn close(&mut self, state: &mut MemberState, session: &mut Session<'_, Slots>) {
        match self.own {
            Own::None => {}
            Own::Said => session.notify(Output::Got(0)),
            Own::Open(got) => session.notify(Output::Got(got)),
        }
        self.reset();
        let promised = state.pool.pledged_slots().clone();
        state.pool.unpledge(&promised);
    }

    /// Drops all cycles.
    pub fn reset(&mut self) {
        self.own = Own::None;
        self.open.clear();
        self.owed.clear();
    }

    /// The group is settled. A new member's status was its request (O1); every member may ask.
    pub fn begin(
        &mut self,
        new: &ProcessSet,
        state: &mut MemberState,
        session: &mut Session<'_, Slots>,
    ) {
        if self.switches.implicit && state.settings.min > 0 && state.group_size() > 1 {
            for member in new.iter() {
                if member == state.me {
                    self.own = Own::Said;
                    session.notify(Output::Asks(state.settings.min));
                }
                self.on_request(member, state.settings.min, state, session);
            }
        }
        if !self.switches.at_claims {
            self.ask(state, session);
        }
    }
}

/// Whether a member asks for more: the first criterion of the source, without its own open cycle.
#[inline]
pub(super) fn runs_short(state: &MemberState) -> bool {
    state.is_settled() && state.free() < low(state) && state.group_size() > 1
}

/// The number of free slots that a member wants: its low mark, and one for each claim that waits.
#[inline]
fn low(state: &MemberState) -> u32 {
    state.settings.low + state.needed_by_queue()
}

/// The number of slots that a member asks for.
pub(super) fn amount(state: &MemberState) -> u32 {
    let (total, members) = (state.total(), state.group_size());
    slots_to_request(total, members, state.owned(), state.free(), low(state))
}
