//! Pools with a wrong rule, which the explorer refutes.

use super::invariants::{self, Pooled};
use super::message::Message;
use super::proved::{HUNGER, TURNS, WAITING};
use super::refuted::{busy, quiet};
use super::settings::{Death, Surplus, Unreachable, Waiting};
use super::{Slots, SlotsAlgorithm, Timer};
use crate::group;
use serde::{Deserialize, Serialize};
use std::convert::identity;
use std::marker::PhantomData;
use synod_core::card::{Card, Counterexample, Mutant, Rounds, Scope, Settings};
use synod_core::family::Allocation;
use synod_core::family::slots::{Input, Output, PI1, PI4, TURN};
use synod_core::group::{Engine, ServedTimer};
use synod_core::{
    Algorithm, Cx, Data, Invariant, Kit, ProcessId, Protocol, Reductions, Setup, SetupError,
    Snapshot,
};

/// One wrong rule.
pub trait Mutation: Data {
    /// The card of the pool with it.
    const CARD: Card;

    /// Gives one member the wrong rule.
    fn mutate(member: Slots) -> Slots;
}

/// A pool with one wrong rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mutated<M>(SlotsAlgorithm, PhantomData<M>);

/// See [`NodeIsDead`].
pub type DeathOfALife = Mutated<NodeIsDead>;
/// See [`KeepsItsSurplus`].
pub type Hoarding = Mutated<KeepsItsSurplus>;
/// See [`ForgetsItsQueue`].
pub type Forgetful = Mutated<ForgetsItsQueue>;
/// See [`ServesTheLast`].
pub type LastComeFirst = Mutated<ServesTheLast>;
/// See [`TakesAll`].
pub type Optimistic = Mutated<TakesAll>;

impl<M: Mutation> Mutated<M> {
    /// Gives one member the wrong rule.
    pub fn mutate(member: Slots) -> Slots {
        M::mutate(member)
    }

    /// Runs a step of the original pool.
    fn step(
        &mut self,
        cx: &mut Cx<'_, Self>,
        step: impl FnOnce(&mut SlotsAlgorithm, &mut Cx<'_, SlotsAlgorithm>),
    ) {
        cx.through(None, identity, identity, identity, |cx| step(&mut self.0, cx));
    }
}

/// A wrong rule that violates step 7 of the argument: after the certain death of one life, the node
/// counts as accounted for, although other members were elsewhere and may have met the node's next
/// life.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeIsDead;

impl Mutation for NodeIsDead {
    fn mutate(mut member: Slots) -> Slots {
        member.state.settings.death = Death::OfItsNode;
        member
    }

    const CARD: Card = Card {
        name: "slots-death-of-a-life",
        aliases: &[],
        title: "SLOTS that takes the death of a life for the death of its node",
        variants: &[],
        proved: &[],
        larger: &[],
        promises: &[],
        counterexamples: &[Counterexample {
            property: "pi1-owned",
            scope: quiet(
                4,
                &[
                    ("engine", "abstract"),
                    ("rules", "offers"),
                    ("slots", "2"),
                    ("low", "1"),
                    ("stock", "1"),
                    ("owned", "p1:2"),
                    ("partitions", "2"),
                    ("deaths", "1"),
                    ("node-crashes", "1"),
                    ("restarts", "2"),
                    ("passing", "lazy"),
                    ("across", "no"),
                ],
            ),
            steps: 10,
            story: "p1 owns both slots and is cut off from p2 and p3. p2's process dies, and p3 is told so \
                    for certain. p2 starts again on p1's side, and p1 gives its second life a slot; then \
                    that one is alone. p1's node crashes, starts again, and meets p3. p3 counts: p1 is here, \
                    new, and owns nothing; p2 is dead; so nobody else can have anything. p3 takes both \
                    slots, and p2's second life owns one of them.",
        }],
        mutant: Some(Mutant {
            of: "slots",
            change: "a node is accounted for by the certain death of one of its lives, although other members \
                     were elsewhere and may have met its next life",
            breaks: "pi1-owned",
        }),
        ..SlotsAlgorithm::CARD
    };
}

/// A wrong rule that violates π5: a member keeps more free slots than it needs, up to its usual
/// bound, although another member has asked again in vain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KeepsItsSurplus;

impl Mutation for KeepsItsSurplus {
    fn mutate(mut member: Slots) -> Slots {
        member.state.settings.surplus = Surplus::Kept;
        member
    }

