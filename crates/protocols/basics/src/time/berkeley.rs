//! Internal synchronisation: a group sets its clocks to their mean (Gusella and Zatti, 1989).
//!
//! No clock is the right one; the clocks of the group shall only agree. One process, p0, asks all
//! others what their clocks show, takes the mean of all, its own included, and tells each how far
//! its clock is from that. It sends differences, not times, because a difference does not grow old
//! on its way. Clocks that are ahead are slowed down, and never go back.
//!
//! - Assumes: no process crashes; reliable links; no message takes less than `min_us`; during a
//!   round the clocks run at the same rate.
//! - Guarantees: T6, T7, T8. Not T5: the mean is the time of the group, and of no clock outside.
//! - Cost: 3(N − 1) messages for each round.
//! - State: the kept clock; at p0 one difference for each process.
//!
//! Source: R. Gusella, S. Zatti: The accuracy of the clock synchronization achieved by TEMPO in
//! Berkeley UNIX 4.3BSD. IEEE Transactions on Software Engineering 15(7), 1989.

use super::cristian::Round;
use super::kept::Kept;
use super::mutants::UNTRAVELLED;
use serde::{Deserialize, Serialize};
use synod_core::card::{
    Bounds, Card, Cost, Counterexample, Load, OtherCosts, Parameter, Quantity, Rounds, Scope,
    Source,
};
use synod_core::family::clock_sync::{ClockSync, Input, Output, SERVER, T6, T7, T8};
use synod_core::{
    Algorithm, Cx, Never, ProcessId, ProcessSet, Protocol, Rule, Setup, SetupError, Trigger, Wire,
};

/// The messages between p0 and the others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// What does your clock show?
    Poll {
        /// The number of the round.
        round: u64,
    },
    /// This.
    Clock {
        /// The number of the round.
        round: u64,
        /// In microseconds.
        clock_us: i64,
    },
    /// Move your clock by this much.
    Adjust {
        /// The number of the round.
        round: u64,
        /// In microseconds.
        by_us: i64,
        /// An upper bound on the error.
        error_bound_us: i64,
    },
}

impl Wire for Message {}

/// Why the process reads its clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Purpose {
    /// At p0: to begin a round.
    Begin,
    /// To answer p0.
    Answer,
    /// At p0: this answer has come.
    Measure { from: ProcessId, clock_us: i64 },
    /// To adjust it.
    Adjust { by_us: i64, error_bound_us: i64 },
}

/// A round, at p0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Poll {
    sent_us: i64,
    missing: ProcessSet,
    measured: Vec<Measured>,
}

/// The clock of a process, compared with that of p0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Measured {
    process: ProcessId,
    ahead_us: i64,
    error_bound_us: i64,
}

/// One process. With `TRAVELS` it is right; without, p0 forgets that answers travel: the mutant
/// [`berkeley-untravelled`](super::mutants).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Group<const TRAVELS: bool> {
    min_us: i64,
    kept: Option<Kept>,
    reads_for: Option<Purpose>,
    round: u64,
    poll: Option<Poll>,
}

/// One process of the right version.
pub type Berkeley = Group<true>;

impl<const TRAVELS: bool> Protocol for Group<TRAVELS> {
    type Input = Input;
    type Output = Output;
    type Message = Message;
    type Timer = Never;

    fn on_input(&mut self, input: Input, cx: &mut Cx<'_, Self>) {
        match input {
            Input::Synchronise => self.read_for(Purpose::Begin, cx),
            Input::Reading { now_us } => self.on_reading(now_us, cx),
        }
    }

    fn on_message(&mut self, from: ProcessId, message: Message, cx: &mut Cx<'_, Self>) {
        match message {
            Message::Poll { round } if from == SERVER => {
                self.round = round;
                self.read_for(Purpose::Answer, cx);
            }
            Message::Clock { round, clock_us } => self.on_clock(from, round, clock_us, cx),
            // The adjustment of an earlier round is as good: differences do not grow old. But the
            // later round has counted it in already, if it came before.
            Message::Adjust { round, by_us, error_bound_us } if from == SERVER => {
                if round == self.round {
                    self.read_for(Purpose::Adjust { by_us, error_bound_us }, cx);
                }
            }
            Message::Poll { .. } | Message::Adjust { .. } => {
                cx.accuse(from, "led a round in the place of p0");
            }
        }
    }
}

impl<const TRAVELS: bool> Group<TRAVELS> {
    fn read_for(&mut self, purpose: Purpose, cx: &mut Cx<'_, Self>) {
        self.reads_for = Some(purpose);
        cx.output(Output::ReadClock);
    }

    fn on_reading(&mut self, now_us: i64, cx: &mut Cx<'_, Self>) {
        let kept = self.kept.get_or_insert(Kept::new(now_us));
        kept.go_on(now_us);
        // What it shows may be on its way to the right time; that time is compared.
        let clock_us = kept.target_us();
        match self.reads_for.take() {
            Some(Purpose::Begin) => self.begin(clock_us, cx),
            Some(Purpose::Answer) => {
                cx.send(SERVER, Message::Clock { round: self.round, clock_us });
            }
            Some(Purpose::Measure { from, clock_us: theirs_us }) => {
                self.measure(from, theirs_us, clock_us, cx);
            }
            Some(Purpose::Adjust { by_us, error_bound_us }) => {
                self.adjust(by_us, error_bound_us, cx);
            }
            // The process did not ask for this reading.
            None => {}
        }
    }

