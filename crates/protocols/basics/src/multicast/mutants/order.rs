//! Ordered multicasts with the flaws that textbooks have.

use crate::multicast::carrier::Carrier;
use crate::multicast::causal::{Causal, CausalTower, Stamped};
use crate::multicast::groups::{InGroups, Tower};
use crate::multicast::isis::{self, Isis, IsisTower, Round};
use serde::{Deserialize, Serialize};
use synod_core::card::{Counterexample, Mutant, Scope};
use synod_core::family::multicast::{
    AGREEMENT, CAUSAL, FIFO, INTEGRITY, Payload, TOTAL, UNIFORM, VALIDITY,
};
use synod_core::{Card, ProcessId, ProcessSet, Setup, SetupError};

/// A process waits for its own message as it waits for those of others.
pub type CausalOwnWaits = InGroups<OwnWaits>;
/// Equal numbers are left in the order of arrival.
pub type IsisNoTieBreak = InGroups<NoTieBreak>;
/// A member proposes without regard to the numbers that were agreed.
pub type IsisDeaf = InGroups<Deaf>;

/// See [`CausalOwnWaits`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OwnWaits;

impl Tower for OwnWaits {
    type Top = Causal<Payload, Carrier<Stamped<Payload>>, false>;

    const CARD: Card = Card {
        name: "causal-own-waits",
        aliases: &[],
        title: "Causally ordered multicast that waits for its own messages",
        promises: &[INTEGRITY, CAUSAL, FIFO],
        counterexamples: &[Counterexample {
            property: VALIDITY,
            scope: Scope::of(1),
            steps: 1,
            story: "p0 has counted its message when it sent it, so the message is never the next \
                    one: it is held back for ever",
        }],
        variants: &[],
        costs: &[],
        mutant: Some(Mutant {
            of: "causal-multicast",
            change: "a process applies the rule for the messages of others to its own, too",
            breaks: VALIDITY,
        }),
        ..CausalTower::CARD
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        Ok(Causal::new(setup.n, Carrier::from_setup(setup)?))
    }
}

/// See [`IsisNoTieBreak`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NoTieBreak;

impl Tower for NoTieBreak {
    type Top = Isis<Payload, Carrier<Round<Payload>>, false>;

    const CARD: Card = Card {
        name: "isis-no-tie-break",
        aliases: &[],
        title: "Totally ordered multicast by agreement on a number only",
        promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM],
        counterexamples: &[Counterexample {
            property: TOTAL,
            scope: Scope::of(2),
            steps: 7,
            story: "p0 and p1 multicast, and each hears of its own message first: each proposes 1 \
                    for its own and 2 for the other's, 2 is agreed for both, and each delivers \
                    its own first",
        }],
        variants: &[],
        costs: &[],
        mutant: Some(Mutant {
            of: "isis",
            change: "of messages with equal agreed numbers a process delivers first the one that \
                     it heard of first",
            breaks: TOTAL,
        }),
        ..IsisTower::CARD
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        isis::build(setup)
    }
}

/// See [`IsisDeaf`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Deaf;

impl Tower for Deaf {
    type Top = Isis<Payload, Carrier<Round<Payload>>, true, false>;

    const CARD: Card = Card {
        name: "isis-deaf",
        aliases: &[],
        title: "Totally ordered multicast by agreement that forgets A",
        promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM],
        counterexamples: &[Counterexample {
            property: TOTAL,
            scope: Scope::of(2),
            steps: 7,
            story: "p0 delivers its own message at 2@p1 and forgets that number, so it proposes 2 for \
                    p1's message: 2@p0 is before 2@p1, and p1 delivers its own first",
        }],
        variants: &[],
        costs: &[],
        mutant: Some(Mutant {
            of: "isis",
            change: "a member's next proposal is larger than its own proposals only, not larger \
                     than agreed numbers",
            breaks: TOTAL,
        }),
        ..IsisTower::CARD
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        isis::build(setup)
    }
}
