//! The values of flags, parsed; an error names the mistake and a right value.

use crate::catalogue::entries;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use std::ffi::OsStr;
use std::ops::Range;
use std::time::Duration;
use synod_core::card::{Rounds, Timing};
use synod_core::{Clock, ProcessId};
use synod_net::{Fate, Kill};
use synod_sim::network::{Delay, microseconds};

/// The largest group that is simulated.
pub(crate) const LARGEST_GROUP: usize = 10_000;
/// The largest group that is explored: the number of states grows exponentially.
pub(crate) const LARGEST_SCOPE: usize = 16;
/// The largest number of faults in a run, of each kind.
const MOST_FAULTS: u32 = 10_000;
/// The largest fault budget in an exploration, of each kind.
const MOST_BUDGET: u32 = 1_000;
/// The most requests of a run.
const MOST_REQUESTS: u64 = 1_000_000_000;
/// A clock that drifts by more than one part in ten is not a clock.
const MOST_DRIFT_PPM: i64 = 100_000;

type Parsed<T> = Result<T, String>;

/// The name of an algorithm. Completions offer all names; a command that does not know the name
/// tells which ones are similar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name;

impl TypedValueParser for Name {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(entries().into_iter().map(|entry| PossibleValue::new(entry.card.name))))
    }
}

/// The number of processes of a simulated group.
pub(crate) fn group(text: &str) -> Parsed<usize> {
    let why = format!("a simulated group has between 1 and {LARGEST_GROUP} processes");
    number(text, 1, LARGEST_GROUP as u64).map(|n| n as usize).ok_or(why)
}

/// The number of processes of an explored group.
pub(crate) fn scope(text: &str) -> Parsed<usize> {
    let why = format!(
        "an explored group has between 1 and {LARGEST_SCOPE} processes, because the number of \
         states grows exponentially; simulate larger ones with 'synod run'"
    );
    number(text, 1, LARGEST_SCOPE as u64).map(|n| n as usize).ok_or(why)
}

/// The number of requests of all processes together.
pub(crate) fn requests(text: &str) -> Parsed<u64> {
    let why = format!("the number of requests is between 0 and {MOST_REQUESTS}");
    number(text, 0, MOST_REQUESTS).ok_or(why)
}

/// The number of faults of one kind in a run.
pub(crate) fn faults(text: &str) -> Parsed<u32> {
    let why = format!("a whole number between 0 and {MOST_FAULTS} is expected");
    number(text, 0, MOST_FAULTS.into()).map(|count| count as u32).ok_or(why)
}

/// The fault budget of one kind in an exploration.
pub(crate) fn budget(text: &str) -> Parsed<u32> {
    let why = format!("a whole number between 0 and {MOST_BUDGET} is expected");
    number(text, 0, MOST_BUDGET.into()).map(|count| count as u32).ok_or(why)
}

/// The size of groups that are compared: large ones take too long one after the other.
pub(crate) fn compared(text: &str) -> Parsed<usize> {
    let why = "groups of 2 to 20 processes can be compared".to_owned();
    number(text, 2, 20).map(|n| n as usize).ok_or(why)
}

/// A number of at least one, for seeds, threads and limits.
pub(crate) fn positive(text: &str) -> Parsed<u64> {
    number(text, 1, 1 << 40).ok_or_else(|| "a whole number of at least 1 is expected".to_owned())
}

fn number(text: &str, min: u64, max: u64) -> Option<u64> {
    text.parse().ok().filter(|number| (min..=max).contains(number))
}

/// A probability.
pub(crate) fn probability(text: &str) -> Parsed<f64> {
    let value = text.parse().ok().filter(|value| (0.0..=1.0).contains(value));
    value.ok_or_else(|| "a probability is a number from 0 to 1, such as 0.05".to_owned())
}

/// A delay.
pub(crate) fn delay(text: &str) -> Parsed<Delay> {
    text.parse().map_err(|error: synod_sim::network::BadDelay| error.to_string())
}

/// A time, in microseconds.
pub(crate) fn time(text: &str) -> Parsed<u64> {
    microseconds(text).ok_or_else(|| "a time is written 500ms, 2s or 100us".to_owned())
}

