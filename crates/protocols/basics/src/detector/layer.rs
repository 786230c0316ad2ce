//! The failure detector as a layer: a protocol uses every kind of detector in the same way.

use super::{
    CommonTick, EventuallyPerfect, Message, Opinion, Perfect, PhiAccrual, common_tick, perfect,
    phi_accrual,
};
use serde::{Deserialize, Serialize};
use synod_core::card::Size;
use synod_core::{Algorithm, Cx, Never, ProcessId, Protocol, Setup, SetupError};

/// A failure detector that was chosen when the group was set up.
///
/// The protocol that owns it starts it in its own `on_start`, hands it the messages and timers of
/// the detector, and reacts to the [`Opinion`]s that come back: `for opinion in cx.below(|cx|
/// self.detector.on_message(from, message, cx)) { … }`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Detector {
    /// No detector: it suspects no process, and sends no message.
    None,
    /// P.
    Perfect(Perfect),
    /// ◇P.
    EventuallyPerfect(EventuallyPerfect),
    /// φ accrual.
    PhiAccrual(PhiAccrual),
    /// ◇P with one tick for all processes.
    CommonTick(CommonTick),
}

/// The timers of a detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// P and ◇P.
    TimeOut(perfect::Timer),
    /// φ accrual.
    Accrual(phi_accrual::Timer),
    /// ◇P with one tick for all processes.
    Common(common_tick::Timer),
}

impl Timer {
    /// Whether it begins a round of signs of life.
    pub(crate) fn begins_round(self) -> bool {
        match self {
            Timer::TimeOut(timer) => Perfect::begins_round(&timer),
            Timer::Accrual(timer) => PhiAccrual::begins_round(&timer),
            Timer::Common(timer) => CommonTick::begins_round(&timer),
        }
    }
}

impl From<perfect::Timer> for Timer {
    fn from(timer: perfect::Timer) -> Self {
        Timer::TimeOut(timer)
    }
}

impl From<phi_accrual::Timer> for Timer {
    fn from(timer: phi_accrual::Timer) -> Self {
        Timer::Accrual(timer)
    }
}

impl From<common_tick::Timer> for Timer {
    fn from(timer: common_tick::Timer) -> Self {
        Timer::Common(timer)
    }
}

impl Detector {
    /// The size of a group with such detectors, for the formula of their messages.
    pub(crate) fn size(&self, n: usize) -> Size {
        match self {
            Detector::None => Size { n, k: 0 },
            Detector::Perfect(detector) => Perfect::size(&vec![detector.clone(); n]),
            Detector::EventuallyPerfect(detector) => {
                EventuallyPerfect::size(&vec![detector.clone(); n])
            }
            Detector::PhiAccrual(detector) => PhiAccrual::size(&vec![detector.clone(); n]),
            Detector::CommonTick(detector) => CommonTick::size(&vec![detector.clone(); n]),
        }
    }

    /// The detector that the parameter `detector` names, or the default; with its own parameters.
    pub fn from_setup(setup: &Setup, default: &str) -> Result<Self, SetupError> {
        match setup.text("detector").unwrap_or(default) {
            "none" => Ok(Detector::None),
            "perfect" => Perfect::from_setup(setup).map(Detector::Perfect),
            "eventually-perfect" => {
                EventuallyPerfect::from_setup(setup).map(Detector::EventuallyPerfect)
            }
            "eventually-perfect-tick" => CommonTick::from_setup(setup).map(Detector::CommonTick),
            "phi-accrual" => PhiAccrual::from_setup(setup).map(Detector::PhiAccrual),
            _ => {
                let known = "it is perfect, eventually-perfect, eventually-perfect-tick, \
                             phi-accrual or none";
                Err(setup.bad("detector", known))
            }
        }
    }

    /// Whether a process is suspected at the moment.
    pub fn suspects(&self, process: ProcessId) -> bool {
        match self {
            Detector::None => false,
            Detector::Perfect(detector) => detector.suspected().contains(process),
            Detector::EventuallyPerfect(detector) => detector.suspected().contains(process),
            Detector::PhiAccrual(detector) => detector.suspected().contains(process),
            Detector::CommonTick(detector) => detector.suspected().contains(process),
        }
    }
}

impl Protocol for Detector {
    type Input = Never;
    type Output = Opinion;
    type Message = Message;
    type Timer = Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        let opinions = match self {
            Detector::None => return,
            Detector::Perfect(detector) => cx.below(|cx| detector.on_start(cx)),
            Detector::EventuallyPerfect(detector) => cx.below(|cx| detector.on_start(cx)),
            Detector::PhiAccrual(detector) => cx.below(|cx| detector.on_start(cx)),
            Detector::CommonTick(detector) => cx.below(|cx| detector.on_start(cx)),
        };
        opinions.into_iter().for_each(|opinion| cx.output(opinion));
    }

    fn on_input(&mut self, input: Never, _cx: &mut Cx<'_, Self>) {
        match input {}
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        let opinions = match self {
            Detector::None => return cx.accuse(from, "gave a sign of life that nobody wants"),
            Detector::Perfect(below) => cx.below(|cx| below.on_message(from, message, cx)),
            Detector::EventuallyPerfect(below) => {
                cx.below(|cx| below.on_message(from, message, cx))
            }
            Detector::PhiAccrual(below) => cx.below(|cx| below.on_message(from, message, cx)),
            Detector::CommonTick(below) => cx.below(|cx| below.on_message(from, message, cx)),
        };
        opinions.into_iter().for_each(|opinion| cx.output(opinion));
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        let opinions = match (self, timer) {
            (Detector::Perfect(below), Timer::TimeOut(timer)) => {
                cx.below(|cx| below.on_timer(timer, cx))
            }
            (Detector::EventuallyPerfect(below), Timer::TimeOut(timer)) => {
                cx.below(|cx| below.on_timer(timer, cx))
            }
            (Detector::PhiAccrual(below), Timer::Accrual(timer)) => {
                cx.below(|cx| below.on_timer(timer, cx))
            }
            (Detector::CommonTick(below), Timer::Common(timer)) => {
                cx.below(|cx| below.on_timer(timer, cx))
            }
            (_, timer) => unreachable!("{timer:?} belongs to another detector"),
        };
        opinions.into_iter().for_each(|opinion| cx.output(opinion));
    }
}
