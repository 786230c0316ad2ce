//! PBFT in the catalogue.

use super::message::Message;
use super::settings::{PARAMETERS as OWN, from_setup};
use super::{Pbft, Rules, Sound};
use synod_agreement::seal::{SEAL, Sealer};
use synod_core::byzantine::{ADVERSARY, LIES, SCRIPT, TRAITORS};
use synod_core::card::{
    Bounds, Card, Cost, Counterexample, Crashes, Load, Order, OtherCosts, Parameter, Quantity,
    Scope, Settings as Set, Size, Source, Tolerance,
};
use synod_core::family::consensus::Value;
use synod_core::family::replication::{
    ANSWERED, ASKERS, CLIENTS, KEYS, LINEARIZABLE, ONCE, ONE_LEADER, OPERATIONS, PATIENCE,
    SAME_LOG, TRIES,
};
use synod_core::replication::{Catalogued, KeyValue, Operation, Sessions, Store};
use synod_core::{ProcessId, Rule, Setup, SetupError, Trigger};

/// A replica below the key-value store, with rules `R`.
pub type Replica<R> = Pbft<Operation, Sessions<Store>, R>;

pub(super) const SOURCE: Source = Source {
    author: "M. Castro, B. Liskov",
    year: 1999,
    work: "Practical Byzantine fault tolerance. OSDI",
};

pub(super) const PARAMETERS: &[Parameter] = &[
    OWN[0], OWN[1], OWN[2], OWN[3], OWN[4], OWN[5], OWN[6], OWN[7], OWN[8], OWN[9], OWN[10], SEAL,
    ASKERS, CLIENTS, KEYS, OPERATIONS, PATIENCE, TRIES, TRAITORS, ADVERSARY, LIES, SCRIPT,
];

pub(super) const TOLERATES: Tolerance = Tolerance {
    crashes: Crashes::Third,
    recovery: true,
    loss: true,
    duplication: true,
    ..Tolerance::NOTHING
};

/// One request of a client outside.
pub(super) const fn small(n: usize, set: Set) -> Scope {
    Scope { order: Order::Fifo, set, ..Scope::of(n) }
}

