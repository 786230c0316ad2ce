//! Changes of view (section 4.4).

use super::message::Statement;
use super::{
    Batch, Certificate, FAR, Message, NewView, Pbft, PrePrepare, Proof, Proposal, Record, Rules,
    SignedChange, Timer, ViewChange,
};
use std::collections::BTreeMap;
use synod_agreement::seal::Digest;
use synod_core::replication::{Event, Parts};
use synod_core::{Cx, Data, ProcessId, ProcessSet};

/// The beginning of a view: the latest stable checkpoint (min-s of section 4.4), and the proposals
/// at the numbers after it (the set O).
struct Beginning<'a, O> {
    stable: &'a Proof,
    proposals: Vec<(Proposal, Batch<O>)>,
}

impl<O: Data, S: Parts, R: Rules> Pbft<O, S, R> {
    /// Section 4.4: the timer expired, because the primary took too long, or the view did not
    /// begin.
    pub(super) fn on_timer_expired(&mut self, cx: &mut Cx<'_, Self>) {
        if self.changing || self.watched.is_some() {
            self.failures = self.failures.saturating_add(1);
            self.start_view_change(self.view + 1, cx);
        }
    }

    /// Leaves all views before this one, and multicasts a view change.
    fn start_view_change(&mut self, view: u64, cx: &mut Cx<'_, Self>) {
        if self.lost_disk || view > self.limits.most_views {
            return;
        }
        (self.view, self.changing, self.watched) = (view, true, None);
        self.queue.clear();
        cx.cancel_timer(Timer::Suspect);
        self.save(&Record::ViewChange(view), cx);
        let change = self.own_change();
        self.multicast(Message::ViewChange(Box::new(change.clone())), cx);
        self.changes.retain(|_, known| known.change.view >= view);
        self.changes.insert(self.me(), change);
        self.start_new_view(cx);
        self.keep_asking(cx);
    }

