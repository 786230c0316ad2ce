//! The coordinator: it collects the votes and decides.

use super::{Message, OPEN_AT_MOST, Record, SETTLED_AT_MOST, Site, Timer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::family::commitment::{Outcome, Output, Transaction};
use synod_core::{Cx, ProcessId, ProcessSet};

/// The coordinator. A mutant does not write its decisions down.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Coordinator<const WRITES: bool> {
    participants: ProcessSet,
    patience_ms: u64,
    /// Whether it aborts if a vote does not come in time; otherwise it asks again.
    gives_up: bool,
    /// The first transaction number that it has not seen.
    next: Transaction,
    /// The transactions under way. All others are aborted or settled.
    open: BTreeMap<Transaction, Phase>,
    /// The number of settled transactions in the log.
    settled_in_log: u32,
}

/// How far a transaction has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    /// The votes of these participants are missing.
    Voting(ProcessSet),
    /// The transaction is committed. The acknowledgements of these participants are missing.
    Committed(ProcessSet),
}

impl<const WRITES: bool> Coordinator<WRITES> {
    pub(super) fn new(participants: ProcessSet, patience_ms: u64, gives_up: bool) -> Self {
        let (next, open, settled_in_log) = (0, BTreeMap::new(), 0);
        Coordinator { participants, patience_ms, gives_up, next, open, settled_in_log }
    }

    /// Repeats every commit that is not settled: participants may not have heard of it before the
    /// crash. All other transactions are presumed to be aborted.
    pub(super) fn on_start<P: Site>(&mut self, cx: &mut Cx<'_, P>) {
        for transaction in self.open.keys() {
            cx.multicast_to(self.participants.clone(), Message::Commit(*transaction));
            cx.set_timer(Timer::Acks(*transaction), self.patience_ms);
        }
    }

    pub(super) fn replay(&mut self, record: Record) {
        match record {
            Record::Decided(transaction, _) => {
                self.open.insert(transaction, Phase::Committed(self.participants.clone()));
                self.next = self.next.max(transaction.saturating_add(1));
            }
            Record::Settled(next) => {
                self.open.clear();
                self.next = next;
            }
            Record::Prepared(_) => {}
        }
    }

    pub(super) fn begin<P: Site>(&mut self, transaction: Transaction, cx: &mut Cx<'_, P>) {
        if self.open.len() >= OPEN_AT_MOST {
            return cx.output(Output::Answered(transaction, Outcome::Abort));
        }
        // The number was used before; after a crash, its transaction may be aborted or settled.
        if transaction < self.next {
            return;
        }
        self.next = transaction.saturating_add(1);
        self.open.insert(transaction, Phase::Voting(self.participants.clone()));
        self.prepare(transaction, self.participants.clone(), cx);
    }

    fn prepare<P: Site>(&self, transaction: Transaction, to: ProcessSet, cx: &mut Cx<'_, P>) {
        let settled = self.open.keys().next().copied().unwrap_or(self.next);
        cx.multicast_to(to, Message::Prepare { transaction, settled });
        cx.set_timer(Timer::Votes(transaction), self.patience_ms);
    }

    pub(super) fn on_message<P: Site>(
        &mut self,
        from: ProcessId,
        message: Message,
        cx: &mut Cx<'_, P>,
    ) {
        match message {
            Message::Yes(transaction) => self.on_yes(from, transaction, cx),
            Message::No(transaction) => self.on_no(from, transaction, cx),
            Message::Ack(transaction) => self.on_ack(from, transaction, cx),
            Message::Ask(transaction) => self.on_ask(from, transaction, cx),
            Message::Prepare { .. } | Message::Commit(_) | Message::Abort(_) => {
                cx.accuse(from, "took the coordinator for a participant");
            }
        }
    }

    fn on_yes<P: Site>(&mut self, from: ProcessId, transaction: Transaction, cx: &mut Cx<'_, P>) {
        match self.open.get_mut(&transaction) {
            Some(Phase::Voting(missing)) => {
                missing.remove(from);
                if missing.is_empty() {
                    self.commit(transaction, cx);
                }
            }
            // A repeated vote crossed our decision, which its sender has not heard of yet.
            Some(Phase::Committed(_)) => {}
            None => cx.send(from, Message::Abort(transaction)),
        }
    }

