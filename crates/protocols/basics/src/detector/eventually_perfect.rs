//! An eventually perfect failure detector, ◇P, with time-outs that adapt.
//!
//! The detector suspects a process that is silent for too long. If it hears that process again, the
//! suspicion was a mistake: it trusts the process again, and next time waits a step longer for it.
//! If message delays have a bound, known or not, the time-out outgrows it after a few mistakes, and
//! no further ones follow.
//!
//! - Assumes: from some moment on, delays have a bound, which need not be known. Few messages are
//!   lost.
//! - Guarantees: FD1, FD3, also if crashed processes come back. Not FD2: it learns from mistakes.
//! - Cost: N(N − 1) messages in a period; 2N(N − 1) in the ping style.
//! - State: a set of at most N − 1 names; a number and a timer for each process.
//!
//! Source: T. D. Chandra, S. Toueg: Unreliable failure detectors for reliable distributed systems.
//! JACM 43(2), 1996, section 9.1.

use super::perfect::Timer;
use super::pulse::{Beat, Heard, Message, Pulse};
use super::{
    CHANDRA_TOUEG, DELAY_MS, Opinion, PER_PERIOD, PER_PERIOD_MULTICAST, SLACK_MS, milliseconds,
    parameter, rule, whole,
};
use serde::{Deserialize, Serialize};
use synod_core::card::{
    Card, Counterexample, Crashes, OtherCosts, Scope, Settings, Size, Timing, Tolerance, Variant,
};
use synod_core::family::detection::{Detection, FD1, FD2, FD3};
use synod_core::{
    Algorithm, Cx, Never, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Trigger,
};

/// One process of the detector.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EventuallyPerfect {
    pulse: Pulse,
    /// The growth of a time-out with each mistake.
    step_ms: u64,
    /// The current time-out of each process.
    timeouts_ms: Vec<u64>,
    suspected: ProcessSet,
}

impl Protocol for EventuallyPerfect {
    type Input = Never;
    type Output = Opinion;
    type Message = Message;
    type Timer = Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        let heard = cx.below(|cx| self.pulse.on_start(cx));
        assert!(heard.is_empty(), "no process is heard before a message arrives");
        for other in cx.others() {
            self.wait_for(other, cx);
        }
    }

    fn on_input(&mut self, input: Never, _cx: &mut Cx<'_, Self>) {
        match input {}
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        for Heard(process) in cx.below(|cx| self.pulse.on_message(from, message, cx)) {
            self.on_heard(process, cx);
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Beat => {
                let _ = cx.below(|cx| self.pulse.on_timer(Beat, cx));
            }
            Timer::Silence(process) => self.on_silence(process, cx),
        }
    }
}

impl EventuallyPerfect {
    /// Reads the parameters `period`, `delay`, `step` and `style`.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let pulse = Pulse::from_setup(setup)?;
        let delay_ms = milliseconds(setup, "delay", DELAY_MS)?;
        let timeout_ms = pulse.longest_silence_ms(delay_ms) + SLACK_MS;
        Ok(EventuallyPerfect {
            pulse,
            step_ms: whole(setup, "step", super::STEP_MS, 0..=super::LONGEST_MS)?,
            timeouts_ms: vec![timeout_ms; setup.n],
            suspected: ProcessSet::EMPTY,
        })
    }

    /// The processes that the detector takes for crashed at the moment.
    pub fn suspected(&self) -> &ProcessSet {
        &self.suspected
    }

    fn on_heard(&mut self, process: ProcessId, cx: &mut Cx<'_, Self>) {
        if self.suspected.remove(process) {
            // The time-out was too short. It never shrinks, so the mistakes about one process come
            // to an end.
            let timeout_ms = &mut self.timeouts_ms[process.index()];
            *timeout_ms = timeout_ms.saturating_add(self.step_ms);
            cx.output(Opinion::Restore(process));
        }
        self.wait_for(process, cx);
    }

    fn on_silence(&mut self, process: ProcessId, cx: &mut Cx<'_, Self>) {
        self.suspected.insert(process);
        cx.output(Opinion::Suspect(process));
    }

    fn wait_for(&self, process: ProcessId, cx: &mut Cx<'_, Self>) {
        cx.set_timer(Timer::Silence(process), self.timeouts_ms[process.index()]);
    }
}

/// Delays have a bound, but it is longer than the parameter `delay` says.
const LONGER_THAN_KNOWN: Tolerance = Tolerance {
    crashes: Crashes::AllButOne,
    duplication: true,
    delay_ms: Some(DELAY_MS + 1),
    ..Tolerance::NOTHING
};

const PINGS: Settings = &[("style", "ping")];
const LONGER: Timing = Timing::Synchronous { delay_ms: DELAY_MS + 1 };
const BOUNDED: Timing = Timing::Synchronous { delay_ms: DELAY_MS };

impl Algorithm for EventuallyPerfect {
    type Family = Detection;

    const CARD: Card = Card {
        name: "eventually-perfect",
        aliases: &["eventually-perfect-detector", "diamond-p"],
        title: "the eventually perfect failure detector, with time-outs that adapt",
        source: CHANDRA_TOUEG,
        idea: "Suspect a process that is silent for long; if that was a mistake, wait longer for \
               it next time.",
        rules: &[
            rule::BEAT,
            rule::PING,
            Rule::on(
                &[Trigger::Message("Heartbeat"), Trigger::Message("Pong")],
                "on a sign of life: if the process is suspected, trust it again and make its \
                 time-out a step longer; wait for the next",
            ),
            Rule::on_timer("Silence", "when the time-out of a process is over: suspect it"),
        ],
        assumes: &["from some moment on no message takes longer than some bound, or is lost"],
        tolerates: LONGER_THAN_KNOWN,
        promises: &[FD1, FD3],
        variants: &[Variant { set: PINGS, tolerates: LONGER_THAN_KNOWN, promises: &[FD1, FD3] }],
        usual: Some(4),
        proved: &[
            Scope { timing: BOUNDED, crashes: 1, late: 2, ..Scope::of(2) },
            Scope { timing: LONGER, crashes: 1, ..Scope::of(2) },
            Scope { timing: BOUNDED, crashes: 1, late: 1, set: PINGS, ..Scope::of(2) },
            Scope { timing: BOUNDED, crashes: 2, restarts: 2, ..Scope::of(2) },
            Scope { timing: BOUNDED, crashes: 1, ..Scope::of(3) },
        ],
        counterexamples: &[Counterexample {
            property: FD2,
            scope: Scope { timing: BOUNDED, late: 1, ..Scope::of(2) },
            steps: 11,
            story: "One heartbeat takes longer than the detector thought possible, and a living \
                    process is suspected for a while",
        }],
        costs: &[PER_PERIOD],
        other_costs: &[OtherCosts::over_multicast(&[PER_PERIOD_MULTICAST])],
        parameters: &[parameter::PERIOD, parameter::DELAY, parameter::STEP, parameter::STYLE],
        layers: &["eventually P", "signs of life"],
        restless: true,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![EventuallyPerfect::from_setup(setup)?; setup.n])
    }

    fn size(processes: &[Self]) -> Size {
        Pulse::size(processes.len(), processes.first().map(|process| &process.pulse))
    }

    fn begins_round(timer: &Timer) -> bool {
        *timer == Timer::Beat
    }
}
