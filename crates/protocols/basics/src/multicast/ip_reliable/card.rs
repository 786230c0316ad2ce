//! The card of reliable multicast over IP multicast, and its parameters.

use super::{Gaps, IpReliable, Settings};
use crate::multicast::cost;
use crate::multicast::groups::{InGroups, Tower};
use serde::{Deserialize, Serialize};
use synod_core::card::{
    Bounds, Card, Counterexample, Crashes, Parameter, Rounds, Scope, Source, Timing, Tolerance,
    Variant,
};
use synod_core::family::multicast::{
    AGREEMENT, FIFO, GROUPS, INTEGRITY, PAYLOAD, Payload, SENDERS, UNIFORM, VALIDITY,
};
use synod_core::{ProcessId, ProcessSet, Rule, Setup, SetupError, Trigger};

/// The parameter that sets the time between the heartbeats of an unsettled member.
pub const HEARTBEAT: Parameter = Parameter {
    name: "heartbeat",
    meaning: "the time between two heartbeats, in milliseconds (default: 50)",
};

/// The parameter that bounds the buffers.
pub const WINDOW: Parameter = Parameter {
    name: "window",
    meaning: "how many messages of a sender may lack a receiver; further ones wait (default: 256)",
};

/// The parameter that bounds the silence of a living member.
pub const PATIENCE: Parameter = Parameter {
    name: "patience",
    meaning: "after how many unanswered heartbeats a member is taken for crashed (default: 20)",
};

/// The parameter that decides about a message ahead of its turn.
pub const GAPS: Parameter = Parameter {
    name: "gaps",
    meaning: "whether a message ahead of its turn is delivered at once or held back: deliver or \
              hold (default: deliver)",
};

/// The largest window and the largest patience; a larger one is a typing error.
const LARGEST: u64 = 1 << 16;

impl Settings {
    /// Reads the parameters; `gaps` is the default for [`GAPS`].
    pub fn from_setup(setup: &Setup, gaps: Gaps) -> Result<Self, SetupError> {
        let number =
            |parameter: Parameter, default, least| match setup.number(parameter.name, default)? {
                number if (least..=LARGEST).contains(&number) => Ok(number),
                _ => Err(setup.bad(parameter.name, format!("it is {least} to {LARGEST}"))),
            };
        Ok(Settings {
            first: 1,
            heartbeat_ms: Some(number(HEARTBEAT, 50, 1)?),
            window: number(WINDOW, 256, 1)? as u32,
            patience: number(PATIENCE, 20, 3)? as u32,
            gaps: match setup.text(GAPS.name) {
                None => gaps,
                Some("deliver") => Gaps::Deliver,
                Some("hold") => Gaps::Hold,
                Some(_) => return Err(setup.bad(GAPS.name, "it is deliver or hold")),
            },
        })
    }
}

/// Reliable multicast over IP multicast by itself.
pub type IpMulticast = InGroups<IpTower>;

/// See [`IpMulticast`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IpTower;

/// The faults of the network that the algorithm tolerates.
const UNRELIABLE: Tolerance = Tolerance { loss: true, duplication: true, ..Tolerance::NOTHING };

/// A small world with little time between heartbeats.
const SMALL: Scope = Scope {
    timing: Timing::Synchronous { delay_ms: 1 },
    set: &[("senders", "p0"), ("heartbeat", "2"), ("patience", "3")],
    ..Scope::of(2)
};

impl Tower for IpTower {
    type Top = IpReliable<Payload>;

    const CARD: Card = Card {
        name: "ip-multicast",
        aliases: &["reliable-ip", "ip"],
        title: "Reliable multicast over IP multicast",
        source: Source {
            author: "G. Coulouris, J. Dollimore, T. Kindberg, G. Blair",
            year: 2012,
            work: "Distributed Systems, Concepts and Design, 5th edition, 15.4.2",
        },
        idea: "Multicast once; acknowledgements ride along with messages, and a member that \
               notices a gap asks for the missing messages.",
        rules: &[
            Rule::on_input(
                "Multicast",
                "multicast: attach S and R, hand it to the network, S := S + 1; if too many \
                 messages are unstable, wait",
            ),
            Rule::on(
                &[Trigger::Message("Data"), Trigger::Message("Again")],
                "on number R[q] + 1 of q: deliver it, R[q] := R[q] + 1, and so on with messages \
                 that came early; on a smaller one: discard it; on a larger one: deliver it or \
                 hold it back",
            ),
            Rule::on(
                &[Trigger::Message("Data"), Trigger::Message("Heartbeat"), Trigger::Message("Ack")],
                "if another's R is ahead of ours: ask it for the missing messages, once between \
                 heartbeats",
            ),
            Rule::on_message("Nack", "on such a request: send the messages again"),
            Rule::on_timer(
                "Beat",
                "when a heartbeat is due: if not all are known to have every message, and we sent \
                 no R since the last, multicast R",
            ),
            Rule::on_message(
                "Heartbeat",
                "on a heartbeat, if all are known to have every message: answer with R",
            ),
            Rule::on(
                &[
                    Trigger::Message("Data"),
                    Trigger::Message("Again"),
                    Trigger::Message("Heartbeat"),
                    Trigger::Message("Ack"),
                    Trigger::Timer("Beat"),
                ],
                "when all are known to have a message: forget its copy",
            ),
        ],
        assumes: &[
            "messages may be lost, doubled and reordered, but losses do not go on for ever",
            "a member that leaves as many heartbeats unanswered as the patience says has crashed",
            "with gaps=deliver no sender crashes: no other process knows of a message after a gap",
        ],
        tolerates: UNRELIABLE,
        promises: &[INTEGRITY, VALIDITY, AGREEMENT],
        variants: &[Variant {
            set: &[("gaps", "hold")],
            tolerates: Tolerance { crashes: Crashes::AllButOne, ..UNRELIABLE },
            promises: &[INTEGRITY, VALIDITY, AGREEMENT, FIFO],
        }],
        usual: Some(1),
        proved: &[
            Scope { drops: 1, rounds: Rounds::Times(2), ..SMALL },
            Scope { drops: 2, duplicates: 1, ..SMALL },
            Scope { n: 3, ..SMALL },
        ],
        counterexamples: &[
            Counterexample {
                property: UNIFORM,
                scope: Scope { crashes: 1, drops: 1, ..SMALL },
                steps: 3,
                story: "the sender delivers its own message and crashes; the only copy is lost",
            },
            Counterexample {
                property: FIFO,
                scope: Scope { rounds: Rounds::Times(2), ..SMALL },
                steps: 3,
                story: "the second message overtakes the first, and is delivered at once",
            },
        ],
        costs: &[
            cost::data_per_multicast("1", |size| Bounds::exactly(size.n.min(2) - 1)),
            cost::reach_hops("1", |_| Bounds::exactly(1)),
        ],
        parameters: &[GROUPS, SENDERS, PAYLOAD, HEARTBEAT, WINDOW, PATIENCE, GAPS],
        multicast: true,
        ..Card::BLANK
    };

    fn build(
        _me: ProcessId,
        _members: &ProcessSet,
        setup: &Setup,
    ) -> Result<Self::Top, SetupError> {
        Ok(IpReliable::new(setup.n, Settings::from_setup(setup, Gaps::Deliver)?))
    }
}