impl Catalogued for Replica<Sound> {
    const CARD: Card = Card {
        name: "pbft",
        title: "PBFT",
        source: SOURCE,
        idea: "The primary of a view numbers the requests; all say to all that they accept a number, and \
               all say to all that a quorum does. Any two quorums have a loyal replica in common, so no two \
               requests get the same number; and what was committed is known to whoever begins the next \
               view.",
        rules: &[
            Rule::on(
                &[
                    Trigger::Input("Operation"),
                    Trigger::Timer("AskAgain"),
                    Trigger::Message("Reply"),
                    Trigger::Message("View"),
                ],
                "client: sign the request, send it to the primary; after a while to all; believe \
                 what f + 1 replicas answer alike",
            ),
            Rule::on_message(
                "Request",
                "primary: give the requests that wait the next number (pre-prepare)",
            ),
            Rule::on_message(
                "PrePrepare",
                "backup: accept one proposal for a number in a view, if all signatures are right \
                 (prepare)",
            ),
            Rule::on(
                &[Trigger::Message("PrePrepare"), Trigger::Message("Prepare")],
                "a proposal and the prepares of a quorum: say so to all (commit)",
            ),
            Rule::on_message(
                "Commit",
                "the commits of a quorum: execute, in the order of numbers, and answer the client",
            ),
            Rule::on(
                &[Trigger::Message("Commit"), Trigger::Message("Checkpoint")],
                "every so many numbers: sign the state (checkpoint); what a quorum signed is \
                 stable, and the log before it is forgotten",
            ),
            Rule::on(
                &[Trigger::Timer("Suspect"), Trigger::Message("ViewChange")],
                "a request takes too long: leave the view, with proofs of all that is prepared \
                 (view change)",
            ),
            Rule::on(
                &[Trigger::Message("ViewChange"), Trigger::Message("NewView")],
                "primary of a view that a quorum wants: propose again what is prepared, nothing in \
                 the gaps (new view); all check it",
            ),
            Rule::on(
                &[Trigger::Timer("Resend"), Trigger::Message("Status"), Trigger::Message("State")],
                "something is missing: say how far you are (status), and be told again",
            ),
        ],
        assumes: &[
            "fewer than a third of the replicas are traitors, or crash for good; the others may start \
             again with their disks",
            "nobody signs for another",
            "messages may be lost, doubled, late and out of order",
            "for answers: messages among loyal replicas are not late for ever",
        ],
        tolerates: TOLERATES,
        promises: &[ONE_LEADER, SAME_LOG, ONCE, LINEARIZABLE, ANSWERED],
        usual: Some(2),
        proved: &[
            small(
                5,
                &[
                    ("replicas", "4"),
                    ("views", "0"),
                    ("resend", "0"),
                    ("tries", "0"),
                    ("operations", "put"),
                    ("traitors", "p3"),
                ],
            ),
            small(
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
            // The primary says nothing: the next one takes over.
            small(
                5,
                &[
                    ("replicas", "4"),
                    ("views", "1"),
                    ("resend", "0"),
                    ("tries", "1"),
                    ("operations", "put"),
                    ("traitors", "p0"),
                ],
            ),
        ],
        counterexamples: &[Counterexample {
            property: SAME_LOG,
            scope: small(
                4,
                &[
                    ("replicas", "3"),
                    ("faulty", "1"),
                    ("unsafe", "yes"),
                    ("views", "0"),
                    ("resend", "0"),
                    ("tries", "0"),
                    ("operations", "put"),
                    ("traitors", "p0"),
                    ("adversary", "equivocating"),
                ],
            ),
            steps: 13,
            story: "Three replicas, of which one may be a traitor: a quorum is two, and two quorums may \
                    have only the traitor in common. The primary proposes the request to p1, and nothing \
                    to p2. Each of them and the primary are a quorum, so p1 executes the one and p2 the \
                    other.",
        }],
        costs: &[
            Cost {
                name: "pre-prepares per request",
                quantity: Quantity::KindPerOperation("PrePrepare"),
                load: Load::Sequential,
                formula: "N - 1",
                expected: |size| Bounds::exactly(size.n - 1),
            },
            Cost {
                name: "prepares per request",
                quantity: Quantity::KindPerOperation("Prepare"),
                load: Load::Sequential,
                formula: "(N - 1)^2",
                expected: |size| Bounds::exactly((size.n - 1) * (size.n - 1)),
            },
            Cost {
                name: "commits per request",
                quantity: Quantity::KindPerOperation("Commit"),
                load: Load::Sequential,
                formula: "N(N - 1)",
                expected: |size| Bounds::exactly(size.n * (size.n - 1)),
            },
        ],
        other_costs: &[OtherCosts::over_multicast(&[
            Cost {
                name: "pre-prepares per request",
                quantity: Quantity::KindPerOperation("PrePrepare"),
                load: Load::Sequential,
                formula: "1",
                expected: |size| Bounds::exactly(size.n.min(2) - 1),
            },
            Cost {
                name: "prepares per request",
                quantity: Quantity::KindPerOperation("Prepare"),
                load: Load::Sequential,
                formula: "N - 1",
                expected: |size| Bounds::exactly(size.n - 1),
            },
            Cost {
                name: "commits per request",
                quantity: Quantity::KindPerOperation("Commit"),
                load: Load::Sequential,
                formula: "N",
                expected: |size| Bounds::exactly(if size.n == 1 { 0 } else { size.n }),
            },
        ])],
        parameters: PARAMETERS,
        layers: &["key-value store", "pbft"],
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

    /// They are about clients that are at the replicas.
    fn has_costs(setup: &Setup) -> bool {
        setup.text("replicas").is_none()
    }

    fn size(processes: &[KeyValue<Self>]) -> Size {
        processes.first().map_or(Size { n: 0, k: 0 }, |first| first.process().engine().replicas())
    }
}

/// Processes with some rules, as the parameters say.
pub(super) fn group<R: Rules>(setup: &Setup) -> Result<Vec<Replica<R>>, SetupError> {
    let (settings, limits) = from_setup(setup)?;
    let sealers = Sealer::keyed(setup, setup.number("secret", 0)?)?;
    let replica = |sealer| Pbft::limited(settings, limits, sealer);
    Ok(sealers.into_iter().map(replica).collect())
}

impl<R: Rules> Replica<R> {
    /// Clients are outside the group, if there are processes outside.
    pub(super) fn has_clients(&self, me: ProcessId) -> bool {
        !self.settings.is_replica(me) || !self.limits.outsiders
    }

    pub(super) fn replicas(&self) -> Size {
        Size { n: self.settings.replicas, k: self.settings.replicas }
    }
}
