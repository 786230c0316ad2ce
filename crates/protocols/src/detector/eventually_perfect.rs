//! An eventually perfect failure detector, ◇P, with time-outs that adapt.
//!
//! Who is silent for too long is suspected. If it is heard again, that was a mistake: it is trusted
//! again, and next time the detector waits a step longer for it. If there is some bound on how long
//! messages take, known or not, the time-out outgrows it after a few mistakes, and none follow.
//!
//! - Assumes: there is a bound on delays, from some moment on; nobody knows it. Few messages are
//!   lost.
//! - Guarantees: FD1, FD3, also if crashed processes come back. Not FD2: it learns from mistakes.
//! - Cost: N(N − 1) messages in a period; 2N(N − 1) in the ping style.
//! - State: a set of at most N − 1 names; a number and a timer for each process.
//!
//! Source: T. D. Chandra, S. Toueg: Unreliable failure detectors for reliable distributed systems.
//! JACM 43(2), 1996, section 9.1.

use super::perfect::Timer;
use super::pulse::{Beat, Heard, Message, Pulse};
use super::{DELAY_MS, Opinion, SLACK_MS, milliseconds};
use serde::{Deserialize, Serialize};
use synod_core::{Cx, Never, ProcessId, ProcessSet, Protocol, Setup, SetupError};

/// One process of the detector.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EventuallyPerfect {
    pulse: Pulse,
    /// By how much a time-out grows with each mistake.
    step_ms: u64,
    /// How long the detector waits for each process.
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
        assert!(heard.is_empty(), "nobody is heard before anything arrives");
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
    /// As the parameters `period`, `delay`, `step` and `style` say.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let pulse = Pulse::from_setup(setup)?;
        let delay_ms = milliseconds(setup, "delay", DELAY_MS)?;
        let timeout_ms = pulse.longest_silence_ms(delay_ms) + SLACK_MS;
        Ok(EventuallyPerfect {
            pulse,
            step_ms: milliseconds(setup, "step", super::STEP_MS)?,
            timeouts_ms: vec![timeout_ms; setup.n],
            suspected: ProcessSet::EMPTY,
        })
    }

    /// Who is taken for crashed, at the moment.
    pub fn suspected(&self) -> &ProcessSet {
        &self.suspected
    }

    fn on_heard(&mut self, process: ProcessId, cx: &mut Cx<'_, Self>) {
        if self.suspected.remove(process) {
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
