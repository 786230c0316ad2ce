//! Algorithms that survive crashes, with one precaution left out.

use crate::mutex::central_crash::{self, Successor};
use crate::mutex::ricart_agrawala::{self, RicartAgrawala};
use crate::mutex::ring_crash::{self, RepairedRing};
use crate::mutex::sanders;
use crate::mutex::watching::{AT_ONCE, BOUNDED, PERFECT, Survivor, Watching};
use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Counterexample, Mutant, Order, Rounds, Scope};
use synod_core::family::mutex::{Input, ME1, ME2, Output};
use synod_core::{Algorithm, Cx, Never, ProcessId, ProcessSet, Protocol, Setup, SetupError};

/// A new server that does not ask who has the key.
pub type CentralServerUnasked = Watching<Successor<false>>;
/// A ring whose new token does not make the old one void.
pub type TokenRingTwoTokens = Watching<RepairedRing<false>>;
/// A candidate that keeps the votes of a set that it no longer asks.
pub type SandersKeepsVotes = Watching<sanders::crash::Resilient<false>>;
/// A process that asks the dead again.
pub type AsksTheDead = Watching<Forgetful>;

/// Ricart and Agrawala's process, which counts the permission of a dead process as given when it
/// is taken for crashed, and never again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Forgetful {
    process: RicartAgrawala,
    noticed: ProcessSet,
}

impl Protocol for Forgetful {
    type Input = Input;
    type Output = Output;
    type Message = ricart_agrawala::Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        self.drive(cx, |process, cx| process.on_input(input, cx));
    }

    fn on_message(
        &mut self,
        from: ProcessId,
        message: ricart_agrawala::Message,
        cx: &mut Cx<'_, Self>,
    ) {
        self.drive(cx, |process, cx| process.on_message(from, message, cx));
    }
}

impl Forgetful {
    fn drive(
        &mut self,
        cx: &mut Cx<'_, Self>,
        step: impl FnOnce(&mut RicartAgrawala, &mut Cx<'_, RicartAgrawala>),
    ) {
        let timer = |never: Never| match never {};
        cx.through(
            None,
            |message| message,
            timer,
            |output| output,
            |cx| {
                step(&mut self.process, cx);
            },
        );
    }
}

impl Survivor for Forgetful {
    const CARD: Card = Card {
        name: "ra-asks-the-dead",
        aliases: &[],
        title: "Ricart and Agrawala's algorithm, where the dead are asked again",
        promises: &[ME1],
        variants: &[],
        proved: &[],
        costs: &[],
        counterexamples: &[Counterexample {
            property: ME2,
            scope: Scope { timing: BOUNDED, crashes: 1, set: PERFECT, ..Scope::of(2) },
            steps: 12,
            story: "p1 crashes and is noticed; then p0 asks, and waits for its permission for ever",
        }],
        mutant: Some(Mutant {
            of: "ricart-agrawala-crash",
            change: "the permission of a dead process counts as given for the request that waits \
                     when it is noticed, and for no later one",
            breaks: ME2,
        }),
        fails_with: "-n 3 --crashes 1 --param detector=perfect --latency 0ms..1ms",
        ..ricart_agrawala::crash::CARD
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let forgetful = |process| Forgetful { process, noticed: ProcessSet::EMPTY };
        let processes = <RicartAgrawala as Algorithm>::assemble(setup)?;
        Ok(processes.into_iter().map(forgetful).collect())
    }

    fn do_without(&mut self, dead: &ProcessSet, cx: &mut Cx<'_, Self>) {
        if self.noticed != *dead {
            self.noticed = dead.clone();
            self.drive(cx, |process, cx| process.do_without(dead, cx));
        }
    }
}

/// The card of [`CentralServerUnasked`].
pub(in crate::mutex) const UNASKED: Card = Card {
    name: "central-server-unasked",
    aliases: &[],
    title: "a central server whose successor does not ask",
    promises: &[],
    variants: &[],
    proved: &[],
    costs: &[],
    counterexamples: &[Counterexample {
        property: ME1,
        scope: Scope {
            order: Order::Fifo,
            timing: AT_ONCE,
            crashes: 1,
            set: PERFECT,
            ..Scope::of(3)
        },
        steps: 19,
        story: "p2 is inside when the server crashes; p1 takes over, does not know of it, and \
                lends the key to itself",
    }],
    mutant: Some(Mutant {
        of: "central-server-crash",
        change: "a new server does not ask who has the key and who waits for it; clients that \
                 wait ask it once more",
        breaks: ME1,
    }),
    fails_with: "-n 3 --crashes 1 --param detector=perfect --latency 0ms..1ms",
    ..central_crash::CARD
};

/// The card of [`TokenRingTwoTokens`].
pub(in crate::mutex) const TWO_TOKENS: Card = Card {
    name: "token-ring-two-tokens",
    aliases: &[],
    title: "a ring whose new token does not make the old one void",
    promises: &[],
    variants: &[],
    proved: &[],
    costs: &[],
    counterexamples: &[Counterexample {
        property: ME1,
        scope: Scope {
            rounds: Rounds::Times(2),
            timing: AT_ONCE,
            crashes: 1,
            set: &[("detector", "perfect"), ("askers", "p0 p1")],
            ..Scope::of(3)
        },
        steps: 24,
        story: "the token is on its way while p0 asks for it: no process has it, p0 makes a new \
                one, and both let a process in",
    }],
    mutant: Some(Mutant {
        of: "token-ring-crash",
        change: "a token of an old generation is accepted like any other",
        breaks: ME1,
    }),
    fails_with: "-n 5 --crashes 2 --requests 30 --load saturated --latency 0ms..1ms --param \
                 detector=perfect",
    ..ring_crash::CARD
};

/// The card of [`SandersKeepsVotes`].
pub(in crate::mutex) const KEEPS_VOTES: Card = Card {
    name: "sanders-keeps-votes",
    aliases: &[],
    title: "voting, where another set is asked and the votes of the first are kept",
    promises: &[ME1],
    variants: &[],
    proved: &[],
    costs: &[],
    counterexamples: &[Counterexample {
        property: ME2,
        scope: Scope {
            order: Order::Fifo,
            timing: AT_ONCE,
            crashes: 1,
            set: &[("detector", "perfect"), ("askers", "p0")],
            ..Scope::of(3)
        },
        steps: 24,
        story: "p0 has its own vote when p1, of its set, is taken for crashed; it asks p0 and p2 \
                anew, and waits for the vote that it gave to its first request",
    }],
    mutant: Some(Mutant {
        of: "maekawa-sanders-crash",
        change: "a candidate that asks another set does not take back its request to the first",
        breaks: ME2,
    }),
    fails_with: "-n 3 --crashes 1 --param detector=perfect --latency 0ms..1ms",
    ..sanders::crash::CARD
};
