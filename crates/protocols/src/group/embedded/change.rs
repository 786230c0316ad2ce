//! From one view to the next: a coordinator proposes, all accept, prepare and commit.
//!
//! 1. The coordinator *proposes* a view, under a name above all that it knows. Who takes the
//!    proposal delivers nothing more in its view, and *accepts*: it tells what it holds of its
//!    view.
//! 2. When all have accepted, the coordinator sends to each what those that come with it hold
//!    together (*prepare*). Who has that is *ready*. There is a moment now at which all of them
//!    have given up their views and none goes on without the others' knowledge.
//! 3. When all are ready, it *commits*: each delivers the rest of its view and is in the new one.
//!    Who is ready and hears anything out of the new view knows that, too.
//!
//! Nobody waits without a limit. The coordinator repeats itself once in a period. If nobody answers
//! for two time-outs, as long as a question and its answer may take, it proposes anew without those
//! who are missing, and leaves them out for a while; unless somebody has named a higher view
//! meanwhile, which alone may be why they do not answer. Who has accepted and hears no more takes
//! the next proposal, or makes one.
//!
//! - Cost: 5(V − 1) messages for a view of V.
//! - State: the coordinator holds what the members hold of their views, at most `window` messages
//!   of each member of each view, until all have it.

use super::attempt::{Attempt, Stage};
use super::message::{Accept, Message, Prepare};
use super::{Embedded, Phase};
use std::collections::BTreeMap;
use synod_core::group::{Member, ViewId};
use synod_core::{Cx, ProcessId, ProcessSet, Wire};

/// An epoch that no group reaches; who names one higher lies.
pub(super) const LAST_EPOCH: u64 = 1 << 62;

/// Epochs are above this one where so many restarts are known of. Who starts again has forgotten
/// how far epochs had come; this way they are greater all the same, and so is all that is built on
/// them, as soon as everybody is there of whom such a view consisted.
pub(super) fn first_epoch(restarts: u64) -> u64 {
    restarts.min(1 << 28) << 32
}

impl<M: Wire> Embedded<M> {
    /// A period is over: is the view what it should be?
    pub(super) fn decide(&mut self, cx: &mut Cx<'_, Self>) {
        let wanted = match self.peers.follows() {
            leader if leader == cx.me() => self.peers.wanted(cx.incarnation()),
            _ => Vec::new(),
        };
        let same = wanted == self.wanted;
        self.settled = if same { (self.settled + 1).min(self.settings.patience) } else { 0 };
        self.wanted = wanted;
        if self.wanted.is_empty() {
            self.attempt = None;
        } else if self.attempt.is_some() {
            self.press(cx);
        } else if self.is_wrong() && self.is_settled() {
            self.propose(cx);
        }
    }

    /// Whether those who are wanted have been the same for a while. We wait longer for somebody of
    /// our view that still follows another: it may not have noticed yet that that one is gone.
    fn is_settled(&self) -> bool {
        let hesitates = self.peers.hesitates(&self.order.members);
        self.settled >= if hesitates { self.settings.patience } else { 1 }
    }

    fn is_wrong(&self) -> bool {
        let (members, patience) = (&self.order.members, self.settings.patience);
        self.wanted != *members || self.frozen > patience || self.peers.is_astray(members)
    }

    fn propose(&mut self, cx: &mut Cx<'_, Self>) {
        self.attempt = None;
        let Some(left) = self.settings.views.checked_sub(1) else { return };
        self.settings.views = left;
        self.epoch = self.epoch.max(first_epoch(self.peers.restarts(cx.incarnation()))) + 1;
        let id = ViewId { epoch: self.epoch, by: self.member(cx) };
        let (members, stage) = (self.wanted.clone(), Stage::Proposed(BTreeMap::new()));
        let to = members.iter().map(|member| member.node).collect();
        let proposal = Message::Propose { attempt: id, members: members.clone() };
        self.attempt = Some(Attempt { id, members, stage, waited: 0 });
        if self.wanted.len() > 1 {
            cx.multicast_to(to, proposal);
        }
        let accept = self.give_up(id);
        self.on_accept(cx.me(), accept, cx);
    }

    /// A period is over, and the attempt with it, or those who have not answered are asked again.
    fn press(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(attempt) = &mut self.attempt else { return };
        attempt.waited += 1;
        let missing = attempt.missing();
        let is_late = attempt.waited > 2 * self.settings.patience;
        let is_outdone = self.epoch > attempt.id.epoch;
        if is_late && !is_outdone {
            missing.iter().for_each(|node| self.peers.ban(*node));
            self.wanted = self.peers.wanted(cx.incarnation());
        }
        if is_late || !attempt.members.iter().all(|member| self.wanted.contains(member)) {
            return self.propose(cx);
        }
        // We ourselves have answered at once.
        for node in missing {
            cx.send(node, attempt.reminder(node));
        }
    }

    /// Whether these can be the members of a view that we are to be in.
    fn are_members(&self, members: &[Member], by: Member, cx: &Cx<'_, Self>) -> bool {
        let in_order = members.windows(2).all(|pair| pair[0].node < pair[1].node);
        let known =
            members.iter().all(|member| cx.is_member(member.node) && member.incarnation > 0);
        in_order && known && members.first() == Some(&by) && members.contains(&self.member(cx))
    }

