//! What was lost: who waits says how far it is, and the others say again what it lacks.

use super::message::Statement;
use super::{Message, Pbft, Stable, Timer};
use synod_core::replication::Event;
use synod_core::{Cx, Data, ProcessId};

/// So many sequence numbers are told again at a time.
const MOST_TOLD: usize = 16;

/// Who has asked so often without coming any farther waits until a client asks again.
const MOST_ROUNDS: u32 = 12;

impl<O: Data, S: Data> Pbft<O, S> {
    /// Whether something is missing here.
    fn waits(&self) -> bool {
        let under_way = |slot: &super::Slot<O>| slot.is_under_way(self.settings.faulty);
        self.changing
            || !self.pending.is_empty()
            || self.log.range(self.executed + 1..).any(|(_, slot)| under_way(slot))
            || self.is_behind()
    }

    /// Asks again after a while, if something is missing.
    pub(super) fn keep_asking(&mut self, cx: &mut Cx<'_, Self>) {
        if self.settings.resend_ms == 0 || !self.is_replica() {
            return;
        }
        match (self.rounds < MOST_ROUNDS && self.waits(), self.asking) {
            (true, false) => {
                self.asking = true;
                cx.set_timer(Timer::Resend, self.settings.resend_ms << self.rounds.min(5));
            }
            (false, true) => {
                self.asking = false;
                cx.cancel_timer(Timer::Resend);
            }
            _ => {}
        }
    }

    /// Tells all how far we are; and what they may lack of us.
    pub(super) fn ask_for_help(&mut self, cx: &mut Cx<'_, Self>) {
        if self.settings.resend_ms == 0 {
            return;
        }
        let (view, changing, executed) = (self.view, self.changing, self.executed);
        self.rounds = self.rounds.saturating_add(1);
        let (stable, round) = (self.low(), self.rounds);
        self.tell_all(Message::Status { view, changing, executed, stable, round }, cx);
        if changing && !self.forgot {
            self.tell_all(Message::ViewChange(Box::new(self.own_change())), cx);
        }
        let watched = self.watched.and_then(|client| self.pending.get(&client));
        if let Some(request) = watched.filter(|_| self.is_active() && !self.is_primary()) {
            cx.send(self.settings.primary(view), Message::Request(request.clone()));
        }
        self.asking = false;
        self.keep_asking(cx);
    }

    /// Says again what somebody lacks who has executed so much.
    pub(super) fn help_in_view(&self, from: ProcessId, executed: u64, cx: &mut Cx<'_, Self>) {
        let lacking = self.log.range(executed.saturating_add(1)..).take(MOST_TOLD);
        for (_, slot) in lacking {
            if let Some(accepted) = &slot.accepted {
                cx.send(from, Message::PrePrepare(accepted.clone()));
                let proposal = accepted.proposal;
                let mine = self.is_active() && !self.is_primary() && proposal.view == self.view;
                if mine {
                    let signature = self.sign(&Statement::Prepare(proposal));
                    cx.send(from, Message::Prepare(proposal, signature));
                }
            }
            if let Some(proposal) = slot.commit_of(self.me()).filter(|_| self.limits.commits) {
                cx.send(from, Message::Commit(proposal));
            }
        }
    }

    /// How our view began; or that we want it to.
    pub(super) fn help_into_view(&self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        if self.changing && !self.forgot {
            cx.send(from, Message::ViewChange(Box::new(self.own_change())));
        }
        if let Some(new) = &self.new_view {
            cx.send(from, Message::NewView(new.clone()));
        }
    }

    /// Says again which checkpoints we took, for somebody who has come so far; or hands over the
    /// last stable one. A state may be large: one replica sends it at a time, each time another
    /// one.
    pub(super) fn help_to_checkpoint(
        &self,
        from: ProcessId,
        stable: u64,
        round: u32,
        cx: &mut Cx<'_, Self>,
    ) {
        for (number, (digest, signature)) in self.signed.get(&self.me()).into_iter().flatten() {
            let (number, digest, signature) = (*number, *digest, signature.clone());
            cx.send(from, Message::Checkpoint { number, digest, signature });
        }
        let turn = (u64::from(round) + u64::from(from.0)) % self.settings.replicas as u64;
        let Stable { proof, index, state: Some(state) } = &self.stable else { return };
        if stable < proof.number && turn == u64::from(self.me().0) {
            let (proof, index, state) = (proof.clone(), *index, state.clone());
            cx.send(from, Message::State { proof, index, state });
        }
    }

    /// Takes up again what was under way before a crash.
    pub(super) fn recall(&mut self, cx: &mut Cx<'_, Self>) {
        let Stable { proof, index, state } = self.stable.clone();
        (self.executed, self.told) = (proof.number, index);
        if let Some(state) = state {
            cx.output(Event::Restored { index, state });
        }
        let (me, view) = (self.me(), self.view);
        let says = self.is_active();
        let seal = self.sealer.clone();
        let mut last = proof.number;
        for (number, slot) in self.log.iter_mut().filter(|_| says) {
            let Some(proposal) = slot.accepted.as_ref().map(|accepted| accepted.proposal) else {
                continue;
            };
            if proposal.view == view {
                last = *number;
                if self.settings.primary(view) != me {
                    let signature = seal.sign(&Statement::<O>::Prepare(proposal));
                    slot.note_prepare(me, proposal, signature);
                }
                if slot.is_prepared_in(view) {
                    slot.note_commit(me, proposal);
                }
            }
        }
        self.last = last;
        if self.changing && !self.forgot {
            self.changes.insert(me, self.own_change());
        }
    }
}
