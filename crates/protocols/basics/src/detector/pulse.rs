//! Signs of life: the messages that every failure detector here listens to.
//!
//! In the *heartbeat* style each process tells all others, once in a period, that it is alive. In
//! the *ping* style it asks all others, and each answers: twice the messages, and a sign of life
//! takes two delays instead of one; but a process that does not ask causes no messages.
//!
//! - Assumes: nothing. Signs may be lost, late or doubled; the detector above draws the
//!   conclusions.
//! - Cost: N(N − 1) messages in a period, 2N(N − 1) in the ping style.
//! - State: none that changes.

use serde::{Deserialize, Serialize};
use synod_core::card::Size;
use synod_core::{Cx, Never, ProcessId, Protocol, Setup, SetupError, Wire};

/// The messages between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// I am alive.
    Heartbeat,
    /// Are you alive?
    Ping,
    /// I am.
    Pong,
}

impl Wire for Message {}

/// The timer for the next round of signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Beat;

/// The output to the detector above: this process was alive when it sent a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Heard(pub ProcessId);

/// Whether processes send signs of life unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Style {
    /// Each process tells all others that it is alive.
    Heartbeat,
    /// Each process asks all others, and they answer.
    Ping,
}

/// One process that gives signs of life and listens to those of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pulse {
    style: Style,
    period_ms: u64,
}

impl Protocol for Pulse {
    type Input = Never;
    type Output = Heard;
    type Message = Message;
    type Timer = Beat;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.beat(cx);
    }

    fn on_input(&mut self, input: Never, _cx: &mut Cx<'_, Self>) {
        match input {}
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        // The detectors above use names as indices, so a forged name must not reach them.
        if from == cx.me() || !cx.is_member(from) {
            return cx.accuse(from, "gave a sign of life, but does not belong to the others");
        }
        match (self.style, message) {
            (Style::Heartbeat, Message::Heartbeat) | (Style::Ping, Message::Pong) => {
                cx.output(Heard(from));
            }
            (Style::Ping, Message::Ping) => cx.send(from, Message::Pong),
            (Style::Heartbeat, Message::Ping | Message::Pong)
            | (Style::Ping, Message::Heartbeat) => {
                cx.accuse(from, "gave a sign of life in the other style");
            }
        }
    }

    fn on_timer(&mut self, Beat: Beat, cx: &mut Cx<'_, Self>) {
        self.beat(cx);
    }
}

impl Pulse {
    /// Reads the parameters `style` and `period`.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let style = match setup.text("style") {
            None | Some("heartbeat") => Style::Heartbeat,
            Some("ping") => Style::Ping,
            Some(_) => return Err(setup.bad("style", "it is heartbeat or ping")),
        };
        Ok(Pulse { style, period_ms: super::milliseconds(setup, "period", super::PERIOD_MS)? })
    }

    /// The longest time from one sign of a living process to its next, if no message takes longer
    /// than `delay_ms`: the first may come at once, and the next as late as possible.
    pub fn longest_silence_ms(&self, delay_ms: u64) -> u64 {
        self.period_ms + self.messages() * delay_ms
    }

    /// The number of messages that a sign of life takes.
    pub fn messages(&self) -> u64 {
        match self.style {
            Style::Heartbeat => 1,
            Style::Ping => 2,
        }
    }

    /// The size that the cost formulas of a detector refer to.
    pub(super) fn size(processes: usize, first: Option<&Pulse>) -> Size {
        Size { n: processes, k: first.map_or(1, Pulse::messages) as usize }
    }

    /// The time from one round of signs to the next.
    pub fn period_ms(&self) -> u64 {
        self.period_ms
    }

    fn beat(&mut self, cx: &mut Cx<'_, Self>) {
        cx.multicast(match self.style {
            Style::Heartbeat => Message::Heartbeat,
            Style::Ping => Message::Ping,
        });
        cx.set_timer(Beat, self.period_ms);
    }
}
