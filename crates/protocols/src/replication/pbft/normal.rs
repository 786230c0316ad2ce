//! The normal case (section 4.2): pre-prepare, prepare, commit, execute.

use super::message::Statement;
use super::{Accepted, Batch, Certificate, FAR, Message, Pbft, Proposal, Record};
use crate::seal::{Digest, Signature};
use std::collections::BTreeSet;
use synod_core::replication::{Client, Entry, Event};
use synod_core::{Cx, Data, ProcessId};

impl<O: Data, S: Data> Pbft<O, S> {
    /// The primary gives the next numbers to what waits, several requests under one number.
    pub(super) fn propose(&mut self, cx: &mut Cx<'_, Self>) {
        while self.is_active()
            && self.is_primary()
            && self.is_in_window(self.last + 1)
            && self.last.saturating_sub(self.executed) < self.settings.ahead
        {
            let batch = self.next_batch();
            if batch.is_empty() {
                return;
            }
            self.last += 1;
            let digest = Digest::of_data(&batch);
            let proposal = Proposal { view: self.view, number: self.last, digest };
            let signature = self.sign(&Statement::PrePrepare(proposal));
            let accepted = Accepted { proposal, batch, signature };
            cx.persist(&Record::Accepted(accepted.clone()));
            self.tell_all(Message::PrePrepare(accepted.clone()), cx);
            self.log.entry(self.last).or_default().accepted = Some(accepted);
            self.advance(self.last, cx);
        }
    }

    fn next_batch(&mut self) -> Batch<O> {
        let mut batch = Batch::new();
        while batch.len() < self.settings.most_requests {
            let Some(client) = self.queue.pop_front() else { break };
            batch.extend(self.pending.get(&client).cloned());
        }
        batch
    }

    pub(super) fn on_pre_prepare(
        &mut self,
        from: ProcessId,
        accepted: Accepted<O>,
        cx: &mut Cx<'_, Self>,
    ) {
        let Proposal { view, number, .. } = accepted.proposal;
        let known = self.log.get(&number).and_then(|slot| slot.accepted.as_ref());
        let known = known.map(|known| known.proposal);
        let early = view > self.view || view == self.view && self.changing;
        if early || !self.is_in_window(number) {
            return;
        }
        if let Some(why) = self.fault_of(&accepted, cx) {
            return cx.accuse(from, why);
        }
        if known.is_some_and(|known| known.view == view) {
            return cx.accuse(self.settings.primary(view), "proposes two things at one number");
        }
        if known.is_none_or(|known| known.view < view) {
            if view == self.view {
                cx.persist(&Record::Accepted(accepted.clone()));
            }
            self.accept(accepted, cx);
        }
    }

