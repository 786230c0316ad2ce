//! A way to spoil [Fast Paxos](crate::consensus::fast_paxos).

use crate::consensus::fast_paxos::{FastProcess, PARAMETERS, SOURCE};
use synod_core::algorithm::Replay;
use synod_core::card::{Card, Counterexample, Mutant, Order, Scope};
use synod_core::family::Consensus;
use synod_core::family::consensus::{AGREEMENT, VALIDITY};
use synod_core::{Algorithm, ProcessId, Rule, Setup, SetupError, durable};

/// A fast quorum is no larger than a classic one. Then a classic quorum may have seen as many votes
/// for one value as for another, and both may have been chosen.
pub type FastPaxosSmallQuorum = FastProcess<false>;

impl Algorithm for FastPaxosSmallQuorum {
    type Family = Consensus;

    const CARD: Card = Card {
        name: "fast-paxos-small-quorum",
        title: "Fast Paxos with fast quorums that are too small",
        source: SOURCE,
        idea: "More than half are enough for a fast quorum, too.",
        rules: &[Rule::on_message(
            "Accepted",
            "as fast-paxos, but a fast quorum is as small as a classic one",
        )],
        assumes: &["no process lies"],
        promises: &[VALIDITY],
        counterexamples: &[Counterexample {
            property: AGREEMENT,
            scope: Scope {
                order: Order::Fifo,
                set: &[("proposers", "p0 p1"), ("durable", "no"), ("ballots", "2")],
                ..Scope::of(3)
            },
            steps: 12,
            story: "two of three accept the value of p1, and that is decided; a classic quorum \
                    sees one vote for it and one for the value of p0, and picks the wrong one",
        }],
        parameters: PARAMETERS,
        mutant: Some(Mutant {
            of: "fast-paxos",
            change: "a fast quorum is more than half, instead of three quarters",
            breaks: AGREEMENT,
        }),
        fails_with: "-n 7 --param 'proposers=p0 p1' --loss 0.2 --latency tail:5ms",
        ..Card::BLANK
    };

    const REPLAY: Option<Replay<Self>> = Some(durable::replay);

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Self::group(setup)
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        self.is_proposer(me)
    }
}
