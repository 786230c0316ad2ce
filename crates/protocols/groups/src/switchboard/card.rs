//! The switchboard in the catalogue: a service on a group engine is an algorithm.

use super::invariants::{self, Node};
use super::mutants::Variant;
use super::{Message, Switchboard};
use crate::group::GroupEngine;
use synod_core::card::{Crashes, Parameter, Tolerance};
use synod_core::family::Services;
use synod_core::family::services::{
    ADDED, FOUNDER, OPENED, OWN, POOLS, SAYS, SLOTS, STOCK, Tag, added, are_opened, definitions,
};
use synod_core::family::slots::{FENCE, PI1, PI2, PI4, PI15};
use synod_core::group::{Catalogued, Served};
use synod_core::{
    Card, Invariant, ProcessId, ProcessSet, Rule, Setup, SetupError, Snapshot, Source, Trigger,
};

/// The switchboard on any engine.
pub type SwitchboardAlgorithm = Served<Switchboard, GroupEngine<Message>>;

/// The parameters of the services; the engine adds its own.
const PARAMETERS: [Parameter; 7] = [POOLS, SLOTS, STOCK, SAYS, FOUNDER, OPENED, ADDED];

/// The switchboard at one node, as the parameters say.
pub(super) fn switchboard<V: Variant>(
    me: ProcessId,
    nodes: &ProcessSet,
    setup: &Setup,
) -> Result<Switchboard<V>, SetupError> {
    let (services, added) = (definitions(setup)?, added(setup)?);
    let nodes = nodes.iter().filter(|node| *node == me || !added.contains(*node)).collect();
    let mut board = Switchboard::new(nodes);
    if are_opened(setup)? {
        board.known = (0..).map(Tag).zip(services).collect();
    }
    Ok(board)
}

/// The facts that a switchboard and its mutants share.
macro_rules! catalogued {
    ($variant:ty, $card:expr) => {
        impl Catalogued<GroupEngine<Message>> for Switchboard<$variant> {
            type Family = Services;

            const CARD: Card = $card;

            fn has(&self) -> String {
                self.has_in_words()
            }

            fn service(
                me: ProcessId,
                nodes: &ProcessSet,
                setup: &Setup,
            ) -> Result<Self, SetupError> {
                crate::switchboard::card::switchboard(me, nodes, setup)
            }

            fn invariants() -> &'static [Invariant<Node<$variant>>] {
                Self::INVARIANTS
            }

            fn is_judged(invariant: &Invariant<Node<$variant>>, setup: &Setup) -> bool {
                invariants::is_judged(invariant.name, setup)
            }

            fn culprit(invariant: &str, snapshot: &Snapshot<'_, Node<$variant>>) -> Option<String> {
                invariants::culprit(invariant, snapshot)
            }
        }
    };
}
pub(super) use catalogued;

impl<V: Variant> Switchboard<V> {
    /// `#0 owns s0-s3, #1 owns s7`.
    pub(super) fn has_in_words(&self) -> String {
        let owned = self.lines.iter().filter_map(|(tag, line)| match line.pool().state().has() {
            has if has.is_empty() => None,
            has => Some(format!("{tag} {has}")),
        });
        owned.collect::<Vec<_>>().join(", ")
    }
}

catalogued!(super::mutants::Sound, CARD);

pub(super) const CARD: Card = Card {
    name: "switchboard",
    title: "Many pools and groups on one group engine",
    source: Source {
        author: "K. Guo, L. Rodrigues",
        year: 1997,
        work: "Dynamic light-weight groups, ICDCS 1997",
    },
    idea: "One engine serves many services. Multicasts bear a tag; when a view begins, members announce \
           which services they have, and then each service enters the view with those that have it.",
    // A member hears of views and deliveries by messages of the abstract engine that are named
    // after them, and by `Ready`, `Commit`, `Data` and `Grant` of the embedded one.
    rules: &[
        Rule::on(
            &[
                Trigger::Input("Open"),
                Trigger::Input("Close"),
                Trigger::Message("Open"),
                Trigger::Message("Close"),
                Trigger::Message("Data"),
                Trigger::Message("Grant"),
            ],
            "the registry tells of a service, or that it is deleted: multicast it; at its delivery \
             all members open or close the service",
        ),
        Rule::on(
            &[
                Trigger::Message("View"),
                Trigger::Message("Transitional"),
                Trigger::Message("Ready"),
                Trigger::Message("Commit"),
            ],
            "a view begins: multicast an announcement of the known services and nodes",
        ),
        Rule::on(
            &[Trigger::Message("Announce"), Trigger::Message("Data"), Trigger::Message("Grant")],
            "all members of the view have announced: open the services that some member knows; all \
             services enter the view",
        ),
        Rule::on(
            &[
                Trigger::Input("Pool"),
                Trigger::Message("Offer"),
                Trigger::Message("Take"),
                Trigger::Message("PutStatus"),
                Trigger::Message("MergeStatus"),
                Trigger::Message("Bootstrap"),
                Trigger::Message("Hand"),
                Trigger::Message("Data"),
                Trigger::Message("Grant"),
                Trigger::Timer("Timer"),
            ],
            "a request, a multicast or a timer of a pool: connect it with the pool of that tag, by \
             whose rules it goes on; a multicast only in the view in which it was sent",
        ),
        Rule::on(
            &[
                Trigger::Input("Cast"),
                Trigger::Message("Cast"),
                Trigger::Message("Data"),
                Trigger::Message("Grant"),
            ],
            "a message of a group: multicast it; at its delivery every member of the group hears it",
        ),
        Rule::on(
            &[Trigger::Input("Nodes"), Trigger::Message("Announce"), Trigger::Message("View")],
            "the registry tells of nodes, or a view has them, or an announcement names them: from \
             the next view on absent slots return only when these are accounted for, too",
        ),
        Rule::on(
            &[Trigger::Input("Forget"), Trigger::Message("Forget")],
            "the registry certifies that a node is dead: multicast it with all nodes that the \
             registry knows; at its delivery the node is accounted for in all pools",
        ),
        Rule::on(
            &[Trigger::Message("Announce"), Trigger::Message("Open")],
            "the founder of a pool enters its first view of it: it owns all slots",
        ),
        Rule::on(
            &[Trigger::Input("Leave"), Trigger::Message("Hand"), Trigger::Message("Lost")],
            "leave: each pool hands its slots over first; out of the group: all pools begin anew",
        ),
    ],
    assumes: &[
        "a group engine that keeps the contract of extended virtual synchrony; agreed delivery \
         suffices",
        "a tag names one service for ever, with one definition",
        "a node is in a view only with nodes that it has on its disk",
        "a node that the registry certifies dead meets no other node afterwards",
        "the founder of a pool is a life that runs when the registry records the pool",
    ],
    tolerates: Tolerance {
        crashes: Crashes::AllButOne,
        loss: true,
        duplication: true,
        ..Tolerance::NOTHING
    },
    promises: &[PI1, PI2, PI4, PI15, FENCE, OWN],
    usual: Some(0),
    proved: super::proved::PROVED,
    parameters: &PARAMETERS,
    layers: &["switchboard", "slots", "group"],
    smallest: 2,
    restless: true,
    ..Card::BLANK
};
