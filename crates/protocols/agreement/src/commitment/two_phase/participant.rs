//! A participant: it votes, and waits for the outcome.

use super::{Message, OPEN_AT_MOST, Record, SETTLED_AT_MOST, Site, Timer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use synod_core::family::commitment::{Outcome, Output, Transaction, Vote};
use synod_core::{Cx, ProcessId};

/// A participant. A mutant does not write its promises down.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Participant<const WRITES: bool> {
    coordinator: ProcessId,
    patience_ms: u64,
    /// Whether it aborts if another one asks for the outcome before it has voted itself.
    gives_up: bool,
    /// All transactions before this one are settled: those that we did not commit are aborted.
    settled: Transaction,
    cases: BTreeMap<Transaction, TransactionState>,
    /// The number of settled transactions in the log.
    settled_in_log: u32,
}

/// The state of a transaction at this participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum TransactionState {
    /// The application has not voted yet.
    Asked,
    /// We have promised to commit, and are in doubt.
    Prepared,
    /// We know the outcome.
    Decided(Outcome),
}

impl<const WRITES: bool> Participant<WRITES> {
    pub(super) fn new(coordinator: ProcessId, patience_ms: u64, gives_up: bool) -> Self {
        let (settled, cases, settled_in_log) = (0, BTreeMap::new(), 0);
        Participant { coordinator, patience_ms, gives_up, settled, cases, settled_in_log }
    }

    /// A participant that starts again in doubt asks at once.
    pub(super) fn on_start<P: Site>(&mut self, cx: &mut Cx<'_, P>) {
        for (transaction, state) in &self.cases {
            if *state == TransactionState::Prepared {
                cx.output(Output::InDoubt(*transaction));
                self.ask(*transaction, cx);
            }
        }
    }

    pub(super) fn replay(&mut self, record: Record) {
        match record {
            Record::Prepared(transaction) => {
                self.cases.insert(transaction, TransactionState::Prepared);
            }
            Record::Decided(transaction, outcome) => {
                self.cases.insert(transaction, TransactionState::Decided(outcome));
            }
            Record::Settled(settled) => {
                self.cases.clear();
                self.settled = settled;
            }
        }
    }

    pub(super) fn on_message<P: Site>(
        &mut self,
        from: ProcessId,
        message: Message,
        cx: &mut Cx<'_, P>,
    ) {
        match message {
            Message::Prepare { transaction, settled } if from == self.coordinator => {
                self.settle(settled, cx);
                self.on_prepare(transaction, cx);
            }
            Message::Commit(transaction) => self.on_commit(from, transaction, cx),
            Message::Abort(transaction) => self.on_abort(transaction, cx),
            Message::Ask(transaction) => self.on_ask(from, transaction, cx),
            Message::Prepare { .. } => cx.accuse(from, "is not the coordinator"),
            Message::Yes(_) | Message::No(_) | Message::Ack(_) => {
                cx.accuse(from, "took a participant for the coordinator");
            }
        }
    }

    fn on_prepare<P: Site>(&mut self, transaction: Transaction, cx: &mut Cx<'_, P>) {
        if transaction < self.settled {
            return;
        }
        match self.cases.get(&transaction) {
            None if self.cases.len() >= OPEN_AT_MOST => {
                cx.send(self.coordinator, Message::No(transaction));
            }
            None => {
                self.cases.insert(transaction, TransactionState::Asked);
                cx.output(Output::Asked(transaction));
            }
            Some(TransactionState::Prepared) => {
                cx.send(self.coordinator, Message::Yes(transaction))
            }
            Some(TransactionState::Decided(Outcome::Abort)) => {
                cx.send(self.coordinator, Message::No(transaction));
            }
            Some(TransactionState::Asked | TransactionState::Decided(Outcome::Commit)) => {}
        }
    }

    pub(super) fn on_vote<P: Site>(
        &mut self,
        transaction: Transaction,
        vote: Vote,
        cx: &mut Cx<'_, P>,
    ) {
        match (self.cases.get(&transaction), vote) {
            (Some(TransactionState::Asked), Vote::Yes) => self.promise(transaction, cx),
            (Some(TransactionState::Asked), Vote::No) => {
                self.decide(transaction, Outcome::Abort, cx);
                cx.send(self.coordinator, Message::No(transaction));
            }
            // The vote comes too late, or the coordinator did not ask for it.
            _ => {}
        }
    }

