//! Logical clocks (Lamport, 1978).
//!
//! A process counts its events, and every message carries the count of its sender. A receiver moves
//! its own clock past that count. So time grows along every chain of events and messages: if `a`
//! happened before `b`, then C(a) < C(b).
//!
//! Two orders must not be confused. *Comparing times* ([`Timestamp::clock_lt`]) leaves many events
//! unordered. The *total order* ([`Timestamp::total_lt`]) breaks ties by the name of the process;
//! it decides between any two events, but for concurrent ones the decision means nothing.
//!
//! - Assumes: names are unique and ordered. Links may lose messages, and processes may crash.
//! - Guarantees: T1, T2, T3. Not T4: C(a) < C(b) says only that `b` did not happen before `a`. A
//!   vector clock says more.
//! - Cost: no messages of its own; one number on each message.
//! - State: one number.
//!
//! Source: L. Lamport: Time, clocks, and the ordering of events in a distributed system.
//! CACM 21(7), 1978.

use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Counterexample, Parameter, Rounds, Scope, Source};
use synod_core::family::logical_time::{Input, LogicalTime, Output, Stamp, T1, T2, T3, T4};
use synod_core::{
    Algorithm, Cx, Never, ProcessId, Protocol, Rule, Setup, SetupError, Timestamp, Trigger, Wire,
};

/// A message of the application, with the time of its sending.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Message {
    /// The sender's clock, the sending included.
    pub time: u64,
}

impl Wire for Message {}

/// One process with a logical clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LamportClock {
    clock: u64,
}

impl Protocol for LamportClock {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        self.advance();
        self.stamp_event(cx);
        if let Input::Send(to) = input {
            cx.send(to, Message { time: self.clock });
        }
    }

    fn on_message(&mut self, _from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        self.witness(message.time);
        self.stamp_event(cx);
    }
}

impl LamportClock {
    /// Every event advances the clock. The addition saturates because a forged message may carry
    /// the largest number: the clock then stops, but does not begin again at 0.
    fn advance(&mut self) {
        self.clock = self.clock.saturating_add(1);
    }

    fn stamp_event(&self, cx: &mut Cx<'_, Self>) {
        cx.output(Output::Stamped(Stamp::Lamport(Timestamp::new(self.clock, cx.me()))));
    }
}

impl Algorithm for LamportClock {
    type Family = LogicalTime;

    const CARD: Card = Card {
        name: "lamport-clock",
        aliases: &["lamport"],
        title: "Lamport's logical clock",
        source: Source {
            author: "L. Lamport",
            year: 1978,
            work: "Time, clocks, and the ordering of events in a distributed system, CACM 21(7)",
        },
        idea: "Count events, and never be behind a message that has arrived.",
        rules: &[
            Rule::on(
                &[Trigger::Input("Act"), Trigger::Input("Send"), Trigger::Message("Message")],
                "before every event: advance the clock by one; this is the event's time",
            ),
            Rule::on_input("Send", "on sending: the message carries the time of the event"),
            Rule::on_message(
                "Message",
                "on a message: first move the clock up to its time; then it is an event as any \
                 other",
            ),
        ],
        assumes: &["names of processes are unique and ordered"],
        promises: &[T1, T2, T3],
        counterexamples: &[Counterexample {
            property: T4,
            scope: Scope { rounds: Rounds::Times(2), ..Scope::of(2) },
            steps: 3,
            story: "One process acts once and another acts twice. The first event has time 1 and \
                    the last has time 2, but neither process knows of the other.",
        }],
        parameters: &[Parameter {
            name: "clocks",
            meaning: "the logical clock of each process at the start, e.g. 0 4 6 (default: all 0)",
        }],
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let clocks = setup.number_each("clocks")?.unwrap_or_else(|| vec![0; setup.n]);
        Ok(clocks.into_iter().map(|clock| LamportClock { clock }).collect())
    }

    fn stamp(&mut self) -> u64 {
        self.advance();
        self.clock
    }

    fn witness(&mut self, stamp: u64) {
        self.clock = self.clock.max(stamp);
        self.advance();
    }
}
