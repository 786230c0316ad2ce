//! The φ accrual failure detector: it computes how unlikely a silence is.
//!
//! The detector remembers how long it waited for the last signs of life of each process, and takes
//! the next wait for a draw from a normal distribution with the same mean and deviation. φ = −log₁₀
//! p, where p is the probability that a living process is silent for that long: a suspicion at φ =
//! 1 is wrong one time in ten, at φ = 8 one time in a hundred million. The detector suspects a
//! process whose φ reaches the threshold. The time-out therefore follows the delays of the network,
//! link by link, up and down.
//!
//! - Assumes: waits vary as they did of late, and not much more than a normal distribution does.
//! - Guarantees: FD1. FD3 while a wait is never longer than the mean of the last ones and z(φ)
//!   times their deviation, which never counts as less than `deviation`. But the detector forgets
//!   old waits, and can then repeat an old mistake, so it is not ◇P in every world in which ◇P
//!   exists.
//! - Cost: N(N − 1) messages in a period; 2N(N − 1) in the ping style.
//! - State: for each process, as many numbers as `window` says.
//!
//! A protocol has no clock, so the detector counts ticks of a timer. All arithmetic is in whole
//! numbers, so that the same history gives the same verdict on every machine.
//!
//! Source: N. Hayashibara, X. Défago, R. Yared, T. Katayama: The φ accrual failure detector. SRDS
//! 2004. The least deviation is common practice, not theirs.

use super::pulse::{Beat, Heard, Message, Pulse};
use super::{Opinion, PER_PERIOD, PER_PERIOD_MULTICAST, milliseconds, parameter, rule, whole};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use synod_core::card::{
    Card, Counterexample, Crashes, OtherCosts, Scope, Settings, Size, Source, Timing, Tolerance,
};
use synod_core::family::detection::{Detection, FD1, FD2, FD3};
use synod_core::{
    Algorithm, Cx, Never, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Trigger,
};

/// The quantiles z(φ) of the normal distribution for φ = 1, 2, …, in thousandths: a normal variable
/// lies z deviations above its mean with a probability of 10^−φ.
pub const QUANTILES: [u64; 16] = [
    1282, 2326, 3090, 3719, 4265, 4753, 5199, 5612, 5998, 6361, 6706, 7034, 7349, 7651, 7941, 8222,
];

/// The longest silence that the detector remembers, in periods; a longer one counts as this long.
/// So numbers stay bounded, and a long crash does not spoil the estimate for ever.
const LONGEST_SILENCE_PERIODS: u64 = 16;

/// The timers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// The next round of signs of life.
    Beat,
    /// A unit of time has passed.
    Tick,
}

impl From<Beat> for Timer {
    fn from(Beat: Beat) -> Self {
        Timer::Beat
    }
}

/// One process of the detector.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PhiAccrual {
    pulse: Pulse,
    rules: Rules,
    /// The history of each process. (The own one stays unused; it keeps the indices simple.)
    histories: Vec<History>,
    suspected: ProcessSet,
}

/// Times are in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Rules {
    tick_ms: u64,
    period: u64,
    threshold: usize,
    window: usize,
    least_deviation: u64,
}

/// The signs of life of one process, with times in ticks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct History {
    /// The last waits, the oldest first. Before the first sign it is empty.
    waits: VecDeque<u64>,
    silence: u64,
    /// The silence from which on the process is suspected.
    limit: u64,
}

impl Protocol for PhiAccrual {
    type Input = Never;
    type Output = Opinion;
    type Message = Message;
    type Timer = Timer;

    fn on_start(&mut self, cx: &mut Cx<'_, Self>) {
        let heard = cx.below(|cx| self.pulse.on_start(cx));
        assert!(heard.is_empty(), "no process is heard before a message arrives");
        cx.set_timer(Timer::Tick, self.rules.tick_ms);
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
            Timer::Tick => self.on_tick(cx),
        }
    }
}

impl PhiAccrual {
    /// Reads the parameters `period`, `tick`, `threshold`, `window`, `deviation` and `style`.
    pub fn from_setup(setup: &Setup) -> Result<Self, SetupError> {
        let pulse = Pulse::from_setup(setup)?;
        let tick_ms = milliseconds(setup, "tick", super::TICK_MS)?;
        let deviation_ms = milliseconds(setup, "deviation", super::DEVIATION_MS)?;
        let largest = QUANTILES.len() as u64;
        let rules = Rules {
            tick_ms,
            period: pulse.period_ms().div_ceil(tick_ms),
            threshold: whole(setup, "threshold", super::THRESHOLD, 1..=largest)? as usize,
            window: whole(setup, "window", super::WINDOW, 1..=super::LARGEST_WINDOW)? as usize,
            least_deviation: deviation_ms.div_ceil(tick_ms),
        };
        let nothing =
            History { waits: VecDeque::new(), silence: 0, limit: rules.limit([rules.period]) };
        let histories = vec![nothing; setup.n];
        Ok(PhiAccrual { pulse, rules, histories, suspected: ProcessSet::EMPTY })
    }

    /// The processes that the detector takes for crashed at the moment.
    pub fn suspected(&self) -> &ProcessSet {
        &self.suspected
    }

    /// The silence, in ticks, from which on a process of this name is suspected.
    pub fn limit(&self, process: ProcessId) -> Option<u64> {
        Some(self.histories.get(process.index())?.limit)
    }