    /// The view change of this replica: its stable checkpoint, and the requests that it has
    /// prepared since.
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
        if from != signed.by || !self.is_valid_view_change(&signed) {
            return cx.accuse(from, "changes the view without proofs");
        }
        self.changes.insert(from, signed);
        self.join_view_change(cx);
        self.start_new_view(cx);
    }

    /// Section 4.5.2: if f + 1 replicas want later views, one of them is loyal. The replica joins
    /// the smallest of these views, also if its own timer still runs.
    fn join_view_change(&mut self, cx: &mut Cx<'_, Self>) {
        let views = self.changes.values().map(|signed| signed.change.view);
        let later: Vec<u64> = views.filter(|view| *view > self.view).collect();
        if later.len() > self.settings.faulty {
            self.start_view_change(*later.iter().min().expect("there are some"), cx);
        }
    }

    /// With a quorum of view changes for the view that we want to be in, its primary begins it. The
    /// others start their timers once a quorum has come as far; some may have been there and gone
    /// on.
    fn start_new_view(&mut self, cx: &mut Cx<'_, Self>) {
        let (view, quorum) = (self.view, self.quorum());
        let views = self.changes.values().map(|signed| signed.change.view);
        if !self.changing || self.lost_disk || views.filter(|there| *there >= view).count() < quorum
        {
            return;
        }
        if view < self.limits.most_views {
            cx.set_timer(Timer::Suspect, self.wait_ms());
        }
        let wanted = self.changes.values().filter(|signed| signed.change.view == view);
        let changes: Vec<SignedChange<O>> = wanted.take(quorum).cloned().collect();
        if self.is_primary() && changes.len() == quorum {
            let new = Box::new(self.new_view_of(changes));
            self.multicast(Message::NewView(new.clone()), cx);
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
        if !self.is_valid_new_view(&new) {
            return cx.accuse(from, "begins a view without proofs");
        }
        if new.view <= self.limits.most_views {
            self.begin(new, cx);
        }
    }

    /// Whether a new-view message is valid: the view changes are a quorum, and the proposals follow
    /// from them.
    fn is_valid_new_view(&self, new: &NewView<O>) -> bool {
        let by: ProcessSet = new.changes.iter().map(|signed| signed.by).collect();
        let valid = |signed: &SignedChange<O>| {
            signed.change.view == new.view && self.is_valid_view_change(signed)
        };
        let enough = by.len() == new.changes.len() && by.len() == self.quorum();
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
    fn is_valid_view_change(&self, signed: &SignedChange<O>) -> bool {
        let SignedChange { by, change, signature } = signed;
        let low = change.stable.number;
        let high = low.saturating_add(self.settings.window());
        let numbers = change.prepared.iter().map(|proof| proof.pre_prepare.proposal.number);
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

    /// Whether a proposal was prepared in an earlier view.
    fn is_certified(&self, certificate: &Certificate<O>, before: u64) -> bool {
        let Certificate { pre_prepare: PrePrepare { proposal, batch, signature }, prepares } =
            certificate;
        let primary = self.settings.primary(proposal.view);
        let (proposed, prepared) =
            (Statement::PrePrepare(*proposal), Statement::Prepare(*proposal));
        let valid = |by: &ProcessId| *by != primary && self.settings.is_replica(*by);
        proposal.view < before
            && prepares.len() + 1 >= self.quorum()
            && batch.len() <= self.settings.most_requests
            && proposal.digest == Digest::of_data(batch)
            && self.is_signed(primary, &proposed, signature)
            && prepares.iter().all(|(by, seal)| valid(by) && self.is_signed(*by, &prepared, seal))
    }

    /// Enters a view that has begun.
    fn begin(&mut self, new: Box<NewView<O>>, cx: &mut Cx<'_, Self>) {
        self.save(&Record::NewView(new.clone()), cx);
        let proof = beginning(new.view, &new.changes).stable.clone();
        let proposals = self.enter(new);
        cx.cancel_timer(Timer::Suspect);
        self.learn_proof(&proof, cx);
        for pre_prepare in proposals {
            if self.is_between_water_marks(pre_prepare.proposal.number) {
                self.accept(pre_prepare, cx);
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
        self.start_timer(cx);
    }

    /// Makes the view the current one. Returns the pre-prepares that it begins with.
    fn enter(&mut self, new: Box<NewView<O>>) -> Vec<PrePrepare<O>> {
        let beginning = beginning(new.view, &new.changes);
        let last = beginning.proposals.last().map(|(proposal, _)| proposal.number);
        self.assigned = last.unwrap_or(beginning.stable.number).max(self.low_water_mark());
        let signed = beginning.proposals.into_iter().zip(&new.pre_prepares);
        let pre_prepare = signed.map(|((proposal, batch), signature)| {
            let signature = signature.clone();
            PrePrepare { proposal, batch, signature }
        });
        let pre_prepare = pre_prepare.collect();
        (self.view, self.changing, self.watched) = (new.view, false, None);
        self.new_view = Some(new);
        pre_prepare
    }

    pub(super) fn replay_new_view(&mut self, new: Box<NewView<O>>) {
        // A checkpoint that is being written may have moved the water marks.
        let low = self.low_water_mark();
        let written = self.writing.as_ref().map_or(low, |writing| writing.head.proof.number);
        let high = low.max(written) + self.settings.window();
        for pre_prepare in self.enter(new) {
            let number = pre_prepare.proposal.number;
            if number > low && number <= high {
                self.log.entry(number).or_default().pre_prepare = Some(pre_prepare);
            }
        }
    }
}

/// The beginning of a view, computed from view changes: for each number after the latest stable
/// checkpoint the batch that was prepared there in the latest view, and a null request in the gaps.
fn beginning<O: Clone + serde::Serialize>(
    view: u64,
    changes: &[SignedChange<O>],
) -> Beginning<'_, O> {
    let proofs = changes.iter().map(|signed| &signed.change.stable);
    let stable = proofs.max_by_key(|proof| proof.number).expect("a quorum is not empty");
    let mut latest: BTreeMap<u64, &PrePrepare<O>> = BTreeMap::new();
    for Certificate { pre_prepare, .. } in changes.iter().flat_map(|signed| &signed.change.prepared)
    {
        let known = latest.entry(pre_prepare.proposal.number).or_insert(pre_prepare);
        if known.proposal.view < pre_prepare.proposal.view {
            *known = pre_prepare;
        }
    }
    let last = latest.keys().next_back().copied().unwrap_or(0);
    let numbers = stable.number + 1..=last;
    let proposals = numbers.map(|number| {
        let batch =
            latest.get(&number).map_or(Batch::new(), |pre_prepare| pre_prepare.batch.clone());
        (Proposal { view, number, digest: Digest::of_data(&batch) }, batch)
    });
    Beginning { stable, proposals: proposals.collect() }
}
