//! New members, the primary's duties for them, and the operator's commands.
//!
//! A new member waits for a status. The primary multicasts one status after the other. No slot
//! moves until every member has its status, so a status is still true when it is delivered (step 6
//! of the argument in the [module header](super)).

use super::Slots;
use super::merge::Merging;
use super::message::{Body, Status};
use super::published;
use super::ranges::Ranges;
use super::state::ViewStage;
use super::table::Owner;
use synod_core::family::slots::Output;
use synod_core::group::{Session, View};
use synod_core::{ProcessId, ProcessSet};

impl Slots {
    /// In the first view of its first life, a member owns the slots that the setup gives it. A
    /// later life begins with nothing.
    pub(super) fn own_initial_slots(&mut self, view: &View) {
        let Some(beginning) = self.beginning.take() else { return };
        let state = &mut self.state;
        let life = view.member(state.me).map_or(0, |member| member.incarnation);
        if life != 1 {
            return;
        }
        state.ready = state.settings.configured.clone();
        state.primary = state.ready.first();
        let mine = beginning.table.of(Owner::Of(state.me));
        state.table = beginning.table;
        state.table.give(&mine, Owner::Absent);
        state.give(&mine, Owner::Of(state.me));
        let used = beginning.used.iter().find(|(who, _)| *who == state.me);
        state.use_some(used.map_or(0, |(_, count)| *count));
    }

    /// Takes over the members of a new view.
    pub(super) fn enter(&mut self, view: &View) {
        self.merging = None;
        let state = &mut self.state;
        state.drop_unsent();
        state.view = Some(view.id);
        state.members.clone_from(&view.members);
        state.delivered.0 = 0;
        state.stage = ViewStage::Unsettled;
        if !state.is_ready() {
            state.waiting.insert(state.me);
        }
        self.enter_with_queue();
    }

    /// If all strangers are new, they wait for a status. Otherwise parts come together: the primary
    /// of this part says what the part owns. A part without an initialised member cannot send a
    /// status to a new member, so it merges, too: its first waiting member speaks.
    pub(super) fn join_or_merge(
        &mut self,
        here: &ProcessSet,
        fresh: ProcessSet,
        session: &mut Session<'_, Slots>,
    ) {
        let state = &mut self.state;
        let ours = |node| state.ready.contains(node) || state.waiting.contains(node);
        let can_help = !state.ready.is_empty() || fresh.contains(state.me);
        if here.iter().all(|node| ours(node) || can_help && fresh.contains(node)) {
            state.waiting.extend(fresh.iter());
            self.initialise_next_or_settle(session);
            if !self.state.is_settled() {
                session.notify(Output::Unsettled);
            }
            return;
        }
        session.notify(Output::Unsettled);
        let speaker = state.primary.or_else(|| state.waiting.first());
        let speaks = speaker == Some(state.me) && !fresh.contains(state.me);
        self.merging = Some(Merging::new(here, fresh));
        if speaks {
            let status = self.own_status();
            self.state.multicast(Body::MergeStatus(status), session);
        }
    }

    /// All members know each other: serve the next waiting member, or settle.
    pub(super) fn initialise_next_or_settle(&mut self, session: &mut Session<'_, Slots>) {
        if self.state.ready.is_empty() {
            self.begin_without_status();
        }
        self.reclaim();
        let state = &mut self.state;
        let Some(next) = state.waiting.first() else { return self.settle(session) };
        if state.primary == Some(state.me) && state.is_ready() {
            let status = state.status(&self.new);
            state.multicast(Body::PutStatus { to: next, status }, session);
        }
    }

    /// No member here is initialised: the first one begins without a status. Waiting members keep
    /// the slots that they got when absent slots were shared out.
    fn begin_without_status(&mut self) {
        let state = &mut self.state;
        let Some(first) = state.waiting.first() else { return };
        state.waiting.remove(first);
        state.ready.insert(first);
        state.primary = Some(first);
        if !state.settings.rules.begin_with_absent_slots() {
            published::own_all(first, state);
        }
    }

    /// Gives out the absent slots if every node is accounted for: then no life elsewhere owns one
    /// (step 7).
    pub(super) fn reclaim(&mut self) {
        let absent = self.state.table.count(Owner::Absent);
        if absent > 0 && self.state.settings.rules.give_out_absent_slots() && self.state.is_whole()
        {
            let slots = self.state.table.of(Owner::Absent);
            self.scheme.reclaim(&slots, &mut self.state);
        }
    }

