//! Setting a clock by a time server (Cristian, 1989).
//!
//! A client asks the server for its time and measures, on its own clock, how long the answer takes.
//! The server read its clock at some moment of that round, most likely in the middle, so the client
//! adds half a round. It knows how wrong it may be: if no message takes less than `min`, the
//! server's clock was read no earlier than `min` after the request left, and no later than `min`
//! before the answer came. The error is at most half a round, less `min`; and it is that large if
//! all the delay is on one way.
//!
//! - Assumes: an honest server (p0) that does not crash; reliable links; no message takes less than
//!   `min_us`; during a synchronisation the clocks run at the same rate.
//! - Guarantees: T5, T6.
//! - Cost: 2 messages for each attempt. Of several attempts the fastest counts: it is the best.
//! - State: the attempt under way, and the best one so far.
//!
//! The client's clock is not set here: [`slewed`](super::slewed) does that. A single server may
//! fail or lie: [`median`](super::median) asks several.
//!
//! Source: F. Cristian: Probabilistic clock synchronization. Distributed Computing 3, 1989.

use serde::{Deserialize, Serialize};
use synod_core::card::{
    Bounds, Card, Cost, Counterexample, Load, Parameter, Quantity, Scope, Source,
};
use synod_core::family::clock_sync::{ClockSync, Estimate, Input, Output, SERVER, T5, T6};
use synod_core::{
    Algorithm, Cx, Never, ProcessId, Protocol, Rule, Setup, SetupError, Trigger, Wire,
};

/// The messages between client and server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// What time is it?
    Request {
        /// The number of the request at its client.
        number: u64,
    },
    /// It is this time.
    Time {
        /// The number of the request that this answers.
        number: u64,
        /// The server's clock, read as late as possible.
        server_us: i64,
    },
}

impl Wire for Message {}

/// One question and its answer, as the client saw them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Round {
    /// T0: the client's clock when the request left.
    pub sent_us: i64,
    /// t: the server's clock, as the answer says.
    pub server_us: i64,
    /// T1: the client's clock when the answer came.
    pub received_us: i64,
}

impl Round {
    /// The duration of the round: the *difference* of the two readings.
    pub fn took_us(&self) -> i64 {
        self.received_us.saturating_sub(self.sent_us)
    }

    /// The largest possible error of `t + took/2` at the moment T1: half a round, rounded up, less
    /// `min`.
    pub fn error_bound_us(&self, min_us: i64) -> i64 {
        self.took_us() - self.took_us() / 2 - min_us
    }
}

