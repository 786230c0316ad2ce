//! Setting a clock by several time servers, of which some may lie.
//!
//! A server that fails, or lies, spoils Cristian's method. So the client asks several, estimates
//! its distance to each of their clocks, and takes the *median*. If fewer than half of them lie, a
//! server that is honest lies on either side of the median, or is the median itself. So the median
//! is as good as the worst estimate of an honest one.
//!
//! - Assumes: more than half of the servers are honest, and their clocks agree; no server crashes;
//!   reliable links; no message takes less than `min_us`; clocks run at the same rate during a
//!   synchronisation.
//! - Guarantees: T5, T6.
//! - Cost: 2K messages for each synchronisation with K servers.
//! - State: the answers of at most K servers.
//!
//! Sources: F. Cristian: Probabilistic clock synchronization. Distributed Computing 3, 1989. The
//! median against servers that lie: K. Marzullo, S. Owicki: Maintaining the time in a distributed
//! system. PODC 1983, with intervals in place of points.

use super::cristian::{Cristian, Message, Round};
use super::mutants::MEAN;
use serde::{Deserialize, Serialize};
use synod_core::card::{
    Bounds, Card, Cost, Counterexample, Load, OtherCosts, Parameter, Quantity, Scope, Settings,
    Size, Source, Tolerance, Variant,
};
use synod_core::family::clock_sync::{ClockSync, Estimate, Input, Output, SERVER, T5, T6};
use synod_core::{
    Algorithm, Cx, Never, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Trigger,
};

/// The lie of a server that lies: an hour.
const LIE_US: i64 = 3_600_000_000;

/// One process: a server or a client. With `MEDIAN` it is right; without, it takes the mean: the
/// mutant [`time-servers-mean`](super::mutants).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ManyServers<const MEDIAN: bool> {
    servers: ProcessSet,
    /// Whether this process is a server that lies.
    lies: bool,
    min_us: i64,
    /// At a server: the client whose request waits for a reading of the clock, and the number of
    /// the request.
    answering: Option<(ProcessId, u64)>,
    state: State,
    /// The number of synchronisations so far.
    requests: u64,
}

/// One process of the right version.
pub type TimeServers = ManyServers<true>;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum State {
    Idle,
    /// The client reads its clock, to ask the servers next.
    Begins,
    /// It asked at `sent_us`, and `missing` have not answered.
    Waits {
        sent_us: i64,
        missing: ProcessSet,
        /// An answer that waits for a reading of the clock.
        answer_us: Option<i64>,
        /// How far each server that has answered is ahead of this clock.
        ahead_us: Vec<i64>,
        /// The largest error of any of them.
        error_bound_us: i64,
    },
}

impl<const MEDIAN: bool> Protocol for ManyServers<MEDIAN> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            Input::Synchronise => {
                self.state = State::Begins;
                cx.output(Output::ReadClock);
            }
            Input::Reading { now_us } => self.on_reading(now_us, cx),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Request { number } if self.servers.contains(cx.me()) => {
                self.answering = Some((from, number));
                cx.output(Output::ReadClock);
            }
            Message::Request { .. } => cx.accuse(from, "asked a client for the time"),
            Message::Time { number, server_us } => self.on_time(from, number, server_us, cx),
        }
    }
}

impl<const MEDIAN: bool> ManyServers<MEDIAN> {
    fn on_reading(&mut self, now_us: i64, cx: &mut Cx<'_, Self>) {
        if let Some((client, number)) = self.answering.take() {
            let server_us = if self.lies { now_us.saturating_add(LIE_US) } else { now_us };
            return cx.send(client, Message::Time { number, server_us });
        }
        match self.state {
            State::Begins => self.ask(now_us, cx),
            State::Waits { .. } => self.measure(now_us, cx),
            // The process did not ask for this reading.
            State::Idle => {}
        }
    }

    fn ask(&mut self, sent_us: i64, cx: &mut Cx<'_, Self>) {
        self.requests += 1;
        let missing = self.servers.clone();
        cx.multicast_to(missing.clone(), Message::Request { number: self.requests });
        self.state = State::Waits {
            sent_us,
            missing,
            answer_us: None,
            ahead_us: Vec::new(),
            error_bound_us: 0,
        };
    }

    fn on_time(&mut self, from: ProcessId, number: u64, server_us: i64, cx: &mut Cx<'_, Self>) {
        // An answer to an earlier request, or a second copy, belongs to another round.
        if number == self.requests
            && let State::Waits { missing, answer_us, .. } = &mut self.state
            && missing.remove(from)
        {
            *answer_us = Some(server_us);
            cx.output(Output::ReadClock);
        }
    }

    fn measure(&mut self, received_us: i64, cx: &mut Cx<'_, Self>) {
        let State::Waits { sent_us, missing, answer_us, ahead_us, error_bound_us } =
            &mut self.state
        else {
            return;
        };
        let Some(server_us) = answer_us.take() else { return };
        let round = Round { sent_us: *sent_us, server_us, received_us };
        let then_us = server_us.saturating_add(round.took_us() / 2);
        ahead_us.push(then_us.saturating_sub(received_us));
        *error_bound_us = round.error_bound_us(self.min_us).max(*error_bound_us);
        if missing.is_empty() {
            let correction_us = choose::<MEDIAN>(ahead_us);
            let server_us = received_us.saturating_add(correction_us);
            let error_bound_us = *error_bound_us;
            self.state = State::Idle;
            let estimate = Estimate { server_us, error_bound_us, correction_us };
            cx.output(Output::Synchronised(estimate));
        }
    }
}

