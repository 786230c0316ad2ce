//! What every rule set has in common: who owns what, what is ours, and what we have to say.

use super::Slots;
use super::message::{Body, Message, Status};
use super::pool::Pool;
use super::ranges::Ranges;
use super::settings::Settings;
use super::table::{Owner, Table};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::family::slots::Output;
use synod_core::group::{Member, Session, ViewId};
use synod_core::{ProcessId, ProcessSet, Unhashed};

/// Where a member stands in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stage {
    /// Not in any view.
    Outside,
    /// In a view, while a transaction of the membership is under way: nothing moves.
    Unsettled,
    /// All members of the view agree: slots may move.
    Settled,
    /// The view is over, the next is not there yet: what is delivered now, only our companions are
    /// certain to deliver.
    Between,
}

/// The replicated table and our own pool, and all that is known about the group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Estate {
    /// What is fixed.
    pub settings: Settings,
    /// This member.
    pub me: ProcessId,
    /// Who owns what: the same at all initialised members of a settled view.
    pub table: Table,
    /// Our own slots, but for those that are reserved.
    pub pool: Pool,
    /// Our own slots that are reserved for us. Slots that are ours, but reserved for somebody else,
    /// are in neither pool: nobody uses them until they are handed over.
    pub private: Option<Pool>,
    /// Where we stand.
    pub stage: Stage,
    /// The view that we are in, or were in last.
    pub view: Option<ViewId>,
    /// Its members.
    pub members: Vec<Member>,
    /// How many messages we delivered in it, of those that may change who owns what. Whether two
    /// members have delivered as much is known to their engine, too, and nothing else depends on
    /// it.
    pub delivered: Unhashed<u64>,
    /// Who is initialised, of our part of the group.
    pub ready: ProcessSet,
    /// Who waits for a status, of our part of the group.
    pub waiting: ProcessSet,
    /// Who does what only one shall do.
    pub primary: Option<ProcessId>,
    /// Nodes that are not here and accounted for: no life of theirs has any slot. An operator
    /// certified it, or their lives ended in our view while nobody else was missing. It is true as
    /// long as nobody parts from us.
    pub dead: ProcessSet,
    /// The number of our last claim, or a greater one that we heard of.
    pub(super) clock: u64,
    /// How many free slots others had, when they last spoke. It decides in which words a claim is
    /// refused, and nothing else that outlives the step in which it was heard.
    pub(super) told: Unhashed<Vec<u32>>,
    /// What we have to say, and there was no room. It is about this view and forgotten with it.
    /// Rules say a bounded number of things: one request or take, one answer for each member.
    unsaid: VecDeque<Body>,
}

impl Estate {
    /// A member that knows nothing.
    pub fn new(me: ProcessId, settings: Settings) -> Self {
        let private = settings.reserved_for(me).map(|_| Pool::new(settings.slots));
        let last = settings.configured.iter().last().map_or(0, |last| last.index() + 1);
        Estate {
            me,
            table: Table::absent(settings.slots),
            pool: Pool::new(settings.slots),
            private,
            stage: Stage::Outside,
            view: None,
            members: Vec::new(),
            delivered: Unhashed(0),
            ready: ProcessSet::EMPTY,
            waiting: ProcessSet::EMPTY,
            primary: None,
            dead: ProcessSet::EMPTY,
            clock: 0,
            told: Unhashed(vec![0; last]),
            unsaid: VecDeque::new(),
            settings,
        }
    }

