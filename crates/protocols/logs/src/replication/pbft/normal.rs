//! The normal case (section 4.2): pre-prepare, prepare, commit, execute.

use super::message::Statement;
use super::{Batch, Certificate, FAR, Message, Pbft, PrePrepare, Proposal, Record, Rules};
use std::collections::BTreeSet;
use synod_agreement::seal::{Digest, Signature};
use synod_core::durable::encoded_len;
use synod_core::replication::{Client, Entry, Event, Parts};
use synod_core::{Cx, Data, ProcessId};

impl<O: Data, S: Parts, R: Rules> Pbft<O, S, R> {
    /// The primary assigns the next numbers to the requests that wait, a batch under one number.
    pub(super) fn propose(&mut self, cx: &mut Cx<'_, Self>) {
        while self.is_active()
            && self.is_primary()
            && self.is_between_water_marks(self.assigned + 1)
            && self.assigned.saturating_sub(self.executed) < self.settings.ahead
        {
            let batch = self.next_batch();
            if batch.is_empty() {
                return;
            }
            self.assigned += 1;
            let digest = Digest::of_data(&batch);
            let proposal = Proposal { view: self.view, number: self.assigned, digest };
            let signature = self.sign(&Statement::PrePrepare(proposal));
            let pre_prepare = PrePrepare { proposal, batch, signature };
            self.save(&Record::PrePrepare(pre_prepare.clone()), cx);
            self.multicast(Message::PrePrepare(pre_prepare.clone()), cx);
            self.log.entry(self.assigned).or_default().pre_prepare = Some(pre_prepare);
            self.advance(self.assigned, cx);
        }
    }

    /// The requests of the next batch. The first always goes, also if it is larger than a batch
    /// should be: it would wait for ever otherwise.
    fn next_batch(&mut self) -> Batch<O> {
        let (mut batch, mut bytes) = (Batch::new(), 0);
        while batch.len() < self.settings.most_requests {
            let Some(client) = self.queue.front() else { break };
            if let Some(request) = self.pending.get(client) {
                bytes += encoded_len(request);
                if bytes > self.settings.most_bytes && !batch.is_empty() {
                    break;
                }
                batch.push(request.clone());
            }
            self.queue.pop_front();
        }
        batch
    }

    pub(super) fn on_pre_prepare(
        &mut self,
        from: ProcessId,
        pre_prepare: PrePrepare<O>,
        cx: &mut Cx<'_, Self>,
    ) {
        let Proposal { view, number, .. } = pre_prepare.proposal;
        let known = self.log.get(&number).and_then(|slot| slot.pre_prepare.as_ref());
        let known = known.map(|known| known.proposal);
        let early = view > self.view || view == self.view && self.changing;
        if early || !self.is_between_water_marks(number) {
            return;
        }
        if let Some(why) = self.fault_of(&pre_prepare, cx) {
            return cx.accuse(from, why);
        }
        if known.is_some_and(|known| known.view == view) {
            return cx.accuse(self.settings.primary(view), "proposes two things at one number");
        }
        if known.is_none_or(|known| known.view < view) {
            if view == self.view {
                self.save(&Record::PrePrepare(pre_prepare.clone()), cx);
            }
            self.accept(pre_prepare, cx);
        }
    }