/// One process: the server, or a client.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cristian {
    rules: Rules,
    /// At the server: the client whose request waits for a reading of the clock, and the number of
    /// the request.
    answering: Option<(ProcessId, u64)>,
    state: State,
    /// The number of requests sent so far.
    pub(super) requests: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Rules {
    attempts: u64,
    min_us: i64,
    threshold_us: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum State {
    Idle,
    /// The client synchronises, and `left` attempts are not over yet.
    Synchronising {
        left: u64,
        best: Option<Round>,
        attempt: Attempt,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Attempt {
    /// The client reads its clock, to ask the server next.
    Begins,
    /// The client waits for the answer to the request that it sent at `sent_us`.
    Waits { sent_us: i64 },
    /// The answer is here; the client reads its clock again.
    Ends { sent_us: i64, server_us: i64 },
}

impl Protocol for Cristian {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            Input::Synchronise => self.synchronise(cx),
            Input::Reading { now_us } => self.on_reading(now_us, cx),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Request { number } => self.on_request(from, number, cx),
            Message::Time { number, server_us } => self.on_time(from, number, server_us, cx),
        }
    }
}

impl Cristian {
    fn synchronise(&mut self, cx: &mut Cx<'_, Self>) {
        assert_eq!(self.state, State::Idle, "synchronise while synchronising");
        let left = self.rules.attempts;
        self.state = State::Synchronising { left, best: None, attempt: Attempt::Begins };
        cx.output(Output::ReadClock);
    }

    fn on_reading(&mut self, now_us: i64, cx: &mut Cx<'_, Self>) {
        if let Some((client, number)) = self.answering.take() {
            // The server reads its clock as late as possible, just before its answer leaves.
            return cx.send(client, Message::Time { number, server_us: now_us });
        }
        match &self.state {
            State::Synchronising { attempt: Attempt::Begins, .. } => self.ask(now_us, cx),
            State::Synchronising { attempt: Attempt::Ends { sent_us, server_us }, .. } => {
                let (sent_us, server_us) = (*sent_us, *server_us);
                self.finish(Round { sent_us, server_us, received_us: now_us }, cx);
            }
            // The process did not ask for this reading.
            State::Synchronising { attempt: Attempt::Waits { .. }, .. } | State::Idle => {}
        }
    }

    fn ask(&mut self, now_us: i64, cx: &mut Cx<'_, Self>) {
        let State::Synchronising { attempt, .. } = &mut self.state else { return };
        *attempt = Attempt::Waits { sent_us: now_us };
        self.requests += 1;
        cx.send(SERVER, Message::Request { number: self.requests });
    }

    fn on_request(&mut self, from: ProcessId, number: u64, cx: &mut Cx<'_, Self>) {
        if cx.me() != SERVER {
            return cx.accuse(from, "asked a process for the time that is not the server");
        }
        self.answering = Some((from, number));
        cx.output(Output::ReadClock);
    }

    fn on_time(&mut self, from: ProcessId, number: u64, server_us: i64, cx: &mut Cx<'_, Self>) {
        if from != SERVER {
            return cx.accuse(from, "answered in the place of the server");
        }
        // An answer to an earlier request, or a second copy, belongs to another round: T0 of this
        // round says nothing about how long that answer travelled.
        if number == self.requests
            && let State::Synchronising { attempt, .. } = &mut self.state
            && let Attempt::Waits { sent_us } = *attempt
        {
            *attempt = Attempt::Ends { sent_us, server_us };
            cx.output(Output::ReadClock);
        }
    }

    fn finish(&mut self, round: Round, cx: &mut Cx<'_, Self>) {
        let usable = self.rules.accept(&round);
        let State::Synchronising { left, best, .. } = &mut self.state else { return };
        // The shorter the round, the smaller the bound of its error.
        if usable && best.is_none_or(|best| round.took_us() < best.took_us()) {
            *best = Some(round);
        }
        *left -= 1;
        match (*left, *best) {
            (1.., _) => self.ask(round.received_us, cx),
            (0, best) => {
                self.state = State::Idle;
                cx.output(match best {
                    Some(best) => Output::Synchronised(self.estimate(&best, round.received_us)),
                    None => Output::Refused,
                });
            }
        }
    }

    /// The estimate of the server's clock at `now_us`, by the best round.
    fn estimate(&self, best: &Round, now_us: i64) -> Estimate {
        let then_us = best.server_us.saturating_add(best.took_us() / 2);
        let correction_us = then_us.saturating_sub(best.received_us);
        Estimate {
            server_us: now_us.saturating_add(correction_us),
            error_bound_us: best.error_bound_us(self.rules.min_us),
            correction_us,
        }
    }
}

impl Rules {
    /// Whether the round was fast enough to be useful, and slow enough to be possible: two messages
    /// take at least `2 min`.
    fn accept(&self, round: &Round) -> bool {
        (2 * self.min_us..=self.threshold_us).contains(&round.took_us())
    }

    fn read(setup: &Setup) -> Result<Rules, SetupError> {
        let number_us = |name, default: i64| {
            let number = setup.number(name, default as u64)?;
            i64::try_from(number).map_err(|_| setup.bad(name, "too many microseconds"))
        };
        let rules = Rules {
            attempts: setup.number("attempts", 1)?,
            min_us: number_us("min_us", 0)?,
            threshold_us: number_us("threshold_us", i64::MAX)?,
        };
        if rules.attempts == 0 {
            return Err(setup.bad("attempts", "at least one attempt is needed"));
        }
        if rules.min_us > rules.threshold_us / 2 {
            let why = "no answer can be that fast; make it at least twice min_us";
            return Err(setup.bad("threshold_us", why));
        }
        Ok(rules)
    }
}

impl Algorithm for Cristian {
    type Family = ClockSync;

    const CARD: Card = Card {
        name: "cristian",
        title: "Cristian's clock synchronisation",
        source: Source {
            author: "F. Cristian",
            year: 1989,
            work: "Probabilistic clock synchronization, Distributed Computing 3",
        },
        idea: "Ask for the time and add half of the time that the answer took.",
        rules: &[
            Rule::on(
                &[Trigger::Input("Synchronise"), Trigger::Input("Reading")],
                "synchronise: read the clock (T0) and ask the server",
            ),
            Rule::on(
                &[Trigger::Message("Request"), Trigger::Input("Reading")],
                "on a request: the server reads its clock (t) and answers at once",
            ),
            Rule::on(
                &[Trigger::Message("Time"), Trigger::Input("Reading")],
                "on the answer: read the clock again (T1); the server's clock shows t + (T1 - \
                 T0)/2, give or take (T1 - T0)/2 - min",
            ),
            Rule::on_input(
                "Reading",
                "an answer that took longer than the threshold is not used; of several the fastest \
                 is",
            ),
        ],
        assumes: &[
            "the server p0 is honest and does not crash",
            "reliable links",
            "no message takes less than min_us",
            "clocks run at the same rate during a synchronisation",
        ],
        promises: &[T5, T6],
        counterexamples: &[Counterexample {
            property: T6,
            scope: Scope { crashes: 1, ..Scope::of(2) },
            steps: 2,
            story: "The server crashes before it has answered, and the client waits for ever.",
        }],
        costs: &[
            Cost {
                name: "messages per synchronisation, with one attempt",
                quantity: Quantity::MessagesPerOperation,
                load: Load::Any,
                formula: "2",
                expected: |_| Bounds::exactly(2),
            },
            Cost {
                name: "synchronisation, in hops",
                quantity: Quantity::EntryHops,
                load: Load::Sequential,
                formula: "2",
                expected: |_| Bounds::exactly(2),
            },
        ],
        parameters: &[
            Parameter {
                name: "attempts",
                meaning: "how often a client asks to synchronise once; the fastest answer counts \
                          (default: 1)",
            },
            Parameter {
                name: "min_us",
                meaning: "the microseconds that every message takes at least, e.g. 8000 \
                          (default: 0)",
            },
            Parameter {
                name: "threshold_us",
                meaning: "an answer that takes more microseconds than this is not used, e.g. 50000 \
                          (default: no limit)",
            },
        ],
        smallest: 2,
        ..Card::BLANK
    };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let rules = Rules::read(setup)?;
        let process = Cristian { rules, answering: None, state: State::Idle, requests: 0 };
        Ok(vec![process; setup.n])
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        me != SERVER
    }
}