    fn on_heard(&mut self, process: ProcessId, cx: &mut Cx<'_, Self>) {
        self.histories[process.index()].remember(&self.rules);
        if self.suspected.remove(process) {
            cx.output(Opinion::Restore(process));
        }
    }

    fn on_tick(&mut self, cx: &mut Cx<'_, Self>) {
        cx.set_timer(Timer::Tick, self.rules.tick_ms);
        for other in cx.others() {
            let history = &mut self.histories[other.index()];
            history.silence = (history.silence + 1).min(self.rules.longest_silence());
            if history.silence >= history.limit && self.suspected.insert(other) {
                cx.output(Opinion::Suspect(other));
            }
        }
    }
}

impl History {
    /// Records a sign of life: the silence before it is one more wait. The wait before the first
    /// sign cannot be measured, because no other sign precedes it; it counts as a period.
    fn remember(&mut self, rules: &Rules) {
        let wait = if self.waits.is_empty() { rules.period } else { self.silence };
        if self.waits.len() == rules.window {
            self.waits.pop_front();
        }
        self.waits.push_back(wait);
        self.silence = 0;
        self.limit = rules.limit(self.waits.iter().copied());
    }
}

impl Rules {
    fn longest_silence(&self) -> u64 {
        self.period * LONGEST_SILENCE_PERIODS
    }

    /// The silence at which φ reaches the threshold: mean + z · deviation, rounded up. With k
    /// waits, S their sum and Q that of their squares, k · mean = S and k² · variance = kQ − S².
    fn limit(&self, waits: impl IntoIterator<Item = u64>) -> u64 {
        let (mut k, mut sum, mut squares) = (0, 0, 0);
        for wait in waits.into_iter().map(u128::from) {
            (k, sum, squares) = (k + 1, sum + wait, squares + wait * wait);
        }
        let least_deviation = k * u128::from(self.least_deviation);
        let variance = (k * squares - sum * sum).max(least_deviation * least_deviation);
        let z = u128::from(QUANTILES[self.threshold - 1]);
        let deviations = (z * z * variance).isqrt();
        let limit = (1000 * sum + deviations).div_ceil(1000 * k);
        u64::try_from(limit)
            .map_or(self.longest_silence(), |limit| limit.min(self.longest_silence()))
    }
}

const BOUNDED: Timing = Timing::Synchronous { delay_ms: super::DELAY_MS };
const FORGETFUL: Settings = &[("window", "1"), ("period", "1"), ("threshold", "1")];

impl Algorithm for PhiAccrual {
    type Family = Detection;

    const CARD: Card = Card {
        name: "phi-accrual",
        aliases: &["phi", "phi-accrual-detector"],
        title: "the phi accrual failure detector",
        source: Source {
            author: "N. Hayashibara, X. Défago, R. Yared, T. Katayama",
            year: 2004,
            work: "The phi accrual failure detector, SRDS",
        },
        idea: "Compare a silence with the waits of late: suspect a process if a living one would \
               be silent for that long only one time in a hundred million.",
        rules: &[
            rule::BEAT,
            rule::PING,
            Rule::on(
                &[Trigger::Message("Heartbeat"), Trigger::Message("Pong")],
                "on a sign of life: remember how long the wait was, and forget the oldest; if the \
                 process is suspected, trust it again",
            ),
            Rule::on_timer(
                "Tick",
                "at each tick: suspect every process whose silence has become too unlikely, by the \
                 mean and the deviation of the remembered waits",
            ),
        ],
        assumes: &["waits vary as they did of late, or by no more than the least deviation"],
        tolerates: Tolerance {
            crashes: Crashes::AllButOne,
            delay_ms: Some(super::DELAY_MS),
            ..Tolerance::NOTHING
        },
        promises: &[FD1, FD3],
        usual: Some(0),
        proved: &[
            Scope { timing: BOUNDED, crashes: 1, set: &[("window", "1")], ..Scope::of(2) },
            Scope { timing: BOUNDED, set: &[("window", "2")], ..Scope::of(2) },
        ],
        counterexamples: &[
            Counterexample {
                property: FD2,
                scope: Scope { timing: BOUNDED, drops: 3, set: &[("window", "1")], ..Scope::of(2) },
                steps: 32,
                story: "Several heartbeats in a row are lost, which never happened before",
            },
            Counterexample {
                property: FD3,
                scope: Scope { timing: BOUNDED, set: FORGETFUL, ..Scope::of(2) },
                steps: 31,
                story: "With a low threshold and a short memory it makes the same mistake again \
                        and again: as soon as the long wait is forgotten",
            },
        ],
        costs: &[PER_PERIOD],
        other_costs: &[OtherCosts::over_multicast(&[PER_PERIOD_MULTICAST])],
        parameters: &[
            parameter::PERIOD,
            parameter::THRESHOLD,
            parameter::WINDOW,
            parameter::DEVIATION,
            parameter::TICK,
            parameter::STYLE,
        ],
        layers: &["phi accrual", "signs of life"],
        restless: true,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        Ok(vec![PhiAccrual::from_setup(setup)?; setup.n])
    }

    fn size(processes: &[Self]) -> Size {
        Pulse::size(processes.len(), processes.first().map(|process| &process.pulse))
    }

    fn begins_round(timer: &Timer) -> bool {
        *timer == Timer::Beat
    }
}
