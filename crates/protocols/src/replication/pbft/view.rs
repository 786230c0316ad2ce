//! Changes of view (section 4.4).

use super::message::Statement;
use super::{
    Accepted, Batch, Certificate, FAR, Message, NewView, Pbft, Proof, Proposal, Record,
    SignedChange, Timer, ViewChange,
};
use crate::seal::Digest;
use std::collections::BTreeMap;
use synod_core::replication::Event;
use synod_core::{Cx, Data, ProcessId, ProcessSet};

/// What a view begins with: after which checkpoint, and what stands at the numbers that follow.
struct Beginning<'a, O> {
    stable: &'a Proof,
    proposals: Vec<(Proposal, Batch<O>)>,
}

impl<O: Data, S: Data> Pbft<O, S> {
    /// The primary took too long, or the view did not begin.
    pub(super) fn suspect(&mut self, cx: &mut Cx<'_, Self>) {
        if self.changing || self.watched.is_some() {
            self.failures = self.failures.saturating_add(1);
            self.leave_for(self.view + 1, cx);
        }
    }

    /// Leaves all views before this one, and says what it knows.
    fn leave_for(&mut self, view: u64, cx: &mut Cx<'_, Self>) {
        if self.forgot || view > self.limits.most_views {
            return;
        }
        (self.view, self.changing, self.watched) = (view, true, None);
        self.queue.clear();
        cx.cancel_timer(Timer::Suspect);
        cx.persist(&Record::Left(view));
        let change = self.own_change();
        self.tell_all(Message::ViewChange(Box::new(change.clone())), cx);
        self.changes.retain(|_, known| known.change.view >= view);
        self.changes.insert(self.me(), change);
        self.begin_if_enough(cx);
        self.keep_asking(cx);
    }

    /// What this replica knows, for the view that it wants to be in.
    pub(super) fn own_change(&self) -> SignedChange<O> {
        let prepared = self.log.values().filter_map(|slot| slot.prepared.clone()).collect();
        let change = ViewChange { view: self.view, stable: self.stable.proof.clone(), prepared };
        let signature = self.sign(&Statement::ViewChange(&change));
        SignedChange { by: self.me(), change, signature }
    }

    pub(super) fn on_view_change(
        &mut self,
        from: ProcessId,
        signed: SignedChange<O>,
        cx: &mut Cx<'_, Self>,
    ) {
        if from != signed.by || !self.is_valid(&signed) {
            return cx.accuse(from, "changes the view without proofs");
        }
        self.changes.insert(from, signed);
        self.join(cx);
        self.begin_if_enough(cx);
    }

    /// If so many want a later view that one of them is loyal, goes along.
    fn join(&mut self, cx: &mut Cx<'_, Self>) {
        let views = self.changes.values().map(|signed| signed.change.view);
        let later: Vec<u64> = views.filter(|view| *view > self.view).collect();
        if later.len() > self.settings.faulty {
            self.leave_for(*later.iter().min().expect("there are some"), cx);
        }
    }

    /// With a quorum for the view that we want to be in, its primary begins it. The others give it
    /// time once a quorum has come as far; some may have been there and gone on.
    fn begin_if_enough(&mut self, cx: &mut Cx<'_, Self>) {
        let (view, quorum) = (self.view, self.settings.quorum());
        let views = self.changes.values().map(|signed| signed.change.view);
        if !self.changing || self.forgot || views.filter(|there| *there >= view).count() < quorum {
            return;
        }
        if view < self.limits.most_views {
            cx.set_timer(Timer::Suspect, self.wait_ms());
        }
        let wanted = self.changes.values().filter(|signed| signed.change.view == view);
        let changes: Vec<SignedChange<O>> = wanted.take(quorum).cloned().collect();
        if self.is_primary() && changes.len() == quorum {
            let new = Box::new(self.new_view_of(changes));
            self.tell_all(Message::NewView(new.clone()), cx);
            self.begin(new, cx);
        }
    }

    fn new_view_of(&self, changes: Vec<SignedChange<O>>) -> NewView<O> {
        let view = self.view;
        let proposals: Vec<Proposal> =
            beginning(view, &changes).proposals.into_iter().map(|(what, _)| what).collect();
        let sign = |proposal: &Proposal| self.sign(&Statement::PrePrepare(*proposal));
        let pre_prepares = proposals.iter().map(sign).collect();
        let proposals = Digest::of_data(&proposals);
        let signature = self.sign(&Statement::NewView { view, proposals });
        NewView { view, changes, pre_prepares, signature }
    }

    pub(super) fn on_new_view(
        &mut self,
        from: ProcessId,
        new: Box<NewView<O>>,
        cx: &mut Cx<'_, Self>,
    ) {
        if !self.is_in_order(&new) {
            return cx.accuse(from, "begins a view without proofs");
        }
        if new.view <= self.limits.most_views {
            self.begin(new, cx);
        }
    }

    /// Whether a view may begin so.
    fn is_in_order(&self, new: &NewView<O>) -> bool {
        let by: ProcessSet = new.changes.iter().map(|signed| signed.by).collect();
        let valid =
            |signed: &SignedChange<O>| signed.change.view == new.view && self.is_valid(signed);
        let enough = by.len() == new.changes.len() && by.len() == self.settings.quorum();
        if !(enough && new.changes.iter().all(valid)) {
            return false;
        }
        let beginning = beginning(new.view, &new.changes);
        let proposals: Vec<Proposal> = beginning.proposals.iter().map(|(what, _)| *what).collect();
        let primary = self.settings.primary(new.view);
        let mut signed = proposals.iter().zip(&new.pre_prepares);
        let all = Statement::NewView { view: new.view, proposals: Digest::of_data(&proposals) };
        proposals.len() == new.pre_prepares.len()
            && signed
                .all(|(what, seal)| self.is_signed(primary, &Statement::PrePrepare(*what), seal))
            && self.is_signed(primary, &all, &new.signature)
    }

