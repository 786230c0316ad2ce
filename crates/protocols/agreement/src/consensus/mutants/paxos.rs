//! Two ways to spoil [Paxos](crate::consensus::paxos).

use crate::consensus::paxos::{PARAMETERS, PaxosProcess, SOURCE};
use synod_core::algorithm::Replay;
use synod_core::byzantine::{Byzantine, Sworn};
use synod_core::card::{Card, Counterexample, Mutant, Order, Scope};
use synod_core::family::Consensus;
use synod_core::family::consensus::{AGREEMENT, VALIDITY};
use synod_core::{ProcessId, Rule, Setup, SetupError, Trigger, durable};

const OF: &str = "paxos";

/// A promise tells the accepted value, but not its ballot: so the proposer takes the first value
/// that it hears of, and not the last one that was accepted.
pub type PaxosNoNumber = Byzantine<PaxosProcess<false, true>>;

impl Sworn for PaxosProcess<false, true> {
    type Family = Consensus;

    const CARD: Card = Card {
        name: "paxos-no-number",
        title: "Paxos with promises that do not tell the ballot of a value",
        source: SOURCE,
        idea: "A promise tells the value that was accepted last, but not when.",
        rules: &[Rule::on_message(
            "Promise",
            "as paxos, but 2a takes the first value that a promise tells",
        )],
        assumes: &["no process lies"],
        promises: &[VALIDITY],
        counterexamples: &[Counterexample {
            property: AGREEMENT,
            scope: Scope {
                order: Order::Fifo,
                set: &[
                    ("proposers", "p0 p1"),
                    ("learners", "p0 p1"),
                    ("retry", "at-once"),
                    ("durable", "no"),
                    ("ballots", "2"),
                ],
                ..Scope::of(3)
            },
            steps: 15,
            story: "p0 alone accepts its 0; p1 finds no vote at p2, and 1 is chosen; then p0 asks \
                    again, hears of its own 0 first, and makes the others accept that",
        }],
        parameters: PARAMETERS,
        mutant: Some(Mutant {
            of: OF,
            change: "the value of the first promise is taken, not that of the greatest ballot",
            breaks: AGREEMENT,
        }),
        fails_with: "--param proposers=all --loss 0.2 --latency exp:5ms",
        ..Card::BLANK
    };

    const REPLAY: Option<Replay<Byzantine<Self>>> = Some(durable::replay);

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        self.is_proposer(me)
    }
}

/// An acceptor writes no record, and takes part again after a crash as if it had never promised or
/// accepted.
pub type PaxosAmnesia = Byzantine<PaxosProcess<true, false>>;

impl Sworn for PaxosProcess<true, false> {
    type Family = Consensus;

    const CARD: Card = Card {
        name: "paxos-amnesia",
        title: "Paxos with acceptors that forget",
        source: SOURCE,
        idea: "An acceptor keeps its promise and its vote in memory only.",
        rules: &[Rule::on(
            &[Trigger::Message("Prepare"), Trigger::Message("Accept")],
            "as paxos, but acceptors write no records",
        )],
        assumes: &["no process lies"],
        promises: &[VALIDITY],
        counterexamples: &[Counterexample {
            property: AGREEMENT,
            scope: Scope {
                order: Order::Fifo,
                crashes: 1,
                restarts: 1,
                set: &[("proposers", "p0 p1"), ("learners", "p0 p1"), ("retry", "never")],
                ..Scope::of(3)
            },
            steps: 11,
            story: "p0 and p2 accept 0, and p0 decides; p2 crashes, comes back, and knows nothing \
                    of it, so p1 gets it to accept 1",
        }],
        parameters: PARAMETERS,
        mutant: Some(Mutant {
            of: OF,
            change: "an acceptor does not write its promise and its vote down",
            breaks: AGREEMENT,
        }),
        fails_with: "--param proposers=all --param timeout=20 --crashes 2 --restart disk \
                     --within 50ms --loss 0.2",
        ..Card::BLANK
    };

    const REPLAY: Option<Replay<Byzantine<Self>>> = Some(durable::replay);

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        self.is_proposer(me)
    }
}
