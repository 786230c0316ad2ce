//! The header of a scenario: the algorithm, the number of processes, and their network and
//! applications.

use super::command::{Choices, choices};
use super::error::{ParseError, did_you_mean};
use super::parse::{Entry, Word, error_at, error_in};
use crate::network::{Delay, Network, microseconds};
use crate::simulator::Options;
use crate::world::{Judged, Plan};
use std::collections::BTreeMap;
use synod_core::card::{Card, Load, Order, Rounds};
use synod_core::{Clock, ProcessId, Setup, SetupError};

/// Limit of processes; the trace of a larger group is not readable.
pub(super) const PROCESSES_AT_MOST: usize = 100;
/// Limit of a clock's drift: one part in ten.
const DRIFT_PPM_AT_MOST: i64 = 100_000;

const NAMES: &[&str] = &[
    "algorithm",
    "processes",
    "order",
    "multicast",
    "latency",
    "disk",
    "seed",
    "clock",
    "show",
    "rounds",
    "load",
    "think",
    "hold",
    "tells",
    "loss",
    "duplicates",
    "overtaking",
];

/// The entries of the header that do not depend on the algorithm.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) algorithm: Word,
    pub(super) n: usize,
    pub(super) parameters: Vec<Entry>,
    pub(super) order: Order,
    pub(super) multicast: bool,
    /// The latency of a message. None: it waits until the script delivers it.
    pub(super) latency: Option<Delay>,
    pub(super) links: BTreeMap<(ProcessId, ProcessId), Delay>,
    pub(super) disk: Delay,
    pub(super) seed: u64,
    /// The behaviour of applications and network while the run goes on by the seed.
    pub(super) course: Course,
    pub(super) clocks: Vec<Clock>,
    /// The choices while the processes start.
    pub(super) choices: Choices,
    pub(super) show_lamport: bool,
    pub(super) show_vector: bool,
}

/// The options of a run by the seed.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    rounds: Option<u32>,
    load: Option<Load>,
    think: Option<Delay>,
    hold: Option<Delay>,
    tells: f64,
    loss: f64,
    duplication: f64,
    reordering: f64,
}