    fn begin(&mut self, sent_us: i64, cx: &mut Cx<'_, Self>) {
        // Rounds are only compared, and a forged poll may have named the last one.
        self.round = self.round.wrapping_add(1);
        let own = Measured { process: cx.me(), ahead_us: 0, error_bound_us: 0 };
        self.poll = Some(Poll { sent_us, missing: cx.peers(), measured: vec![own] });
        cx.multicast(Message::Poll { round: self.round });
        self.conclude(cx);
    }

    fn on_clock(&mut self, from: ProcessId, round: u64, clock_us: i64, cx: &mut Cx<'_, Self>) {
        let expected =
            round == self.round && self.poll.as_mut().is_some_and(|poll| poll.missing.remove(from));
        if expected {
            self.read_for(Purpose::Measure { from, clock_us }, cx);
        } else {
            cx.accuse(from, "answered what nobody had asked");
        }
    }

    fn measure(&mut self, process: ProcessId, server_us: i64, now_us: i64, cx: &mut Cx<'_, Self>) {
        let Some(poll) = &mut self.poll else { return };
        let round = Round { sent_us: poll.sent_us, server_us, received_us: now_us };
        let travelled_us = if TRAVELS { round.took_us() / 2 } else { 0 };
        let ahead_us = server_us.saturating_add(travelled_us).saturating_sub(now_us);
        let error_bound_us = round.error_bound_us(self.min_us).max(0);
        poll.measured.push(Measured { process, ahead_us, error_bound_us });
        self.conclude(cx);
    }

    fn conclude(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(poll) = self.poll.take_if(|poll| poll.missing.is_empty()) else { return };
        let sum: i128 = poll.measured.iter().map(|one| i128::from(one.ahead_us)).sum();
        let mean_us = (sum / poll.measured.len() as i128) as i64;
        let round = self.round;
        for Measured { process, ahead_us, error_bound_us } in poll.measured {
            let by_us = mean_us.saturating_sub(ahead_us);
            if process == cx.me() {
                self.adjust(by_us, error_bound_us, cx);
            } else {
                cx.send(process, Message::Adjust { round, by_us, error_bound_us });
            }
        }
    }

    fn adjust(&mut self, by_us: i64, error_bound_us: i64, cx: &mut Cx<'_, Self>) {
        let Some(kept) = &mut self.kept else { return };
        kept.correct(by_us);
        let (us, round) = (kept.target_us(), self.round);
        cx.output(Output::Shows { us: kept.shown_us });
        cx.output(Output::Agreed { round, us, error_bound_us });
    }
}

impl<const TRAVELS: bool> Algorithm for Group<TRAVELS> {
    type Family = ClockSync;

    const CARD: Card = if TRAVELS { CARD } else { UNTRAVELLED };

    fn assemble(setup: &Setup) -> Result<Vec<Self>, SetupError> {
        let min_us = i64::try_from(setup.number("min_us", 0)?)
            .map_err(|_| setup.bad("min_us", "too many microseconds"))?;
        let process = Group { min_us, kept: None, reads_for: None, round: 0, poll: None };
        Ok(vec![process; setup.n])
    }

    fn takes_part(&self, me: ProcessId) -> bool {
        me == SERVER
    }
}

/// The card; the mutant takes most of it over.
pub(super) const CARD: Card = Card {
    name: "berkeley",
    title: "internal clock synchronisation, as in Berkeley Unix",
    source: Source {
        author: "R. Gusella, S. Zatti",
        year: 1989,
        work: "The accuracy of the clock synchronization achieved by TEMPO in Berkeley UNIX \
               4.3BSD, IEEE Transactions on Software Engineering 15(7)",
    },
    idea: "Ask all clocks of the group, and tell each how far it is from their mean.",
    rules: &[
        Rule::on(
            &[Trigger::Input("Synchronise"), Trigger::Input("Reading")],
            "p0, to synchronise: read the clock (T0) and ask all others what theirs show",
        ),
        Rule::on(
            &[Trigger::Message("Poll"), Trigger::Input("Reading")],
            "asked: read the clock (t) and answer at once",
        ),
        Rule::on(
            &[Trigger::Message("Clock"), Trigger::Input("Reading")],
            "p0, on an answer: read the clock again (T1); this one is t + (T1 - T0)/2 - T1 ahead; \
             with the last answer, tell each process how far it is from the mean of all",
        ),
        Rule::on(
            &[Trigger::Message("Adjust"), Trigger::Input("Reading")],
            "told: move the clock forward by as much, or let it run slower until the difference is \
             made good",
        ),
    ],
    assumes: &[
        "no process crashes",
        "reliable links",
        "no message takes less than min_us",
        "clocks run at the same rate during a round",
    ],
    promises: &[T6, T7, T8],
    proved: &[
        Scope::of(1),
        Scope::of(3),
        Scope { ticks: 2, rounds: Rounds::Times(2), ..Scope::of(2) },
    ],
    counterexamples: &[Counterexample {
        property: T6,
        scope: Scope { crashes: 1, ..Scope::of(2) },
        steps: 2,
        story: "a process crashes, and p0 waits for its answer for ever",
    }],
    costs: &[Cost {
        name: "messages per synchronisation",
        quantity: Quantity::MessagesPerOperation,
        load: Load::Any,
        formula: "3(N - 1)",
        expected: |size| Bounds::exactly(3 * (size.n - 1)),
    }],
    other_costs: &[OtherCosts::over_multicast(&[Cost {
        name: "messages per synchronisation",
        quantity: Quantity::MessagesPerOperation,
        load: Load::Any,
        formula: "2N - 1",
        expected: |size| Bounds::exactly(if size.n == 1 { 0 } else { 2 * size.n - 1 }),
    }])],
    parameters: &[Parameter {
        name: "min_us",
        meaning: "the microseconds that every message takes at least, e.g. 8000 (default: 0)",
    }],
    ..Card::BLANK
};
