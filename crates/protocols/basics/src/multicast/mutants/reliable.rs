//! Two ways to spoil [reliable multicast](crate::multicast::reliable): members pass a new message
//! on too late, or not at all.

use crate::multicast::groups::{InGroups, Tower};
use crate::multicast::reliable::{Relay, Reliable, ReliableTower};
use serde::{Deserialize, Serialize};
use synod_core::card::{Counterexample, Mutant, Scope};
use synod_core::family::multicast::{AGREEMENT, Payload, UNIFORM};
use synod_core::{Card, ProcessId, ProcessSet, Setup, SetupError};

/// No member passes a message on.
pub type ReliableWithoutRelay = InGroups<WithoutRelay>;
/// A message is delivered first, and passed on afterwards.
pub type ReliableLateRelay = InGroups<LateRelay>;

/// The part of the card that these mutants share.
const SPOILT: Card = Card {
    source: ReliableTower::CARD.source,
    idea: ReliableTower::CARD.idea,
    assumes: ReliableTower::CARD.assumes,
    parameters: ReliableTower::CARD.parameters,
    layers: ReliableTower::CARD.layers,
    ..Card::BLANK
};

/// See [`ReliableWithoutRelay`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WithoutRelay;

impl Tower for WithoutRelay {
    type Top = Reliable<Payload>;

    const CARD: Card = Card {
        name: "reliable-no-relay",
        title: "Reliable multicast without the second multicast",
        counterexamples: &[Counterexample {
            property: AGREEMENT,
            scope: Scope { crashes: 1, set: &[("senders", "p0")], ..Scope::of(3) },
            steps: 2,
            story: "the sender crashes after it has sent to one of the others: that one delivers \
                    and does not tell the third",
        }],
        mutant: Some(Mutant {
            of: "reliable-multicast",
            change: "a process that gets a message for the first time does not multicast it again",
            breaks: AGREEMENT,
        }),
        fails_with: "-n 3 --crashes 1 --within 20ms --requests 3",
        ..SPOILT
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        Ok(Reliable::new(setup.n, Relay::Never))
    }
}

/// See [`ReliableLateRelay`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LateRelay;

impl Tower for LateRelay {
    type Top = Reliable<Payload>;

    const CARD: Card = Card {
        name: "reliable-late-relay",
        title: "Reliable multicast that delivers before it passes on",
        counterexamples: &[Counterexample {
            property: UNIFORM,
            scope: Scope { crashes: 2, set: &[("senders", "p0")], ..Scope::of(3) },
            steps: 2,
            story: "the sender crashes after it has sent to one of the others; that one delivers, \
                    and crashes before it passes the message on",
        }],
        mutant: Some(Mutant {
            of: "reliable-multicast",
            change: "a new message is delivered first, and multicast again afterwards",
            breaks: UNIFORM,
        }),
        fails_with: "-n 3 --crashes 2 --within 0ms --requests 1",
        ..SPOILT
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        Ok(Reliable::new(setup.n, Relay::AfterDelivery))
    }
}
