//! Two ways to spoil [token passing](crate::mutex::token_passing).

use crate::mutex::token_passing::choice::{Choice, Queue, SuzukiKasami, TOKEN_PASSING};
use crate::mutex::token_passing::{Message, TokenPassing};
use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Counterexample, Mutant, Rounds, Scope, Source};
use synod_core::family::mutex::{Input, ME1, ME2, Mutex, Output};
use synod_core::{Algorithm, Cx, Never, ProcessId, ProcessSet, Protocol, Setup, SetupError};

const COURSE: Source = Source {
    author: "M. Ben-Ari",
    year: 2006,
    work: "Principles of Concurrent and Distributed Programming, 2nd ed., chapter 10",
};

/// The token goes to the waiting process with the smallest name.
pub type TokenUnfair = TokenPassing<LowestFirst>;

/// The choice of [`TokenUnfair`]: "some process that waits", taken literally.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LowestFirst;

impl Choice for LowestFirst {
    const CARD: Card = Card {
        name: "token-unfair",
        aliases: &["token-lowest-first"],
        title: "token passing to the waiting process with the smallest name",
        source: COURSE,
        promises: &[],
        counterexamples: &[Counterexample {
            property: ME2,
            scope: Scope { rounds: Rounds::Forever, ..Scope::of(3) },
            steps: 15,
            story: "p0 and p1 ask again and again, and whenever one leaves the other waits: the \
                    token never reaches p2",
        }],
        costs: &[],
        mutant: Some(Mutant {
            of: "ricart-agrawala-token",
            change: "the token goes to the waiting process with the smallest name",
            breaks: ME2,
        }),
        ..TOKEN_PASSING
    };

    fn next(&mut self, _me: ProcessId, waiting: &ProcessSet) -> Option<ProcessId> {
        waiting.first()
    }
}

/// A process that has the token already enters without noting that it is inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TokenInCsMisplaced {
    /// The right algorithm, which still believes that the process is idle.
    inner: SuzukiKasami,
    inside_unnoticed: bool,
}

impl Protocol for TokenInCsMisplaced {
    type Input = Input;
    type Output = Output;
    type Message = Message<Queue>;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            Input::Enter if self.inner.is_idle_with_token() => {
                self.inside_unnoticed = true;
                cx.output(Output::Entered);
            }
            // The process made no request that the token could record as granted, and no request
            // waits: the process gave the token to the first that arrived.
            Input::Exit if self.inside_unnoticed => self.inside_unnoticed = false,
            Input::Enter | Input::Exit => {
                self.inner_step(cx, |inner, cx| inner.on_input(input, cx));
            }
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message<Queue>, cx: &mut Cx<'_, Self>) {
        self.inner_step(cx, |inner, cx| inner.on_message(from, message, cx));
    }
}

impl TokenInCsMisplaced {
    fn inner_step(
        &mut self,
        cx: &mut Cx<'_, Self>,
        step: impl FnOnce(&mut SuzukiKasami, &mut Cx<'_, SuzukiKasami>),
    ) {
        for output in cx.below(|cx| step(&mut self.inner, cx)) {
            cx.output(output);
        }
    }
}

impl Algorithm for TokenInCsMisplaced {
    type Family = Mutex;

    const CARD: Card = Card {
        name: "token-in-cs-misplaced",
        aliases: &["token-in-cs"],
        title: "token passing that forgets to note an entry without a request",
        source: COURSE,
        promises: &[],
        counterexamples: &[Counterexample {
            property: ME1,
            scope: Scope::of(2),
            steps: 4,
            story: "p0 has the token and enters; p1's request arrives, p0 gives the token away \
                    from inside, and p1 enters too",
        }],
        costs: &[],
        layers: &["token-in-cs-misplaced", "suzuki-kasami"],
        mutant: Some(Mutant {
            of: "suzuki-kasami",
            change: "\"I am inside\" is noted only by a process that had to ask for the token",
            breaks: ME1,
        }),
        fails_with: "-n 2 --hold 20ms",
        ..TOKEN_PASSING
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let wrap = |inner| TokenInCsMisplaced { inner, inside_unnoticed: false };
        Ok(SuzukiKasami::assemble(setup)?.into_iter().map(wrap).collect())
    }
}
