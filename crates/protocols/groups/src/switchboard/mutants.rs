//! Switchboards with a wrong rule, which the explorer refutes.

use super::card::{CARD, catalogued};
use super::invariants::{self, Node, OWNED};
use super::proved::{ADDED_IN_A_CUT, CUT_BETWEEN_VIEWS, FOUNDED, quiet};
use super::{Message, Nodes, Switchboard};
use crate::group::GroupEngine;
use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Counterexample, Mutant, Order, Scope};
use synod_core::family::Services;
use synod_core::family::services::{OWN, Tag};
use synod_core::group::{Catalogued, Served};
use synod_core::{Data, Invariant, ProcessId, ProcessSet, Setup, SetupError, Snapshot};

/// The changed rule of a mutant.
pub trait Variant: Data {
    /// Whether a multicast counts as sent in the view in which it is delivered.
    const LATE_CALLS: bool = false;
    /// Whether members use the nodes that other members announce.
    const SHARES_NODES: bool = true;
    /// Whether a member remembers from which members it has parted since its services' last view.
    const REMEMBERS_PARTINGS: bool = true;

    /// The service with which a multicast is connected.
    fn line(tag: Tag) -> Tag {
        tag
    }

    /// Whether a node is the founder in this life, if the registry named that life.
    fn is_life_of_founder(here: u32, named: u32) -> bool {
        here == named
    }

    /// What a certificate of death says.
    fn certificate(dead: ProcessId, nodes: ProcessSet) -> Nodes {
        Nodes::certificate(dead, nodes)
    }
}

/// The rules as they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Sound {}

impl Variant for Sound {}

/// Each tag is taken for its neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Crossing {}

impl Variant for Crossing {
    fn line(tag: Tag) -> Tag {
        Tag(tag.0 ^ 1)
    }
}

/// A switchboard that mixes tags up: a group hears what was said in another one.
pub type CrossedLines = Served<Switchboard<Crossing>, GroupEngine<Message>>;

catalogued!(
    Crossing,
    Card {
        name: "switchboard-crossed",
        title: "A switchboard that mixes up tags",
        promises: &[],
        proved: &[],
        counterexamples: &[Counterexample {
            property: OWN,
            scope: quiet(2, &[("engine", "abstract"), ("pools", "0"), ("says", "1")]),
            steps: 8,
            story: "p1 casts a message in the group #0, and hears it in #1, where no member ever cast it",
        }],
        mutant: Some(Mutant {
            of: "switchboard",
            change: "a multicast is connected with the service beside the one whose tag it bears",
            breaks: OWN,
        }),
        fails_with: "--param says=1",
        ..CARD
    }
);

/// The view of a multicast is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Late {}

impl Variant for Late {
    const LATE_CALLS: bool = true;
}

/// A switchboard that passes on a multicast of an earlier view as one of the present view.
pub type LateCalls = Served<Switchboard<Late>, GroupEngine<Message>>;

catalogued!(
    Late,
    Card {
        name: "switchboard-late",
        title: "A switchboard that passes on multicasts of earlier views",
        promises: &[],
        proved: &[],
        counterexamples: &[Counterexample {
            property: OWNED,
            scope: Scope {
                order: Order::Any,
                ..quiet(
                    3,
                    &[
                        ("engine", "abstract"),
                        ("pools", "1"),
                        ("slots", "2"),
                        ("stock", "1"),
                        ("opened", "yes"),
                        ("founder", "p1"),
                        ("faults", "partition merge"),
                        ("passing", "once"),
                        ("lag", "0"),
                    ],
                )
            },
            steps: 33,
            story: "p1 owns both slots and offers one to p2, but the network falls apart before the offer has \
                    its place in the order. p1 takes the slot back. They come together again, and now the \
                    offer is delivered as one of the new view. p2 takes the slot, and p1 may use it, too",
        }],
        mutant: Some(Mutant {
            of: "switchboard",
            change: "a multicast of a pool counts as sent in the view in which it is delivered",
            breaks: OWNED,
        }),
        ..CARD
    }
);

