//! New members, the primary's duties for them, and the operator's commands.
//!
//! A new member waits for a status. The primary multicasts one status after the other. No slot
//! moves until every member has its status, so a status is still true when it is delivered (step 6
//! of the argument in the [module header](super)).

use super::Slots;
use super::estate::Stage;
use super::merge::Merging;
use super::message::{Body, Status};
use super::ranges::Ranges;
use super::settings::Rules;
use super::table::Owner;
use synod_core::family::slots::Output;
use synod_core::group::{Session, View};
use synod_core::{ProcessId, ProcessSet};

impl Slots {
    /// In the first view of its first life, a member owns the slots that the setup gives it. A
    /// later life begins with nothing.
    pub(super) fn found_if_first(&mut self, view: &View) {
        let Some(beginning) = self.beginning.take() else { return };
        let estate = &mut self.estate;
        let life = view.member(estate.me).map_or(0, |member| member.incarnation);
        if life != 1 {
            return;
        }
        estate.ready = estate.settings.configured.clone();
        estate.primary = estate.ready.first();
        let mine = beginning.table.of(Owner::Of(estate.me));
        estate.table = beginning.table;
        estate.table.give(&mine, Owner::Absent);
        estate.give(&mine, Owner::Of(estate.me));
        let used = beginning.used.iter().find(|(who, _)| *who == estate.me);
        estate.use_some(used.map_or(0, |(_, count)| *count));
    }

    /// Takes over the members of a new view.
    pub(super) fn enter(&mut self, view: &View) {
        self.merging = None;
        let estate = &mut self.estate;
        estate.unsay();
        estate.view = Some(view.id);
        estate.members.clone_from(&view.members);
        estate.delivered.0 = 0;
        estate.stage = Stage::Unsettled;
        if !estate.is_ready() {
            estate.waiting.insert(estate.me);
        }
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
        let estate = &mut self.estate;
        let ours = |node| estate.ready.contains(node) || estate.waiting.contains(node);
        let can_help = !estate.ready.is_empty() || fresh.contains(estate.me);
        if here.iter().all(|node| ours(node) || can_help && fresh.contains(node)) {
            estate.waiting.extend(fresh.iter());
            self.carry_on(session);
            if !self.estate.is_settled() {
                session.tell(Output::Unsettled);
            }
            return;
        }
        session.tell(Output::Unsettled);
        let speaker = estate.primary.or_else(|| estate.waiting.first());
        let speaks = speaker == Some(estate.me) && !fresh.contains(estate.me);
        self.merging = Some(Merging::new(here, fresh));
        if speaks {
            let status = self.own_status();
            self.estate.say(Body::MergeStatus(status), session);
        }
    }

    /// All members know each other: serve the next waiting member, or settle.
    pub(super) fn carry_on(&mut self, session: &mut Session<'_, Slots>) {
        if self.estate.ready.is_empty() {
            self.found();
        }
        self.reclaim();
        let estate = &mut self.estate;
        let Some(next) = estate.waiting.first() else { return self.settle(session) };
        if estate.primary == Some(estate.me) && estate.is_ready() {
            let status = estate.status(&self.new);
            estate.say(Body::PutStatus { to: next, status }, session);
        }
    }

    /// No member here is initialised: the first one begins without a status. Waiting members keep
    /// the slots that they got when absent slots were shared out.
    fn found(&mut self) {
        let estate = &mut self.estate;
        let Some(first) = estate.waiting.first() else { return };
        estate.waiting.remove(first);
        estate.ready.insert(first);
        estate.primary = Some(first);
        if estate.settings.rules == Rules::Paper {
            estate.own_nothing();
            let all = Ranges::span(0, estate.settings.slots);
            estate.give(&all, Owner::Of(first));
        }
    }

    /// Gives out the absent slots if every node is accounted for: then no life elsewhere owns one
    /// (step 7).
    fn reclaim(&mut self) {
        let absent = self.estate.table.count(Owner::Absent);
        if absent > 0 && self.estate.settings.rules != Rules::Paper && self.estate.is_whole() {
            let slots = self.estate.table.of(Owner::Absent);
            self.scheme.reclaim(&slots, &mut self.estate);
        }
    }

    fn settle(&mut self, session: &mut Session<'_, Slots>) {
        self.estate.stage = Stage::Settled;
        session.tell(self.estate.settled());
        let new = std::mem::take(&mut self.new);
        self.scheme.begin(&new, &mut self.estate, session);
        self.hand_over(session);
        for order in self.orders.clone() {
            self.estate.say(order, session);
        }
    }

