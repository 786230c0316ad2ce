//! How the holder chooses the next holder: two fair ways, and the two algorithms that use them.

use super::TokenPassing;
use crate::mutex::cost;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::card::{Bounds, Card, Counterexample, Scope, Source};
use synod_core::family::mutex::{ME1, ME2, ME3};
use synod_core::{Data, ProcessId, ProcessSet, Rule, Trigger};

/// Suzuki and Kasami's algorithm: a queue in the token.
pub type SuzukiKasami = TokenPassing<Queue>;
/// Ricart and Agrawala's algorithm: the token goes round among the waiting processes.
pub type RicartAgrawalaToken = TokenPassing<Rotation>;

/// The rule by which a holder chooses the next. Its state travels with the token.
pub trait Choice: Data + Default {
    /// The card of the algorithm that chooses in this way.
    const CARD: Card;

    /// The process that `me` gives the token to, one of those that it knows to be `waiting`.
    fn next(&mut self, me: ProcessId, waiting: &ProcessSet) -> Option<ProcessId>;

    /// Whether this state fits a group of `n`. A token comes from the network, so its receiver
    /// checks it.
    fn fits(&self, _n: usize) -> bool {
        true
    }
}

/// First come, first served: a holder queues each waiting process once, behind the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Queue(VecDeque<ProcessId>);

impl Choice for Queue {
    const CARD: Card = Card {
        name: "suzuki-kasami",
        aliases: &["sk", "token-queue"],
        title: "Suzuki and Kasami's mutual exclusion by token passing",
        source: Source {
            author: "I. Suzuki, T. Kasami",
            year: 1985,
            work: "A distributed mutual exclusion algorithm, TOCS 3(4)",
        },
        rules: &[
            ENTER,
            REQUEST,
            TOKEN,
            EXIT,
            Rule::on(
                &[Trigger::Message("Request"), Trigger::Input("Exit")],
                "to send it on: queue in it all processes found waiting; it goes to the first in \
                 the queue",
            ),
        ],
        ..TOKEN_PASSING
    };

    fn next(&mut self, _me: ProcessId, waiting: &ProcessSet) -> Option<ProcessId> {
        for process in waiting.iter() {
            if !self.0.contains(&process) {
                self.0.push_back(process);
            }
        }
        self.0.pop_front()
    }

    fn fits(&self, n: usize) -> bool {
        self.0.iter().all(|process| process.index() < n)
    }
}

/// The next by name, and after the last the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rotation;

impl Choice for Rotation {
    const CARD: Card = Card {
        name: "ricart-agrawala-token",
        aliases: &["ra-token", "token-passing"],
        title: "Ricart and Agrawala's mutual exclusion by token passing",
        source: Source {
            author: "G. Ricart, A. Agrawala",
            year: 1983,
            work: "Author's response to \"On mutual exclusion in computer networks\", CACM 26(2)",
        },
        rules: &[
            ENTER,
            REQUEST,
            TOKEN,
            EXIT,
            Rule::on(
                &[Trigger::Message("Request"), Trigger::Input("Exit")],
                "to send it on: it goes to the next process that waits, by name, starting after \
                 ourselves",
            ),
        ],
        ..TOKEN_PASSING
    };

    fn next(&mut self, me: ProcessId, waiting: &ProcessSet) -> Option<ProcessId> {
        waiting.iter().find(|&process| process > me).or_else(|| waiting.first())
    }
}

const ENTER: Rule = Rule::on_input(
    "Enter",
    "enter: if the token is here, we are inside; else number the request, ask all others, wait",
);
const REQUEST: Rule = Rule::on_message(
    "Request",
    "on a request: remember the largest number; if the token is idle here, send it on",
);
const TOKEN: Rule = Rule::on_message("Token", "on the token: we are inside");
const EXIT: Rule = Rule::on_input(
    "Exit",
    "exit: write into the token that our request was granted, and send it on",
);

/// The part of the card that all ways to choose share.
pub(in crate::mutex) const TOKEN_PASSING: Card = Card {
    idea: "A process that has the token enters freely; another asks all processes for it, and the \
           holder sends it straight on.",
    assumes: &["reliable links, in any order", "no process crashes"],
    promises: &[ME1, ME2],
    counterexamples: &[Counterexample {
        property: ME3,
        scope: Scope::of(3),
        steps: 5,
        story: "p1 asks; its request reaches p2, which asks too; p2's request reaches the holder \
                p0 first",
    }],
    costs: &[
        cost::per_entry("0 or N", |size| Bounds::between(0, size.n)),
        cost::entry_messages("0 or N", |size| Bounds::between(0, size.n)),
        cost::entry_hops("0 or 2", |_| Bounds::between(0, 2)),
        cost::relay_hops("1", |_| Bounds::exactly(1)),
    ],
    ..Card::BLANK
};
