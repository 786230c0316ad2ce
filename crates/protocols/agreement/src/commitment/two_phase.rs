//! Two-phase commit, with presumed abort and cooperative termination (Gray, 1978; Mohan, Lindsay
//! and Obermarck, 1986).
//!
//! The coordinator asks all participants to prepare. A participant that votes yes promises to
//! commit, and gives up the right to abort; a participant that votes no aborts. If all vote yes,
//! the coordinator decides to commit; if one votes no, or a vote does not come in time, it decides
//! to abort. Then it tells the participants. Between its vote and the outcome a participant is *in
//! doubt*: it cannot decide by itself. It asks the coordinator and the other participants; if none
//! of them within reach knows the outcome, it is blocked.
//!
//! A process writes a fact down before it tells others, so that a crash cannot make it a liar:
//! *prepared* before the vote, *commit* before the announcement, the outcome before the
//! acknowledgement. A transaction without a record is presumed to be aborted: a coordinator that
//! knows nothing of it answers abort. Therefore the coordinator need not write an abort down, nor
//! wait for acknowledgements of it.
//!
//! - Assumes: processes may crash and start again with their disks; messages may be lost, doubled
//!   and reordered. Numbers of transactions are not used again.
//! - Guarantees: AC1, AC2, AC3, AC5-repaired; AC4 too if no process crashes and time-outs do not
//!   abort. Not AC5: if the coordinator crashes after all have voted yes, all participants are in
//!   doubt until it is back.
//! - Cost: 4(N − 1) messages for a commit, of which a quarter are acknowledgements; 3 hops and two
//!   writes until the participants know, their own write not counted.
//! - State: one entry for each transaction that is not settled. A transaction is settled when no
//!   process will ask about it again. The coordinator announces with each `Prepare` which are
//!   settled, and the participants forget those; a process also forgets them on disk, as soon as no
//!   other is open. The coordinator begins at most [`OPEN_AT_MOST`] transactions that are not
//!   settled.
//!
//! Source: J. Gray: Notes on data base operating systems. LNCS 60, 1978. C. Mohan, B. Lindsay,
//! R. Obermarck: Transaction management in the R* distributed database management system. ACM TODS
//! 11(4), 1986.

mod card;
mod coordinator;
mod participant;

pub(crate) use card::{PARAMETERS, PATIENT, PROMPT, SOURCE};
pub use coordinator::Coordinator;
pub use participant::Participant;

use serde::{Deserialize, Serialize};
use synod_core::family::commitment::{
    Input, Outcome, Output, Transaction, coordinator as who_coordinates, votes,
};
use synod_core::{Cx, Durable, ProcessId, ProcessSet, Protocol, Setup, SetupError, Wire};

/// The bound on open transactions at a process. The coordinator aborts those that exceed it.
pub const OPEN_AT_MOST: usize = 256;

/// A process cleans its log when this many of its transactions are settled, and no other is open.
const SETTLED_AT_MOST: u32 = 16;

/// The messages between coordinator and participants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// To participants: how do you vote?
    Prepare {
        /// The transaction to vote on.
        transaction: Transaction,
        /// All transactions before this one are settled: each was acknowledged by all participants,
        /// or is aborted.
        settled: Transaction,
    },
    /// To the coordinator: I shall commit if you say so.
    Yes(Transaction),
    /// To the coordinator: I have aborted.
    No(Transaction),
    /// To participants, or to a process that asked: the transaction is committed.
    Commit(Transaction),
    /// To participants, or to a process that asked: the transaction is aborted.
    Abort(Transaction),
    /// To the coordinator: I have committed.
    Ack(Transaction),
    /// To all others: I am in doubt. Do you know the outcome?
    Ask(Transaction),
}

impl Wire for Message {}

impl Message {
    fn outcome(transaction: Transaction, outcome: Outcome) -> Message {
        match outcome {
            Outcome::Commit => Message::Commit(transaction),
            Outcome::Abort => Message::Abort(transaction),
        }
    }
}

/// The timers of a process: it waits as long as its patience lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// The coordinator waits for votes.
    Votes(Transaction),
    /// The coordinator waits for acknowledgements.
    Acks(Transaction),
    /// A participant in doubt waits for the outcome.
    Outcome(Transaction),
}

