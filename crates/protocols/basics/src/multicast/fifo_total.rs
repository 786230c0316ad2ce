//! FIFO and totally ordered multicast: the FIFO layer over a layer with total order.
//!
//! Total order alone is not FIFO: two messages of one sender may overtake each other on the way to
//! the sequencer, and then all processes deliver them the wrong way round. The [FIFO
//! layer](super::fifo) above puts that right: it holds a message back until those before it are
//! delivered. Only the sequence of its deliveries decides which messages it holds back; that
//! sequence is the same at every process, so the result is too.
//!
//! The result is even *causally* ordered. Say that p delivers a and then multicasts b. As p
//! delivers its own b after a, total order makes every process that delivers b deliver a before;
//! and FIFO is the rest of causal order. [`causal_total`](super::causal_total) has the same
//! guarantees with the layers the other way round, total order on top of causal order; here they
//! cost fewer messages and no vector.
//!
//! - Assumes, guarantees, costs: as the [sequencer], and FIFO and causal order.
//! - State: as the sequencer and the FIFO layer.
//!
//! Source: V. Hadzilacos, S. Toueg: A modular approach to fault-tolerant broadcasts and related
//! problems. Cornell TR 94-1425, 1994: causal order is FIFO order and local order.

use super::carrier::{self, Carrier, OVER};
use super::fifo::{Fifo, Numbered};
use super::groups::{InGroups, Tower};
use super::sequencer::{self, SEQUENCER, Sequencer, SequencerTower, Turn};
use serde::{Deserialize, Serialize};
use synod_core::card::{Counterexample, Rounds, Scope, Tolerance, Variant};
use synod_core::family::multicast::{
    AGREEMENT, CAUSAL, FIFO, GROUPS, INTEGRITY, PAYLOAD, Payload, SENDERS, TOTAL, UNIFORM, VALIDITY,
};
use synod_core::{Card, ProcessId, ProcessSet, Rule, Setup, SetupError, Source, Trigger};

/// FIFO and totally ordered multicast, over a carrier.
pub type FifoTotalMulticast = InGroups<FifoTotalTower>;

/// See [`FifoTotalMulticast`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FifoTotalTower;

/// The payload that the sequencer orders.
type Item = Numbered<Payload>;

impl Tower for FifoTotalTower {
    type Top = Fifo<Payload, Sequencer<Item, Carrier<Turn<Item>>>>;

    const CARD: Card = Card {
        name: "fifo-total",
        aliases: &["fifo-total-multicast"],
        title: "FIFO and totally ordered multicast",
        source: Source {
            author: "V. Hadzilacos, S. Toueg",
            year: 1994,
            work: "A modular approach to fault-tolerant broadcasts and related problems, \
                   Cornell TR 94-1425",
        },
        idea: "Number the messages of each sender, and put back in order those that the sequencer \
               swapped.",
        rules: &[
            Rule::on_input(
                "Multicast",
                "multicast: attach the next number, starting with 1, and multicast by the \
                 sequencer",
            ),
            sequencer::ORDER,
            Rule::on(
                &[Trigger::Message("Data"), Trigger::Message("Again"), Trigger::Message("Submit")],
                "on delivery by the sequencer's layer: deliver in the order of the sender's \
                 numbers, as fifo-multicast does",
            ),
            carrier::REPAIR,
        ],
        assumes: SequencerTower::CARD.assumes,
        promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, FIFO, CAUSAL, TOTAL],
        variants: &[
            Variant {
                set: &[("over", "reliable")],
                tolerates: Tolerance { duplication: false, ..carrier::RELIABLE },
                promises: &[INTEGRITY, AGREEMENT, UNIFORM, FIFO, CAUSAL, TOTAL],
            },
            Variant {
                set: &[("over", "ip")],
                tolerates: carrier::IP,
                promises: &[INTEGRITY, VALIDITY, AGREEMENT, UNIFORM, FIFO, CAUSAL, TOTAL],
            },
        ],
        proved: &[
            Scope { rounds: Rounds::Times(2), ..Scope::of(2) },
            Scope::of(3),
            Scope { crashes: 1, set: &[("over", "reliable")], ..Scope::of(2) },
            Scope { crashes: 2, set: &[("over", "reliable"), ("senders", "p1")], ..Scope::of(3) },
        ],
        counterexamples: &[
            Counterexample {
                property: VALIDITY,
                scope: Scope { crashes: 1, set: &[("senders", "p1")], ..Scope::of(2) },
                steps: 2,
                story: "p1 multicasts, and the sequencer crashes",
            },
            Counterexample {
                property: AGREEMENT,
                scope: Scope { crashes: 1, set: &[("senders", "p1")], ..Scope::of(3) },
                steps: 3,
                story: "over basic multicast: the sequencer crashes after it has sent a numbered \
                        message to one of the others",
            },
        ],
        costs: SequencerTower::CARD.costs,
        other_costs: SequencerTower::CARD.other_costs,
        parameters: &[GROUPS, SENDERS, PAYLOAD, OVER, SEQUENCER],
        layers: &["fifo", "sequencer", "basic"],
        ..Card::BLANK
    };

    fn build(_me: ProcessId, members: &ProcessSet, setup: &Setup) -> Result<Self::Top, SetupError> {
        Ok(Fifo::new(setup.n, Sequencer::from_setup(members, setup)?))
    }
}