/// Each member goes by the nodes that it knows itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Untelling {}

impl Variant for Untelling {
    const SHARES_NODES: bool = false;
}

/// A switchboard whose announcements carry no nodes.
pub type NodesUntold = Served<Switchboard<Untelling>, GroupEngine<Message>>;

catalogued!(
    Untelling,
    Card {
        name: "switchboard-untold",
        title: "A switchboard whose members do not tell each other of nodes",
        promises: &[],
        proved: &[],
        counterexamples: &[Counterexample {
            property: OWNED,
            scope: quiet(4, ADDED_IN_A_CUT),
            steps: 13,
            story: "p2 founds the pool and meets p3, of which p1 does not know. p3 takes a slot, and they part. Then \
                    p2 meets p1. p2 knows that p3 is missing, and does not say so. p1 counts two nodes of \
                    two and gives the absent slot out, to itself. It is p3's",
        }],
        mutant: Some(Mutant {
            of: "switchboard",
            change: "announcements carry no nodes: each member goes by those that it knows itself",
            breaks: OWNED,
        }),
        ..CARD
    }
);

/// A certificate of death names the dead node alone. A test drives it by hand: no engine for
/// explorers knows which nodes the registry has certified, so none keeps these dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BareCertificates {}

impl Variant for BareCertificates {
    fn certificate(dead: ProcessId, _: ProcessSet) -> Nodes {
        Nodes::certificate(dead, ProcessSet::EMPTY)
    }
}

/// Each life of the founder's node is taken for the founder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Refounding {}

impl Variant for Refounding {
    fn is_life_of_founder(_: u32, _: u32) -> bool {
        true
    }
}

/// A switchboard in which the founder's node founds a pool again when it starts again.
pub type FoundsAgain = Served<Switchboard<Refounding>, GroupEngine<Message>>;

catalogued!(
    Refounding,
    Card {
        name: "switchboard-founds-again",
        title: "A switchboard in which a founder founds again after a restart",
        promises: &[],
        proved: &[],
        counterexamples: &[Counterexample {
            property: OWNED,
            scope: quiet(3, FOUNDED),
            steps: 8,
            story: "p1 founds the pool, and p2 gets a slot. The node of p1 crashes and starts again. Its new life \
                    founds the pool once more and owns all slots, that of p2, too",
        }],
        mutant: Some(Mutant {
            of: "switchboard",
            change: "the next life of the founder's node founds the pool, too",
            breaks: OWNED,
        }),
        ..CARD
    }
);

/// Only the last change of views counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Forgetting {}

impl Variant for Forgetting {
    const REMEMBERS_PARTINGS: bool = false;
}

/// A switchboard that takes members for companions because they go from one view of the engine to
/// the next one together, although they parted before, since their services' last view.
pub type PartingsForgotten = Served<Switchboard<Forgetting>, GroupEngine<Message>>;

catalogued!(
    Forgetting,
    Card {
        name: "switchboard-partings-forgotten",
        title: "A switchboard that forgets who left a view apart",
        promises: &[],
        proved: &[],
        counterexamples: &[Counterexample {
            property: OWNED,
            scope: quiet(4, CUT_BETWEEN_VIEWS),
            steps: 15,
            story: "p1 founds the pool and offers a slot. They part: p2 has delivered its own take, p1 has not. They \
                    meet again, but before the pool enters that view p3 joins, and another view begins. \
                    p1 and p2 come into it together, so p1 takes p2 for a companion that has delivered \
                    the same. It takes back the slot that p2 has",
        }],
        mutant: Some(Mutant {
            of: "switchboard",
            change: "members whose services were in the same view last, and that come from the same view of \
                     the engine, are a part, although they parted in between",
            breaks: OWNED,
        }),
        ..CARD
    }
);
