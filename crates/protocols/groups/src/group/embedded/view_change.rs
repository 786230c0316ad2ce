//! The change from one view to the next: a coordinator proposes, all members accept, prepare and
//! commit.
//!
//! 1. The coordinator *proposes* a view, under a name above all names that it knows. A member that
//!    takes the proposal stops delivering in its view, and *accepts*: it reports the messages of
//!    its view that it holds.
//! 2. When all members have accepted, the coordinator sends each of them the messages that its
//!    companions hold together (*prepare*). A member that has these is *ready*. At this moment all
//!    members have given up their views, so none of them delivers a message that the others do not
//!    know of.
//! 3. When all members are ready, the coordinator *commits*: each member delivers the rest of its
//!    view and is in the new one. A ready member that hears any message from the new view knows
//!    this, too.
//!
//! Every wait has a limit. The coordinator repeats itself once in a period. If no further member
//! answers for two time-outs, as long as a question and its answer may take, the coordinator
//! proposes again without the missing members, and leaves them out for a while. It does not leave
//! them out if a member has named a higher view meanwhile, because that alone may be why they do
//! not answer. A member that has accepted and hears no more takes the next proposal, or makes one.
//!
//! - Cost: 5(V − 1) messages for a view of V.
//! - State: the coordinator holds the members' messages of their views, at most `window` of each
//!   member of each view, until all members have them.

use super::attempt::{Attempt, CoordinatorPhase};
use super::message::{Accept, Message, Prepare};
use super::{Embedded, Phase};
use std::collections::BTreeMap;
use synod_core::group::{Member, ViewId};
use synod_core::{Cx, ProcessId, ProcessSet, Wire};

/// An epoch that no group reaches. A process that names a higher one lies.
pub(super) const LAST_EPOCH: u64 = 1 << 62;

/// A lower bound of epochs, given the known number of restarts. A node that starts again has
/// forgotten the epochs of its last life. The bound lifts its new epochs, and all tokens made of
/// them, above the old ones, as soon as all members of such an old view are present.
pub(super) fn first_epoch(restarts: u64) -> u64 {
    restarts.min(1 << 28) << 32
}

impl<M: Wire, const WAITS: bool> Embedded<M, WAITS> {
    /// A period is over: proposes another view if the present one is not the wanted one.
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

    /// Whether the wanted members have been the same for a while. The coordinator waits longer for
    /// a member of its view that still follows another coordinator: that member may not have
    /// noticed yet that the other one is gone.
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
        let (members, phase) = (self.wanted.clone(), CoordinatorPhase::Proposed(BTreeMap::new()));
        let to = members.iter().map(|member| member.node).collect();
        let proposal = Message::Propose { attempt: id, members: members.clone() };
        self.attempt = Some(Attempt { id, members, phase, waited: 0 });
        if self.wanted.len() > 1 {
            cx.multicast_to(to, proposal);
        }
        let accept = self.give_up(id);
        self.on_accept(cx.me(), accept, cx);
    }

    /// A period is over: gives the attempt up, or repeats it to the members that have not answered.
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
        // The coordinator is never among these: it answered itself at once.
        for node in missing {
            cx.send(node, attempt.reminder(node));
        }
    }

    /// Whether a view of these members is well formed, and contains this one.
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
            // Out of date: the proposer or this process has started again since.
            return;
        }
        if self.phase == Phase::Accepted(attempt) {
            // The coordinator did not hear our answer.
        } else if attempt <= self.promised || attempt.epoch <= self.order.view.epoch {
            if attempt != self.promised {
                // Our next heartbeat makes the coordinator name a higher view.
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

    /// Stops delivering in the present view, in favour of another.
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
        let CoordinatorPhase::Proposed(accepts) = &mut attempt.phase else { return };
        if accepts.insert(from, accept).is_none() {
            attempt.waited = 0;
        }
        if accepts.len() == attempt.members.len() {
            self.prepare(cx);
        }
    }

    /// All members have accepted: sends each of them the messages that its companions hold.
    fn prepare(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(attempt) = &mut self.attempt else { return };
        let CoordinatorPhase::Proposed(accepts) = &mut attempt.phase else { return };
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
        attempt.phase = CoordinatorPhase::Prepared { prepares, ready: ProcessSet::EMPTY };
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
            // The member did not hear that the view began.
            return cx.send(from, Message::Commit { attempt: id });
        }
        let Some(attempt) = self.attempt.as_mut().filter(|attempt| attempt.id == id) else {
            return;
        };
        if !attempt.contains(from) {
            return cx.accuse(from, "is ready for what was not proposed to it");
        }
        let CoordinatorPhase::Prepared { ready, .. } = &mut attempt.phase else { return };
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

    /// The sender is in a view for which this member is ready, so the view has begun.
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

    /// Repeats to the coordinator that this member is ready, because the answer may be lost.
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
