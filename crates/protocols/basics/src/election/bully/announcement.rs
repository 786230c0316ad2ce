//! How the winner of a [bully](super)'s election becomes known: three answers to the question how
//! a process that comes back can do no harm.
//!
//! - *Direct*: the winner tells each smaller process, as in the paper. If another winner does so at
//!   the same moment, processes hear of the two in different orders, and the last one counts.
//! - *Ordered*: the winner asks p0, which numbers all announcements. The greatest number counts, in
//!   any order of arrival, so all agree in the end. For a moment there may be two.
//! - *Epochs*: the winner claims the next epoch, and leads it if a majority grants that. A process
//!   grants an epoch once, and ignores leaders of earlier ones; so no epoch has two leaders.
//!
//! Numbers and epochs are written down before others hear of them.

use super::{Coordinator, Message, Phase, Process, Timer};
use serde::{Deserialize, Serialize};
use synod_core::card::Parameter;
use synod_core::family::election::Output;
use synod_core::{Cx, Durable, ProcessId, ProcessSet, Setup, SetupError};

/// The process that numbers announcements.
const KEEPER: ProcessId = ProcessId(0);

/// The parameter that chooses between the answers.
pub(super) const ANNOUNCE: Parameter = Parameter {
    name: "announce",
    meaning: "how a winner becomes known: direct (it tells the smaller ones), ordered (p0 numbers \
              all announcements, and the last one counts), or epochs (a majority grants it the \
              next epoch) (default: direct)",
};

/// The parameter that decides about records.
pub(super) const DURABLE: Parameter = Parameter {
    name: "durable",
    meaning: "yes or no: whether a process writes down the number or the epoch that it knows; \
              without, no process may come back (default: yes)",
};

/// The way in which a winner becomes known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum How {
    Direct,
    Ordered,
    Epochs,
}

/// What a process knows of announcements.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Announcement {
    how: How,
    durable: bool,
    /// The last announcement that was delivered, or the last epoch that was granted.
    last: u64,
    /// The processes that granted our claim; empty without a claim.
    granted: ProcessSet,
}

/// The last number or epoch, on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Record(u64);

impl<const ROUND_TRIP: bool> Durable for Process<ROUND_TRIP> {
    type Record = Record;

    fn replay(&mut self, Record(last): Record) {
        self.announcement.last = last;
    }
}

impl Announcement {
    pub(super) fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let how = match setup.choice(ANNOUNCE.name, &["direct", "ordered", "epochs"])? {
            "ordered" => How::Ordered,
            "epochs" => How::Epochs,
            _ => How::Direct,
        };
        let durable = setup.choice(DURABLE.name, &["yes", "no"])? == "yes";
        Ok(Announcement { how, durable, last: 0, granted: ProcessSet::EMPTY })
    }

    /// How often T passes between a question and a coordinator, at most: the number or the votes
    /// take up to T more.
    pub(super) fn patience(&self) -> u64 {
        if self.how == How::Direct { 2 } else { 3 }
    }

    pub(super) fn is_direct(&self) -> bool {
        self.how == How::Direct
    }
}

impl<const ROUND_TRIP: bool> Process<ROUND_TRIP> {
    /// The epoch that this process leads, as far as it knows.
    pub(super) fn leads(&self) -> Option<u64> {
        let is_leader = self.phase == Phase::Idle
            && self.coordinator.is_some_and(|coordinator| coordinator.id == self.id);
        (self.announcement.how == How::Epochs && is_leader).then_some(self.announcement.last)
    }

    /// Whether announcements may have been lost at this process while it was down. Then it calls an
    /// election, which ends with an announcement that all hear of.
    pub(super) fn may_have_missed_some(&self, cx: &Cx<'_, Self>) -> bool {
        self.announcement.how == How::Ordered && cx.incarnation() > 1
    }

    /// No greater process is up: makes that known.
    pub(super) fn announce(&mut self, cx: &mut Cx<'_, Self>) {
        match self.announcement.how {
            How::Direct => self.tell_smaller_ones(cx),
            How::Ordered => {
                self.await_coordinator(cx);
                match cx.me() {
                    KEEPER => self.number(Coordinator { process: KEEPER, id: self.id }, cx),
                    _ => cx.send(KEEPER, Message::Announce(self.id)),
                }
            }
            How::Epochs => self.claim(cx),
        }
    }

    fn tell_smaller_ones(&mut self, cx: &mut Cx<'_, Self>) {
        self.conclude(Coordinator { process: cx.me(), id: self.id }, cx);
        for smaller in self.smaller.iter() {
            cx.send(smaller, Message::Coordinator(self.id));
        }
    }

