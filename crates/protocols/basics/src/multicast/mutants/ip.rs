//! Two ways to spoil [reliable multicast over IP multicast](crate::multicast::ip_reliable): no
//! member notices the loss of the last message, or all members discard the first.

use crate::multicast::groups::{InGroups, Tower};
use crate::multicast::ip_reliable::{Gaps, IpReliable, IpTower, Settings};
use serde::{Deserialize, Serialize};
use synod_core::card::{Counterexample, Mutant, Scope, Timing};
use synod_core::family::multicast::{AGREEMENT, Payload};
use synod_core::{Card, ProcessId, ProcessSet, Setup, SetupError};

/// A member sends no heartbeats.
pub type IpWithoutHeartbeats = InGroups<WithoutHeartbeats>;
/// S starts at 0, and so does R.
pub type IpFromZero = InGroups<FromZero>;

/// The part of the card that these mutants share.
const SPOILT: Card = Card {
    source: IpTower::CARD.source,
    idea: IpTower::CARD.idea,
    assumes: IpTower::CARD.assumes,
    parameters: IpTower::CARD.parameters,
    multicast: true,
    ..Card::BLANK
};

/// See [`IpWithoutHeartbeats`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WithoutHeartbeats;

impl Tower for WithoutHeartbeats {
    type Top = IpReliable<Payload>;

    const CARD: Card = Card {
        name: "ip-no-heartbeats",
        title: "Reliable multicast over IP multicast without heartbeats",
        counterexamples: &[Counterexample {
            property: AGREEMENT,
            scope: Scope { drops: 1, set: &[("senders", "p0")], ..Scope::of(2) },
            steps: 2,
            story: "the only message is lost; as none follows it, no member notices the gap",
        }],
        mutant: Some(Mutant {
            of: "ip-multicast",
            change: "there are no heartbeats",
            breaks: AGREEMENT,
        }),
        fails_with: "--loss 0.2",
        ..SPOILT
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        let settings = Settings::from_setup(setup, Gaps::Deliver)?;
        Ok(IpReliable::new(setup.n, Settings { heartbeat_ms: None, ..settings }))
    }
}

/// See [`IpFromZero`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FromZero;

impl Tower for FromZero {
    type Top = IpReliable<Payload>;

    const CARD: Card = Card {
        name: "ip-from-zero",
        title: "Reliable multicast over IP multicast with S and R from 0",
        counterexamples: &[Counterexample {
            property: AGREEMENT,
            scope: Scope {
                timing: Timing::Synchronous { delay_ms: 1 },
                set: &[("senders", "p0"), ("heartbeat", "2"), ("patience", "3")],
                ..Scope::of(2)
            },
            steps: 2,
            story: "the first message has number 0; the receiver, whose R is 0, takes it for a \
                    duplicate",
        }],
        mutant: Some(Mutant {
            of: "ip-multicast",
            change: "the first message has number 0, and R is 0 before it",
            breaks: AGREEMENT,
        }),
        ..SPOILT
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        let settings = Settings::from_setup(setup, Gaps::Deliver)?;
        Ok(IpReliable::new(setup.n, Settings { first: 0, ..settings }))
    }
}