    /// Gives slots that are reserved for another member to that member.
    fn hand_over(&mut self, session: &mut Session<'_, Slots>) {
        let me = self.estate.me;
        for (to, reserved) in self.estate.settings.reserved.clone() {
            if to != me && self.estate.ready.contains(to) {
                let mine = self.estate.table.of(Owner::Of(me));
                let slots = mine.intersection(&reserved);
                if !slots.is_empty() {
                    self.estate.say(Body::Hand { to, slots }, session);
                }
            }
        }
    }

    /// Something is delivered.
    pub(super) fn on_body(
        &mut self,
        from: ProcessId,
        body: Body,
        session: &mut Session<'_, Slots>,
    ) {
        let between = self.estate.stage == Stage::Between;
        match body {
            // What a scheme moves counts between two views as well: its sender delivers it.
            Body::Request(_) | Body::Donate { .. } | Body::Offer(_) | Body::Take { .. } => {
                self.scheme.on_deliver(from, body, &mut self.estate, session);
            }
            Body::Hand { to, slots } => self.on_hand(from, to, &slots, session),
            // The rest belongs to a view that is over.
            _ if between => {}
            Body::PutStatus { to, status } => self.on_put_status(from, to, *status, session),
            Body::MergeStatus(status) => self.on_merge_status(from, *status, session),
            Body::Certify(_) | Body::Bootstrap => self.on_order(from, &body, session),
        }
    }

    fn on_put_status(
        &mut self,
        from: ProcessId,
        to: ProcessId,
        status: Status,
        session: &mut Session<'_, Slots>,
    ) {
        let estate = &mut self.estate;
        if to == estate.me && !estate.is_ready() {
            if status.table.size() != estate.settings.slots || !status.ready.contains(from) {
                return;
            }
            let mine = status.table.of(Owner::Of(to));
            estate.table = status.table;
            estate.table.give(&mine, Owner::Absent);
            estate.ready = status.ready;
            estate.waiting = status.waiting;
            estate.primary = status.primary;
            estate.dead = status.dead;
            self.new = status.new;
            estate.give(&mine, Owner::Of(to));
            self.merging = None;
        } else if !estate.is_ready() || estate.primary != Some(from) || self.merging.is_some() {
            return;
        }
        if estate.waiting.remove(to) {
            estate.ready.insert(to);
            self.new.insert(to);
            self.carry_on(session);
        }
    }

    /// A member gives slots to another one, which did not ask for them.
    fn on_hand(
        &mut self,
        from: ProcessId,
        to: ProcessId,
        slots: &Ranges,
        session: &mut Session<'_, Slots>,
    ) {
        let estate = &mut self.estate;
        if estate.ready.contains(to) && estate.table.has_all(Owner::Of(from), slots) {
            estate.transfer(slots, from, to);
            self.scheme.withdraw(slots);
        }
        if from == estate.me && self.leaving {
            session.leave();
        }
    }

    /// An operator's command is delivered. Every member of the view carries it out.
    fn on_order(&mut self, from: ProcessId, order: &Body, session: &mut Session<'_, Slots>) {
        if from == self.estate.me {
            self.orders.retain(|other| other != order);
        }
        if !self.estate.is_settled() {
            return;
        }
        match order {
            Body::Certify(node) if !self.estate.members.iter().any(|m| m.node == *node) => {
                self.estate.dead.insert(*node);
                self.reclaim();
            }
            Body::Bootstrap => {
                let slots = self.estate.table.of(Owner::Absent);
                self.scheme.reclaim(&slots, &mut self.estate);
            }
            _ => return,
        }
        session.tell(self.estate.settled());
        self.hand_over(session);
        self.scheme.on_need(&mut self.estate, session);
    }

    /// Leaves the group. A settled member hands its slots to the primary first, or to the first
    /// other member.
    pub(super) fn leave(&mut self, session: &mut Session<'_, Slots>) {
        if std::mem::replace(&mut self.leaving, true) {
            return session.leave();
        }
        let estate = &mut self.estate;
        self.scheme.close(true, estate, session);
        session.tell(Output::Lost);
        estate.pool.clear();
        estate.private = None;
        let others = estate.ready.iter().filter(|other| *other != estate.me);
        let heir = estate.primary.filter(|primary| *primary != estate.me).or(others.min());
        let hands = estate.is_settled() && estate.settings.rules != Rules::Paper;
        match heir.filter(|_| hands) {
            None => session.leave(),
            Some(to) => {
                let slots = estate.table.of(Owner::Of(estate.me));
                estate.say(Body::Hand { to, slots }, session);
            }
        }
    }
}
