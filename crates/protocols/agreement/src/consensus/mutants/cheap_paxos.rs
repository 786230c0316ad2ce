//! A way to spoil [Cheap Paxos](crate::consensus::cheap_paxos).

use crate::consensus::cheap_paxos::{CheapProcess, PARAMETERS, SOURCE};
use synod_core::algorithm::Replay;
use synod_core::card::{Card, Counterexample, Mutant, Scope};
use synod_core::family::Consensus;
use synod_core::family::consensus::{AGREEMENT, VALIDITY};
use synod_core::{Algorithm, ProcessId, Rule, Setup, SetupError, durable};

/// A main process that waits in vain makes its quorum smaller by itself.
pub type CheapPaxosUnilateral = CheapProcess<false>;

impl Algorithm for CheapPaxosUnilateral {
    type Family = Consensus;

    const CARD: Card = Card {
        name: "cheap-paxos-unilateral",
        title: "Cheap Paxos in which each makes its quorum smaller by itself",
        source: SOURCE,
        idea: "A process that does not answer no longer counts.",
        rules: &[Rule::on_timer(
            "Retry",
            "as cheap-paxos, but a process that waits in vain drops all others without asking",
        )],
        assumes: &["no process lies"],
        promises: &[VALIDITY],
        counterexamples: &[Counterexample {
            property: AGREEMENT,
            scope: Scope { set: &[("proposers", "p0 p1"), ("durable", "no")], ..Scope::of(3) },
            steps: 4,
            story: "p0 and p1 wait in vain for each other; each goes on alone, and decides its own \
                    value",
        }],
        parameters: PARAMETERS,
        mutant: Some(Mutant {
            of: "cheap-paxos",
            change: "the configuration is made smaller without being chosen by the old one",
            breaks: AGREEMENT,
        }),
        fails_with: "--loss 0.2 --latency tail:5ms --param proposers=all",
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
