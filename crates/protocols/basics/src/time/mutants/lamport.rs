//! Lamport's clock without its second rule.

use crate::time::lamport::{LamportClock, Message};
use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Counterexample, Mutant, Scope};
use synod_core::family::logical_time::{Input, LogicalTime, Output, Stamp, T1, T2, T3};
use synod_core::{Algorithm, Cx, Never, ProcessId, Protocol, Setup, SetupError, Timestamp};

/// A process that counts its events, and ignores the counts in messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LamportDeaf {
    clock: u64,
}

impl Protocol for LamportDeaf {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        self.count_event(cx);
        if let Input::Send(to) = input {
            cx.send(to, Message { time: self.clock });
        }
    }

    fn on_message(&mut self, _from: ProcessId, _: Message, cx: &mut Cx<'_, Self>) {
        self.count_event(cx);
    }
}

impl LamportDeaf {
    fn count_event(&mut self, cx: &mut Cx<'_, Self>) {
        self.clock += 1;
        cx.output(Output::Stamped(Stamp::Lamport(Timestamp::new(self.clock, cx.me()))));
    }
}

impl Algorithm for LamportDeaf {
    type Family = LogicalTime;

    const CARD: Card = Card {
        name: "lamport-deaf",
        aliases: &[],
        title: "Lamport's clock without a look at the times of messages",
        idea: "Count the own events, and ignore the times in messages.",
        promises: &[T1, T3],
        counterexamples: &[Counterexample {
            property: T2,
            scope: Scope::of(2),
            steps: 2,
            story: "A message is the first event of its sender, and its arrival the first of its \
                    receiver: both have time 1.",
        }],
        parameters: &[],
        mutant: Some(Mutant {
            of: "lamport-clock",
            change: "a message does not move the clock up to its time",
            breaks: T2,
        }),
        ..LamportClock::CARD
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![LamportDeaf { clock: 0 }; setup.n])
    }
}