    /// What is wrong with a proposal.
    fn fault_of(&self, accepted: &Accepted<O>, cx: &Cx<'_, Self>) -> Option<&'static str> {
        let Accepted { proposal, batch, signature } = accepted;
        let primary = self.settings.primary(proposal.view);
        if !self.is_signed(primary, &Statement::PrePrepare(*proposal), signature) {
            return Some("hands on a proposal that the primary did not sign");
        }
        if batch.len() > self.settings.most_requests {
            return Some("proposes too much at once");
        }
        if proposal.digest != Digest::of_data(batch) {
            return Some("proposes something else than it signs");
        }
        let genuine = batch.iter().all(|request| self.is_genuine(request, cx));
        (!genuine).then_some("proposes a request that its client did not sign")
    }

    /// Accepts a proposal that is in order. One of an earlier view is only kept, to learn what it
    /// says.
    pub(super) fn accept(&mut self, accepted: Accepted<O>, cx: &mut Cx<'_, Self>) {
        let proposal = accepted.proposal;
        self.log.entry(proposal.number).or_default().accepted = Some(accepted);
        self.prepare(proposal, cx);
        self.advance(proposal.number, cx);
    }

    /// A backup says that it accepts a proposal of the current view.
    fn prepare(&mut self, proposal: Proposal, cx: &mut Cx<'_, Self>) {
        if proposal.view != self.view || !self.is_active() || self.is_primary() {
            return;
        }
        let signature = self.sign(&Statement::Prepare(proposal));
        self.tell_all(Message::Prepare(proposal, signature.clone()), cx);
        let me = self.me();
        self.log.entry(proposal.number).or_default().note_prepare(me, proposal, signature);
    }

    pub(super) fn on_prepare(
        &mut self,
        from: ProcessId,
        proposal: Proposal,
        signature: Signature,
        cx: &mut Cx<'_, Self>,
    ) {
        if !self.is_in_window(proposal.number) {
            return;
        }
        let from_primary = self.settings.primary(proposal.view) == from;
        let signed = self.is_signed(from, &Statement::Prepare(proposal), &signature);
        if proposal.view >= FAR || from_primary || !signed {
            return cx.accuse(from, "prepares what it may not, or without a signature");
        }
        let slot = self.log.entry(proposal.number).or_default();
        slot.note_prepare(from, proposal, signature);
        self.advance(proposal.number, cx);
    }

    pub(super) fn on_commit(&mut self, from: ProcessId, proposal: Proposal, cx: &mut Cx<'_, Self>) {
        if proposal.view >= FAR {
            return cx.accuse(from, "counts farther than anybody lives");
        }
        if self.is_in_window(proposal.number) && self.limits.commits {
            self.log.entry(proposal.number).or_default().note_commit(from, proposal);
            self.execute(cx);
        }
    }

    /// Commits what a quorum has accepted in the current view, and executes what a quorum has
    /// committed.
    fn advance(&mut self, number: u64, cx: &mut Cx<'_, Self>) {
        let backups = self.settings.quorum() - 1;
        let (me, view, active) = (self.me(), self.view, self.is_active());
        let Some(slot) = self.log.get_mut(&number) else { return };
        let accepted = slot.accepted.clone().filter(|accepted| accepted.proposal.view == view);
        if let Some(accepted) = accepted.filter(|_| active && !slot.is_prepared_in(view)) {
            let prepares = slot.prepares();
            if prepares.len() >= backups {
                let proposal = accepted.proposal;
                slot.prepared = Some(Certificate { accepted, prepares: prepares.clone() });
                slot.note_commit(me, proposal);
                cx.persist(&Record::Prepared(number, prepares));
                if self.limits.commits {
                    self.tell_all(Message::Commit(proposal), cx);
                }
            }
        }
        self.execute(cx);
    }

    /// Executes what is decided, in the order of numbers.
    pub(super) fn execute(&mut self, cx: &mut Cx<'_, Self>) {
        let quorum = if self.limits.commits { self.settings.quorum() } else { 1 };
        let before = self.executed;
        while let Some(batch) =
            self.log.get(&(self.executed + 1)).and_then(|slot| slot.decided(quorum)).cloned()
        {
            self.executed += 1;
            self.tell(batch, cx);
            if self.executed.is_multiple_of(self.settings.period) {
                self.taken.due.insert(self.told, self.executed);
                cx.output(Event::Due);
            }
        }
        if self.executed > before {
            (self.failures, self.rounds) = (0, 0);
            self.watch(cx);
            self.propose(cx);
        }
    }

    /// Tells the layer above a batch; its requests wait no more.
    fn tell(&mut self, batch: Batch<O>, cx: &mut Cx<'_, Self>) {
        if batch.is_empty() {
            self.told += 1;
            cx.output(Event::Committed { index: self.told, entry: Entry::Nothing });
        }
        for request in batch {
            self.told += 1;
            let id = request.command.request;
            let waits = self.pending.get(&id.client).map(|known| known.command.request.number);
            if waits.is_some_and(|number| number <= id.number) {
                self.pending.remove(&id.client);
            }
            let entry = Entry::Command(request.command);
            cx.output(Event::Committed { index: self.told, entry });
        }
    }

    /// What waits and is not among these proposals has to be proposed in a new view.
    pub(super) fn fill_queue(&mut self) {
        let above = self.log.range(self.executed + 1..).filter_map(|(_, slot)| {
            slot.accepted.as_ref().filter(|accepted| accepted.proposal.view == self.view)
        });
        let requests = above.flat_map(|accepted| &accepted.batch);
        let proposed: BTreeSet<Client> =
            requests.map(|request| request.command.request.client).collect();
        let waits = self.pending.keys().filter(|client| !proposed.contains(client));
        self.queue = waits.copied().collect();
    }
}