    /// The rule of section 4.2 that a pre-prepare breaks.
    fn fault_of(&self, pre_prepare: &PrePrepare<O>, cx: &Cx<'_, Self>) -> Option<&'static str> {
        let PrePrepare { proposal, batch, signature } = pre_prepare;
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

    /// Accepts a valid pre-prepare. One of an earlier view is only kept, for its batch: a quorum
    /// may have committed it.
    pub(super) fn accept(&mut self, pre_prepare: PrePrepare<O>, cx: &mut Cx<'_, Self>) {
        let proposal = pre_prepare.proposal;
        self.log.entry(proposal.number).or_default().pre_prepare = Some(pre_prepare);
        self.prepare(proposal, cx);
        self.advance(proposal.number, cx);
    }

    /// A backup that accepts a pre-prepare of the current view multicasts a prepare.
    fn prepare(&mut self, proposal: Proposal, cx: &mut Cx<'_, Self>) {
        if proposal.view != self.view || !self.is_active() || self.is_primary() {
            return;
        }
        let signature = self.sign(&Statement::Prepare(proposal));
        self.multicast(Message::Prepare(proposal, signature.clone()), cx);
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
        if !self.is_between_water_marks(proposal.number) {
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
            return cx.accuse(from, "sent a number that no run reaches");
        }
        if self.is_between_water_marks(proposal.number) && self.limits.commits {
            self.log.entry(proposal.number).or_default().note_commit(from, proposal);
            self.execute(cx);
        }
    }

    /// Section 4.2: if the proposal at this number is prepared, multicasts a commit; and executes
    /// the batches that a quorum has committed.
    fn advance(&mut self, number: u64, cx: &mut Cx<'_, Self>) {
        let backups = self.quorum() - 1;
        let (me, view, active) = (self.me(), self.view, self.is_active());
        let Some(slot) = self.log.get_mut(&number) else { return };
        let pre_prepare =
            slot.pre_prepare.clone().filter(|pre_prepare| pre_prepare.proposal.view == view);
        if let Some(pre_prepare) = pre_prepare.filter(|_| active && !slot.is_prepared_in(view)) {
            let prepares = slot.matching_prepares();
            if prepares.len() >= backups {
                let proposal = pre_prepare.proposal;
                slot.prepared = Some(Certificate { pre_prepare, prepares: prepares.clone() });
                slot.note_commit(me, proposal);
                self.save(&Record::Prepared(number, prepares), cx);
                if self.limits.commits {
                    self.multicast(Message::Commit(proposal), cx);
                }
            }
        }
        self.execute(cx);
    }

    /// Executes the batches that are committed locally, in the order of sequence numbers.
    pub(super) fn execute(&mut self, cx: &mut Cx<'_, Self>) {
        let quorum = if self.limits.commits { self.quorum() } else { 1 };
        let before = self.executed;
        while let Some(batch) = self
            .log
            .get(&(self.executed + 1))
            .and_then(|slot| slot.committed_local(quorum))
            .cloned()
        {
            self.executed += 1;
            self.apply(batch, cx);
            if self.executed.is_multiple_of(self.settings.period) {
                self.taken.due.insert(self.applied, self.executed);
                cx.output(Event::Due);
            }
        }
        if self.executed > before {
            (self.failures, self.rounds) = (0, 0);
            self.start_timer(cx);
            self.propose(cx);
            self.stop_fetching_the_past(cx);
        }
    }

    /// Hands a batch to the layer above, which applies it and replies to the clients. Its requests
    /// wait no more.
    fn apply(&mut self, batch: Batch<O>, cx: &mut Cx<'_, Self>) {
        if batch.is_empty() {
            self.applied += 1;
            cx.output(Event::Committed { index: self.applied, entry: Entry::Nothing });
        }
        for request in batch {
            self.applied += 1;
            let id = request.command.request;
            let waits = self.pending.get(&id.client).map(|known| known.command.request.number);
            if waits.is_some_and(|number| number <= id.number) {
                self.pending.remove(&id.client);
            }
            let entry = Entry::Command(request.command);
            cx.output(Event::Committed { index: self.applied, entry });
        }
    }

    /// In a new view the primary proposes the requests that wait and that the view did not begin
    /// with.
    pub(super) fn fill_queue(&mut self) {
        let above = self.log.range(self.executed + 1..).filter_map(|(_, slot)| {
            slot.pre_prepare.as_ref().filter(|pre_prepare| pre_prepare.proposal.view == self.view)
        });
        let requests = above.flat_map(|pre_prepare| &pre_prepare.batch);
        let proposed: BTreeSet<Client> =
            requests.map(|request| request.command.request.client).collect();
        let waits = self.pending.keys().filter(|client| !proposed.contains(client));
        self.queue = waits.copied().collect();
    }
}
