//! Donation: whoever runs short asks, and everybody answers.
//!
//! A member with fewer than `low` free slots multicasts a *request*. Everybody else answers with a
//! *donation*, which may be empty; when all have answered, the *cycle* is over. Ownership moves
//! when a donation is delivered, at all members alike. A member has at most one cycle open.
//!
//! Two optimisations of the source save answers: whoever asks while others ask does not answer
//! them, its request counts as an empty answer (O2); and an empty answer is put off until somebody
//! else has donated (O3), but not by the *next* member after whoever asks, so that there is an
//! answer at all. As published they block each other (see [`published`](super::published)). Here
//! every member knows every open cycle, from what is delivered and nothing else, so both sides of a
//! saved answer agree that it is saved:
//! 1. A request of `r` opens a cycle; all others owe an answer. For every open cycle of somebody
//!    `a`, in which `r` has not answered: `a` will not answer `r`, unless it is next after `r`; and
//!    the request is `r`'s answer to `a`, unless `r` is next after `a`.
//! 2. Whoever owes an answer donates, nothing if it asks itself; an empty answer it may put off,
//!    unless it is next. While its own request is not yet delivered, it leaves the answer to that,
//!    unless it is next.
//! 3. Who put off an answer gives it when somebody else answers.
//! 4. What is not owed any more is forgotten.
//!
//! - Assumes: total order; messages of an old view are void.
//! - Guarantees: a cycle ends in its view (π4); a donor keeps `low` free slots (π10).
//! - Cost: 2 to N multicasts for a cycle.
//! - State: one set of members for each open cycle, at most N.
//!
//! When a view ends, all its cycles are over. A donation that was delivered, in the view or in the
//! transitional configuration after it, stands; one that its donor has not delivered by then nobody
//! has delivered, or ever will (G3 and the rule of the view tags), so its slots are the donor's
//! again.
//!
//! Source: see the card.

use super::Slots;
use super::estate::{Estate, Stage};
use super::heuristics::{slots_to_donate, slots_to_request};
use super::message::Body;
use super::ranges::Ranges;
use super::table::Owner;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::card::Parameter;
use synod_core::family::slots::Output;
use synod_core::group::Session;
use synod_core::{ProcessId, ProcessSet, Setup, SetupError};

/// Which optimisations are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Switches {
    /// O1: the status for a new member counts as its request.
    pub implicit: bool,
    /// O2: requests at the same time answer each other.
    pub concurrent: bool,
    /// O3: empty answers are put off.
    pub delayed: bool,
}

/// O1.
pub const O1: Parameter = Parameter {
    name: "o1",
    meaning: "donations: a new member's status counts as its request: on (default) or off",
};
/// O2.
pub const O2: Parameter = Parameter {
    name: "o2",
    meaning: "donations: requests at the same time answer each other: on (default) or off",
};
/// O3.
pub const O3: Parameter =
    Parameter { name: "o3", meaning: "donations: empty answers are put off: on (default) or off" };

impl Switches {
    /// As the parameters want it.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let is_on = |parameter: Parameter| {
            setup.choice(parameter.name, &["on", "off"]).map(|word| word == "on")
        };
        Ok(Switches { implicit: is_on(O1)?, concurrent: is_on(O2)?, delayed: is_on(O3)? })
    }
}

/// Our own request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Own {
    None,
    /// It is said, or is to be said, and not delivered yet.
    Said,
    /// It is delivered, and brought so many slots so far.
    Open(u32),
}

/// The cycles of a view, as one member sees them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Donation {
    switches: Switches,
    own: Own,
    /// Who still has to answer, in every open cycle.
    open: BTreeMap<ProcessId, ProcessSet>,
    /// Whom we owe an empty answer that we put off.
    owed: ProcessSet,
}

