//! One of two algorithms in rounds, chosen when the group is set up. The protocol above need not
//! know which.

use super::rounds::{RoundBased, RoundOver};
use serde::{Deserialize, Serialize};
use std::convert::identity;
use std::fmt;
use synod_core::byzantine::Corruptible;
use synod_core::family::consensus::{Input, Output, Value};
use synod_core::{Cx, ProcessId, Protocol, Wire};

/// One process of one of the two algorithms.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Either<A, B> {
    /// A process of the first algorithm.
    One(A),
    /// A process of the second algorithm.
    Other(B),
}

/// A message of one of the two algorithms.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Said<M, N> {
    /// A message of the first algorithm.
    One(M),
    /// A message of the second algorithm.
    Other(N),
}

impl<M: Wire, N: Wire> Wire for Said<M, N> {
    fn kind(&self) -> &'static str {
        match self {
            Said::One(message) => message.kind(),
            Said::Other(message) => message.kind(),
        }
    }

    fn label(&self) -> String {
        match self {
            Said::One(message) => message.label(),
            Said::Other(message) => message.label(),
        }
    }
}

/// The header of a scenario names the algorithm, so the text of each message need not.
impl<M: fmt::Debug, N: fmt::Debug> fmt::Debug for Said<M, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Said::One(message) => message.fmt(f),
            Said::Other(message) => message.fmt(f),
        }
    }
}

impl<A: RoundBased, B: RoundBased> Protocol for Either<A, B> {
    type Input = Input;
    type Output = Output;
    type Message = Said<A::Message, B::Message>;
    type Timer = RoundOver;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        match self {
            Either::One(process) => through(cx, Said::One, |cx| process.on_start(cx)),
            Either::Other(process) => through(cx, Said::Other, |cx| process.on_start(cx)),
        }
    }

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match self {
            Either::One(process) => through(cx, Said::One, |cx| process.on_input(input, cx)),
            Either::Other(process) => through(cx, Said::Other, |cx| process.on_input(input, cx)),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Self::Message, cx: &mut Cx<'_, Self>) {
        match (self, message) {
            (Either::One(process), Said::One(message)) => {
                through(cx, Said::One, |cx| process.on_message(from, message, cx));
            }
            (Either::Other(process), Said::Other(message)) => {
                through(cx, Said::Other, |cx| process.on_message(from, message, cx));
            }
            _ => cx.accuse(from, "runs another algorithm"),
        }
    }

    fn on_timer(&mut self, over: RoundOver, cx: &mut Cx<'_, Self>) {
        match self {
            Either::One(process) => through(cx, Said::One, |cx| process.on_timer(over, cx)),
            Either::Other(process) => through(cx, Said::Other, |cx| process.on_timer(over, cx)),
        }
    }
}

fn through<P, L>(
    cx: &mut Cx<'_, P>,
    message: impl Fn(L::Message) -> P::Message,
    step: impl FnOnce(&mut Cx<'_, L>),
) where
    P: Protocol<Output = Output, Timer = RoundOver>,
    L: Protocol<Output = Output, Timer = RoundOver>,
{
    cx.through(None, message, identity, identity, step);
}

impl<A: RoundBased, B: RoundBased> RoundBased for Either<A, B> {
    fn rounds(&self) -> u32 {
        match self {
            Either::One(process) => process.rounds(),
            Either::Other(process) => process.rounds(),
        }
    }

    fn at_most(&self) -> usize {
        match self {
            Either::One(process) => process.at_most(),
            Either::Other(process) => process.at_most(),
        }
    }

    fn faults(&self) -> usize {
        match self {
            Either::One(process) => process.faults(),
            Either::Other(process) => process.faults(),
        }
    }
}

impl<A: RoundBased, B: RoundBased> Corruptible for Either<A, B> {
    fn lie(&self, message: &Self::Message, value: Value) -> Option<Self::Message> {
        match (self, message) {
            (Either::One(process), Said::One(message)) => {
                process.lie(message, value).map(Said::One)
            }
            (Either::Other(process), Said::Other(message)) => {
                process.lie(message, value).map(Said::Other)
            }
            _ => None,
        }
    }
}