/// The time limit of a command: `90s`, `10m` or `2h`.
pub(crate) fn duration(text: &str) -> Parsed<Duration> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let in_seconds = match &text[digits.len()..] {
        "h" => Some(3_600),
        "m" => Some(60),
        _ => None,
    };
    let us = match (in_seconds, number(digits, 1, 1_000)) {
        (Some(seconds), count) => count.map(|count| count * seconds * 1_000_000),
        (None, _) => microseconds(text).filter(|us| *us > 0),
    };
    us.map(Duration::from_micros).ok_or_else(|| "a time is written 90s, 10m or 2h".to_owned())
}

/// `2ms`, or `never`: the bound on the latency of messages. Where it is `0ms`, every message
/// arrives before any time passes.
pub(crate) fn bound(text: &str) -> Parsed<Timing> {
    match (text, microseconds(text)) {
        ("never", _) => Ok(Timing::Asynchronous),
        (_, Some(us)) if us % 1_000 == 0 && us <= 1_000_000 => {
            Ok(Timing::Synchronous { delay_ms: us / 1_000 })
        }
        _ => {
            Err("a bound is a whole number of milliseconds, up to 1s, or the word 'never'"
                .to_owned())
        }
    }
}

/// `1`, `3` or `forever`.
pub(crate) fn rounds(text: &str) -> Parsed<Rounds> {
    match text {
        "forever" => Ok(Rounds::Forever),
        _ => budget(text).map(Rounds::Times).map_err(|why| format!("{why}, or the word 'forever'")),
    }
}

/// `p1`.
fn process(text: &str) -> Option<ProcessId> {
    text.trim().strip_prefix('p')?.parse().ok().map(ProcessId)
}

/// `name=value`.
pub(crate) fn parameter(text: &str) -> Parsed<(String, String)> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a parameter is written name=value".to_owned()),
    }
}

/// A link and the latency of messages on it.
pub(crate) type Link = ((ProcessId, ProcessId), Delay);

/// `p0->p1=20ms`.
pub(crate) fn link(text: &str) -> Parsed<Link> {
    let wrong = || "a link is written 'p0->p1=20ms'".to_owned();
    let (ends, latency) = text.split_once('=').ok_or_else(wrong)?;
    let (from, to) = ends.split_once("->").ok_or_else(wrong)?;
    let ends = process(from).zip(process(to)).ok_or_else(wrong)?;
    Ok((ends, delay(latency)?))
}

/// `p2@300ms`: a process, and the time when it is killed; `p2@300ms..500ms`: also the time when it
/// comes back.
pub(crate) fn kill(text: &str) -> Parsed<Kill> {
    let kill = text.split_once('@').and_then(|(who, at)| {
        let (at, back) = at.split_once("..").map_or((at, None), |(at, back)| (at, Some(back)));
        let (who, at_us) = (process(who)?, microseconds(at)?);
        let Some(back) = back else {
            return Some(Kill { who, at_us, back_us: None, disk: Fate::Kept });
        };
        let (back, disk) = back.split_once(',').unwrap_or((back, ""));
        let disk = match disk {
            "" => Fate::Kept,
            "torn" => Fate::Torn,
            "flipped" => Fate::Flipped,
            "lost" => Fate::Lost,
            _ => return None,
        };
        let back_us = Some(microseconds(back).filter(|back_us| *back_us >= at_us)?);
        Some(Kill { who, at_us, back_us, disk })
    });
    let wrong = "who is killed, and when, is written 'p2@300ms', or 'p2@300ms..500ms' if it comes back; \
                 'p2@300ms..500ms,lost' if it has lost its disk, and 'torn' or 'flipped' if a record or a \
                 bit of it is spoilt";
    kill.ok_or_else(|| wrong.to_owned())
}

/// `p1=+5ms,100ppm`: the lead at the start, and the drift. Either may be left out.
pub(crate) fn clock(text: &str) -> Parsed<(ProcessId, Clock)> {
    let wrong = || {
        "a clock is written 'p1=+5ms,100ppm': how far it is ahead (or behind, with a minus) and \
         how much it gains, up to 100000ppm"
            .to_owned()
    };
    let (at, values) = text.split_once('=').ok_or_else(wrong)?;
    let at = process(at).ok_or_else(wrong)?;
    let mut clock = Clock::default();
    for word in values.split([',', ' ']).filter(|word| !word.is_empty()) {
        let (sign, size) = match word.strip_prefix('-') {
            Some(size) => (-1, size),
            None => (1, word.strip_prefix('+').unwrap_or(word)),
        };
        match size.strip_suffix("ppm").map(str::parse::<i64>) {
            Some(Ok(ppm @ 0..=MOST_DRIFT_PPM)) => clock.drift_ppm = sign * ppm,
            Some(_) => return Err(wrong()),
            None => clock.offset_us = sign * microseconds(size).ok_or_else(wrong)? as i64,
        }
    }
    Ok((at, clock))
}