impl Donation {
    /// As the parameters want it.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        Ok(Donation {
            switches: Switches::from_setup(setup)?,
            own: Own::None,
            open: BTreeMap::new(),
            owed: ProcessSet::EMPTY,
        })
    }

    /// Who asks, and who has still to answer.
    pub fn open(&self) -> &BTreeMap<ProcessId, ProcessSet> {
        &self.open
    }

    /// Asks for slots, if they run short.
    #[inline]
    pub fn on_need(&mut self, estate: &mut Estate, session: &mut Session<'_, Slots>) {
        if self.own == Own::None && runs_short(estate) {
            self.own = Own::Said;
            let amount = amount(estate);
            session.tell(Output::Asks(amount));
            estate.say(Body::Request(amount), session);
        }
    }

    /// Somebody asks.
    pub fn on_request(
        &mut self,
        from: ProcessId,
        asked: u32,
        estate: &mut Estate,
        session: &mut Session<'_, Slots>,
    ) {
        // In a transitional configuration, the cycle is over before it begins.
        if !estate.is_settled() || !estate.ready.contains(from) || self.open.contains_key(&from) {
            return;
        }
        let answers = self.open_cycle(from, estate);
        if from == estate.me {
            self.own = Own::Open(0);
        } else if answers {
            self.answer(from, asked, estate, session);
        }
        self.close_answered(estate, session);
    }

    /// Rule 1. Whether an answer is expected of us.
    fn open_cycle(&mut self, from: ProcessId, estate: &Estate) -> bool {
        let mut answers = estate.ready.clone();
        answers.remove(from);
        if self.switches.concurrent {
            let next = estate.next_after(from);
            for (other, expected) in &mut self.open {
                if !expected.contains(from) {
                    continue;
                }
                if next != Some(*other) {
                    answers.remove(*other);
                }
                if estate.next_after(*other) != Some(from) {
                    expected.remove(from);
                }
            }
        }
        let expected = answers.contains(estate.me);
        self.open.insert(from, answers);
        expected
    }

    /// Rule 2.
    fn answer(
        &mut self,
        to: ProcessId,
        asked: u32,
        estate: &mut Estate,
        session: &mut Session<'_, Slots>,
    ) {
        let is_next = estate.next_after(to) == Some(estate.me);
        if self.switches.concurrent && self.own == Own::Said && !is_next {
            return;
        }
        let count = match self.own {
            Own::None => {
                let (free, low) = (estate.pool.free(), estate.settings.low);
                slots_to_donate(asked, estate.group_size(), free, low)
            }
            Own::Said | Own::Open(_) => 0,
        };
        if count == 0 && self.switches.delayed && !is_next {
            self.owed.insert(to);
            return;
        }
        let slots = estate.pool.pledge(count);
        estate.say(Body::Donate { to, slots }, session);
    }

    /// Somebody answers.
    pub fn on_donate(
        &mut self,
        from: ProcessId,
        to: ProcessId,
        slots: &Ranges,
        estate: &mut Estate,
        session: &mut Session<'_, Slots>,
    ) {
        // Whoever donates what it has not is not believed.
        if estate.ready.contains(to) && estate.table.has_all(Owner::Of(from), slots) {
            estate.transfer(slots, from, to);
            if let Own::Open(got) = &mut self.own
                && to == estate.me
            {
                *got += slots.len();
            }
        }
        if estate.stage == Stage::Between {
            return;
        }
        let Some(expected) = self.open.get_mut(&to) else { return };
        expected.remove(from);
        let answered = expected.is_empty();
        // Rule 3.
        if from != estate.me && self.owed.remove(to) {
            estate.say(Body::Donate { to, slots: Ranges::EMPTY }, session);
        }
        if answered {
            self.close_answered(estate, session);
        }
    }

    /// Closes the cycles in which all have answered; and rule 4.
    fn close_answered(&mut self, estate: &Estate, session: &mut Session<'_, Slots>) {
        self.open.retain(|_, expected| !expected.is_empty());
        if let Own::Open(got) = self.own
            && !self.open.contains_key(&estate.me)
        {
            self.own = Own::None;
            session.tell(Output::Got(got));
        }
        let expects =
            |to: &ProcessId| self.open.get(to).is_some_and(|open| open.contains(estate.me));
        self.owed = self.owed.iter().filter(expects).collect();
    }

    /// The view is about to end: nobody waits for answers any more.
    pub fn pause(&mut self) {
        self.open.clear();
        self.owed.clear();
    }

    /// The view is over, and so are its cycles.
    pub fn close(&mut self, estate: &mut Estate, session: &mut Session<'_, Slots>) {
        match self.own {
            Own::None => {}
            Own::Said => session.tell(Output::Got(0)),
            Own::Open(got) => session.tell(Output::Got(got)),
        }
        self.reset();
        let promised = estate.pool.pledged_slots().clone();
        estate.pool.unpledge(&promised);
    }

    /// Nothing was ever asked.
    pub fn reset(&mut self) {
        self.own = Own::None;
        self.open.clear();
        self.owed.clear();
    }

    /// The group is settled: the new members' status was their request (O1), others may ask.
    pub fn begin(
        &mut self,
        new: &ProcessSet,
        estate: &mut Estate,
        session: &mut Session<'_, Slots>,
    ) {
        if self.switches.implicit && estate.settings.min > 0 && estate.group_size() > 1 {
            for member in new.iter() {
                if member == estate.me {
                    self.own = Own::Said;
                    session.tell(Output::Asks(estate.settings.min));
                }
                self.on_request(member, estate.settings.min, estate, session);
            }
        }
        self.on_need(estate, session);
    }
}

/// Whether a member asks for more: the first criterion of the source, but for its own open cycle.
#[inline]
pub(super) fn runs_short(estate: &Estate) -> bool {
    estate.is_settled() && estate.free() < estate.settings.low && estate.group_size() > 1
}

/// How much it asks for.
pub(super) fn amount(estate: &Estate) -> u32 {
    let (total, members) = (estate.total(), estate.group_size());
    slots_to_request(total, members, estate.owned(), estate.free(), estate.settings.low)
}
