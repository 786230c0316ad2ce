//! The learner: what is chosen is told to the layer above, and to whoever lacks it.

use super::{Chosen, Message, MultiPaxos, Record, Snapshot};
use synod_core::replication::Event;
use synod_core::{Cx, Data, ProcessId};

impl<C: Data, S: Data> MultiPaxos<C, S> {
    /// Tells the layer above what is chosen.
    pub(super) fn tell(&mut self, cx: &mut Cx<'_, Self>) {
        while let Some(entry) = self.log.chosen(self.told + 1) {
            self.told += 1;
            cx.output(Event::Committed { index: self.told, entry: entry.clone() });
        }
    }

    /// As much of what is chosen after a place as fits in a message; nothing, if it is only in the state.
    pub(super) fn chosen_after(&self, after: u64) -> Chosen<C> {
        let entries =
            self.log.after(after, self.settings.most_entries).unwrap_or_default().to_vec();
        Chosen { after, entries, commit: self.log.commit() }
    }

    /// So much is chosen, says somebody: asks for what we lack.
    pub(super) fn ask_for_more(&self, from: ProcessId, commit: u64, cx: &mut Cx<'_, Self>) {
        let after = self.log.commit();
        if after < commit {
            cx.send(from, Message::Lacks { after });
        }
    }

    /// Somebody lacks what is chosen after a place.
    pub(super) fn on_lacks(&self, from: ProcessId, after: u64, cx: &mut Cx<'_, Self>) {
        let commit = self.log.commit();
        if after < self.log.first_kept() {
            let snapshot = self.log.snapshot().clone();
            cx.send(from, Message::Install { snapshot, commit });
        } else if after < commit {
            cx.send(from, Message::Learn(self.chosen_after(after)));
        }
    }

    /// Something that is chosen. A leader knows all that it needs; what comes to it now is late.
    pub(super) fn on_learn(&mut self, from: ProcessId, chosen: Chosen<C>, cx: &mut Cx<'_, Self>) {
        if !self.leads() && self.log.commit() < chosen.after + chosen.entries.len() as u64 {
            self.learn(from, chosen, cx);
        }
    }

    /// Takes in what is chosen, and asks for what follows.
    pub(super) fn learn(&mut self, from: ProcessId, chosen: Chosen<C>, cx: &mut Cx<'_, Self>) {
        let after = self.log.commit();
        if let Some(entries) = self.log.learn(chosen.after, chosen.entries) {
            self.save(Record::Learn { after, entries }, cx);
            self.tell(cx);
        }
        self.go_on_learning(from, chosen.commit, cx);
    }

    /// A state, in the place of entries that are not there any more.
    pub(super) fn on_install(
        &mut self,
        from: ProcessId,
        snapshot: Snapshot<S>,
        commit: u64,
        cx: &mut Cx<'_, Self>,
    ) {
        let Some(state) = snapshot.state.clone() else { return };
        let index = snapshot.index;
        if self.leads() || index <= self.log.commit() {
            return;
        }
        self.log.install(snapshot);
        self.told = index;
        self.save_all(cx);
        cx.output(Event::Restored { index, state });
        self.go_on_learning(from, commit, cx);
    }

    fn go_on_learning(&mut self, from: ProcessId, commit: u64, cx: &mut Cx<'_, Self>) {
        self.ask_for_more(from, commit, cx);
        // Whoever wants to lead, and learns on the way, has time.
        if self.own_ballot().is_some() {
            self.await_leader(cx);
        }
        self.lead_if_ready(cx);
    }

    /// The state takes the place of the beginning of the log.
    pub(super) fn compact(&mut self, index: u64, state: S, cx: &mut Cx<'_, Self>) {
        if index <= self.told && index > self.log.first_kept() {
            self.log.compact(index, state);
            self.save_all(cx);
        }
    }
}