    /// Whether a view change is signed, and proves what it says.
    fn is_valid(&self, signed: &SignedChange<O>) -> bool {
        let SignedChange { by, change, signature } = signed;
        let low = change.stable.number;
        let high = low.saturating_add(self.settings.window());
        let numbers = change.prepared.iter().map(|proof| proof.accepted.proposal.number);
        let in_window = numbers.clone().all(|number| number > low && number <= high);
        let in_order = numbers.clone().zip(numbers.skip(1)).all(|(one, next)| one < next);
        (1..FAR).contains(&change.view)
            && self.settings.is_replica(*by)
            && self.is_signed(*by, &Statement::ViewChange(change), signature)
            && low < FAR
            && in_window
            && in_order
            && self.is_proven(&change.stable)
            && change.prepared.iter().all(|proof| self.is_certified(proof, change.view))
    }

    /// Whether a quorum accepted this in an earlier view.
    fn is_certified(&self, certificate: &Certificate<O>, before: u64) -> bool {
        let Certificate { accepted: Accepted { proposal, batch, signature }, prepares } =
            certificate;
        let primary = self.settings.primary(proposal.view);
        let (proposed, prepared) =
            (Statement::PrePrepare(*proposal), Statement::Prepare(*proposal));
        let valid = |by: &ProcessId| *by != primary && self.settings.is_replica(*by);
        proposal.view < before
            && prepares.len() + 1 >= self.settings.quorum()
            && batch.len() <= self.settings.most_requests
            && proposal.digest == Digest::of_data(batch)
            && self.is_signed(primary, &proposed, signature)
            && prepares.iter().all(|(by, seal)| valid(by) && self.is_signed(*by, &prepared, seal))
    }

    /// Begins a view.
    fn begin(&mut self, new: Box<NewView<O>>, cx: &mut Cx<'_, Self>) {
        cx.persist(&Record::Begun(new.clone()));
        let proof = beginning(new.view, &new.changes).stable.clone();
        let proposals = self.enter(new);
        cx.cancel_timer(Timer::Suspect);
        self.learn_proof(&proof, cx);
        for accepted in proposals {
            if self.is_in_window(accepted.proposal.number) {
                self.accept(accepted, cx);
            }
        }
        self.changes.retain(|_, known| known.change.view > self.view);
        self.rounds = 0;
        if self.is_primary() && self.is_active() {
            self.fill_queue();
            cx.output(Event::Leads(self.view));
            self.propose(cx);
        } else if self.is_active() {
            let primary = self.settings.primary(self.view);
            for request in self.pending.values() {
                cx.send(primary, Message::Request(request.clone()));
            }
        }
        self.watch(cx);
    }

    /// The view is the current one; what it begins with is returned.
    fn enter(&mut self, new: Box<NewView<O>>) -> Vec<Accepted<O>> {
        let beginning = beginning(new.view, &new.changes);
        let last = beginning.proposals.last().map(|(proposal, _)| proposal.number);
        self.last = last.unwrap_or(beginning.stable.number).max(self.low());
        let signed = beginning.proposals.into_iter().zip(&new.pre_prepares);
        let accepted = signed.map(|((proposal, batch), signature)| {
            let signature = signature.clone();
            Accepted { proposal, batch, signature }
        });
        let accepted = accepted.collect();
        (self.view, self.changing, self.watched) = (new.view, false, None);
        self.new_view = Some(new);
        accepted
    }

    pub(super) fn replay_begun(&mut self, new: Box<NewView<O>>) {
        for accepted in self.enter(new) {
            let number = accepted.proposal.number;
            if self.is_in_window(number) {
                self.log.entry(number).or_default().accepted = Some(accepted);
            }
        }
    }
}

/// What follows from view changes: everything that any of them has prepared after the last stable
/// checkpoint, as it was in the latest view, and nothing in between.
fn beginning<O: Clone + serde::Serialize>(
    view: u64,
    changes: &[SignedChange<O>],
) -> Beginning<'_, O> {
    let proofs = changes.iter().map(|signed| &signed.change.stable);
    let stable = proofs.max_by_key(|proof| proof.number).expect("a quorum is not empty");
    let mut latest: BTreeMap<u64, &Accepted<O>> = BTreeMap::new();
    for Certificate { accepted, .. } in changes.iter().flat_map(|signed| &signed.change.prepared) {
        let known = latest.entry(accepted.proposal.number).or_insert(accepted);
        if known.proposal.view < accepted.proposal.view {
            *known = accepted;
        }
    }
    let last = latest.keys().next_back().copied().unwrap_or(0);
    let numbers = stable.number + 1..=last;
    let proposals = numbers.map(|number| {
        let batch = latest.get(&number).map_or(Batch::new(), |accepted| accepted.batch.clone());
        (Proposal { view, number, digest: Digest::of_data(&batch) }, batch)
    });
    Beginning { stable, proposals: proposals.collect() }
}
