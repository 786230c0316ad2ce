//! Lamport's clock without its second rule.

use crate::time::lamport::{LamportClock, Message};
use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Counterexample, Mutant, Rounds, Scope};
use synod_core::family::logical_time::{Input, LogicalTime, Output, T1, T2, T3};
use synod_core::{Algorithm, Cx, Never, ProcessId, Protocol, Setup, SetupError};

/// A process that counts its events, and does not listen to what others have counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LamportDeaf(LamportClock);

impl Protocol for LamportDeaf {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        let outputs = cx.below(|cx| self.0.on_input(input, cx));
        outputs.into_iter().for_each(|output| cx.output(output));
    }

    fn on_message(&mut self, from: ProcessId, _: Message, cx: &mut Cx<'_, Self>) {
        let outputs = cx.below(|cx| self.0.on_message(from, Message { time: 0 }, cx));
        outputs.into_iter().for_each(|output| cx.output(output));
    }
}

impl Algorithm for LamportDeaf {
    type Family = LogicalTime;

    const CARD: Card = Card {
        name: "lamport-deaf",
        aliases: &[],
        title: "Lamport's clock without a look at the times of messages",
        idea: "Count the own events, and nothing else.",
        promises: &[T1, T3],
        counterexamples: &[Counterexample {
            property: T2,
            scope: Scope { rounds: Rounds::Times(1), ..Scope::of(2) },
            steps: 2,
            story: "A message is the first event of its sender, and its arrival the first of its \
                    receiver: both have time 1.",
        }],
        mutant: Some(Mutant {
            of: "lamport-clock",
            change: "a message does not move the clock up to its time",
            breaks: T2,
        }),
        ..LamportClock::CARD
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(LamportClock::assemble(setup)?.into_iter().map(LamportDeaf).collect())
    }
}
