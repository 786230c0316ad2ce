//! Traitors: processes that may send any message.
//!
//! [`Byzantine`] stands in front of a process. It forwards every effect of a loyal one. A traitor
//! runs the algorithm inside, so that it knows when the others expect a message from it; but an
//! [`Adversary`], chosen by name, replaces its messages: by silence, by different values for
//! different receivers, by old messages, or by any of these. So the same adversaries attack every
//! algorithm that defines a lie ([`Corruptible`]), in every driver; and where an adversary has a
//! choice, an explorer tries every one.
//!
//! The network tells a receiver the sender of a message, and a traitor cannot change that. Nor can
//! it sign for others: [`Corruptible::lie`] makes lies with the keys of its own process only.

mod adversary;

pub use adversary::{ADVERSARY, Adversary, LIES, SCRIPT};

use crate::algorithm::{Algorithm, Invariant, Replay};
use crate::card::{Card, Parameter, Size};
use crate::cx::{Cx, Effect};
use crate::durable::Durable;
use crate::family::consensus::Value;
use crate::family::{Family, Known};
use crate::process::{ProcessId, ProcessSet};
use crate::protocol::Protocol;
use crate::reductions::Reductions;
use crate::setup::{Setup, SetupError};
use serde::{Deserialize, Serialize};

/// The parameter that [`traitors`] reads.
pub const TRAITORS: Parameter = Parameter {
    name: "traitors",
    meaning: "the processes that do not keep to the algorithm, e.g. p1 p2 (default: none)",
};

/// The processes that do not keep to the algorithm.
pub fn traitors(setup: &Setup) -> Result<ProcessSet, SetupError> {
    Ok(setup.processes(TRAITORS.name)?.unwrap_or_default().into_iter().collect())
}

/// Whether no process is named as a traitor.
pub(crate) fn all_are_loyal(setup: &Setup) -> bool {
    setup.text(TRAITORS.name).is_none_or(|names| names.trim().is_empty())
}

/// A protocol whose messages a traitor can falsify.
pub trait Corruptible: Protocol {
    /// The message that a traitor in the place of this process sends instead of `message`, with the
    /// value `value`; made with the keys of this process and no others. None if the message has no
    /// value: then a traitor sends it as it is, or not.
    fn lie(&self, message: &Self::Message, value: Value) -> Option<Self::Message>;
}

/// A process that is loyal, or a traitor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound(deserialize = "P: Protocol"))]
pub enum Byzantine<P: Protocol> {
    /// It keeps to the algorithm.
    Loyal(P),
    /// It does as its adversary decides.
    Traitor(P, Box<Adversary<P::Message>>),
}

impl<P: Corruptible> Byzantine<P> {
    /// These processes, with the traitors and the adversary that the setup names.
    pub fn group(setup: &Setup, processes: Vec<P>) -> Result<Vec<Self>, SetupError> {
        let (traitors, adversary) = (traitors(setup)?, Adversary::from_setup(setup)?);
        let named = ProcessId::all(processes.len()).zip(processes);
        let sworn = named.map(|(at, process)| match traitors.contains(at) {
            true => Byzantine::Traitor(process, Box::new(adversary.clone())),
            false => Byzantine::Loyal(process),
        });
        Ok(sworn.collect())
    }

    /// The process, if it is loyal.
    pub fn loyal(&self) -> Option<&P> {
        match self {
            Byzantine::Loyal(process) => Some(process),
            Byzantine::Traitor(..) => None,
        }
    }

    /// The process, loyal or not.
    pub fn process(&self) -> &P {
        match self {
            Byzantine::Loyal(process) | Byzantine::Traitor(process, _) => process,
        }
    }

    /// The same, mutable.
    pub fn process_mut(&mut self) -> &mut P {
        match self {
            Byzantine::Loyal(process) | Byzantine::Traitor(process, _) => process,
        }
    }

    /// A step of the process, with its effects.
    fn step(&mut self, cx: &mut Cx<'_, Self>, step: impl FnOnce(&mut P, &mut Cx<'_, P>)) {
        match self {
            // A loyal process pays nothing for the wrapper: its effects are not copied.
            Byzantine::Loyal(process) => cx.in_place(|cx| step(process, cx)),
            Byzantine::Traitor(process, adversary) => {
                for effect in cx.collect_effects(|cx| step(process, cx)) {
                    betray(process, adversary, effect, cx);
                }
            }
        }
    }
}

/// Carries out an effect of a traitor's process, but replaces its messages.
fn betray<P: Corruptible>(
    process: &P,
    adversary: &mut Adversary<P::Message>,
    effect: Effect<P::Message, P::Timer, P::Output>,
    cx: &mut Cx<'_, Byzantine<P>>,
) {
    let (receivers, message) = match effect {
        Effect::Send { to, message } => ([to].into_iter().collect(), message),
        Effect::Multicast { to, message } => (to, message),
        // Timers, records and outputs stay as they are: no other process sees them.
        other => return cx.push(other),
    };
    // One by one, because an adversary may send different messages to different receivers.
    for to in receivers.iter() {
        let lie = |value| process.lie(&message, value);
        if let Some(said) = adversary.says(&message, to, &lie, &mut |among| cx.choose(among)) {
            cx.send(to, said);
        }
    }
    adversary.remember(message);
}