    /// Waits until it is told of a coordinator; if that takes too long, it starts again.
    fn await_coordinator(&mut self, cx: &mut Cx<'_, Self>) {
        self.phase = Phase::WaitCoordinator;
        cx.cancel_timer(Timer::Answer);
        cx.set_timer(Timer::Coordinator, self.announcement.patience() * self.timeout_ms);
    }

    /// Writes down the last number or epoch. Messages that follow wait for the disk.
    fn raise(&mut self, last: u64, cx: &mut Cx<'_, Self>) {
        self.announcement.last = last;
        self.announcement.granted.clear();
        if self.announcement.durable {
            cx.checkpoint(&Record(last));
        }
    }

    /// A message of one of the two ways that are not direct.
    pub(super) fn on_announcement(
        &mut self,
        from: ProcessId,
        message: Message,
        cx: &mut Cx<'_, Self>,
    ) {
        match (self.announcement.how, message) {
            (How::Ordered, Message::Announce(id))
                if cx.me() == KEEPER && self.greater.contains(from) == (id > self.id) =>
            {
                self.number(Coordinator { process: from, id }, cx);
            }
            (How::Ordered, Message::Ordered(number, coordinator)) if from == KEEPER => {
                self.on_ordered(number, coordinator, cx);
            }
            (How::Epochs, Message::Claim(epoch)) => self.on_claim(from, epoch, cx),
            (How::Epochs, Message::Grant(epoch)) => self.on_grant(from, epoch, cx),
            (How::Epochs, Message::Refusal(epoch)) => self.on_refusal(epoch, cx),
            (How::Epochs, Message::Leader(epoch, id)) => {
                self.on_leader(epoch, Coordinator { process: from, id }, cx);
            }
            _ => cx.accuse(from, "announced a coordinator in a way that was not agreed on"),
        }
    }

    /// At the keeper: the next number is for this announcement.
    fn number(&mut self, coordinator: Coordinator, cx: &mut Cx<'_, Self>) {
        let Some(number) = self.announcement.last.checked_add(1) else { return };
        self.raise(number, cx);
        cx.multicast(Message::Ordered(number, coordinator));
        self.take(coordinator, cx);
    }

    fn on_ordered(&mut self, number: u64, coordinator: Coordinator, cx: &mut Cx<'_, Self>) {
        // A later announcement has overtaken this one.
        if number > self.announcement.last {
            self.raise(number, cx);
            self.take(coordinator, cx);
        }
    }

    /// Takes the last announcement for the result. A process that is greater is up itself, so it
    /// bullies, unless an election of its own is under way.
    fn take(&mut self, coordinator: Coordinator, cx: &mut Cx<'_, Self>) {
        match coordinator.id >= self.id {
            true => self.on_coordinator(coordinator, cx),
            false if self.phase == Phase::Idle => self.start(cx),
            false => {}
        }
    }

    /// Asks all to grant the next epoch, and grants it itself.
    fn claim(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(epoch) = self.announcement.last.checked_add(1) else { return };
        self.await_coordinator(cx);
        self.raise(epoch, cx);
        cx.multicast(Message::Claim(epoch));
        self.on_grant(cx.me(), epoch, cx);
    }

    /// Grants an epoch that is greater than all before, and waits for its leader.
    fn on_claim(&mut self, from: ProcessId, epoch: u64, cx: &mut Cx<'_, Self>) {
        if epoch <= self.announcement.last {
            return cx.send(from, Message::Refusal(self.announcement.last));
        }
        self.raise(epoch, cx);
        cx.send(from, Message::Grant(epoch));
        if self.phase == Phase::Idle {
            cx.output(Output::Undecided);
        }
        self.await_coordinator(cx);
    }

    fn on_grant(&mut self, from: ProcessId, epoch: u64, cx: &mut Cx<'_, Self>) {
        let Announcement { last, granted, .. } = &mut self.announcement;
        let is_claimed = from == cx.me() || granted.contains(cx.me());
        if epoch != *last || !is_claimed || !granted.insert(from) {
            return;
        }
        if granted.len() == cx.group_size() / 2 + 1 {
            self.conclude(Coordinator { process: cx.me(), id: self.id }, cx);
            cx.multicast(Message::Leader(epoch, self.id));
        }
    }

    /// Our claim comes too late: there was a greater epoch. (If another process claims the same
    /// one, the votes decide, or the time-out.)
    fn on_refusal(&mut self, epoch: u64, cx: &mut Cx<'_, Self>) {
        if epoch > self.announcement.last {
            self.raise(epoch, cx);
            self.start(cx);
        }
    }

    fn on_leader(&mut self, epoch: u64, coordinator: Coordinator, cx: &mut Cx<'_, Self>) {
        // The leader of an epoch that is over has not heard of it.
        if epoch < self.announcement.last {
            return;
        }
        if epoch > self.announcement.last {
            self.raise(epoch, cx);
        }
        self.on_coordinator(coordinator, cx);
    }
}
