//! Pools with a wrong rule, which the explorer refutes.

use super::invariants::{self, Pooled};
use super::message::Message;
use super::refuted::quiet;
use super::settings::Death;
use super::{Slots, SlotsAlgorithm, Timer};
use crate::group;
use serde::{Deserialize, Serialize};
use std::convert::identity;
use synod_core::card::{Card, Counterexample, Mutant};
use synod_core::family::Allocation;
use synod_core::family::slots::{Input, Output};
use synod_core::group::{Engine, ServedTimer};
use synod_core::{
    Algorithm, Cx, Invariant, Kit, ProcessId, Protocol, Reductions, Setup, SetupError, Snapshot,
};

/// A pool that violates step 7 of the argument: after the certain death of one life, it counts the
/// node as accounted for, although other members were elsewhere and may have met the node's next
/// life.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeathOfALife(SlotsAlgorithm);

impl DeathOfALife {
    /// Mutates one member.
    pub fn mutate(mut member: Slots) -> Slots {
        member.state.settings.death = Death::OfItsNode;
        member
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

impl Protocol for DeathOfALife {
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

impl Pooled for DeathOfALife {
    fn pooled(&self) -> &SlotsAlgorithm {
        &self.0
    }
}

impl Algorithm for DeathOfALife {
    type Family = Allocation;

    const CARD: Card = Card {
        name: "slots-death-of-a-life",
        aliases: &[],
        title: "SLOTS that takes the death of a life for the death of its node",
        variants: &[],
        proved: &[],
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

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let processes = SlotsAlgorithm::assemble(setup)?;
        let mutate = |process: SlotsAlgorithm| {
            DeathOfALife(SlotsAlgorithm { service: Self::mutate(process.service), ..process })
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