impl Course {
    /// Reads a line of the header, if it is one of these options; returns whether it is.
    fn take(&mut self, text: &str, entry: &Entry) -> Result<bool, ParseError> {
        let value = entry.value();
        let bad = |message: &str| error_at(text, entry.value_at(), message.to_owned());
        match entry.name().as_str() {
            "rounds" => {
                let rounds = value.parse();
                let rounds = rounds.map_err(|_| bad("how often each application asks: rounds: 3"));
                self.rounds = Some(rounds?);
            }
            "load" => {
                self.load = Some(match value.as_str() {
                    "random" => Load::Any,
                    "sequential" => Load::Sequential,
                    "saturated" => Load::Saturated,
                    _ => return Err(bad("the load is random, sequential or saturated")),
                });
            }
            "think" => self.think = Some(delay(text, entry)?),
            "hold" => self.hold = Some(delay(text, entry)?),
            "tells" => self.tells = probability(text, entry)?,
            "loss" => self.loss = probability(text, entry)?,
            "duplicates" => self.duplication = probability(text, entry)?,
            "overtaking" => self.reordering = probability(text, entry)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Header {
    pub(super) fn read(text: &str, entries: &[Entry]) -> Result<Header, ParseError> {
        for (index, entry) in entries.iter().enumerate() {
            if let Some(first) = entries[..index].iter().find(|other| other.name() == entry.name())
            {
                let message =
                    format!("{} is said twice; first in line {}", entry.name(), first.name[0].line);
                return Err(error_at(text, &entry.name[0], message));
            }
        }
        let mut header = Header {
            algorithm: required(text, entries, "algorithm", "ricart-agrawala")?.value[0].clone(),
            n: processes(text, required(text, entries, "processes", "3")?)?,
            parameters: Vec::new(),
            order: Order::Any,
            multicast: false,
            latency: None,
            links: BTreeMap::new(),
            disk: Delay::Constant(0),
            seed: 0,
            course: Course::default(),
            clocks: Vec::new(),
            choices: Vec::new(),
            show_lamport: false,
            show_vector: false,
        };
        for entry in entries {
            header.take(text, entry)?;
        }
        Ok(header)
    }

    fn take(&mut self, text: &str, entry: &Entry) -> Result<(), ParseError> {
        let value = entry.value();
        let bad = |message: String| error_at(text, entry.value_at(), message);
        let names: Vec<&str> = entry.name.iter().map(|word| word.text.as_str()).collect();
        match names.as_slice() {
            ["algorithm"] if entry.value.len() == 1 => {}
            ["algorithm"] => return Err(bad("the name of an algorithm is one word".to_owned())),
            ["processes"] => {}
            ["order"] => {
                self.order = match value.as_str() {
                    "any" => Order::Any,
                    "fifo" => Order::Fifo,
                    "causal" => Order::Causal,
                    _ => return Err(bad("the order is any, fifo or causal".to_owned())),
                }
            }
            ["multicast"] => {
                self.multicast = match value.as_str() {
                    "yes" => true,
                    "no" => false,
                    _ => return Err(bad("multicast is yes or no".to_owned())),
                }
            }
            ["latency"] => self.latency = Some(delay(text, entry)?),
            ["latency", _, "->", _] => {
                let (from, to) = (&entry.name[1], &entry.name[3]);
                let link = (process(text, from, self.n)?, process(text, to, self.n)?);
                self.links.insert(link, delay(text, entry)?);
            }
            ["disk"] => self.disk = delay(text, entry)?,
            ["seed"] => {
                self.seed = value.parse().map_err(|_| bad("a seed is a number".to_owned()))?;
            }
            ["clock", _] => {
                let at = process(text, &entry.name[1], self.n)?;
                self.clocks.resize(self.n, Clock::default());
                self.clocks[at.index()] = clock(text, entry)?;
            }
            ["choosing"] => self.choices = choices(text, &entry.value)?,
            ["show"] => self.show(text, entry)?,
            _ if self.course.take(text, entry)? => {}
            _ => self.parameters.push(entry.clone()),
        }
        Ok(())
    }

    fn show(&mut self, text: &str, entry: &Entry) -> Result<(), ParseError> {
        for word in &entry.value {
            match word.text.as_str() {
                "lamport" => self.show_lamport = true,
                "vector" => self.show_vector = true,
                _ => {
                    let message = "what can be shown is lamport and vector".to_owned();
                    return Err(error_at(text, word, message));
                }
            }
        }
        Ok(())
    }

    /// The plan of the world, if the algorithm agrees.
    pub(super) fn plan(&self, text: &str, card: &Card) -> Result<Plan, ParseError> {
        let mut setup = Setup::new(self.n);
        for entry in &self.parameters {
            let name = entry.name();
            if !card.parameters.iter().any(|parameter| parameter.name == name) {
                return Err(unknown(text, entry, card));
            }
            setup = setup.with(&name, &entry.value());
        }
        let rounds = vec![self.course.rounds.map_or(Rounds::Forever, Rounds::Times)];
        let (order, multicast, clocks) = (self.order, self.multicast, self.clocks.clone());
        let plan = Plan::new(self.n, Rounds::Forever);
        Ok(Plan { setup, rounds, order, multicast, clocks, judged: Judged::All, ..plan })
    }

    /// The same for a run of that world: how long everything takes, and all chance.
    pub(super) fn options(&self, plan: Plan) -> Options {
        let course = &self.course;
        let usual = Options::new(plan, self.seed);
        Options {
            network: Network {
                latency: self.latency.unwrap_or(usual.network.latency),
                links: self.links.clone(),
                loss: course.loss,
                duplication: course.duplication,
                reordering: course.reordering,
                buffer: None,
            },
            load: course.load.unwrap_or(usual.load),
            think: course.think.unwrap_or(usual.think),
            hold: course.hold.unwrap_or(usual.hold),
            tells: course.tells,
            disk: self.disk,
            ..usual
        }
    }

    /// The error, at the line of the header that caused it.
    pub(super) fn explain(&self, text: &str, entries: &[Entry], error: &SetupError) -> ParseError {
        let name = match error {
            SetupError::GroupSize { .. } => "processes",
            SetupError::UnknownParameter { name, .. } | SetupError::BadParameter { name, .. } => {
                name
            }
        };
        let entry = entries.iter().find(|entry| entry.name() == name);
        let at = entry.map_or(&self.algorithm, Entry::value_at);
        error_at(text, at, error.to_string())
    }
}

fn unknown(text: &str, entry: &Entry, card: &Card) -> ParseError {
    let name = entry.name();
    let parameters: Vec<&str> = card.parameters.iter().map(|p| p.name).collect();
    let known = parameters.iter().copied().chain(NAMES.iter().copied());
    let has = match parameters.as_slice() {
        [] => "it has none".to_owned(),
        all => format!("it has: {}", all.join(", ")),
    };
    let first = entry.name[0].text.as_str();
    let hint = did_you_mean(first, known);
    let message = format!("{} has no parameter '{name}'; {has}{hint}", card.name);
    error_at(text, &entry.name[0], message)
}

fn required<'e>(
    text: &str,
    entries: &'e [Entry],
    name: &str,
    example: &str,
) -> Result<&'e Entry, ParseError> {
    entries.iter().find(|entry| entry.name() == name).ok_or_else(|| {
        let message =
            format!("the header does not say {name}; add a line such as {name}: {example}");
        error_in(text, 1, 1, 1, message)
    })
}

fn processes(text: &str, entry: &Entry) -> Result<usize, ParseError> {
    match entry.value().parse() {
        Ok(n) if (1..=PROCESSES_AT_MOST).contains(&n) => Ok(n),
        _ => {
            let message = format!("the number of processes is between 1 and {PROCESSES_AT_MOST}");
            Err(error_at(text, entry.value_at(), message))
        }
    }
}

fn delay(text: &str, entry: &Entry) -> Result<Delay, ParseError> {
    entry.value().parse().map_err(|error: crate::network::BadDelay| {
        error_at(text, entry.value_at(), error.to_string())
    })
}

fn probability(text: &str, entry: &Entry) -> Result<f64, ParseError> {
    match entry.value().parse::<f64>() {
        Ok(probability) if (0.0..=1.0).contains(&probability) => Ok(probability),
        _ => {
            let message = "how likely it is, from 0 to 1: 0.01".to_owned();
            Err(error_at(text, entry.value_at(), message))
        }
    }
}

/// `p2`, if there is such a process.
pub(super) fn process(text: &str, word: &Word, n: usize) -> Result<ProcessId, ParseError> {
    let digits = word.text.strip_prefix('p').filter(|digits| is_number(digits));
    match digits.map(str::parse::<u32>) {
        Some(Ok(number)) if (number as usize) < n => Ok(ProcessId(number)),
        Some(_) => {
            let message = match n {
                1 => format!("there is no {}; the only process is p0", word.text),
                _ => format!("there is no {}; the processes are p0..p{}", word.text, n - 1),
            };
            Err(error_at(text, word, message))
        }
        None => {
            let message = format!("'{}' is no process; write p0, for instance", word.text);
            Err(error_at(text, word, message))
        }
    }
}

/// Whether the word is a whole number and nothing else.
pub(super) fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// `+5ms 100ppm`: how far ahead at the start, and how fast it runs away. Either may be left out.
fn clock(text: &str, entry: &Entry) -> Result<Clock, ParseError> {
    let mut clock = Clock::default();
    for word in &entry.value {
        let (sign, size) = match word.text.strip_prefix('-') {
            Some(size) => (-1, size),
            None => (1, word.text.strip_prefix('+').unwrap_or(&word.text)),
        };
        let drift = size.strip_suffix("ppm").filter(|digits| is_number(digits));
        if let Some(Ok(ppm)) = drift.map(str::parse::<i64>)
            && ppm <= DRIFT_PPM_AT_MOST
        {
            clock.drift_ppm = sign * ppm;
        } else if let Some(us) = microseconds(size) {
            clock.offset_us = sign * us as i64;
        } else {
            let message = "a clock is written +5ms 100ppm: how far it is ahead (or behind, with \
                           a minus) and how much it gains, up to 100000ppm";
            return Err(error_at(text, word, message.to_owned()));
        }
    }
    Ok(clock)
}