    fn on_no<P: Site>(&mut self, from: ProcessId, transaction: Transaction, cx: &mut Cx<'_, P>) {
        if let Some(Phase::Voting(_)) = self.open.get(&transaction) {
            let mut others = self.participants.clone();
            // The participant that voted no has aborted already.
            others.remove(from);
            self.abort(transaction, others, cx);
        }
    }

    fn commit<P: Site>(&mut self, transaction: Transaction, cx: &mut Cx<'_, P>) {
        self.open.insert(transaction, Phase::Committed(self.participants.clone()));
        cx.cancel_timer(Timer::Votes(transaction));
        cx.set_timer(Timer::Acks(transaction), self.patience_ms);
        if WRITES {
            cx.persist(&Record::Decided(transaction, Outcome::Commit));
        }
        cx.output(Output::Answered(transaction, Outcome::Commit));
        cx.multicast_to(self.participants.clone(), Message::Commit(transaction));
    }

    /// Presumed abort: the coordinator writes no record and waits for no acknowledgement, because
    /// it answers abort to every later question, even after a crash.
    fn abort<P: Site>(&mut self, transaction: Transaction, to: ProcessSet, cx: &mut Cx<'_, P>) {
        self.open.remove(&transaction);
        cx.cancel_timer(Timer::Votes(transaction));
        cx.output(Output::Answered(transaction, Outcome::Abort));
        cx.multicast_to(to, Message::Abort(transaction));
    }

    fn on_ack<P: Site>(&mut self, from: ProcessId, transaction: Transaction, cx: &mut Cx<'_, P>) {
        match self.open.get_mut(&transaction) {
            Some(Phase::Committed(missing)) => {
                missing.remove(from);
                if missing.is_empty() {
                    self.settle(transaction, cx);
                }
            }
            Some(Phase::Voting(_)) => cx.accuse(from, "acknowledged what is not decided"),
            None => {}
        }
    }

    /// All participants have committed, so none of them will ask about this transaction again.
    fn settle<P: Site>(&mut self, transaction: Transaction, cx: &mut Cx<'_, P>) {
        self.open.remove(&transaction);
        cx.cancel_timer(Timer::Acks(transaction));
        self.settled_in_log += 1;
        if self.open.is_empty() && self.settled_in_log >= SETTLED_AT_MOST {
            self.settled_in_log = 0;
            cx.checkpoint(&Record::Settled(self.next));
        }
    }

    fn on_ask<P: Site>(&mut self, from: ProcessId, transaction: Transaction, cx: &mut Cx<'_, P>) {
        match self.open.get(&transaction) {
            // The decision is still open: the participant will hear of it, or ask again.
            Some(Phase::Voting(_)) => {}
            Some(Phase::Committed(_)) => cx.send(from, Message::Commit(transaction)),
            None => cx.send(from, Message::Abort(transaction)),
        }
    }

    pub(super) fn on_votes_missing<P: Site>(
        &mut self,
        transaction: Transaction,
        cx: &mut Cx<'_, P>,
    ) {
        match self.open.get(&transaction) {
            Some(Phase::Voting(_)) if self.gives_up => {
                self.abort(transaction, self.participants.clone(), cx);
            }
            Some(Phase::Voting(missing)) => self.prepare(transaction, missing.clone(), cx),
            Some(Phase::Committed(_)) | None => {}
        }
    }

    pub(super) fn on_acks_missing<P: Site>(
        &mut self,
        transaction: Transaction,
        cx: &mut Cx<'_, P>,
    ) {
        if let Some(Phase::Committed(missing)) = self.open.get(&transaction) {
            cx.multicast_to(missing.clone(), Message::Commit(transaction));
            cx.set_timer(Timer::Acks(transaction), self.patience_ms);
        }
    }
}
