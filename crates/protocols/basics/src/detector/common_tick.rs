//! An eventually perfect failure detector, ◇P, with one tick for all processes.
//!
//! The detector looks at all processes at the same time, once in Δ. It suspects those of which it
//! has heard nothing since the last tick, and trusts again those that it suspects and has heard. If
//! there is one of the latter, a suspicion was a mistake: Δ grows by a step, for all of them.
//!
//! - Assumes: from some moment on, delays have a bound, which need not be known. Few messages are
//!   lost.
//! - Guarantees: FD1, FD3, also if crashed processes come back. Not FD2: it learns from mistakes.
//! - Cost: N(N − 1) messages in a period; 2N(N − 1) in the ping style. A crash is suspected within
//!   2Δ and a delay, where time-outs of their own take one: a sign of life just after a tick counts
//!   until the tick after the next. One slow process makes Δ longer for all.
//! - State: two sets of at most N − 1 names; one number and one timer.
//!
//! Source: T. D. Chandra, S. Toueg: Unreliable failure detectors for reliable distributed systems.
//! JACM 43(2), 1996. The common tick as in C. Cachin, R. Guerraoui, L. Rodrigues: Introduction to
//! Reliable and Secure Distributed Programming, 2011, 2.6.

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

/// The timers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// The next round of signs of life.
    Beat,
    /// The next look at all processes.
    Tick,
}

impl From<Beat> for Timer {
    fn from(Beat: Beat) -> Self {
        Timer::Beat
    }
}

/// One process of the detector.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CommonTick {
    pulse: Pulse,
    /// The growth of Δ with each mistake.
    step_ms: u64,
    /// Δ, the time from one tick to the next.
    tick_ms: u64,
    /// The processes heard since the last tick.
    heard: ProcessSet,
    suspected: ProcessSet,
}

impl Protocol for CommonTick {
    type Input = Never;
    type Output = Opinion;
    type Message = Message;
    type Timer = Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        let heard = cx.below(|cx| self.pulse.on_start(cx));
        assert!(heard.is_empty(), "no process is heard before a message arrives");
        cx.set_timer(Timer::Tick, self.tick_ms);
    }

    fn on_input(&mut self, input: Never, _cx: &mut Cx<'_, Self>) {
        match input {}
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        for Heard(process) in cx.below(|cx| self.pulse.on_message(from, message, cx)) {
            self.heard.insert(process);
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Beat => {
                let _ = cx.below(|cx| self.pulse.on_timer(Beat, cx));
            }
            Timer::Tick => self.on_tick(cx),
        }
    }
}

impl CommonTick {
    /// Reads the parameters `period`, `delay`, `step` and `style`.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let pulse = Pulse::from_setup(setup)?;
        let delay_ms = milliseconds(setup, "delay", DELAY_MS)?;
        Ok(CommonTick {
            pulse,
            step_ms: whole(setup, "step", super::STEP_MS, 0..=super::LONGEST_MS)?,
            tick_ms: pulse.longest_silence_ms(delay_ms) + SLACK_MS,
            heard: ProcessSet::EMPTY,
            suspected: ProcessSet::EMPTY,
        })
    }

    /// The processes that the detector takes for crashed at the moment.
    pub fn suspected(&self) -> &ProcessSet {
        &self.suspected
    }

    /// Δ at the moment.
    pub fn tick_ms(&self) -> u64 {
        self.tick_ms
    }

    fn on_tick(&mut self, cx: &mut Cx<'_, Self>) {
        // Δ never shrinks, so the mistakes come to an end.
        if self.heard.intersects(&self.suspected) {
            self.tick_ms = self.tick_ms.saturating_add(self.step_ms);
        }
        for process in cx.others() {
            self.judge(process, cx);
        }
        self.heard.clear();
        cx.set_timer(Timer::Tick, self.tick_ms);
    }

    fn judge(&mut self, process: ProcessId, cx: &mut Cx<'_, Self>) {
        if !self.heard.contains(process) {
            if self.suspected.insert(process) {
                cx.output(Opinion::Suspect(process));
            }
        } else if self.suspected.remove(process) {
            cx.output(Opinion::Restore(process));
        }
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

impl Algorithm for CommonTick {
    type Family = Detection;

    const CARD: Card = Card {
        name: "eventually-perfect-tick",
        aliases: &["common-tick"],
        title: "the eventually perfect failure detector, with one tick for all",
        source: CHANDRA_TOUEG,
        idea: "Look at all processes once in a while; if one is heard that was suspected, look less \
               often from then on.",
        rules: &[
            rule::BEAT,
            rule::PING,
            Rule::on(
                &[Trigger::Message("Heartbeat"), Trigger::Message("Pong")],
                "on a sign of life: remember until the next tick that the process was heard",
            ),
            Rule::on_timer(
                "Tick",
                "on a tick: suspect each process that was not heard since the last one; trust \
                 again each that was heard and is suspected, and if there is one, make the tick a \
                 step longer",
            ),
        ],
        assumes: &["from some moment on no message takes longer than some bound, or is lost"],
        tolerates: LONGER_THAN_KNOWN,
        promises: &[FD1, FD3],
        variants: &[Variant { set: PINGS, tolerates: LONGER_THAN_KNOWN, promises: &[FD1, FD3] }],
        usual: Some(3),
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
            steps: 25,
            story: "One heartbeat takes longer than the detector thought possible, and a living \
                    process is suspected for a while",
        }],
        costs: &[PER_PERIOD],
        other_costs: &[OtherCosts::over_multicast(&[PER_PERIOD_MULTICAST])],
        parameters: &[parameter::PERIOD, parameter::DELAY, parameter::STEP, parameter::STYLE],
        layers: &["eventually P, one tick", "signs of life"],
        restless: true,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![CommonTick::from_setup(setup)?; setup.n])
    }

    fn size(processes: &[Self]) -> Size {
        Pulse::size(processes.len(), processes.first().map(|process| &process.pulse))
    }

    fn begins_round(timer: &Timer) -> bool {
        *timer == Timer::Beat
    }
}
