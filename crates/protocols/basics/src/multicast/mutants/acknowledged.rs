//! A way to spoil [multicast by acknowledgements](crate::multicast::acknowledged).

use crate::multicast::acknowledged::{Acknowledged, AcknowledgedTower};
use crate::multicast::groups::{InGroups, Tower};
use serde::{Deserialize, Serialize};
use synod_core::card::{Counterexample, Mutant, Scope};
use synod_core::family::multicast::{AGREEMENT, INTEGRITY, Payload, VALIDITY};
use synod_core::{Card, ProcessId, ProcessSet, Setup, SetupError};

/// A receiver delivers every copy.
pub type AcknowledgedTwice = InGroups<EveryCopy>;

/// See [`AcknowledgedTwice`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EveryCopy;

impl Tower for EveryCopy {
    type Top = Acknowledged<Payload, false>;

    const CARD: Card = Card {
        name: "acknowledged-twice",
        aliases: &[],
        title: "Multicast by acknowledgements that delivers every copy",
        promises: &[VALIDITY, AGREEMENT],
        proved: &[],
        counterexamples: &[Counterexample {
            property: INTEGRITY,
            scope: Scope { set: &[("tries", "2"), ("senders", "p0")], ..Scope::of(2) },
            steps: 4,
            story: "the acknowledgement takes long, so p0 sends its message again; p1 delivers both \
                    copies",
        }],
        costs: &[],
        mutant: Some(Mutant {
            of: "acknowledged-multicast",
            change: "a receiver does not look whether it has the message already",
            breaks: INTEGRITY,
        }),
        ..AcknowledgedTower::CARD
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        Acknowledged::from_setup(setup)
    }
}
