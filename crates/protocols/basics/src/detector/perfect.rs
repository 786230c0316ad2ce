//! A perfect failure detector, P, for synchronous systems.
//!
//! Every process gives a sign of life once in a period. If no message takes longer than a known
//! bound, a living process is never silent for longer than a period and that bound. So a process
//! that is has crashed, and the detector never has to take the verdict back.
//!
//! - Assumes: no message takes longer than `delay`, or is lost; clocks run alike; a crashed process
//!   does not come back (if it does, it stays suspected).
//! - Guarantees: FD1, FD2, and hence FD3. One late or lost message, and FD2 is gone.
//! - Cost: N(N − 1) messages in a period; 2N(N − 1) in the ping style. A crash is detected at most
//!   a period and two delays after it (three in the ping style), plus a millisecond.
//! - State: a set of at most N − 1 names; a timer for each process that is not suspected.
//!
//! Source: T. D. Chandra, S. Toueg: Unreliable failure detectors for reliable distributed systems.
//! JACM 43(2), 1996. The heartbeats as in C. Cachin, R. Guerraoui, L. Rodrigues: Introduction to
//! Reliable and Secure Distributed Programming, 2011, 2.6.

use super::pulse::{Beat, Heard, Message, Pulse};
use super::{
    CHANDRA_TOUEG, DELAY_MS, Opinion, PER_PERIOD, PER_PERIOD_MULTICAST, SLACK_MS, milliseconds,
    parameter, rule,
};
use serde::{Deserialize, Serialize};
use synod_core::card::{
    Card, Counterexample, Crashes, OtherCosts, Scope, Settings, Size, Timing, Tolerance, Variant,
};
use synod_core::family::detection::{Detection, FD1, FD2, FD3};
use synod_core::{
    Algorithm, Cx, Never, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Trigger,
};

/// The timers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// The next round of signs of life.
    Beat,
    /// A sign of life from this process: it is silent for too long.
    Silence(ProcessId),
}

impl From<Beat> for Timer {
    fn from(Beat: Beat) -> Self {
        Timer::Beat
    }
}

/// One process of the detector.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Perfect {
    pulse: Pulse,
    timeout_ms: u64,
    suspected: ProcessSet,
}

impl Protocol for Perfect {
    type Input = Never;
    type Output = Opinion;
    type Message = Message;
    type Timer = Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        let heard = cx.below(|cx| self.pulse.on_start(cx));
        assert!(heard.is_empty(), "no process is heard before a message arrives");
        for other in cx.others() {
            cx.set_timer(Timer::Silence(other), self.timeout_ms);
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

impl Perfect {
    /// Reads the parameters `period`, `delay` and `style`.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let pulse = Pulse::from_setup(setup)?;
        let delay_ms = milliseconds(setup, "delay", DELAY_MS)?;
        let timeout_ms = pulse.longest_silence_ms(delay_ms) + SLACK_MS;
        Ok(Perfect { pulse, timeout_ms, suspected: ProcessSet::EMPTY })
    }

    /// The processes that the detector has declared crashed.
    pub fn suspected(&self) -> &ProcessSet {
        &self.suspected
    }

    /// A verdict is final, so the detector no longer waits for a process that it has declared
    /// crashed.
    fn on_heard(&mut self, process: ProcessId, cx: &mut Cx<'_, Self>) {
        if !self.suspected.contains(process) {
            cx.set_timer(Timer::Silence(process), self.timeout_ms);
        }
    }

    fn on_silence(&mut self, process: ProcessId, cx: &mut Cx<'_, Self>) {
        self.suspected.insert(process);
        cx.output(Opinion::Suspect(process));
    }
}

/// The faults that the detector tolerates: all that keep the bound on delays.
const SYNCHRONOUS: Tolerance = Tolerance {
    crashes: Crashes::AllButOne,
    duplication: true,
    delay_ms: Some(DELAY_MS),
    ..Tolerance::NOTHING
};

const PINGS: Settings = &[("style", "ping")];
const BOUNDED: Timing = Timing::Synchronous { delay_ms: DELAY_MS };

impl Algorithm for Perfect {
    type Family = Detection;

    const CARD: Card = Card {
        name: "perfect",
        aliases: &["perfect-detector", "P"],
        title: "the perfect failure detector for synchronous systems",
        source: CHANDRA_TOUEG,
        idea: "A process that is silent for longer than a living one can be has crashed, and stays \
               so.",
        rules: &[
            rule::BEAT,
            rule::PING,
            Rule::on(
                &[Trigger::Message("Heartbeat"), Trigger::Message("Pong")],
                "on a sign of life: wait for the next, a period and the longest delay, and a \
                 little",
            ),
            Rule::on_timer(
                "Silence",
                "when that time is over: the process has crashed; this is never taken back",
            ),
        ],
        assumes: &[
            "every message arrives within the delay that is known, and none is lost",
            "clocks run alike",
            "a crashed process does not come back",
        ],
        tolerates: SYNCHRONOUS,
        promises: &[FD1, FD2, FD3],
        variants: &[Variant { set: PINGS, tolerates: SYNCHRONOUS, promises: &[FD1, FD2, FD3] }],
        usual: Some(2),
        proved: &[
            Scope { timing: BOUNDED, crashes: 1, duplicates: 2, ..Scope::of(2) },
            Scope { timing: BOUNDED, crashes: 1, set: PINGS, ..Scope::of(2) },
            Scope { timing: BOUNDED, crashes: 2, ..Scope::of(3) },
        ],
        counterexamples: &[
            Counterexample {
                property: FD2,
                scope: Scope { timing: BOUNDED, late: 1, ..Scope::of(2) },
                steps: 11,
                story: "One heartbeat takes longer than it may, and a living process is declared \
                        crashed",
            },
            Counterexample {
                property: FD2,
                scope: Scope { timing: BOUNDED, drops: 1, ..Scope::of(2) },
                steps: 11,
                story: "One heartbeat is lost: to lose it is to wait for it too long",
            },
            Counterexample {
                property: FD3,
                scope: Scope { timing: BOUNDED, crashes: 1, restarts: 1, ..Scope::of(2) },
                steps: 17,
                story: "A process crashes, is suspected, and comes back: the verdict stands for \
                        ever",
            },
            Counterexample {
                property: FD2,
                scope: Scope::of(2),
                steps: 1,
                story: "Without a bound on delays no time-out is long enough",
            },
        ],
        costs: &[PER_PERIOD],
        other_costs: &[OtherCosts::over_multicast(&[PER_PERIOD_MULTICAST])],
        parameters: &[parameter::PERIOD, parameter::DELAY, parameter::STYLE],
        layers: &["P", "signs of life"],
        restless: true,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![Perfect::from_setup(setup)?; setup.n])
    }

    fn size(processes: &[Self]) -> Size {
        Pulse::size(processes.len(), processes.first().map(|process| &process.pulse))
    }

    fn begins_round(timer: &Timer) -> bool {
        *timer == Timer::Beat
    }
}
