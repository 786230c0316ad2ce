//! Lost messages: a replica that waits says how far it is, and the others send again what it lacks.

use super::cut::Cut;
use super::message::Statement;
use super::{Message, Pbft, Rules, Stable, Timer};
use synod_core::replication::{Event, Parts};
use synod_core::{Cx, Data, ProcessId};

/// The messages of at most this many sequence numbers are sent again at a time.
const MOST_RESENT: usize = 16;

/// A replica that has asked this often in vain waits until a client asks again.
const MOST_ROUNDS: u32 = 12;

impl<O: Data, S: Parts, R: Rules> Pbft<O, S, R> {
    /// Whether this replica lacks messages or a checkpoint.
    fn waits(&self) -> bool {
        let under_way = |slot: &super::Slot<O>| slot.is_under_way(self.settings.faulty);
        self.changing
            || !self.pending.is_empty()
            || self.log.range(self.executed + 1..).any(|(_, slot)| under_way(slot))
            || self.is_behind()
            || self.fetching.is_some()
    }

    /// Asks again after a while, if messages are missing.
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

    /// Multicasts a status, and the messages of this replica that others may lack.
    pub(super) fn ask_for_help(&mut self, cx: &mut Cx<'_, Self>) {
        if self.settings.resend_ms == 0 {
            return;
        }
        let (view, changing, executed) = (self.view, self.changing, self.executed);
        self.rounds = self.rounds.saturating_add(1);
        let (stable, round) = (self.low_water_mark(), self.rounds);
        self.multicast(Message::Status { view, changing, executed, stable, round }, cx);
        if changing && !self.lost_disk {
            self.multicast(Message::ViewChange(Box::new(self.own_change())), cx);
        }
        let watched = self.watched.and_then(|client| self.pending.get(&client));
        if let Some(request) = watched.filter(|_| self.is_active() && !self.is_primary()) {
            cx.send(self.settings.primary(view), Message::Request(request.clone()));
        }
        self.fetch_again(cx);
        self.asking = false;
        self.keep_asking(cx);
    }

    /// Sends again the messages of this view that a replica lacks which has executed this much.
    pub(super) fn help_in_view(&self, from: ProcessId, executed: u64, cx: &mut Cx<'_, Self>) {
        let lacking = self.log.range(executed.saturating_add(1)..).take(MOST_RESENT);
        for (_, slot) in lacking {
            if let Some(pre_prepare) = &slot.pre_prepare {
                cx.send(from, Message::PrePrepare(pre_prepare.clone()));
                let proposal = pre_prepare.proposal;
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

    /// Sends again the new-view message of our view, or our view change.
    pub(super) fn help_into_view(&self, from: ProcessId, cx: &mut Cx<'_, Self>) {
        if self.changing && !self.lost_disk {
            cx.send(from, Message::ViewChange(Box::new(self.own_change())));
        }
        if let Some(new) = &self.new_view {
            cx.send(from, Message::NewView(new.clone()));
        }
    }

    /// Sends our checkpoint messages again; and hands over the stable checkpoint to a replica
    /// whose own is older. A state may be large, so one replica sends it at a time, each time
    /// another one.
    pub(super) fn help_to_checkpoint(
        &mut self,
        from: ProcessId,
        stable: u64,
        round: u32,
        cx: &mut Cx<'_, Self>,
    ) {
        for (number, (digest, signature)) in self.signed.get(&self.me()).into_iter().flatten() {
            let (number, digest, signature) = (*number, *digest, signature.clone());
            cx.send(from, Message::Checkpoint { number, digest, signature });
        }
        self.end_serving(from, stable);
        let turn = (u64::from(round) + u64::from(from.0)) % self.settings.replicas as u64;
        if stable < self.low_water_mark() && turn == u64::from(self.me().0) {
            self.hand_over_state(from, cx);
        }
    }

    /// Takes up the work that was under way before a crash.
    pub(super) fn recall(&mut self, cx: &mut Cx<'_, Self>) {
        let Stable { proof, index, state } = self.stable.clone();
        (self.executed, self.applied) = (proof.number, index);
        // A crash cut it off.
        self.writing = None;
        if let Some(state) = state {
            self.cut = (!self.has_one_part(&state)).then(Cut::default);
            cx.output(Event::Restored { index, state });
        }
        self.work_soon(cx);
        let (me, view) = (self.me(), self.view);
        let says = self.is_active();
        let seal = self.sealer.clone();
        let mut last = proof.number;
        for (number, slot) in self.log.iter_mut().filter(|_| says) {
            let Some(proposal) = slot.pre_prepare.as_ref().map(|pre_prepare| pre_prepare.proposal)
            else {
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
        self.assigned = last;
        if self.changing && !self.lost_disk {
            self.changes.insert(me, self.own_change());
        }
    }
}