/// The records that a process writes to its disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Record {
    /// A participant: I have promised to commit.
    Prepared(Transaction),
    /// The outcome. A coordinator writes commits only.
    Decided(Transaction, Outcome),
    /// A checkpoint: all transactions before this one are settled, and no other is open.
    Settled(Transaction),
}

/// One process of the algorithm. Each of the two mutants leaves out one kind of record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TwoPhaseProcess<const DECISIONS: bool, const PROMISES: bool> {
    /// The process that decides. It writes its decisions down if `DECISIONS`.
    Coordinator(Coordinator<DECISIONS>),
    /// A process that votes. It writes its promises down if `PROMISES`.
    Participant(Participant<PROMISES>),
}

/// The algorithm as it should be.
pub type TwoPhaseCommit = TwoPhaseProcess<true, true>;

/// The protocol type that the handlers of both roles see.
pub trait Site:
    Durable<Input = Input, Output = Output, Message = Message, Timer = Timer, Record = Record>
{
}

impl<P> Site for P where
    P: Durable<Input = Input, Output = Output, Message = Message, Timer = Timer, Record = Record>
{
}

impl<const DECISIONS: bool, const PROMISES: bool> Protocol
    for TwoPhaseProcess<DECISIONS, PROMISES>
{
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        match self {
            TwoPhaseProcess::Coordinator(coordinator) => coordinator.on_start(cx),
            TwoPhaseProcess::Participant(participant) => participant.on_start(cx),
        }
    }

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match (self, input) {
            (TwoPhaseProcess::Coordinator(coordinator), Input::Commit(transaction)) => {
                coordinator.begin(transaction, cx);
            }
            (TwoPhaseProcess::Participant(participant), Input::Vote(transaction, vote)) => {
                participant.on_vote(transaction, vote, cx);
            }
            // The coordinator does not vote, and participants begin no transaction.
            (TwoPhaseProcess::Coordinator(_), Input::Vote(..)) => {}
            (TwoPhaseProcess::Participant(_), Input::Commit(transaction)) => {
                cx.output(Output::Answered(transaction, Outcome::Abort));
            }
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        if !cx.is_member(from) || from == cx.me() {
            return cx.accuse(from, "is none of the others");
        }
        match self {
            TwoPhaseProcess::Coordinator(coordinator) => coordinator.on_message(from, message, cx),
            TwoPhaseProcess::Participant(participant) => participant.on_message(from, message, cx),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match (self, timer) {
            (TwoPhaseProcess::Coordinator(coordinator), Timer::Votes(transaction)) => {
                coordinator.on_votes_missing(transaction, cx);
            }
            (TwoPhaseProcess::Coordinator(coordinator), Timer::Acks(transaction)) => {
                coordinator.on_acks_missing(transaction, cx);
            }
            (TwoPhaseProcess::Participant(participant), Timer::Outcome(transaction)) => {
                participant.on_outcome_missing(transaction, cx);
            }
            _ => unreachable!("each role sets its own timers only"),
        }
    }
}

impl<const DECISIONS: bool, const PROMISES: bool> Durable for TwoPhaseProcess<DECISIONS, PROMISES> {
    type Record = Record;

    fn replay(&mut self, record: Record) {
        match self {
            TwoPhaseProcess::Coordinator(coordinator) => coordinator.replay(record),
            TwoPhaseProcess::Participant(participant) => participant.replay(record),
        }
    }
}

impl<const DECISIONS: bool, const PROMISES: bool> TwoPhaseProcess<DECISIONS, PROMISES> {
    pub(crate) fn is_coordinator(&self) -> bool {
        matches!(self, TwoPhaseProcess::Coordinator(_))
    }

    pub(crate) fn group(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        votes(setup)?;
        let coordinator = who_coordinates(setup)?;
        let patience_ms = setup.number("patience", 100)?;
        if patience_ms == 0 {
            return Err(setup.bad("patience", "at least a millisecond"));
        }
        let gives_up = setup.choice("timeout", &["abort", "wait"])? == "abort";
        let participants = ProcessSet::all_but(setup.n, coordinator);
        let coordinates = || Coordinator::new(participants.clone(), patience_ms, gives_up);
        let role = |me: ProcessId| match me == coordinator {
            true => TwoPhaseProcess::Coordinator(coordinates()),
            false => {
                let participant = Participant::new(coordinator, patience_ms, gives_up);
                TwoPhaseProcess::Participant(participant)
            }
        };
        Ok(ProcessId::all(setup.n).map(role).collect())
    }
}