impl<P: Corruptible> Protocol for Byzantine<P> {
    type Input = P::Input;
    type Output = P::Output;
    type Message = P::Message;
    type Timer = P::Timer;

    const REDUCTIONS: Reductions<Self> = Reductions {
        ignores: Some(Self::ignores),
        normalise: if P::REDUCTIONS.normalise.is_some() { Some(Self::normalise) } else { None },
        ..Reductions::NONE
    };

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        self.step(cx, |process, cx| process.on_start(cx));
    }

    fn on_input(&mut self, input: P::Input, cx: &mut Cx<'_, Self>) {
        self.step(cx, |process, cx| process.on_input(input, cx));
    }

    fn on_message(&mut self, from: ProcessId, message: P::Message, cx: &mut Cx<'_, Self>) {
        if let Byzantine::Traitor(_, adversary) = self {
            adversary.remember(message.clone());
        }
        self.step(cx, |process, cx| process.on_message(from, message, cx));
    }

    fn on_timer(&mut self, timer: P::Timer, cx: &mut Cx<'_, Self>) {
        self.step(cx, |process, cx| process.on_timer(timer, cx));
    }
}

impl<P: Corruptible> Byzantine<P> {
    /// A traitor may make use of anything, unless it never says a word.
    fn ignores(&self, from: ProcessId, message: &P::Message) -> bool {
        match self {
            Byzantine::Loyal(process) => P::REDUCTIONS.ignores(process, from, message),
            Byzantine::Traitor(_, adversary) => adversary.is_silent(),
        }
    }

    /// Makes no numbers small if there is a traitor: adversaries remember messages, whose numbers
    /// would stay large.
    fn normalise(processes: &mut [&mut Self], in_flight: &mut [&mut P::Message]) -> bool {
        let all_are_loyal = processes.iter().all(|process| process.loyal().is_some());
        let mut processes: Vec<_> =
            processes.iter_mut().map(|process| process.process_mut()).collect();
        all_are_loyal && P::REDUCTIONS.normalise(&mut processes, in_flight)
    }
}

impl<P: Corruptible + Durable> Durable for Byzantine<P> {
    type Record = P::Record;

    fn replay(&mut self, record: P::Record) {
        match self {
            Byzantine::Loyal(process) | Byzantine::Traitor(process, _) => process.replay(record),
        }
    }
}

/// A protocol with a card that stands in the catalogue as [`Byzantine`]: the same as [`Algorithm`],
/// for the protocol inside.
pub trait Sworn:
    Corruptible<Input = <Self::Family as Family>::Input, Output = <Self::Family as Family>::Output>
{
    /// The family of problems that it solves.
    type Family: Known;

    /// Its card. Its parameters include [`TRAITORS`], [`ADVERSARY`], [`LIES`] and [`SCRIPT`].
    const CARD: Card;

    /// How a process survives a crash.
    const REPLAY: Option<Replay<Byzantine<Self>>> = None;

    /// The processes of a group, all of them loyal. `setup` already fits the card.
    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError>;

    /// Whether the application at this process makes requests.
    fn takes_part(&self, _me: ProcessId) -> bool {
        true
    }

    /// Whether this group goes on sending although no application asks.
    fn is_restless(_processes: &[Byzantine<Self>]) -> bool {
        Self::CARD.restless
    }

    /// The sizes in its cost formulas.
    fn size(processes: &[Byzantine<Self>]) -> Size {
        Size { n: processes.len(), k: processes.len() }
    }

    /// Whether a timer begins a round of the algorithm.
    fn begins_round(_timer: &Self::Timer) -> bool {
        false
    }

    /// Whether the formulas on its card apply to this setup: by default, if all are loyal.
    fn has_costs(setup: &Setup) -> bool {
        all_are_loyal(setup)
    }

    /// Invariants over the states of all processes.
    fn invariants() -> &'static [Invariant<Byzantine<Self>>] {
        &[]
    }
}

impl<P: Sworn> Algorithm for Byzantine<P> {
    type Family = P::Family;

    const CARD: Card = P::CARD;
    const REPLAY: Option<Replay<Self>> = P::REPLAY;

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Byzantine::group(setup, P::assemble(setup)?)
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        self.process().takes_part(me)
    }

    fn is_restless(processes: &[Self]) -> bool {
        P::is_restless(processes)
    }

    fn size(processes: &[Self]) -> Size {
        P::size(processes)
    }

    fn begins_round(timer: &Self::Timer) -> bool {
        P::begins_round(timer)
    }

    fn has_costs(setup: &Setup) -> bool {
        P::has_costs(setup)
    }

    fn invariants() -> &'static [Invariant<Self>] {
        P::invariants()
    }
}

#[cfg(test)]
mod tests;
