//! The state of one member: the replicated table, its own pool, its knowledge of the group, and its
//! unsent messages. All rule sets share it.

use super::Slots;
use super::message::{Body, Message, Status};
use super::pool::Pool;
use super::ranges::Ranges;
use super::settings::Settings;
use super::table::{Owner, Table};
use super::waiting::Queue;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::family::slots::Output;
use synod_core::group::{Member, Session, ViewId};
use synod_core::{ProcessId, ProcessSet, Unhashed};

/// Where a member stands between the views of its group. The [module header](super) draws the
/// stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ViewStage {
    /// In no view.
    Outside,
    /// In a view that has new members to initialise or parts to merge: no slot moves.
    Unsettled,
    /// All members of the view have the same table: slots may move.
    Settled,
    /// The view is over, and the next one has not come. Only the companions are certain to deliver
    /// the messages that this member delivers now.
    Between,
}

/// The state of one member.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemberState {
    /// The fixed parameters.
    pub settings: Settings,
    /// The node of this member.
    pub me: ProcessId,
    /// The owner of each slot. All initialised members of a settled view have the same table.
    pub table: Table,
    /// This member's own slots, without the reserved ones.
    pub pool: Pool,
    /// This member's own slots that are reserved for it. If it owns a slot that is reserved for
    /// another member, the slot is in neither pool: it stays unused until this member hands it
    /// over.
    pub private: Option<Pool>,
    /// The stage of this member.
    pub stage: ViewStage,
    /// The present view, or the last one.
    pub view: Option<ViewId>,
    /// The members of that view.
    pub members: Vec<Member>,
    /// The number of messages delivered in this view that may change the table. Invariants compare
    /// two members that have delivered equally many. The engine counts the same, so the number
    /// distinguishes no states, and no rule reads it.
    pub delivered: Unhashed<u64>,
    /// The initialised members of this part of the group.
    pub ready: ProcessSet,
    /// The members of this part that wait for a status.
    pub waiting: ProcessSet,
    /// The member that sends statuses and inherits.
    pub primary: Option<ProcessId>,
    /// Absent nodes that are accounted for: no life of theirs owns a slot (step 7). An operator
    /// certified it, or their lives ended in this view while no other node was missing. The set is
    /// void as soon as a member parts.
    pub dead: ProcessSet,
    /// The greatest number of a claim that this member knows.
    pub(super) clock: u64,
    /// The number of free slots at each node when it last spoke, and those that it got since. It
    /// only decides how a claim is refused, and outlives no step otherwise.
    pub(super) reported_free: Unhashed<Vec<Option<u32>>>,
    /// The claims that wait for a slot.
    pub(super) queue: Queue,
    /// Bodies for which the engine had no room. A view's end drops them. The queue is bounded: at
    /// most one request or take, and one answer for each member.
    unsent: VecDeque<Body>,
}

impl MemberState {
    /// A member that owns and knows nothing.
    pub fn new(me: ProcessId, settings: Settings) -> Self {
        let private = settings.reserved_for(me).map(|_| Pool::new(settings.slots));
        let last = settings.configured.iter().last().map_or(0, |last| last.index() + 1);
        MemberState {
            me,
            table: Table::absent(settings.slots),
            pool: Pool::new(settings.slots),
            private,
            stage: ViewStage::Outside,
            view: None,
            members: Vec::new(),
            delivered: Unhashed(0),
            ready: ProcessSet::EMPTY,
            waiting: ProcessSet::EMPTY,
            primary: None,
            dead: ProcessSet::EMPTY,
            clock: 0,
            reported_free: Unhashed(vec![None; last]),
            queue: Queue::default(),
            unsent: VecDeque::new(),
            settings,
        }
    }