    const CARD: Card = Card {
        name: "slots-hoarding",
        aliases: &[],
        title: "SLOTS in which idle members keep what another one needs",
        variants: &[],
        proved: &[],
        larger: &[],
        promises: &[],
        counterexamples: &[Counterexample {
            property: "pi5",
            scope: Scope { rounds: Rounds::Times(3), ..busy(3, HUNGER) },
            steps: 5,
            story: "p1 uses its only slot, asks for slots, and waits. p2 has three free slots and no claims, \
                    and keeps all three. Two claims of p1 are refused, and it asks again. p2 still keeps all \
                    three, so p1 would never get one.",
        }],
        mutant: Some(Mutant {
            of: "slots",
            change: "a member keeps its usual number of free slots, even if another member has asked \
                     again in vain",
            breaks: "pi5",
        }),
        ..SlotsAlgorithm::CARD
    };
}

/// A wrong rule that violates π4: with the cycles and the wishes of the last view, a new view also
/// ends the wait of claims, and no answer comes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ForgetsItsQueue;

impl Mutation for ForgetsItsQueue {
    fn mutate(mut member: Slots) -> Slots {
        member.state.settings.waiting = Waiting::Forgotten;
        member
    }

    const CARD: Card = Card {
        name: "slots-forgetful",
        aliases: &[],
        title: "SLOTS in which a view makes members forget the claims that wait",
        variants: &[],
        proved: &[],
        promises: &[],
        counterexamples: &[Counterexample {
            property: PI4,
            scope: busy(3, WAITING[1]),
            steps: 9,
            story: "p2 has no slot, and its application claims one and waits. The network falls apart. \
                    With the new view p2 forgets all that was under way in the old one, the claim, too. \
                    Neither the end of its time nor a cancellation brings an answer: the application \
                    waits for ever.",
        }],
        mutant: Some(Mutant {
            of: "slots",
            change: "a new view ends the wait of claims, like that of requests and wishes",
            breaks: PI4,
        }),
        fails_with: "-n 4 --requests 40 --partitions 2 --param slots=4 --param wait=300",
        ..SlotsAlgorithm::CARD
    };
}

/// A wrong rule that violates `turn`: the claim that came last is served first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ServesTheLast;

impl Mutation for ServesTheLast {
    fn mutate(mut member: Slots) -> Slots {
        member.state.settings.waiting = Waiting::LastFirst;
        member
    }

    const CARD: Card = Card {
        name: "slots-last-come-first",
        aliases: &[],
        title: "SLOTS in which the claim that came last is served first",
        variants: &[],
        proved: &[],
        promises: &[],
        counterexamples: &[Counterexample {
            property: TURN,
            scope: Scope { rounds: Rounds::Times(3), ..busy(2, TURNS) },
            steps: 4,
            story: "p1 uses its only slot, and two of its claims wait. It gives the slot back, and the \
                    second of them gets it. The first would wait until no other claim comes.",
        }],
        mutant: Some(Mutant {
            of: "slots",
            change: "a claim that begins to wait goes to the front of the queue",
            breaks: TURN,
        }),
        fails_with: "-n 3 --requests 60 --param slots=2 --param wait=500",
        ..SlotsAlgorithm::CARD
    };
}

/// Option A of the source, which it rejects: each side of a partition takes the members of the
/// other sides for dead, and uses their slots. It violates step 4 of the argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TakesAll;

impl Mutation for TakesAll {
    fn mutate(mut member: Slots) -> Slots {
        member.state.settings.unreachable = Unreachable::Inherited;
        member
    }