    fn promise<P: Site>(&mut self, transaction: Transaction, cx: &mut Cx<'_, P>) {
        self.cases.insert(transaction, TransactionState::Prepared);
        cx.set_timer(Timer::Outcome(transaction), self.patience_ms);
        if WRITES {
            cx.persist(&Record::Prepared(transaction));
        }
        cx.output(Output::InDoubt(transaction));
        cx.send(self.coordinator, Message::Yes(transaction));
    }

    fn decide<P: Site>(&mut self, transaction: Transaction, outcome: Outcome, cx: &mut Cx<'_, P>) {
        self.cases.insert(transaction, TransactionState::Decided(outcome));
        cx.cancel_timer(Timer::Outcome(transaction));
        // The record comes before the output: after a crash the participant must not doubt an
        // outcome that its application knows.
        cx.persist(&Record::Decided(transaction, outcome));
        cx.output(Output::Learned(transaction, outcome));
    }

    fn on_commit<P: Site>(
        &mut self,
        from: ProcessId,
        transaction: Transaction,
        cx: &mut Cx<'_, P>,
    ) {
        match self.cases.get(&transaction) {
            Some(TransactionState::Prepared) => self.decide(transaction, Outcome::Commit, cx),
            Some(TransactionState::Decided(Outcome::Commit)) => {}
            // A coordinator that starts again may not know that the transaction is settled.
            None if transaction < self.settled => {}
            None | Some(TransactionState::Asked | TransactionState::Decided(Outcome::Abort)) => {
                return cx.accuse(from, "committed what we have not promised");
            }
        }
        cx.send(self.coordinator, Message::Ack(transaction));
    }

    fn on_abort<P: Site>(&mut self, transaction: Transaction, cx: &mut Cx<'_, P>) {
        // If the transaction is decided here already, this is a late answer to an old question.
        if let Some(TransactionState::Asked | TransactionState::Prepared) =
            self.cases.get(&transaction)
        {
            self.decide(transaction, Outcome::Abort, cx);
        }
    }

    /// Another participant is in doubt. If we have not voted, we can still abort, which ends its
    /// doubt; we do so if `gives_up` allows it.
    fn on_ask<P: Site>(&mut self, from: ProcessId, transaction: Transaction, cx: &mut Cx<'_, P>) {
        match self.cases.get(&transaction) {
            Some(TransactionState::Prepared) => {}
            Some(TransactionState::Decided(outcome)) => {
                cx.send(from, Message::outcome(transaction, *outcome));
            }
            // Had it been committed, the process that asks would have acknowledged it before it was
            // settled.
            None if transaction < self.settled => cx.send(from, Message::Abort(transaction)),
            None if self.cases.len() >= OPEN_AT_MOST => {}
            None | Some(TransactionState::Asked) if !self.gives_up => {}
            None | Some(TransactionState::Asked) => {
                self.decide(transaction, Outcome::Abort, cx);
                cx.send(from, Message::Abort(transaction));
            }
        }
    }

    pub(super) fn on_outcome_missing<P: Site>(
        &mut self,
        transaction: Transaction,
        cx: &mut Cx<'_, P>,
    ) {
        if let Some(TransactionState::Prepared) = self.cases.get(&transaction) {
            self.ask(transaction, cx);
        }
    }

    fn ask<P: Site>(&self, transaction: Transaction, cx: &mut Cx<'_, P>) {
        cx.multicast(Message::Ask(transaction));
        cx.set_timer(Timer::Outcome(transaction), self.patience_ms);
    }

    /// Forgets the settled transactions. Those that are still open here were not committed: the
    /// coordinator would have waited for our acknowledgement.
    fn settle<P: Site>(&mut self, settled: Transaction, cx: &mut Cx<'_, P>) {
        if settled <= self.settled {
            return;
        }
        let open: Vec<Transaction> = self.cases.range(..settled).map(|(t, _)| *t).collect();
        open.into_iter().for_each(|transaction| self.on_abort(transaction, cx));
        let still_open = self.cases.split_off(&settled);
        self.settled_in_log += self.cases.len() as u32;
        self.cases = still_open;
        self.settled = settled;
        if self.cases.is_empty() && self.settled_in_log >= SETTLED_AT_MOST {
            self.settled_in_log = 0;
            cx.checkpoint(&Record::Settled(settled));
        }
    }
}
