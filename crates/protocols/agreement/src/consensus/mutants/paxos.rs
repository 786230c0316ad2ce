//! Three ways to spoil [Paxos](crate::consensus::paxos).

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

/// Quorums of the two phases need not meet: the default is one acceptor short of it.
pub type PaxosApart = Byzantine<PaxosProcess<true, true, false>>;

impl Sworn for PaxosProcess<true, true, false> {
    type Family = Consensus;

    const CARD: Card = Card {
        name: "paxos-apart",
        title: "Paxos with quorums that need not meet",
        source: SOURCE,
        idea: "More than half promise; the others are enough to accept. Or any other quorums that \
               one asks for.",
        rules: &[Rule::on_message(
            "Accepted",
            "as paxos, but the votes of a quorum that need not meet those that promise decide",
        )],
        assumes: &["no process lies"],
        promises: &[VALIDITY],
        counterexamples: &[
            Counterexample {
                property: AGREEMENT,
                scope: Scope {
                    order: Order::Fifo,
                    set: &[
                        ("proposers", "p0 p1"),
                        ("learners", "p0 p1"),
                        ("retry", "never"),
                        ("durable", "no"),
                    ],
                    ..Scope::of(3)
                },
                steps: 6,
                story: "p0 has two promises, accepts its own 0, and that is enough: 0 is chosen. p1 \
                        asks itself and p2, which know nothing of it, and 1 is chosen, too",
            },
            Counterexample {
                property: AGREEMENT,
                scope: Scope {
                    order: Order::Fifo,
                    set: &[
                        ("proposers", "p0 p1"),
                        ("learners", "p0 p1"),
                        ("acceptors", "p2 p3"),
                        ("quorums", "flexible 1 1"),
                        ("retry", "never"),
                        ("durable", "no"),
                    ],
                    ..Scope::of(4)
                },
                steps: 10,
                story: "p0 gets its value accepted by p2 and p1 by p3: each acceptor alone is a \
                        quorum",
            },
        ],
        parameters: PARAMETERS,
        mutant: Some(Mutant {
            of: OF,
            change: "the quorums of the two phases may have no acceptor in common",
            breaks: AGREEMENT,
        }),
        fails_with: "--param proposers=all",
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