/// The median of an odd number of estimates; or their mean.
fn choose<const MEDIAN: bool>(ahead_us: &mut [i64]) -> i64 {
    ahead_us.sort_unstable();
    if MEDIAN {
        ahead_us[ahead_us.len() / 2]
    } else {
        let sum: i128 = ahead_us.iter().map(|us| i128::from(*us)).sum();
        (sum / ahead_us.len() as i128) as i64
    }
}

impl<const MEDIAN: bool> Algorithm for ManyServers<MEDIAN> {
    type Family = ClockSync;

    const CARD: Card = if MEDIAN { CARD } else { MEAN };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let count = setup.number("servers", 3)?;
        if count % 2 == 0 || count >= setup.n as u64 {
            return Err(setup.bad("servers", "an odd number, and smaller than the group: 3"));
        }
        let servers = ProcessSet::all(count as usize);
        let liars = setup.processes("liars")?.unwrap_or_default();
        if liars.iter().any(|liar| *liar == SERVER || !servers.contains(*liar)) {
            return Err(setup.bad("liars", "servers other than p0, whose clock is the true one"));
        }
        let min_us = i64::try_from(setup.number("min_us", 0)?)
            .map_err(|_| setup.bad("min_us", "too many microseconds"))?;
        let process = |me| ManyServers {
            servers: servers.clone(),
            lies: liars.contains(&me),
            min_us,
            answering: None,
            state: State::Idle,
            requests: 0,
        };
        Ok(ProcessId::all(setup.n).map(process).collect())
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        !self.servers.contains(me)
    }

    fn size(processes: &[Self]) -> Size {
        let servers = processes.first().map_or(0, |process| process.servers.len());
        Size { n: processes.len(), k: servers }
    }
}

const ONE_LIAR: Settings = &[("liars", "p1")];

/// The card; the mutant takes most of it over.
pub(super) const CARD: Card = Card {
    name: "time-servers",
    aliases: &["cristian-median"],
    title: "clock synchronisation with several servers, by the median",
    source: Source {
        author: "K. Marzullo, S. Owicki",
        year: 1983,
        work: "Maintaining the time in a distributed system, PODC",
    },
    idea: "Ask several servers for the time and take the median: fewer than half of them may lie.",
    rules: &[
        Rule::on(
            &[Trigger::Input("Synchronise"), Trigger::Input("Reading")],
            "synchronise: read the clock (T0) and ask all servers",
        ),
        Rule::on(
            &[Trigger::Message("Request"), Trigger::Input("Reading")],
            "on a request: the server reads its clock (t) and answers at once",
        ),
        Rule::on(
            &[Trigger::Message("Time"), Trigger::Input("Reading")],
            "on an answer: read the clock again (T1); this server is t + (T1 - T0)/2 - T1 ahead of \
             us",
        ),
        Rule::on_input(
            "Reading",
            "with the last answer: take the median of all; its error is at most the largest of \
             (T1 - T0)/2 - min",
        ),
    ],
    assumes: &[
        "more than half of the servers are honest, and their clocks agree",
        "no server crashes",
        "reliable links",
        "no message takes less than min_us",
        "clocks run at the same rate during a synchronisation",
    ],
    promises: &[T5, T6],
    variants: &[Variant { set: ONE_LIAR, tolerates: Tolerance::NOTHING, promises: &[T5, T6] }],
    proved: &[Scope::of(4), Scope { ticks: 2, set: ONE_LIAR, ..Scope::of(4) }],
    counterexamples: &[
        Counterexample {
            property: T5,
            scope: Scope { set: &[("liars", "p1 p2")], ..Scope::of(4) },
            steps: 7,
            story: "two of three servers lie, and the median is a lie",
        },
        Counterexample {
            property: T6,
            scope: Scope { crashes: 1, ..Scope::of(4) },
            steps: 6,
            story: "a server crashes, and the client waits for its answer for ever",
        },
    ],
    costs: &[
        Cost {
            name: "messages per synchronisation",
            quantity: Quantity::MessagesPerOperation,
            load: Load::Any,
            formula: "2K, with K servers",
            expected: |size| Bounds::exactly(2 * size.k),
        },
        Cost {
            name: "synchronisation, in hops",
            quantity: Quantity::EntryHops,
            load: Load::Sequential,
            formula: "2",
            expected: |_| Bounds::exactly(2),
        },
    ],
    other_costs: &[OtherCosts::over_multicast(&[Cost {
        name: "messages per synchronisation",
        quantity: Quantity::MessagesPerOperation,
        load: Load::Any,
        formula: "K + 1",
        expected: |size| Bounds::exactly(size.k + 1),
    }])],
    parameters: &[
        Parameter {
            name: "servers",
            meaning: "how many of the processes, from p0 on, are servers; an odd number \
                      (default: 3)",
        },
        Parameter {
            name: "liars",
            meaning: "the servers whose answers are an hour ahead, e.g. p1 (default: none)",
        },
        Parameter {
            name: "min_us",
            meaning: "the microseconds that every message takes at least, e.g. 8000 (default: 0)",
        },
    ],
    smallest: 4,
    ..<Cristian as Algorithm>::CARD
};