/// `100..250`: the numbers of the first event and of the one after the last.
pub(crate) fn window(text: &str) -> Parsed<Range<u64>> {
    let ends = text.split_once("..").and_then(|(from, to)| {
        let from = if from.is_empty() { 0 } else { from.parse().ok()? };
        Some(from..to.parse().ok()?)
    });
    ends.filter(|window| window.start < window.end)
        .ok_or_else(|| "a window is written FROM..TO, such as 100..250".to_owned())
}

/// Group sizes, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sizes(pub(crate) Vec<usize>);

/// `2..64`, `2..64:2` or `3,7,13`.
pub(crate) fn sizes(text: &str) -> Parsed<Sizes> {
    let wrong = || {
        format!(
            "group sizes are written 2..64, 2..64:2 or 3,7,13, and are between 1 and \
             {LARGEST_GROUP}"
        )
    };
    let mut sizes = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            None => sizes.push(group(part)?),
            Some((low, rest)) => {
                let (high, step) = rest.split_once(':').unwrap_or((rest, "1"));
                let (low, high) = (group(low)?, group(high)?);
                let step = step.parse().ok().filter(|step| *step > 0).ok_or_else(wrong)?;
                if low > high {
                    return Err(wrong());
                }
                sizes.extend((low..=high).step_by(step));
            }
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    Ok(Sizes(sizes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_sizes_are_a_range_with_or_without_a_step_or_a_list() {
        assert_eq!(sizes("2..5"), Ok(Sizes(vec![2, 3, 4, 5])));
        assert_eq!(sizes("2..9:3"), Ok(Sizes(vec![2, 5, 8])));
        assert_eq!(sizes("13,3,7,3"), Ok(Sizes(vec![3, 7, 13])));
        for text in ["", "5..2", "0..3", "2..4:0", "a", "2..", "1..99999999"] {
            assert!(sizes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_clock_is_ahead_or_behind_and_gains_or_loses() {
        let clock_of = |offset_us, drift_ppm| Clock { offset_us, drift_ppm };
        assert_eq!(clock("p1=+5ms,100ppm"), Ok((ProcessId(1), clock_of(5_000, 100))));
        assert_eq!(clock("p0=-2s"), Ok((ProcessId(0), clock_of(-2_000_000, 0))));
        assert_eq!(clock("p0=-7ppm"), Ok((ProcessId(0), clock_of(0, -7))));
        for text in ["", "p1", "1=5ms", "p1=5", "p1=999999ppm", "p1=--5ms"] {
            assert!(clock(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_link_has_two_ends_and_a_delay() {
        let ends = (ProcessId(0), ProcessId(1));
        assert_eq!(link("p0->p1=20ms"), Ok((ends, Delay::Constant(20_000))));
        for text in ["p0->p1", "p0=5ms", "p0->=5ms", "p0->p1=soon"] {
            assert!(link(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_window_has_a_beginning_before_its_end() {
        assert_eq!(window("100..250"), Ok(100..250));
        assert_eq!(window("..9"), Ok(0..9));
        for text in ["", "5", "5..5", "9..5", "a..b", "5.."] {
            assert!(window(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_command_takes_seconds_minutes_or_hours() {
        let seconds = |text| duration(text).map(|time| time.as_secs_f64());
        assert_eq!(seconds("500ms"), Ok(0.5));
        assert_eq!(seconds("90s"), Ok(90.0));
        assert_eq!(seconds("10m"), Ok(600.0));
        assert_eq!(seconds("2h"), Ok(7_200.0));
        for text in ["", "10", "0s", "0m", "-1m", "1.5h", "soon", "99999h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_probability_is_between_zero_and_one() {
        assert_eq!(probability("0.25"), Ok(0.25));
        for text in ["1.5", "-0.1", "NaN", "often"] {
            assert!(probability(text).is_err(), "{text}");
        }
    }
}
