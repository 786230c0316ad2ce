//! PBFT without one of its rules.

use super::card::{PARAMETERS, SOURCE, TOLERATES, group, small};
use super::message::Message;
use super::{Replica, Rules};
use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Counterexample, Mutant, Size};
use synod_core::family::consensus::Value;
use synod_core::family::replication::SAME_LOG;
use synod_core::replication::{Catalogued, KeyValue, Operation, Sessions, Store};
use synod_core::{ProcessId, Setup, SetupError};

/// A quorum is one replica short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SmallQuorums;

impl Rules for SmallQuorums {
    const QUORUMS_MEET: bool = false;
}

impl Catalogued for Replica<SmallQuorums> {
    const CARD: Card = Card {
        name: "pbft-small-quorum",
        title: "PBFT whose quorums are one replica short",
        source: SOURCE,
        idea: "Half of four replicas are a quorum: two quorums may have nobody in common but a traitor.",
        tolerates: TOLERATES,
        counterexamples: &[Counterexample {
            property: SAME_LOG,
            scope: small(
                5,
                &[
                    ("replicas", "4"),
                    ("views", "0"),
                    ("resend", "0"),
                    ("tries", "0"),
                    ("operations", "put"),
                    ("traitors", "p0"),
                    ("adversary", "equivocating"),
                ],
            ),
            steps: 13,
            story: "The primary proposes the request to one replica, and nothing to another. Each of \
                    them and the primary are a quorum, so the one executes the request and the other \
                    nothing at the same number.",
        }],
        parameters: PARAMETERS,
        mutant: Some(Mutant {
            of: "pbft",
            change: "a quorum is 2f of 3f + 1 replicas, and not 2f + 1",
            breaks: SAME_LOG,
        }),
        fails_with: "-n 5 --requests 20 --param replicas=4 --param traitors=p0 --param \
                     adversary=equivocating",
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        group(setup)
    }

    fn lie(
        &self,
        message: &Message<Operation, Sessions<Store>>,
        value: Value,
    ) -> Option<Self::Message> {
        self.lie_about(message, value)
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        self.has_clients(me)
    }

    fn size(processes: &[KeyValue<Self>]) -> Size {
        processes.first().map_or(Size { n: 0, k: 0 }, |first| first.process().engine().replicas())
    }
}