    /// Whether slots may move.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.stage == Stage::Settled
    }

    /// Whether we are initialised.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.ready.contains(self.me)
    }

    /// How many members are initialised.
    #[inline]
    pub fn group_size(&self) -> u32 {
        self.ready.len() as u32
    }

    /// How many slots the members of our part have together.
    #[inline]
    pub fn total(&self) -> u32 {
        self.table.present()
    }

    /// The next initialised member after `member`, in a circle.
    pub fn next_after(&self, member: ProcessId) -> Option<ProcessId> {
        self.ready.first_after(member).or_else(|| self.ready.first())
    }

    /// How many slots we own.
    pub fn owned(&self) -> u32 {
        self.table.count(Owner::Of(self.me))
    }

    /// How many slots can be claimed here and now.
    #[inline]
    pub fn free(&self) -> u32 {
        self.pool.free() + self.private.as_ref().map_or(0, Pool::free)
    }

    /// Whether every node that there is is here or accounted for: then nobody else can have any
    /// slot.
    pub fn is_whole(&self) -> bool {
        let here = |node| self.members.iter().any(|member| member.node == node);
        self.settings.configured.iter().all(|node| here(node) || self.dead.contains(node))
    }

    /// Gives slots to a new owner, here and in our pools.
    pub fn give(&mut self, slots: &Ranges, to: Owner) {
        if slots.is_empty() {
            return;
        }
        let me = Owner::Of(self.me);
        if to != me && self.table.count(me) > 0 {
            self.part_with(slots);
        }
        self.table.give(slots, to);
        if to == me {
            self.receive(slots);
        }
    }

    /// The same, if it is known whose they are: then those who have nothing to do with it save the
    /// search.
    pub fn transfer(&mut self, slots: &Ranges, from: ProcessId, to: ProcessId) {
        if from == self.me && to != self.me {
            self.part_with(slots);
        }
        self.table.give(slots, Owner::Of(to));
        if to == self.me && from != self.me {
            self.receive(slots);
        }
    }

    /// Whatever somebody has is somebody else's from now on.
    pub fn replace(&mut self, from: Owner, to: Owner) {
        if from != to {
            let slots = self.table.of(from);
            self.give(&slots, to);
        }
    }

    /// The same for slots that their owners had promised to whoever takes them.
    pub fn grant(&mut self, slots: &Ranges, to: ProcessId) {
        if self.pool.pledged() > 0 && self.pool.pledged_slots().intersects(slots) {
            self.pool.lose(&self.pool.pledged_slots().intersection(slots));
        }
        self.table.give(slots, Owner::Of(to));
        if to == self.me {
            self.receive(slots);
        }
    }

    pub(super) fn part_with(&mut self, slots: &Ranges) {
        self.pool.lose(slots);
        if let Some(private) = &mut self.private {
            private.lose(slots);
        }
    }

    pub(super) fn receive(&mut self, slots: &Ranges) {
        if self.settings.reserved.is_empty() {
            return self.pool.gain(slots);
        }
        let mut rest = slots.clone();
        for (who, reserved) in &self.settings.reserved {
            let these = rest.intersection(reserved);
            rest.remove(reserved);
            if let Some(private) = self.private.as_mut().filter(|_| *who == self.me) {
                private.gain(&these);
            }
        }
        self.pool.gain(&rest);
    }

    /// Nobody owns anything.
    pub fn own_nothing(&mut self) {
        self.table = Table::absent(self.settings.slots);
        self.pool.clear();
        if let Some(private) = &mut self.private {
            private.clear();
        }
    }

    /// Nothing is ours any more, and we know nothing.
    pub fn forget(&mut self) {
        *self = Estate { clock: self.clock, ..Estate::new(self.me, self.settings.clone()) };
    }

    /// How many free slots somebody had when it last spoke.
    #[inline]
    pub fn told(&self, member: ProcessId) -> u32 {
        self.told.0.get(member.index()).copied().unwrap_or(0)
    }

    /// Learns from what somebody says how far the clock is and how much it has.
    #[inline]
    pub fn hear(&mut self, from: ProcessId, message: &Message) {
        self.clock = self.clock.max(message.clock.min(1 << 62));
        if let Some(told) = self.told.0.get_mut(from.index()) {
            *told = message.free;
        }
    }

    /// Multicasts something, as soon as there is room. What is unsaid when the view ends is never
    /// said.
    pub fn say(&mut self, body: Body, session: &mut Session<'_, Slots>) {
        self.unsaid.push_back(body);
        self.say_rest(session);
    }

    /// Multicasts what there was no room for.
    pub fn say_rest(&mut self, session: &mut Session<'_, Slots>) {
        if self.stage == Stage::Between || session.room() == 0 {
            return;
        }
        while let Some(body) = self.unsaid.pop_front() {
            let message = Message { clock: self.clock, free: self.free(), body };
            let level = self.settings.level;
            session.multicast(level, message).expect("there is room");
            if session.room() == 0 {
                return;
            }
        }
    }

    /// The view is over: what was not said is not said.
    pub fn unsay(&mut self) {
        self.unsaid.clear();
    }

    /// How things are here; `new` are members initialised since the group was last settled.
    pub fn status(&self, new: &ProcessSet) -> Box<Status> {
        Box::new(Status {
            table: self.table.clone(),
            ready: self.ready.clone(),
            waiting: self.waiting.clone(),
            primary: self.primary,
            dead: self.dead.clone(),
            new: new.clone(),
        })
    }

    /// What is told when all members of the view agree.
    pub fn settled(&self) -> Output {
        Output::Settled {
            view: self.view.expect("whoever is settled is in a view"),
            members: self.ready.clone(),
            owned: self.owned(),
            absent: self.table.count(Owner::Absent),
            whole: self.is_whole(),
        }
    }
}