    pub(super) fn on_propose(
        &mut self,
        from: ProcessId,
        attempt: ViewId,
        members: &[Member],
        cx: &mut Cx<'_, Self>,
    ) {
        if attempt.by.node != from || attempt.epoch > LAST_EPOCH || from == cx.me() {
            return cx.accuse(from, "proposed a view that it cannot propose");
        }
        self.epoch = self.epoch.max(attempt.epoch);
        let current = self.peers.life(from) == Some(attempt.by.incarnation);
        if !current || !self.are_members(members, attempt.by, cx) {
            // Out of date: from, or for, a life that is over.
            return;
        }
        if self.phase == Phase::Accepted(attempt) {
            // It did not hear us.
        } else if attempt <= self.promised || attempt.epoch <= self.order.view.epoch {
            if attempt != self.promised {
                // Our next sign of life tells it to name a higher one.
                self.epoch = self.epoch.max(attempt.epoch + 1);
            }
            return;
        } else if !self.peers.would_follow(from) {
            return;
        }
        self.attempt = None;
        let accept = self.give_up(attempt);
        cx.send(from, Message::Accept(Box::new(accept)));
    }

    /// Delivers no more in this view, for the sake of another.
    fn give_up(&mut self, attempt: ViewId) -> Accept<M> {
        self.promised = attempt;
        self.phase = Phase::Accepted(attempt);
        Accept {
            attempt,
            view: self.order.view,
            fresh: self.fresh,
            gone: self.peers.gone(self.order.view, &self.order.members),
            delivered: self.order.log.delivered(),
            log: self.order.log.copy(),
        }
    }

    pub(super) fn on_accept(&mut self, from: ProcessId, accept: Accept<M>, cx: &mut Cx<'_, Self>) {
        let Some(attempt) = self.attempt.as_mut().filter(|attempt| attempt.id == accept.attempt)
        else {
            return;
        };
        if !attempt.contains(from) {
            return cx.accuse(from, "accepted what was not proposed to it");
        }
        let Stage::Proposed(accepts) = &mut attempt.stage else { return };
        if accepts.insert(from, accept).is_none() {
            attempt.waited = 0;
        }
        if accepts.len() == attempt.members.len() {
            self.prepare(cx);
        }
    }

    /// All have accepted: each gets what those have that come with it.
    fn prepare(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(attempt) = &mut self.attempt else { return };
        let Stage::Proposed(accepts) = &mut attempt.stage else { return };
        let accepts = std::mem::take(accepts);
        let prepares = super::install::prepare(attempt.id, &attempt.members, accepts);
        let mut own = None;
        for (to, prepare) in &prepares {
            if to.contains(cx.me()) {
                own = Some(prepare.clone());
            }
            let mut others = to.clone();
            others.remove(cx.me());
            if !others.is_empty() {
                cx.multicast_to(others, Message::Prepare(Box::new(prepare.clone())));
            }
        }
        attempt.stage = Stage::Prepared { prepares, ready: ProcessSet::EMPTY };
        if let Some(own) = own {
            self.phase = Phase::Ready(Box::new(own));
        }
        self.on_ready(cx.me(), self.promised, cx);
    }

    pub(super) fn on_prepare(
        &mut self,
        from: ProcessId,
        prepare: Box<Prepare<M>>,
        cx: &mut Cx<'_, Self>,
    ) {
        let attempt = prepare.attempt;
        if attempt.by.node != from || from == cx.me() {
            return cx.accuse(from, "prepared a view that it did not propose");
        }
        if self.phase == Phase::Accepted(attempt) {
            let own = prepare.parts.iter().find(|part| part.members.contains(cx.me()));
            let own = own.is_some_and(|part| part.from == Some(self.order.view));
            if !own || !self.are_members(&prepare.members, attempt.by, cx) || !prepare.is_sound() {
                return cx.accuse(from, "prepared a view that cannot be");
            }
            self.phase = Phase::Ready(prepare);
        }
        if self.is_ready_for(attempt) {
            cx.send(from, Message::Ready { attempt });
        }
    }

    pub(super) fn is_ready_for(&self, view: ViewId) -> bool {
        matches!(&self.phase, Phase::Ready(prepare) if prepare.attempt == view)
    }

    pub(super) fn on_ready(&mut self, from: ProcessId, id: ViewId, cx: &mut Cx<'_, Self>) {
        if id == self.order.view {
            // It did not hear that the view began.
            return cx.send(from, Message::Commit { attempt: id });
        }
        let Some(attempt) = self.attempt.as_mut().filter(|attempt| attempt.id == id) else {
            return;
        };
        if !attempt.contains(from) {
            return cx.accuse(from, "is ready for what was not proposed to it");
        }
        let Stage::Prepared { ready, .. } = &mut attempt.stage else { return };
        if ready.insert(from) {
            attempt.waited = 0;
        }
        if ready.len() < attempt.members.len() {
            return;
        }
        let to: ProcessSet = attempt.members.iter().map(|member| member.node).collect();
        if to.len() > 1 {
            cx.multicast_to(to, Message::Commit { attempt: id });
        }
        self.attempt = None;
        self.install(cx);
    }

    /// Somebody is in a view for which we are ready: so it began.
    pub(super) fn on_sign_of(&mut self, from: ProcessId, view: ViewId, cx: &mut Cx<'_, Self>) {
        let is_member = |prepare: &Prepare<M>| prepare.members.iter().any(|m| m.node == from);
        match &self.phase {
            Phase::Ready(prepare) if prepare.attempt == view && is_member(prepare) => {
                self.attempt = None;
                self.install(cx);
            }
            _ => {}
        }
    }

    /// Has accepted, or is ready, and heard nothing since: tells it again.
    pub(super) fn remind(&mut self, cx: &mut Cx<'_, Self>) {
        if self.phase == Phase::Steady {
            self.frozen = 0;
            return;
        }
        self.frozen = (self.frozen + 1).min(self.settings.patience + 1);
        let attempt = self.promised;
        if attempt.by.node != cx.me() && self.is_ready_for(attempt) {
            cx.send(attempt.by.node, Message::Ready { attempt });
        }
    }
}
