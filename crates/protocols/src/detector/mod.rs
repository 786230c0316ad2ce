//! Failure detectors: modules that say who seems to have crashed, and who does after all not.
//!
//! A detector stands below another protocol, which owns it as a [`Detector`], or alone, as an
//! algorithm of the catalogue. All of them listen to the same signs of life, heartbeats or answers
//! to pings ([`pulse`]), and differ in when they lose patience, and in what they do about mistakes.

pub mod eventually_perfect;
mod layer;
pub mod perfect;
pub mod phi_accrual;
pub mod pulse;

pub use eventually_perfect::EventuallyPerfect;
pub use layer::{Detector, Timer};
pub use perfect::Perfect;
pub use phi_accrual::PhiAccrual;
pub use pulse::Message;
/// What a detector tells whoever stands above it.
pub use synod_core::family::detection::Output as Opinion;

use std::ops::RangeInclusive;
use synod_core::card::{Bounds, Cost, Load, Parameter, Quantity, Source};
use synod_core::{Setup, SetupError};

/// A sign of life that comes at the last possible moment must still be in time: a time-out is longer
/// than the longest silence by this much, which also covers the time to process a message.
const SLACK_MS: u64 = 1;
/// Parameters that make no sense for a protocol at work; and sums of them do not overflow.
const LONGEST_MS: u64 = 3_600_000;
const LARGEST_WINDOW: u64 = 1000;

const PERIOD_MS: u64 = 2;
const DELAY_MS: u64 = 1;
const STEP_MS: u64 = 1;
const TICK_MS: u64 = 1;
const DEVIATION_MS: u64 = 1;
const THRESHOLD: u64 = 8;
const WINDOW: u64 = 10;

/// The parameters of detectors, for the cards of whoever owns one.
pub mod parameter {
    use super::Parameter;

    /// Which detector.
    pub const DETECTOR: Parameter =
        Parameter { name: "detector", meaning: "perfect, eventually-perfect, phi-accrual or none" };
    /// How often signs of life are given.
    pub const PERIOD: Parameter = Parameter {
        name: "period",
        meaning: "milliseconds from one sign of life to the next (default: 2)",
    };
    /// Who begins.
    pub const STYLE: Parameter = Parameter {
        name: "style",
        meaning: "heartbeat (everybody says that it is alive) or ping (everybody asks); default: \
                  heartbeat",
    };
    /// The bound that a synchronous system promises.
    pub const DELAY: Parameter = Parameter {
        name: "delay",
        meaning: "milliseconds that a message takes at most, as far as is known (default: 1)",
    };
    /// How fast the eventually perfect detector learns.
    pub const STEP: Parameter = Parameter {
        name: "step",
        meaning: "milliseconds by which a time-out grows with each mistake, or 0 (default: 1)",
    };
    /// How sure the φ accrual detector must be.
    pub const THRESHOLD: Parameter = Parameter {
        name: "threshold",
        meaning: "suspected if the odds are one in 10 to the power of this, 1 to 16 (default: 8)",
    };
    /// How much it remembers.
    pub const WINDOW: Parameter = Parameter {
        name: "window",
        meaning: "how many waits are remembered for each process, up to 1000 (default: 10)",
    };
    /// How much waits vary at least.
    pub const DEVIATION: Parameter = Parameter {
        name: "deviation",
        meaning: "milliseconds by which waits are taken to vary at least (default: 1)",
    };
    /// How finely it measures.
    pub const TICK: Parameter =
        Parameter { name: "tick", meaning: "milliseconds of a unit of time (default: 1)" };
}

const CHANDRA_TOUEG: Source = Source {
    author: "T. D. Chandra, S. Toueg",
    year: 1996,
    work: "Unreliable failure detectors for reliable distributed systems, JACM 43(2)",
};

/// What all of them cost: everybody gives everybody else a sign of life.
const PER_PERIOD: Cost = Cost {
    name: "messages per period",
    quantity: Quantity::MessagesPerRound,
    load: Load::Any,
    formula: "kN(N - 1), k = 1 for heartbeats and 2 for pings",
    expected: |size| Bounds::exactly(size.k * size.n * (size.n - 1)),
};

/// How long a message takes at most, as the parameter `delay` says.
pub(crate) fn delay_ms(setup: &Setup) -> Result<u64, SetupError> {
    milliseconds(setup, "delay", DELAY_MS)
}

/// A parameter that is a time.
fn milliseconds(setup: &Setup, name: &str, default: u64) -> Result<u64, SetupError> {
    whole(setup, name, default, 1..=LONGEST_MS)
}

/// A parameter that is a number in some range.
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
