//! Cristian's method, spoilt by a formula that is easily misread, and by a client that believes an
//! answer from any process.

use crate::time::cristian::{Cristian, Message};
use serde::{Deserialize, Serialize};
use synod_core::card::{Card, Counterexample, Mutant, Scope};
use synod_core::family::clock_sync::{ClockSync, Input, Output, SERVER, T5, T6};
use synod_core::{Algorithm, Cx, Never, ProcessId, Protocol, Setup, SetupError};

/// Takes "the time of receiving plus the time of sending" for two clock readings, where two
/// durations are meant. Half the sum is T0 more than half the difference.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CristianSum {
    inner: Cristian,
    /// The reading before the latest: T0, when T1 comes.
    sent_us: i64,
}

impl Protocol for CristianSum {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        for mut output in cx.below(|cx| self.inner.on_input(input, cx)) {
            if let Output::Synchronised(estimate) = &mut output {
                estimate.server_us = estimate.server_us.saturating_add(self.sent_us);
                estimate.correction_us = estimate.correction_us.saturating_add(self.sent_us);
            }
            cx.output(output);
        }
        if let Input::Reading { now_us } = input {
            self.sent_us = now_us;
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        let outputs = cx.below(|cx| self.inner.on_message(from, message, cx));
        outputs.into_iter().for_each(|output| cx.output(output));
    }
}

impl Algorithm for CristianSum {
    type Family = ClockSync;

    const CARD: Card = Card {
        name: "cristian-sum",
        title: "Cristian's method with the sum of two clock readings",
        idea: "Take for the length of a round the sum of the readings at its two ends.",
        promises: &[T6],
        counterexamples: &[Counterexample {
            property: T5,
            scope: Scope { ticks: 1, ..Scope::of(2) },
            steps: 4,
            story: "A client asks when its clock shows 1 ms, and is answered at once that the \
                    server's clock shows 1 ms. It adds half of 1 ms + 1 ms.",
        }],
        parameters: &[],
        mutant: Some(Mutant {
            of: "cristian",
            change: "it adds half the sum, not half the difference, of T1 and T0",
            breaks: T5,
        }),
        ..Cristian::CARD
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let spoil = |inner| CristianSum { inner, sent_us: 0 };
        Ok(Cristian::assemble(setup)?.into_iter().map(spoil).collect())
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        self.inner.takes_part(me)
    }
}

/// A client asks p2, too, and believes the first answer; and p2 answers with a wrong time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CristianImpostor(Cristian);

/// The process that answers in the server's place.
const IMPOSTOR: ProcessId = ProcessId(2);
/// The time that the impostor sends in every answer.
const LIE_US: i64 = 3_600_000_000;

impl Protocol for CristianImpostor {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        let requests = self.0.requests;
        let outputs = cx.below(|cx| self.0.on_input(input, cx));
        if self.0.requests > requests {
            cx.send(IMPOSTOR, Message::Request { number: self.0.requests });
        }
        outputs.into_iter().for_each(|output| cx.output(output));
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Request { number } if cx.me() == IMPOSTOR => {
                cx.send(from, Message::Time { number, server_us: LIE_US });
            }
            message => {
                let believed = if from == IMPOSTOR { SERVER } else { from };
                let outputs = cx.below(|cx| self.0.on_message(believed, message, cx));
                outputs.into_iter().for_each(|output| cx.output(output));
            }
        }
    }
}

impl Algorithm for CristianImpostor {
    type Family = ClockSync;

    const CARD: Card = Card {
        name: "cristian-impostor",
        title: "Cristian's method with an impostor",
        idea: "Ask other processes beside the server, and believe the first answer.",
        assumes: &["reliable links"],
        promises: &[T6],
        counterexamples: &[Counterexample {
            property: T5,
            scope: Scope::of(3),
            steps: 3,
            story: "The request of p1 reaches p2 before the server. p2 answers with a time that is \
                    an hour off, and p1 believes it.",
        }],
        costs: &[],
        smallest: 3,
        mutant: Some(Mutant {
            of: "cristian",
            change: "the request goes to p2 too, p2 answers with a wrong time and is believed",
            breaks: T5,
        }),
        ..Cristian::CARD
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(Cristian::assemble(setup)?.into_iter().map(CristianImpostor).collect())
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        me != IMPOSTOR && self.0.takes_part(me)
    }
}