    const CARD: Card = Card {
        name: "slots-optimistic",
        aliases: &[],
        title: "SLOTS that is optimistic about partitions: each side takes all slots",
        variants: &[],
        proved: &[],
        promises: &[],
        counterexamples: &[
            Counterexample {
                property: "pi1-owned",
                scope: quiet(3, APART),
                steps: 2,
                story: "p1 and p2 own a slot each, and the network falls apart. A member that cannot reach the \
                        other takes it for dead, and owns both slots. But the other is alive, and owns one.",
            },
            Counterexample {
                property: PI1,
                scope: busy(3, APART),
                steps: 4,
                story: "The same, and the applications claim: p1 uses its slot, and p2, who now owns it, \
                        too, uses it as well. When the network is mended, nobody can tell whose it is.",
            },
        ],
        mutant: Some(Mutant {
            of: "slots",
            change: "the slots of members that cannot be reached go to the primary of each side (option A \
                     of the source), instead of being absent (option B)",
            breaks: "pi1-owned",
        }),
        fails_with: "-n 4 --requests 40 --partitions 2",
        ..SlotsAlgorithm::CARD
    };
}

/// Two members with a slot each, and a network that falls apart once.
const APART: Settings = &[
    ("engine", "abstract"),
    ("rules", "offers"),
    ("slots", "2"),
    ("stock", "1"),
    ("owned", "p1:1 p2:1"),
    ("partitions", "1"),
    ("late", "no"),
    ("passing", "once"),
];

impl<M: Mutation> Protocol for Mutated<M> {
    type Input = Input;
    type Output = Output;
    type Message = group::Message<Message>;
    type Timer = ServedTimer<Timer, group::Timer>;

    const REDUCTIONS: Reductions<Self> = Reductions {
        is_urgent: SlotsAlgorithm::REDUCTIONS.is_urgent,
        is_fault: SlotsAlgorithm::REDUCTIONS.is_fault,
        faults_left: Some(|pool| SlotsAlgorithm::REDUCTIONS.faults_left(&pool.0)),
        thorough: SlotsAlgorithm::REDUCTIONS.thorough,
        ..Reductions::NONE
    };

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.step(cx, |pool, cx| pool.on_start(cx));
    }

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        self.step(cx, |pool, cx| pool.on_input(input, cx));
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        self.step(cx, |pool, cx| pool.on_message(from, message, cx));
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        self.step(cx, |pool, cx| pool.on_timer(timer, cx));
    }
}

impl<M: Mutation> Pooled for Mutated<M> {
    fn pooled(&self) -> &SlotsAlgorithm {
        &self.0
    }
}

impl<M: Mutation> Algorithm for Mutated<M> {
    type Family = Allocation;

    // A wrong rule is no reason to measure the costs once more.
    const CARD: Card = Card { other_costs: &[], ..M::CARD };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let processes = SlotsAlgorithm::assemble(setup)?;
        let mutate = |process: SlotsAlgorithm| {
            Mutated(SlotsAlgorithm { service: M::mutate(process.service), ..process }, PhantomData)
        };
        Ok(processes.into_iter().map(mutate).collect())
    }

    fn kit(setup: &Setup) -> Kit<Self> {
        let judged = |invariant: &&Invariant<Self>| invariants::is_judged(invariant.name, setup);
        let invariants = Self::INVARIANTS.iter().filter(judged).copied().collect();
        Kit { invariants, ..Kit::whole() }
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        self.0.takes_part(me)
    }

    fn is_restless(processes: &[Self]) -> bool {
        processes.iter().any(|process| Engine::is_restless(&process.0.engine))
    }

    fn invariants() -> &'static [Invariant<Self>] {
        Self::INVARIANTS
    }

    fn culprit(invariant: &str, snapshot: &Snapshot<'_, Self>) -> Option<String> {
        invariants::culprit(invariant, snapshot)
    }
}
