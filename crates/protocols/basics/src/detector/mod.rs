//! Failure detectors: modules that suspect processes of having crashed, and may take a suspicion
//! back.
//!
//! A detector stands below another protocol, which owns it as a [`Detector`], or alone, as an
//! algorithm of the catalogue. All of them listen to the same signs of life, heartbeats or answers
//! to pings ([`pulse`]), and differ in the length of their time-outs, and in how they correct
//! mistakes.

pub mod common_tick;
pub mod eventually_perfect;
mod layer;
pub mod perfect;
pub mod phi_accrual;
pub mod pulse;

pub use common_tick::CommonTick;
pub use eventually_perfect::EventuallyPerfect;
pub use layer::{Detector, Timer};
pub use perfect::Perfect;
pub use phi_accrual::PhiAccrual;
pub use pulse::Message;
/// A detector's message to the protocol above it.
pub use synod_core::family::detection::Output as Opinion;

use std::ops::RangeInclusive;
use synod_core::card::{Bounds, Cost, Load, Parameter, Quantity, Source};
use synod_core::{Rule, Setup, SetupError, Trigger};

synod_core::catalogue! {
    Perfect,
    EventuallyPerfect,
    CommonTick,
    PhiAccrual,
}

/// A sign of life that comes at the last possible moment must still be in time: a time-out is
/// longer than the longest silence by this much, which also covers the time to process a message.
const SLACK_MS: u64 = 1;
/// The largest time that a parameter may set. It is beyond all use, and small enough that sums of
/// such times do not overflow.
const LONGEST_MS: u64 = 3_600_000;
const LARGEST_WINDOW: u64 = 1000;

const PERIOD_MS: u64 = 2;
const DELAY_MS: u64 = 1;
const STEP_MS: u64 = 1;
const TICK_MS: u64 = 1;
const DEVIATION_MS: u64 = 1;
const THRESHOLD: u64 = 8;
const WINDOW: u64 = 10;

/// The parameters of detectors, for the cards of protocols that own one.
pub mod parameter {
    use super::Parameter;

    /// The kind of detector.
    pub const DETECTOR: Parameter = Parameter {
        name: "detector",
        meaning: "perfect, eventually-perfect, eventually-perfect-tick, phi-accrual or none",
    };
    /// The time between signs of life.
    pub const PERIOD: Parameter = Parameter {
        name: "period",
        meaning: "milliseconds from one sign of life to the next (default: 2)",
    };
    /// Whether processes send signs of life unasked.
    pub const STYLE: Parameter = Parameter {
        name: "style",
        meaning: "heartbeat (each process says that it is alive) or ping (each process asks the \
                  others); default: heartbeat",
    };
    /// The bound that a synchronous system promises.
    pub const DELAY: Parameter = Parameter {
        name: "delay",
        meaning: "milliseconds that a message takes at most, as far as is known (default: 1)",
    };
    /// The growth of the eventually perfect detector's time-outs.
    pub const STEP: Parameter = Parameter {
        name: "step",
        meaning: "milliseconds by which a time-out grows with each mistake, or 0 (default: 1)",
    };
    /// The φ from which on the φ accrual detector suspects a process.
    pub const THRESHOLD: Parameter = Parameter {
        name: "threshold",
        meaning: "suspected if the odds are one in 10 to the power of this, 1 to 16 (default: 8)",
    };
    /// The length of its memory.
    pub const WINDOW: Parameter = Parameter {
        name: "window",
        meaning: "how many waits are remembered for each process, up to 1000 (default: 10)",
    };
    /// The least deviation that it assumes.
    pub const DEVIATION: Parameter = Parameter {
        name: "deviation",
        meaning: "milliseconds by which waits are taken to vary at least (default: 1)",
    };
    /// The unit in which it measures time.
    pub const TICK: Parameter =
        Parameter { name: "tick", meaning: "milliseconds of a unit of time (default: 1)" };
}

/// The rules that detectors have in common, and the one of protocols that own a detector.
pub mod rule {
    use super::{Rule, Trigger};

    pub(super) const BEAT: Rule = Rule::on(
        &[Trigger::Start, Trigger::Timer("Beat")],
        "once in a period: give all others a sign of life, or ask them for one",
    );
    pub(super) const PING: Rule = Rule::on_message("Ping", "asked for a sign of life: give it");

    /// The words of the rule. The timers of the detector have another name in each protocol above.
    pub const DETECTOR: &str = "the detector: give signs of life, and wait for those of others";
}

const CHANDRA_TOUEG: Source = Source {
    author: "T. D. Chandra, S. Toueg",
    year: 1996,
    work: "Unreliable failure detectors for reliable distributed systems, JACM 43(2)",
};

/// The cost of every detector: each process gives each other one a sign of life.
pub(crate) const PER_PERIOD: Cost = Cost {
    name: "messages per period",
    quantity: Quantity::MessagesPerRound,
    load: Load::Any,
    formula: "kN(N - 1), k = 1 for heartbeats and 2 for pings",
    expected: |size| Bounds::exactly(size.k * size.n * (size.n - 1)),
};

/// The same over a network that carries a multicast once: the answers to pings go to one process.
pub(crate) const PER_PERIOD_MULTICAST: Cost = Cost {
    formula: "N, and N(N - 1) answers to pings",
    expected: |size| match size.n {
        1 => Bounds::exactly(0),
        n => Bounds::exactly(size.k.min(1) * n + size.k.saturating_sub(1) * n * (n - 1)),
    },
    ..PER_PERIOD
};

/// The longest delay of a message, by the parameter `delay`.
pub fn delay_ms(setup: &Setup) -> Result<u64, SetupError> {
    milliseconds(setup, "delay", DELAY_MS)
}

/// Reads a parameter that is a time.
fn milliseconds(setup: &Setup, name: &str, default: u64) -> Result<u64, SetupError> {
    whole(setup, name, default, 1..=LONGEST_MS)
}

/// Reads a parameter that is a number in a range.
fn whole(
    setup: &Setup,
    name: &str,
    default: u64,
    range: RangeInclusive<u64>,
) -> Result<u64, SetupError> {
    match setup.number(name, default)? {
        number if range.contains(&number) => Ok(number),
        _ => {
            let (least, most) = range.into_inner();
            Err(setup.bad(name, format!("it is a whole number from {least} to {most}")))
        }
    }
}
