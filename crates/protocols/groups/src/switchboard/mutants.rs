//! Switchboards with a wrong rule, which the explorer refutes.

use super::card::{CARD, catalogued};
use super::invariants::{self, Node, OWNED};
use super::proved::quiet;
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