    /// Whether slots may move.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.stage == ViewStage::Settled
    }

    /// Whether this member is initialised.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.ready.contains(self.me)
    }

    /// The number of initialised members.
    #[inline]
    pub fn group_size(&self) -> u32 {
        self.ready.len() as u32
    }

    /// The number of slots that the members of this part own together.
    #[inline]
    pub fn total(&self) -> u32 {
        self.table.present()
    }

    /// The next initialised member after `member`, in a circle.
    pub fn next_after(&self, member: ProcessId) -> Option<ProcessId> {
        self.ready.first_after(member).or_else(|| self.ready.first())
    }

    /// The number of slots that this member owns.
    pub fn owned(&self) -> u32 {
        self.table.count(Owner::Of(self.me))
    }

    /// What this member owns, for pictures.
    pub(crate) fn has(&self) -> String {
        match self.table.of(Owner::Of(self.me)) {
            slots if slots.is_empty() => String::new(),
            slots => format!("owns {slots}"),
        }
    }

    /// The number of slots that the application can claim now.
    #[inline]
    pub fn free(&self) -> u32 {
        self.pool.free() + self.private.as_ref().map_or(0, Pool::free)
    }

    /// Whether every configured node is here or accounted for: then no life elsewhere owns a slot.
    pub fn is_whole(&self) -> bool {
        let here = |node| self.members.iter().any(|member| member.node == node);
        self.settings.configured.iter().all(|node| here(node) || self.dead.contains(node))
    }

    /// Gives slots to a new owner, in the table and in this member's pools.
    pub fn give(&mut self, slots: &Ranges, to: Owner) {
        if slots.is_empty() {
            return;
        }
        if let Owner::Of(to) = to {
            self.note_free(slots, to);
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

    /// Gives slots from a known owner to another. Members that are neither save the search.
    pub fn transfer(&mut self, slots: &Ranges, from: ProcessId, to: ProcessId) {
        self.note_free(slots, to);
        if from == self.me && to != self.me {
            self.part_with(slots);
        }
        self.table.give(slots, Owner::Of(to));
        if to == self.me && from != self.me {
            self.receive(slots);
        }
    }

    /// Gives all slots of one owner to another.
    pub fn replace(&mut self, from: Owner, to: Owner) {
        if from != to {
            let slots = self.table.of(from);
            self.give(&slots, to);
        }
    }

    /// Gives slots that were on offer to the member that takes them. Their owner had promised them.
    pub fn grant(&mut self, slots: &Ranges, to: ProcessId) {
        self.note_free(slots, to);
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

    /// Makes every slot absent.
    pub fn own_nothing(&mut self) {
        self.table = Table::absent(self.settings.slots);
        self.pool.clear();
        if let Some(private) = &mut self.private {
            private.clear();
        }
    }

    /// Drops all ownership and all knowledge. The clock stays, because tokens must grow; and claims
    /// wait on, because they hold no slot.
    pub fn forget(&mut self) {
        let queue = std::mem::take(&mut self.queue);
        let blank = MemberState::new(self.me, self.settings.clone());
        *self = MemberState { clock: self.clock, queue, ..blank };
    }

    /// The number of free slots at `member` when it last spoke, and those that it got since.
    #[inline]
    pub fn reported_free(&self, member: ProcessId) -> Option<u32> {
        self.reported_free.0.get(member.index()).copied().flatten()
    }

    fn note_free(&mut self, slots: &Ranges, to: ProcessId) {
        let total = self.total();
        if let Some(Some(free)) = self.reported_free.0.get_mut(to.index()) {
            *free = free.saturating_add(slots.len()).min(total);
        }
    }

    /// Learns the clock and the number of free slots of a sender.
    #[inline]
    pub fn hear(&mut self, from: ProcessId, message: &Message) {
        self.clock = self.clock.max(message.clock.min(1 << 62));
        if let Some(free) = self.reported_free.0.get_mut(from.index()) {
            *free = Some(message.free);
        }
    }

    /// Multicasts a body as soon as the engine has room. If the view ends first, the body is
    /// dropped.
    pub fn multicast(&mut self, body: Body, session: &mut Session<'_, Slots>) {
        self.unsent.push_back(body);
        self.flush(session);
    }

    /// Multicasts the unsent bodies, as far as the engine has room.
    pub fn flush(&mut self, session: &mut Session<'_, Slots>) {
        if self.stage == ViewStage::Between || session.room() == 0 {
            return;
        }
        while let Some(body) = self.unsent.pop_front() {
            let free = self.free().saturating_sub(self.needed_by_queue());
            let message = Message { clock: self.clock, free, body };
            let level = self.settings.level;
            session.multicast(level, message).expect("there is room");
            if session.room() == 0 {
                return;
            }
        }
    }

    /// Whether bodies wait for room.
    pub(super) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Drops the unsent bodies: they belong to a view that is over.
    pub fn drop_unsent(&mut self) {
        self.unsent.clear();
    }

    /// The status of this part. `new` are the members initialised since the group was last settled.
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

    /// The output for the application when all members of the view agree.
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
