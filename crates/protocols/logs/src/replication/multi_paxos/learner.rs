//! The learner: it hands chosen entries to the layer above, and to other learners that lack them.

use super::{Chosen, Message, MultiPaxos, Record, Rules};
use crate::replication::settings::within_bytes;
use synod_core::replication::{Event, Parts};
use synod_core::{Cx, Data, ProcessId};

impl<C: Data, S: Parts, R: Rules> MultiPaxos<C, S, R> {
    /// Hands the chosen entries to the layer above, in their order.
    pub(super) fn apply(&mut self, cx: &mut Cx<'_, Self>) {
        while let Some(entry) = self.log.chosen(self.applied + 1) {
            self.applied += 1;
            cx.output(Event::Committed { index: self.applied, entry: entry.clone() });
        }
    }

    /// The chosen entries after a place, as many as fit in a message; none, if only the snapshot
    /// has them.
    pub(super) fn chosen_after(&self, after: u64) -> Chosen<C> {
        let entries = self.log.after(after, self.settings.most_entries).unwrap_or_default();
        let entries = within_bytes(entries, self.settings.most_bytes).to_vec();
        Chosen { after, entries, commit: self.log.commit() }
    }

    /// The log is chosen up to `commit`, says another process: asks it for the missing entries.
    pub(super) fn ask_for_more(&mut self, from: ProcessId, commit: u64, cx: &mut Cx<'_, Self>) {
        let after = self.log.commit();
        if after < commit && !self.waits_for_part() {
            cx.send(from, Message::Lacks { after });
        }
    }

    /// Another process lacks the chosen entries after a place.
    pub(super) fn on_lacks(&mut self, from: ProcessId, after: u64, cx: &mut Cx<'_, Self>) {
        let commit = self.log.commit();
        if after < self.log.first_kept() {
            self.send_snapshot(from, cx);
        } else if after < commit {
            cx.send(from, Message::Learn(self.chosen_after(after)));
        }
    }

    /// Entries that are chosen. A leader knows all that it needs; what comes to it now is late.
    pub(super) fn on_learn(&mut self, from: ProcessId, chosen: Chosen<C>, cx: &mut Cx<'_, Self>) {
        if !self.leads() && self.log.commit() < chosen.after + chosen.entries.len() as u64 {
            self.learn(from, chosen, cx);
        }
    }

    /// Takes in chosen entries, and asks for those that follow.
    pub(super) fn learn(&mut self, from: ProcessId, chosen: Chosen<C>, cx: &mut Cx<'_, Self>) {
        let after = self.log.commit();
        if let Some(entries) = self.log.learn(chosen.after, chosen.entries) {
            self.save(Record::Learn { after, entries }, cx);
            self.apply(cx);
        }
        self.go_on_learning(from, chosen.commit, cx);
    }

    pub(super) fn go_on_learning(&mut self, from: ProcessId, commit: u64, cx: &mut Cx<'_, Self>) {
        self.ask_for_more(from, commit, cx);
        // A process that wants to lead has time as long as it learns.
        if self.own_ballot().is_some() {
            self.await_leader(cx);
        }
        self.lead_if_ready(cx);
    }
}