    fn settle(&mut self, session: &mut Session<'_, Slots>) {
        self.state.stage = ViewStage::Settled;
        session.notify(self.state.settled());
        let new = std::mem::take(&mut self.new);
        self.scheme.begin(&new, &mut self.state, session);
        self.hand_over(session);
        for command in self.operator_commands.clone() {
            self.state.multicast(command, session);
        }
    }

    /// Gives slots that are reserved for another member to that member.
    fn hand_over(&mut self, session: &mut Session<'_, Slots>) {
        let me = self.state.me;
        for (to, reserved) in self.state.settings.reserved.clone() {
            if to != me && self.state.ready.contains(to) {
                let mine = self.state.table.of(Owner::Of(me));
                let slots = mine.intersection(&reserved);
                if !slots.is_empty() {
                    self.state.multicast(Body::Hand { to, slots }, session);
                }
            }
        }
    }

    pub(super) fn on_put_status(
        &mut self,
        from: ProcessId,
        to: ProcessId,
        status: Status,
        session: &mut Session<'_, Slots>,
    ) {
        let state = &mut self.state;
        if to == state.me && !state.is_ready() {
            if status.table.size() != state.settings.slots || !status.ready.contains(from) {
                return;
            }
            let mine = status.table.of(Owner::Of(to));
            state.table = status.table;
            state.table.give(&mine, Owner::Absent);
            state.ready = status.ready;
            state.waiting = status.waiting;
            state.primary = status.primary;
            state.dead = status.dead;
            self.new = status.new;
            state.give(&mine, Owner::Of(to));
            self.merging = None;
        } else if !state.is_ready() || state.primary != Some(from) || self.merging.is_some() {
            return;
        }
        if state.waiting.remove(to) {
            state.ready.insert(to);
            self.new.insert(to);
            self.initialise_next_or_settle(session);
        }
    }

    /// A member gives slots to another one, which did not ask for them.
    pub(super) fn on_hand(
        &mut self,
        from: ProcessId,
        to: ProcessId,
        slots: &Ranges,
        session: &mut Session<'_, Slots>,
    ) {
        let state = &mut self.state;
        if state.ready.contains(to) && state.table.has_all(Owner::Of(from), slots) {
            state.transfer(slots, from, to);
            self.scheme.withdraw(slots);
            if to == state.me {
                self.scheme.on_release(state, session);
            }
        }
        if from == state.me && self.leaving {
            session.leave();
        }
    }

    /// An operator's command is delivered. Every member of the view carries it out.
    pub(super) fn carry_out(
        &mut self,
        from: ProcessId,
        command: &Body,
        session: &mut Session<'_, Slots>,
    ) {
        if from == self.state.me {
            self.operator_commands.retain(|other| other != command);
        }
        if !self.state.is_settled() {
            return;
        }
        match command {
            Body::Certify(node) if !self.state.members.iter().any(|m| m.node == *node) => {
                self.state.dead.insert(*node);
                self.reclaim();
            }
            Body::Bootstrap => {
                let slots = self.state.table.of(Owner::Absent);
                self.scheme.reclaim(&slots, &mut self.state);
            }
            _ => return,
        }
        self.tell_of_new_owners(session);
    }

    /// Slots have new owners, or may have, although no member gave them away.
    pub(super) fn tell_of_new_owners(&mut self, session: &mut Session<'_, Slots>) {
        session.notify(self.state.settled());
        self.hand_over(session);
        self.scheme.on_need(&mut self.state, session);
    }

    /// Leaves the group. A settled member hands its slots to the primary first, or to the first
    /// other member.
    pub(super) fn leave(&mut self, session: &mut Session<'_, Slots>) {
        if std::mem::replace(&mut self.leaving, true) {
            return session.leave();
        }
        let state = &mut self.state;
        self.scheme.close(true, state, session);
        self.turn_away(session);
        let state = &mut self.state;
        session.notify(Output::Lost);
        state.pool.clear();
        state.private = None;
        let others = state.ready.iter().filter(|other| *other != state.me);
        let heir = state.primary.filter(|primary| *primary != state.me).or(others.min());
        let hands_over = state.is_settled() && state.settings.rules.hand_over_before_leaving();
        match heir.filter(|_| hands_over) {
            None => session.leave(),
            Some(to) => {
                let slots = state.table.of(Owner::Of(state.me));
                state.multicast(Body::Hand { to, slots }, session);
            }
        }
    }
}
