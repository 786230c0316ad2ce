//! The lowest layer, chosen when the group is set up. The ordered multicasts stand on it.

use super::ip_reliable::{self, Beat, Gaps, IpReliable, Settings};
use super::reliable::{Relay, Reliable, Stamped};
use super::{Basic, Deliver, Multicast, basic};
use serde::{Deserialize, Serialize};
use std::convert::identity;
use std::fmt;
use synod_core::card::{Crashes, Parameter, Tolerance};
use synod_core::{Cx, Data, Never, ProcessId, Protocol, Rule, Setup, SetupError, Trigger, Wire};

/// The parameter that names the layer below.
pub const OVER: Parameter = Parameter {
    name: "over",
    meaning: "the multicast below: basic, reliable or ip (default: basic)",
};

/// The messages with which a carrier delivers; `Again` exists over IP multicast only.
pub const DELIVERS: &[Trigger<'static>] = &[Trigger::Message("Data"), Trigger::Message("Again")];

/// The rule for all other messages of a carrier.
pub const REPAIR: Rule = Rule::on(
    &[
        Trigger::Message("Nack"),
        Trigger::Message("Heartbeat"),
        Trigger::Message("Ack"),
        Trigger::Timer("Beat"),
    ],
    "over ip: ask for what is missing, and send again what others lack, as ip-multicast does",
);

/// The faults that reliable multicast tolerates.
pub const RELIABLE: Tolerance =
    Tolerance { crashes: Crashes::AllButOne, duplication: true, ..Tolerance::NOTHING };

/// The faults that reliable multicast over IP multicast tolerates.
pub const IP: Tolerance = Tolerance { loss: true, duplication: true, ..Tolerance::NOTHING };

/// A multicast without order. The layer above need not know which one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Carrier<D> {
    /// Basic multicast sends to each member.
    Basic(Basic<D>),
    /// Reliable multicast passes every new message on.
    Reliable(Reliable<D>),
    /// Reliable multicast over IP multicast asks for missing messages.
    Ip(IpReliable<D>),
}

/// The messages of the carriers.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message<D> {
    /// Of basic multicast.
    Basic(basic::Message<D>),
    /// Of reliable multicast.
    Reliable(basic::Message<Stamped<D>>),
    /// Of reliable multicast over IP multicast.
    Ip(ip_reliable::Message<D>),
}

impl<D: Data> Wire for Message<D> {
    fn kind(&self) -> &'static str {
        match self {
            Message::Basic(message) => message.kind(),
            Message::Reliable(message) => message.kind(),
            Message::Ip(message) => message.kind(),
        }
    }

    fn label(&self) -> String {
        match self {
            Message::Basic(message) => message.label(),
            Message::Reliable(message) => message.label(),
            Message::Ip(message) => message.label(),
        }
    }
}

/// The header of a scenario names the carrier, so the text of each message need not.
impl<D: fmt::Debug> fmt::Debug for Message<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Basic(message) => message.fmt(f),
            Message::Reliable(message) => message.fmt(f),
            Message::Ip(message) => message.fmt(f),
        }
    }
}

impl<D: Data> Carrier<D> {
    /// The carrier that the parameter [`OVER`] names, with its own parameters.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        match setup.text(OVER.name).unwrap_or("basic") {
            "basic" => Ok(Carrier::Basic(Basic::new())),
            "reliable" => Ok(Carrier::Reliable(Reliable::new(setup.n, Relay::BeforeDelivery))),
            "ip" => {
                let settings = Settings::from_setup(setup, Gaps::Hold)?;
                Ok(Carrier::Ip(IpReliable::new(setup.n, settings)))
            }
            _ => Err(setup.bad(OVER.name, "it is basic, reliable or ip")),
        }
    }
}

impl<D: Data> Protocol for Carrier<D> {
    type Input = Multicast<D>;
    type Output = Deliver<D>;
    type Message = Message<D>;
    type Timer = Beat;

    fn on_input(&mut self, input: Multicast<D>, cx: &mut Cx<'_, Self>) {
        match self {
            Carrier::Basic(layer) => {
                through(cx, Message::Basic, no_timer, |cx| layer.on_input(input, cx));
            }
            Carrier::Reliable(layer) => {
                through(cx, Message::Reliable, no_timer, |cx| layer.on_input(input, cx));
            }
            Carrier::Ip(layer) => {
                through(cx, Message::Ip, identity, |cx| layer.on_input(input, cx));
            }
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message<D>, cx: &mut Cx<'_, Self>) {
        match (self, message) {
            (Carrier::Basic(layer), Message::Basic(message)) => {
                through(cx, Message::Basic, no_timer, |cx| layer.on_message(from, message, cx));
            }
            (Carrier::Reliable(layer), Message::Reliable(message)) => {
                through(cx, Message::Reliable, no_timer, |cx| layer.on_message(from, message, cx));
            }
            (Carrier::Ip(layer), Message::Ip(message)) => {
                through(cx, Message::Ip, identity, |cx| layer.on_message(from, message, cx));
            }
            _ => cx.accuse(from, "uses another carrier"),
        }
    }

    fn on_timer(&mut self, beat: Beat, cx: &mut Cx<'_, Self>) {
        let Carrier::Ip(layer) = self else { unreachable!("no other carrier sets timers") };
        through(cx, Message::Ip, identity, |cx| layer.on_timer(beat, cx));
    }
}

fn no_timer(timer: Never) -> Beat {
    match timer {}
}

fn through<D: Data, L: Protocol<Output = Deliver<D>>>(
    cx: &mut Cx<'_, Carrier<D>>,
    message: impl Fn(L::Message) -> Message<D>,
    timer: impl Fn(L::Timer) -> Beat,
    step: impl FnOnce(&mut Cx<'_, L>),
) {
    cx.through(None, message, timer, identity, step);
}
