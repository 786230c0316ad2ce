//! Multi-Paxos without one of its rules.

use super::card::{PARAMETERS, SOURCE, TOLERATES, group, small};
use super::{Rules, Server};
use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Counterexample, Mutant, Rounds, Scope};
use synod_core::family::replication::SAME_LOG;
use synod_core::replication::Catalogued;
use synod_core::{Setup, SetupError};

/// An acceptor accepts in a ballot that is smaller than the one that it has promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BreaksPromises;

impl Rules for BreaksPromises {
    const KEEPS_PROMISES: bool = false;
}

impl Catalogued for Server<BreaksPromises> {
    const CARD: Card = Card {
        name: "multi-paxos-faithless",
        title: "Multi-Paxos whose acceptors break their promises",
        source: SOURCE,
        idea: "An acceptor accepts what any leader proposes, also one whose ballot is smaller than the \
               one that it has promised.",
        tolerates: TOLERATES,
        counterexamples: &[Counterexample {
            property: SAME_LOG,
            scope: Scope {
                rounds: Rounds::Times(1),
                ..small(&[
                    // No process crashes, so records do not matter.
                    ("acceptors", "forgetful"),
                    ("ballots", "1"),
                    ("beats", "0"),
                    ("ask", "no"),
                    ("spread", "1"),
                    ("batch", "no"),
                    ("tries", "0"),
                    ("standing", "p0 p2"),
                    ("askers", "p0 p2"),
                    ("operations", "put"),
                ])
            },
            steps: 12,
            story: "p0 leads, and its put is on its way to p1. Meanwhile p1 promises a greater ballot to \
                    p2, whose put is chosen with p1. Then p1 accepts the put of p0, too, and p0 takes \
                    it for chosen at the same place.",
        }],
        parameters: PARAMETERS,
        restless: true,
        mutant: Some(Mutant {
            of: "multi-paxos",
            change: "an acceptor accepts in a ballot that is smaller than the one it has promised",
            breaks: SAME_LOG,
        }),
        fails_with: "-n 3 --requests 100 --load saturated --partitions 60 --within 2s --param \
                     ask=no --param election=20 --param heartbeat=10",
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        group(setup)
    }
}
