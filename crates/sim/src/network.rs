//! Delays, losses and duplicates. All are drawn from the seed.

use rand_core::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1, LogNormal};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use synod_core::ProcessId;
pub use synod_core::clock::in_words;

/// The source of all random choices in a run.
pub type Chance = Pcg64Mcg;

/// The random choices of a run with this seed.
pub fn chance(seed: u64) -> Chance {
    Chance::seed_from_u64(seed)
}

/// Some number below `among`, all equally likely.
#[inline]
pub fn below(chance: &mut Chance, among: u64) -> u64 {
    // A multiplication instead of a division: the bias is less than among / 2^64.
    ((u128::from(chance.next_u64()) * u128::from(among)) >> 64) as u64
}

/// True with the given probability.
#[inline]
pub fn happens(chance: &mut Chance, probability: f64) -> bool {
    probability > 0.0 && (chance.next_u64() >> 11) as f64 / ((1u64 << 53) as f64) < probability
}

/// A delay, fixed or random.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Delay {
    /// Always the same.
    Constant(u64),
    /// Any value between the two, equally likely.
    Uniform(u64, u64),
    /// Exponentially distributed with this mean: many short, few long.
    Exponential(u64),
    /// Log-normal with this median: a heavy tail, as real networks have.
    HeavyTailed(u64),
}

/// The width of the heavy tail: with 1.0 one in a hundred takes ten times the median.
const TAIL: f64 = 1.0;

impl Delay {
    /// One delay, in microseconds.
    #[inline]
    pub fn draw(&self, chance: &mut Chance) -> u64 {
        match *self {
            Delay::Constant(us) => us,
            Delay::Uniform(low, high) => low + below(chance, high - low + 1),
            Delay::Exponential(mean) => {
                let draw: f64 = Exp1.sample(chance);
                (mean as f64 * draw) as u64
            }
            Delay::HeavyTailed(median) => {
                let tail = LogNormal::new(0.0, TAIL).expect("the width is a number");
                let draw: f64 = tail.sample(chance);
                (median as f64 * draw) as u64
            }
        }
    }

    /// The delay, if it never varies.
    pub fn constant(&self) -> Option<u64> {
        match *self {
            Delay::Constant(us) => Some(us),
            Delay::Uniform(low, high) if low == high => Some(low),
            _ => None,
        }
    }
}

/// A delay that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a delay; write 5ms, 1ms..10ms, exp:5ms or tail:5ms (units: us, ms, s)")]
pub struct BadDelay(String);

impl FromStr for Delay {
    type Err = BadDelay;

    fn from_str(text: &str) -> Result<Self, BadDelay> {
        let bad = || BadDelay(text.to_owned());
        let time = |word: &str| microseconds(word).ok_or_else(bad);
        if let Some(mean) = text.strip_prefix("exp:") {
            return Ok(Delay::Exponential(time(mean)?));
        }
        if let Some(median) = text.strip_prefix("tail:") {
            return Ok(Delay::HeavyTailed(time(median)?));
        }
        match text.split_once("..") {
            None => Ok(Delay::Constant(time(text)?)),
            Some((low, high)) => {
                let (low, high) = (time(low)?, time(high)?);
                if low > high { Err(bad()) } else { Ok(Delay::Uniform(low, high)) }
            }
        }
    }
}

/// The longest delay that is accepted: a day.
const LONGEST_US: u64 = 24 * 3600 * 1_000_000;

/// `5ms`, `200us` or `1s` in microseconds.
pub fn microseconds(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &word[digits.len()..] {
        "us" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(scale).filter(|us| *us <= LONGEST_US)
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Delay::Constant(us) => f.write_str(&in_words(us)),
            Delay::Uniform(low, high) => write!(f, "{}..{}", in_words(low), in_words(high)),
            Delay::Exponential(mean) => write!(f, "exp:{}", in_words(mean)),
            Delay::HeavyTailed(median) => write!(f, "tail:{}", in_words(median)),
        }
    }
}

/// The receive buffer of a process: messages that arrive wait there until the process has handled
/// those before them, and a message that finds it full is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The number of messages that have room, with the one that is being handled.
    pub messages: u32,
    /// The time that the process needs for a message, in microseconds.
    pub handling_us: u64,
}

/// The effects of the network on messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The latency of a message.
    pub latency: Delay,
    /// The latency on particular links.
    pub links: BTreeMap<(ProcessId, ProcessId), Delay>,
    /// The probability that a message is lost.
    pub loss: f64,
    /// The probability that it arrives twice.
    pub duplication: f64,
    /// The probability that it is held up for another ten times its latency, so that others
    /// overtake it.
    pub reordering: f64,
    /// The receive buffer of each process; without, each message is handled when it arrives.
    pub buffer: Option<Buffer>,
}

impl Default for Network {
    fn default() -> Self {
        Network {
            latency: Delay::Uniform(1_000, 10_000),
            links: BTreeMap::new(),
            loss: 0.0,
            duplication: 0.0,
            reordering: 0.0,
            buffer: None,
        }
    }
}

impl Network {
    /// The latency of one message on this link, in microseconds.
    #[inline]
    pub fn delay(&self, from: ProcessId, to: ProcessId, chance: &mut Chance) -> u64 {
        let latency = match self.links.is_empty() {
            true => &self.latency,
            false => self.links.get(&(from, to)).unwrap_or(&self.latency),
        };
        let delay = latency.draw(chance);
        if happens(chance, self.reordering) { delay.saturating_mul(11) } else { delay }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change of the generator or of a distribution changes every run ever recorded.
    #[test]
    fn the_first_draws_of_each_distribution_never_change() {
        let delays = ["5ms", "1ms..10ms", "exp:5ms", "tail:5ms"];
        let draws = delays.map(|text| {
            let mut chance = super::chance(42);
            let delay: Delay = text.parse().expect("it is well written");
            assert_eq!(delay.to_string(), text);
            [(); 4].map(|()| delay.draw(&mut chance))
        });
        let known = [
            [5000, 5000, 5000, 5000],
            [6162, 2199, 4203, 3028],
            [3875, 1262, 6026, 1178],
            [6102, 1487, 2569, 2641],
        ];
        assert_eq!(draws, known);
    }

    #[test]
    fn what_is_not_a_delay_is_refused_with_a_hint() {
        for text in ["", "5", "ms", "5 ms", "10ms..1ms", "exp:", "tail:x", "-1ms", "99999999s"] {
            let error = text.parse::<Delay>().expect_err(text);
            assert!(error.to_string().contains("write 5ms"), "{error}");
        }
    }

    #[test]
    fn a_probability_of_zero_never_happens_and_one_always_does() {
        let mut chance = chance(1);
        assert!((0..1000).all(|_| !happens(&mut chance, 0.0) && happens(&mut chance, 1.0)));
    }
}
